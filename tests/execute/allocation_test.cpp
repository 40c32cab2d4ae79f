
// Replacing the allocation functions would hide errors from AddressSanitizer.
#if !WARPMAT_SANITIZED

#include <warpmat/c.h>
#include <warpmat/instruction.h>
#include <warpmat/launch.h>

#include "execute/registers.h"
#include "machine/kernel.h"
#include "replaced_allocation.h"
#include "test.h"

namespace {

thread_local std::size_t allocations = 0;

// The whole test program counts its allocations here.
void before_allocation() {
  ++allocations;
}

}  // namespace

namespace warpmat::allocation_test {

TEST_CASE("executing a batch allocates nothing") {
  CHECK(allocations > 0);  // they are counted
  constexpr std::size_t count = 3;
  std::array<std::uint8_t, 2048> memory{};
  std::array<std::uint32_t, count * 16 * warp_size> results{};
  std::mt19937_64 random(61);
  for (const Form& form : forms()) {
    const Instruction instruction(form, target_with(form));
    FormRegisters registers(form);
    registers.fill(random);
    Batch batch;
    for (const Operand& operand : form.operands)
      if (!operand.written) batch.source(operand.name) = registers[operand.name][0].data();
    batch.destination = {results.data(), 16 * warp_size};
    batch.shared = memory.data();
    batch.shared_bytes = memory.size();
    for (const Path path : {Path::fast, Path::reference}) {
      const std::size_t before = allocations;
      execute(instruction, batch, count, {.path = path});
      const std::size_t after = allocations;
      CAPTURE(form.opcode, path == Path::fast);
      CHECK(after == before);
    }
  }
}

TEST_CASE("executing through C allocates nothing, whatever the layout of registers and memory") {
  struct Bytes {
    std::array<std::uint8_t, 2048> bytes{};

    static int read(void* self, std::size_t, int, std::uint64_t address, std::uint8_t* row, std::size_t size) {
      std::copy_n(static_cast<Bytes*>(self)->bytes.begin() + static_cast<std::ptrdiff_t>(address), size, row);
      return 0;
    }
    static int write(void* self, std::size_t, int, std::uint64_t address, const std::uint8_t* row, std::size_t size) {
      std::copy_n(row, size, static_cast<Bytes*>(self)->bytes.begin() + static_cast<std::ptrdiff_t>(address));
      return 0;
    }
  } memory;
  constexpr std::size_t words = 64, count = 2;
  std::vector<std::uint32_t> registers(words * warp_size * count, 0);
  std::array<std::uint16_t, words> numbers{};
  for (std::size_t i = 0; i < words; ++i) numbers[i] = static_cast<std::uint16_t>(words - 1 - i);
  for (const Form& form : forms()) {
    CAPTURE(form.opcode);
    const warpmat_instruction* const instruction = warpmat_find(form.opcode.c_str(), std::string(target_with(form).name).c_str(), nullptr);
    REQUIRE(instruction != nullptr);
    const bool rows = form.mnemonic == Mnemonic::ldmatrix || form.mnemonic == Mnemonic::stmatrix;
    std::vector<warpmat_registers> operands;
    std::size_t next = 0;
    for (const Operand& operand : form.operands) {
      operands.push_back(WARPMAT_THREAD_MAJOR(registers.data(), words, numbers.data() + next, operand.words()));
      next += static_cast<std::size_t>(operand.words());
    }
    for (const unsigned flags : {0u, unsigned{WARPMAT_REFERENCE_PATH}})
      for (const bool behind_callbacks : {false, true}) {
        if (behind_callbacks && !rows) continue;
        warpmat_memory place{};
        place.size = sizeof place;
        place.byte_count = memory.bytes.size();
        place.user = &memory;
        if (behind_callbacks) {
          place.read = Bytes::read;
          place.write = Bytes::write;
        } else {
          place.bytes = memory.bytes.data();
        }
        warpmat_call call{};
        call.size = sizeof call;
        call.operands = operands.data();
        call.operand_count = operands.size();
        call.memory = &place;
        call.flags = flags | WARPMAT_UNDEFINED_AS_HARDWARE;
        const std::size_t before = allocations;
        const warpmat_status status = warpmat_execute(instruction, &call, count, nullptr);
        const std::size_t after = allocations;
        CAPTURE(flags, behind_callbacks);
        if (status == WARPMAT_OK) CHECK(after == before);
        CHECK((status == WARPMAT_OK || form.sparsity != Sparsity::dense));
      }
  }
}

TEST_CASE("warpmat_execute of a scalar instruction allocates nothing") {
  constexpr std::size_t words = 64, count = 2;
  std::vector<std::uint32_t> registers(words * warp_size * count, 1);
  for (const char* const opcode :
       {"add.u32", "fma.rn.f32", "div.rn.f64", "madc.hi.cc.u64", "setp.lt.and.f64", "cvt.rn.satfinite.e4m3x2.f32", "lop3.b32",
        "ex2.approx.f32", "selp.b32", "mov.b128", "vadd.s32.u32.s32"}) {
    CAPTURE(opcode);
    const warpmat_instruction* const instruction = warpmat_find(opcode, "sm_90a", nullptr);
    REQUIRE(instruction != nullptr);
    warpmat_instruction_info info{};
    info.size = sizeof info;
    REQUIRE(warpmat_describe(instruction, &info) == WARPMAT_OK);
    std::vector<warpmat_registers> operands;
    std::size_t next = 0;
    for (int i = 0; i < info.operands; ++i) {
      warpmat_operand_info operand{};
      operand.size = sizeof operand;
      REQUIRE(warpmat_operand_at(instruction, i, &operand) == WARPMAT_OK);
      operands.push_back(WARPMAT_THREAD_MAJOR(registers.data() + next, words, nullptr, 0));
      next += static_cast<std::size_t>(operand.words);
    }
    warpmat_call call{};
    call.size = sizeof call;
    call.operands = operands.data();
    call.operand_count = operands.size();
    for (const unsigned flags : {0u, unsigned{WARPMAT_REFERENCE_PATH}}) {
      call.flags = flags;
      const std::size_t before = allocations;
      const warpmat_status status = warpmat_execute(instruction, &call, count, nullptr);
      const std::size_t after = allocations;
      CHECK(status == WARPMAT_OK);
      CHECK(after == before);
    }
  }
}

TEST_CASE("a launch allocates what its block and checks are, and no more") {
  const Module module = word_kernel(R"(
    .shared .align 16 .b8 tile[512]; .reg .b32 %at, %row, %a;
    mov.u32 %at, tile;
    shl.b32 %row, %i, 4;
    add.u32 %row, %row, %at;
    st.shared.v4.b32 [%row], {%i, %i, %i, %i};
    bar.sync 0;
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d}, [%row];
)");
  const Kernel kernel(module, "k");
  DeviceMemory memory;
  const std::vector<Argument> arguments{memory.allocate(4 * warp_size, "out")};
  const auto allocated_by = [&](const LaunchOptions& options) {
    launch(kernel, {{1}, {warp_size}}, memory, arguments, options);  // the first one leaves memory to the next
    const std::size_t before = allocations;
    launch(kernel, {{1}, {warp_size}}, memory, arguments, options);
    return allocations - before;
  };
  // among them the grid and what its thread keeps: cuda/launch.cpp keeps both where a launch may run again
  CHECK(allocated_by({.checks = {.uninitialised = false, .copies = false}}) <= 8);
  CHECK(allocated_by({}) <= 18);
}

}  // namespace warpmat::allocation_test

#else

#include "test.h"

TEST_CASE("executing allocates nothing") {
  WARN("skipped: the sanitizers replace the allocation functions");
}

#endif
