// What accesses() lists without executing: against what callbacks see while an instruction executes, and against PTX's definition of where
// a matrix's elements lie.

#include <warpmat/instruction.h>

#include "execute/noted_memory.h"
#include "test.h"

namespace warpmat::accesses_test {
namespace {

constexpr std::size_t count = 2;  // warps

using Seen = NotedAccess;

std::vector<Seen> listed(const Instruction& instruction, const Batch& batch) {
  std::vector<Seen> all;
  for (std::size_t warp = 0; warp < count; ++warp)
    for (const MemoryAccess& access : accesses(instruction, batch, warp))
      all.push_back({access.writes, warp, access.lane, access.address, access.bytes});
  return all;
}

/// The words of p for addresses of 64 bits, thread-major: `above` is added to each.
std::vector<std::uint32_t> wide_addresses(WarpArrays& warps, std::uint64_t above) {
  std::vector<std::uint32_t> halves;
  for (std::size_t warp = 0; warp < count; ++warp)
    for (int lane = 0; lane < warp_size; ++lane) {
      const std::uint64_t address = warps.word(OperandName::p, warp, 0)[lane] + above;
      halves.push_back(static_cast<std::uint32_t>(address));
      halves.push_back(static_cast<std::uint32_t>(address >> 32));
    }
  return halves;
}

/// Those of the table, and those that sm_70 has otherwise.
std::vector<Form> all_forms() {
  std::vector<Form> all(forms().begin(), forms().end());
  for (const Form& form : variants_of_forms()) all.push_back(form);
  return all;
}

/// The form on hardware that has it so.
Instruction instruction_of(const Form& form) {
  const bool volta = form_on(form, Hardware::sm_90) != form;
  Instruction made(form, volta ? target("sm_70") : target_with(form));
  REQUIRE(made.form() == form);
  return made;
}

/// The bytes of memory, by number in the matrix's storage, where PTX ISA 9.1 section 9.7.14.3 has element (row, column).
std::uint64_t byte_of(const Form& form, const Element& e, std::uint64_t stride) {
  const auto row = static_cast<std::uint64_t>(e.row), column = static_cast<std::uint64_t>(e.column);
  return (form.column_major ? column * stride + row : row * stride + column) * static_cast<std::uint64_t>(form.memory_bits) / 8;
}

using Bytes = std::vector<std::uint8_t>;

/// `bytes` with those of one warp's memory inverted that `where` selects by number.
template <typename Where>
Bytes inverted(Bytes bytes, Where where) {
  for (std::size_t i = 0; i < WarpArrays::memory_bytes; ++i)
    if (where(i)) bytes[i] = static_cast<std::uint8_t>(~bytes[i]);
  return bytes;
}

/// Whether ldmatrix drops a byte of its rows: what is behind 16 elements of 6 or 4 bits.
bool is_padding(const Form& form, std::size_t number) {
  return form.mnemonic == Mnemonic::ldmatrix && form.memory_bits < 8 &&
         number % Form::row_bytes >= static_cast<std::size_t>(2 * form.memory_bits);
}

TEST_CASE("changed bytes show that what is listed is read or written, and nothing else, of every form", "[execute][accesses]") {
  int loads = 0, stores = 0;
  for (const Form& form : all_forms()) {
    if (!addresses_memory(form)) continue;
    CAPTURE(form.opcode);
    const Instruction instruction = instruction_of(form);
    WarpArrays original(form, 1, std::nullopt, 183);
    std::vector<bool> is_listed(WarpArrays::memory_bytes);
    for (const MemoryAccess& access : accesses(instruction, original.batch()))
      for (std::size_t i = 0; i < access.bytes; ++i) is_listed.at(access.address - WarpArrays::memory_base + i) = true;
    const auto executed = [&](const Bytes& memory) {
      WarpArrays warps = original;
      warps.memory = memory;
      execute(instruction, warps.batch(), 1);
      return warps;
    };
    const WarpArrays plain = executed(original.memory);
    int wrong = 0;
    if (form.mnemonic == Mnemonic::stmatrix || form.mnemonic == Mnemonic::wmma_store) {
      const WarpArrays other = executed(inverted(original.memory, [](std::size_t) { return true; }));
      for (std::size_t i = 0; i < WarpArrays::memory_bytes; ++i) wrong += (plain.memory[i] == other.memory[i]) != is_listed[i];
      ++stores;
    } else {
      const auto loads_the_same = [&](const Bytes& memory) {
        WarpArrays warps = executed(memory);
        warps.memory = original.memory;
        return warps == plain;
      };
      wrong += !loads_the_same(inverted(original.memory, [&](std::size_t i) { return !is_listed[i]; }));
      for (std::size_t byte = 0; byte < WarpArrays::memory_bytes; ++byte)
        if (is_listed[byte])
          wrong += loads_the_same(inverted(original.memory, [&](std::size_t i) { return i == byte; })) != is_padding(form, byte);
      ++loads;
    }
    CHECK(wrong == 0);
  }
  CHECK((loads > 200 && stores > 30));
}

TEST_CASE("accesses are what callbacks see, of every form, with addresses of 32 and of 64 bits, and the results are those of bytes",
          "[execute][accesses]") {
  constexpr std::uint64_t above = std::uint64_t{7} << 40;
  int compared = 0;
  for (const Form& form : all_forms()) {
    const Instruction instruction = instruction_of(form);
    if (!addresses_memory(form)) {
      CHECK(access_count(form) == 0);
      CHECK(accesses(instruction, Batch{}).empty());
      continue;
    }
    WarpArrays expected(form, count, std::nullopt, 181);
    const WarpArrays original = expected;
    expected.execute_each(instruction, 0, count);
    for (const Path path : {Path::fast, Path::reference})
      for (const bool wide : {false, true})
        for (const bool callbacks : {false, true}) {
          CAPTURE(form.opcode, path == Path::fast, wide, callbacks);
          WarpArrays warps = original;
          const std::vector<std::uint32_t> halves = wide_addresses(warps, above);
          Batch batch = warps.batch();
          NotedMemory memory{.warps = &warps, .base = WarpArrays::memory_base + (wide ? above : 0)};
          const RowMemory rows = memory.callbacks();
          if (callbacks) batch.rows = &rows;
          if (wide) {
            batch.wide_addresses = true;
            batch.source(OperandName::p) = {halves.data(), 2 * warp_size, 1, 2};
            batch.shared_base += above;
          }
          const std::vector<Seen> before = listed(instruction, batch);
          CHECK(before.size() == count * access_count(form));
          execute(instruction, batch, count, {.path = path});
          CHECK(warps == expected);
          if (callbacks) CHECK(memory.log == before);
          ++compared;
        }
  }
  CHECK(compared > 2000);
}

TEST_CASE("each access names its element and register, and together they are the matrix", "[execute][accesses]") {
  for (const Form& form : all_forms()) {
    if (!moves_matrix(form)) continue;
    CAPTURE(form.opcode);
    const Instruction instruction = instruction_of(form);
    const Fragment& r = form.operand(OperandName::r).fragment;
    const std::uint32_t stride = 256;
    Register p, strides;
    p.fill(0x8000);
    strides.fill(stride);
    Batch batch;
    batch.offset = 64;
    batch.source(OperandName::p) = p.data();
    batch.source(OperandName::stride) = strides.data();
    std::set<std::uint64_t> bytes, matrix;
    for (const MemoryAccess& access : accesses(instruction, batch)) {
      REQUIRE(access.address == 0x8000 + 64 + byte_of(form, access.element, stride));
      REQUIRE(r.element({access.lane, access.reg, access.bit}) == access.element);
      CHECK(access.space == form.space);
      CHECK(access.writes == (form.mnemonic == Mnemonic::wmma_store));
      for (std::uint64_t i = 0; i < access.bytes; ++i) bytes.insert(access.address + i);
    }
    for (int row = 0; row < r.rows(); ++row)
      for (int column = 0; column < r.columns(); ++column)
        for (int bit = 0; bit < form.memory_bits; bit += 8)
          matrix.insert(0x8000 + 64 + byte_of(form, {row, column, 0}, stride) + static_cast<std::uint64_t>(bit / 8));
    CHECK(bytes == matrix);
  }
  // ldmatrix: lane 19 names row 3 of the third matrix.
  const Instruction load("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "sm_90");
  Register p;
  for (std::size_t lane = 0; lane < warp_size; ++lane) p[lane] = static_cast<std::uint32_t>(lane * 48);
  Batch batch;
  batch.source(OperandName::p) = p.data();
  const std::vector<MemoryAccess> rows = accesses(load, batch);
  REQUIRE(rows.size() == 32);
  CHECK(rows[19] == MemoryAccess{.bytes = 16, .address = 19 * 48, .lane = 19, .element = {3, 0, 2}});
}

TEST_CASE("addresses that an instruction refuses are refused when they are listed", "[execute][accesses]") {
  Register p, stride;
  Batch batch;
  batch.source(OperandName::p) = p.data();
  batch.source(OperandName::stride) = stride.data();
  const auto message = [&](const char* opcode, const char* target) -> std::string {
    try {
      (void)accesses(Instruction(opcode, target), batch);
    } catch (const Trap& trap) {
      return trap.reason;
    }
    return "nothing";
  };
  const char* const wmma = "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16";
  p.fill(32);
  stride.fill(16);
  CHECK(message(wmma, "sm_90") == "nothing");
  p[3] = 48;
  CHECK(message(wmma, "sm_90") == "the address is 0x30, and 0x20 in lane 0; all lanes must give the same");
  p.fill(33);
  CHECK(message(wmma, "sm_90") == std::string("the address of a matrix must be a multiple of 16 bytes for ") + wmma);
  const char* const global = "wmma.load.a.sync.aligned.row.m16n16k16.global.f16";
  try {
    (void)accesses(Instruction(global, "sm_90"), batch);
    CHECK(false);
  } catch (const Trap& trap) {  // the space is not told: the instruction may have any
    CHECK(std::string(trap.what()) ==
          std::string("lane 0, address 0x21: the address of a matrix must be a multiple of 4 bytes for ") + global);
  }
  p.fill(32);
  stride.fill(9);
  CHECK(message(wmma, "sm_90") == std::string("a stride of 9 elements is no multiple of 16 bytes, which ") + wmma + " needs");
  p[31] = 1;
  CHECK(message("ldmatrix.sync.aligned.m8n8.x1.b16", "sm_90") == "nothing");
  CHECK(message("ldmatrix.sync.aligned.m8n8.x1.b16", "sm_75") == "the row must be 16-byte aligned");
}

TEST_CASE("wmma behind callbacks: a range is checked before the first call, and a refusal ends the instruction", "[execute][accesses]") {
  for (const char* const opcode :
       {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16", "wmma.store.d.sync.aligned.col.m16n16k16.global.f32"}) {
    const Instruction instruction(opcode, "sm_90");
    const bool load = instruction.form().mnemonic == Mnemonic::wmma_load;
    CAPTURE(opcode);
    WarpArrays warps(instruction.form(), count, std::nullopt, 182);
    const WarpArrays original = warps;
    WarpArrays whole = warps;
    whole.execute_each(instruction, 0, 1);
    NotedMemory memory{.warps = &warps, .base = WarpArrays::memory_base, .refused = 5};
    RowMemory rows = memory.callbacks();
    Batch batch = warps.batch();
    batch.rows = &rows;
    try {
      execute(instruction, batch, count);
      CHECK(false);
    } catch (const Trap& trap) {
      CHECK(trap.kind == Trap::Kind::refused);
      CHECK(trap.site.lane == memory.log.back().lane);
      CHECK(trap.address == memory.log.back().address);
      CHECK(trap.site.warp == 0);
    }
    CHECK(memory.log.size() == 6);
    WarpArrays expected = original;
    for (std::size_t i = 0; !load && i < 5; ++i) {
      const std::size_t at = memory.log[i].address - WarpArrays::memory_base;
      std::copy_n(whole.memory_of(0).data() + at, memory.log[i].bytes, expected.memory_of(0).data() + at);
    }
    CHECK(warps == expected);

    memory.log.clear();
    rows.bytes = 100;  // less than the matrix
    try {
      execute(instruction, batch, count);
      CHECK(false);
    } catch (const Trap& trap) {
      CHECK(trap.kind == Trap::Kind::out_of_range);
      CHECK(trap.address.value_or(0) + 4 > WarpArrays::memory_base + 100);
    }
    CHECK(memory.log.empty());
  }
}

}  // namespace
}  // namespace warpmat::accesses_test
