// Memory behind callbacks: which rows ldmatrix and stmatrix hand out, and what they do where an address is wrong or a row is refused.

#include <warpmat/instruction.h>

#include "execute/noted_memory.h"
#include "test.h"

namespace warpmat::row_memory_test {
namespace {

constexpr Path paths[] = {Path::fast, Path::reference};
constexpr std::size_t count = 2;  // warps

using Access = NotedAccess;

std::vector<Access> expected_log(const Form& form, WarpArrays& warps, std::uint64_t above) {
  std::vector<Access> log;
  for (std::size_t warp = 0; warp < count; ++warp)
    for (int lane = 0; lane < form.rows_in_memory(); ++lane)
      log.push_back({form.mnemonic == Mnemonic::stmatrix, warp, lane, warps.word(OperandName::p, warp, 0)[lane] + above, Form::row_bytes});
  return log;
}

TEST_CASE("addresses of 64 bits, in memory of bytes and behind callbacks") {
  constexpr std::uint64_t above = std::uint64_t{5} << 40;
  for (const char* opcode : {"ldmatrix.sync.aligned.m8n8.x4.b16", "stmatrix.sync.aligned.m8n8.x2.trans.b16"})
    for (const Path path : paths)
      for (const bool callbacks : {false, true}) {
        const Instruction instruction(opcode, "sm_90");
        const Form& form = instruction.form();
        CAPTURE(opcode, path == Path::fast, callbacks);
        WarpArrays expected(form, count, std::nullopt, 82);
        WarpArrays warps = expected;
        expected.execute_each(instruction, 0, count);
        std::vector<std::uint64_t> addresses;  // thread-major
        for (std::size_t warp = 0; warp < count; ++warp)
          for (int lane = 0; lane < warp_size; ++lane) addresses.push_back(warps.word(OperandName::p, warp, 0)[lane] + above);
        std::vector<std::uint32_t> halves(2 * addresses.size());
        for (std::size_t i = 0; i < addresses.size(); ++i) {
          halves[2 * i] = static_cast<std::uint32_t>(addresses[i]);
          halves[2 * i + 1] = static_cast<std::uint32_t>(addresses[i] >> 32);
        }
        NotedMemory observed{.warps = &warps, .base = WarpArrays::memory_base + above};
        const RowMemory memory = observed.callbacks();
        Batch batch = warps.batch();
        batch.wide_addresses = true;
        batch.source(OperandName::p) = {halves.data(), 2 * warp_size, 1, 2};
        batch.shared_base += above;
        if (callbacks) batch.rows = &memory;
        execute(instruction, batch, count, {.path = path});
        CHECK(warps == expected);
        CHECK(observed.log == (callbacks ? expected_log(form, warps, above) : std::vector<Access>{}));
        ++halves[1];  // lane 0 of warp 0: 2^32 too high
        const auto trap = trap_in([&] { execute(instruction, batch, count, {.path = path}); });
        REQUIRE(trap);
        CHECK(trap->kind == Trap::Kind::out_of_range);
        CHECK(trap->address == addresses[0] + (std::uint64_t{1} << 32));
      }
}

TEST_CASE("all addresses are checked before the first row is handed out") {
  for (const char* opcode : {"ldmatrix.sync.aligned.m8n8.x2.b16", "stmatrix.sync.aligned.m8n8.x2.b16"})
    for (const Path path : paths)
      for (const auto& [lane, change, kind] :
           {std::tuple(15, 8u, Trap::Kind::misaligned), std::tuple(3, 4096u, Trap::Kind::out_of_range)}) {
        CAPTURE(opcode, path == Path::fast, lane);
        const Instruction instruction(opcode, "sm_90");
        WarpArrays warps(instruction.form(), count, std::nullopt, 83);
        warps.word(OperandName::p, 1, 0)[lane] += change;
        WarpArrays expected = warps;
        expected.execute_each(instruction, 0, 1);
        NotedMemory observed{.warps = &warps, .base = WarpArrays::memory_base};
        const RowMemory memory = observed.callbacks();
        Batch batch = warps.batch();
        batch.rows = &memory;
        const auto trap = trap_in([&] { execute(instruction, batch, count, {.path = path}); });
        REQUIRE(trap);
        CHECK(trap->kind == kind);
        CHECK(trap->site.operand == OperandName::p);
        CHECK(trap->site.lane == lane);
        CHECK(trap->site.warp == 1);
        CHECK(trap->address == warps.word(OperandName::p, 1, 0)[lane]);
        CHECK(observed.log.size() == 16);  // warp 0's
        CHECK(warps == expected);
      }
}

TEST_CASE("where the hardware checks all lanes' addresses, so do callbacks' instructions") {
  for (const char* target : {"sm_75", "sm_80"}) {
    const Instruction instruction("ldmatrix.sync.aligned.m8n8.x1.b16", target);
    WarpArrays warps(instruction.form(), 1, std::nullopt, 84);
    warps.word(OperandName::p, 0, 0)[31] += 1;
    NotedMemory observed{.warps = &warps, .base = WarpArrays::memory_base};
    const RowMemory memory = observed.callbacks();
    Batch batch = warps.batch();
    batch.rows = &memory;
    const auto trap = trap_in([&] { execute(instruction, batch, 1); });
    CHECK(trap.has_value() == instruction.lowering().exceptions.checks_all_addresses);
    CHECK(observed.log.size() == (trap ? 0 : 8));
    if (trap) CHECK(trap->site.lane == 31);
  }
}

TEST_CASE("a refused row ends the instruction: ldmatrix has changed nothing, stmatrix has written the rows before") {
  for (const char* opcode : {"ldmatrix.sync.aligned.m8n8.x2.b16", "stmatrix.sync.aligned.m8n8.x2.b16"})
    for (const Path path : paths) {
      CAPTURE(opcode, path == Path::fast);
      const Instruction instruction(opcode, "sm_90");
      WarpArrays warps(instruction.form(), count, std::nullopt, 85);
      for (std::size_t lane = 0; lane < warp_size; ++lane)
        warps.word(OperandName::p, 0, 0)[lane] = WarpArrays::memory_base + static_cast<std::uint32_t>(lane * Form::row_bytes);
      const WarpArrays before = warps;
      WarpArrays whole = warps;
      whole.execute_each(instruction, 0, 1);
      NotedMemory observed{.warps = &warps, .base = WarpArrays::memory_base, .refused_lane = 5};
      const RowMemory memory = observed.callbacks();
      Batch batch = warps.batch();
      batch.rows = &memory;
      const auto trap = trap_in([&] { execute(instruction, batch, count, {.path = path}); });
      REQUIRE(trap);
      CHECK(trap->kind == Trap::Kind::refused);
      CHECK(trap->site.lane == 5);
      CHECK(trap->site.warp == 0);
      CHECK(observed.log.size() == 6);
      WarpArrays expected = before;
      if (instruction.form().mnemonic == Mnemonic::stmatrix)
        std::copy_n(whole.memory.begin(), 5 * Form::row_bytes, expected.memory.begin());
      CHECK(warps == expected);
    }
}

}  // namespace
}  // namespace warpmat::row_memory_test
