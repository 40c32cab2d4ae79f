#include <warpmat/instruction.h>

#include "execute/registers.h"
#include "test.h"

namespace warpmat::moves_test {
namespace {

constexpr std::size_t row_bytes = 16;
constexpr std::size_t memory_bytes = 2048;

/// Forms of `mnemonic`, each on every target that has it.
std::vector<Instruction> instructions(Mnemonic mnemonic) {
  std::vector<Instruction> out;
  for (const Form& form : forms())
    for (const Target& target : targets())
      if (form.mnemonic == mnemonic && !unavailable(form, target)) out.emplace_back(form, target);
  return out;
}

Instruction ldmatrix(int number, bool trans) {
  return {fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16", number, trans ? ".trans" : ""), "sm_90"};
}
Instruction stmatrix(int number, bool trans) {
  return {fmt::format("stmatrix.sync.aligned.m8n8.x{}{}.shared.b16", number, trans ? ".trans" : ""), "sm_90"};
}

std::string shown(const Instruction& instruction) {
  return fmt::format("{} on {}", instruction.form().opcode, instruction.target().name);
}

SharedMemory random_memory(std::mt19937_64& random, std::size_t bytes = memory_bytes) {
  std::vector<std::uint8_t> out(bytes);
  for (std::uint8_t& byte : out) byte = static_cast<std::uint8_t>(random());
  return SharedMemory(std::move(out));
}

std::vector<std::uint8_t> copy(const SharedMemory& memory) {
  return {memory.bytes().begin(), memory.bytes().end()};
}

/// Addresses of distinct rows, in random order.
Register distinct_rows(std::mt19937_64& random) {
  std::vector<std::uint32_t> rows(memory_bytes / row_bytes);
  std::iota(rows.begin(), rows.end(), 0u);
  std::ranges::shuffle(rows, random);
  Register addresses{};
  std::ranges::transform(std::span(rows).first(32), addresses.begin(), [](std::uint32_t row) { return row * std::uint32_t{row_bytes}; });
  return addresses;
}

void load(const Instruction& instruction, SharedMemory& memory, const Register& addresses, RegisterList destination,
          std::int64_t offset = 0) {
  const std::uint32_t* const p = addresses.data();
  Batch batch;
  batch.destination = destination;
  batch.use(memory);
  batch.offset = offset;
  batch.source(OperandName::p) = std::span(&p, 1);
  execute(instruction, batch);
}

void store(const Instruction& instruction, SharedMemory& memory, const Register& addresses, ConstRegisterList source,
           std::int64_t offset = 0) {
  const std::uint32_t* const p = addresses.data();
  Batch batch;
  batch.use(memory);
  batch.offset = offset;
  batch.source(OperandName::p) = std::span(&p, 1);
  batch.source(OperandName::r) = source;
  execute(instruction, batch);
}

void move(const Instruction& instruction, Register& destination, const Register& source) {
  const std::uint32_t* const a = source.data();
  std::uint32_t* const d = destination.data();
  Batch batch;
  batch.destination = std::span(&d, 1);
  batch.source(OperandName::a) = std::span(&a, 1);
  execute(instruction, batch);
}

/// An element of the matrices in memory.
struct Position {
  std::size_t matrix, row, column;
};

/// PTX ISA 9.7.14.5.15 and 16: the element that part `part` (halves of .b16 matrices, else bytes) of register `reg` of `lane` is.
Position position(const Form& form, std::size_t reg, std::size_t lane, std::size_t part) {
  const std::size_t group = lane / 4, in_group = lane % 4;
  if (form.opcode.find(".m16n16.") != std::string::npos)  // a lane holds four rows of a column, its second register eight columns on
    return {reg / 2, 4 * in_group + part, group + 8 * (reg % 2)};
  if (form.opcode.find(".m8n16.") != std::string::npos) return {reg, group, 4 * in_group + part};
  if (form.opcode.find(".m16n8.") != std::string::npos)  // the 16x8 matrix of .trans: two columns, of each rows r and r + 8
    return {reg, 2 * in_group + part % 2, group + 8 * (part / 2)};
  const std::size_t along = 2 * in_group + part;
  return form.transposed ? Position{reg, along, group} : Position{reg, group, along};
}

/// How many lanes hold the address of a row of one matrix.
std::size_t rows_of(const Form& form) {
  return form.opcode.find(".m16n16.") != std::string::npos ? 16 : 8;
}

/// Bits of an element in memory: elements of 6 and of 4 bits lie packed, before their row's padding.
std::size_t memory_bits(const Form& form) {
  if (form.opcode.ends_with(".b16")) return 16;
  return form.opcode.ends_with(".b6x16_p32") ? 6 : form.opcode.ends_with(".b4x16_p64") ? 4 : 8;
}

/// Bits of an element in a register.
std::size_t part_bits(const Form& form) {
  return form.opcode.ends_with(".b16") ? 16 : 8;
}

/// The row that an element is in, when lane 8q + s (of 16 rows, 16q + s) holds the address of row s of matrix q.
std::size_t row_address(const Form& form, const Register& addresses, const Position& p) {
  return addresses[rows_of(form) * p.matrix + p.row];
}

std::uint32_t part_of(const Form& form, const Register& r, std::size_t lane, std::size_t part) {
  return r[lane] >> (part_bits(form) * part) & ((1u << part_bits(form)) - 1);
}

std::uint16_t half_of(const Register& r, std::size_t lane, std::size_t half) {
  return static_cast<std::uint16_t>(r[lane] >> (16 * half));
}

TEST_CASE("ldmatrix loads what the PTX ISA's formulas say, of every shape, x1, x2, x4, plain and transposed, on every target") {
  std::mt19937_64 random(20);
  Tally tally;
  const std::vector<Instruction> all = instructions(Mnemonic::ldmatrix);
  CHECK(all.size() >= 2 * 6 * (targets().size() - 1));  // with and without .shared on all but sm_70
  for (const Instruction& instruction : all) {
    const Form& form = instruction.form();
    SharedMemory memory = random_memory(random);
    const std::vector<std::uint8_t> before = copy(memory);
    const Register addresses = distinct_rows(random);
    Registers r(form.number * (rows_of(form) == 16 ? 2 : 1));
    r.fill(random);
    load(instruction, memory, addresses, r.list());
    for (std::size_t q = 0; q < r.size(); ++q)
      for (std::size_t lane = 0; lane < 32; ++lane)
        for (std::size_t part = 0; part < 32 / part_bits(form); ++part) {
          const Position p = position(form, q, lane, part);
          std::uint32_t expected = 0;
          for (std::size_t bit = 0; bit < memory_bits(form); ++bit) {
            const std::size_t at = p.column * memory_bits(form) + bit;
            expected |= (static_cast<std::uint32_t>(before[row_address(form, addresses, p) + at / 8]) >> at % 8 & 1u) << bit;
          }
          tally.expect(part_of(form, r[q], lane, part) == expected,
                       [&] { return fmt::format("{}: register {}, lane {}, part {}", shown(instruction), q, lane, part); });
        }
    tally.expect(copy(memory) == before, [&] { return shown(instruction) + " changes the memory"; });
  }
  CHECK(tally.failures() == "");
}

TEST_CASE("stmatrix stores what the PTX ISA's formulas say and nothing else") {
  std::mt19937_64 random(22);
  Tally tally;
  const std::vector<Instruction> all = instructions(Mnemonic::stmatrix);
  CHECK_FALSE(all.empty());
  for (const Instruction& instruction : all) {
    const Form& form = instruction.form();
    SharedMemory memory = random_memory(random);
    std::vector<std::uint8_t> expected = copy(memory);
    const Register addresses = distinct_rows(random);
    Registers r(form.number * (rows_of(form) == 16 ? 2 : 1));
    r.fill(random);
    for (std::size_t q = 0; q < r.size(); ++q)
      for (std::size_t lane = 0; lane < 32; ++lane)
        for (std::size_t part = 0; part < 32 / part_bits(form); ++part) {
          const Position p = position(form, q, lane, part);
          const std::size_t bytes = part_bits(form) / 8, at = row_address(form, addresses, p) + p.column * bytes;
          for (std::size_t byte = 0; byte < bytes; ++byte)
            expected[at + byte] = static_cast<std::uint8_t>(part_of(form, r[q], lane, part) >> (8 * byte));
        }
    store(instruction, memory, addresses, r.list());
    tally.expect(copy(memory) == expected, [&] { return shown(instruction); });
  }
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() == all.size());
}

TEST_CASE("where stmatrix rows overlap, the higher lane's row stays") {
  std::mt19937_64 random(23);
  SharedMemory memory = random_memory(random);
  Register addresses;
  addresses.fill(64);
  Registers r(4);
  r.fill(random);
  store(stmatrix(4, false), memory, addresses, r.list());
  for (std::size_t column = 0; column < 8; ++column) {
    const std::size_t lane = 28 + column / 2;  // row 7 of matrix 3
    CHECK((memory.bytes()[64 + 2 * column] | memory.bytes()[65 + 2 * column] << 8) == half_of(r[3], lane, column % 2));
  }
}

TEST_CASE("movmatrix transposes as the PTX ISA's formulas say, on every target, and twice is the identity") {
  std::mt19937_64 random(26);
  const std::vector<Instruction> all = instructions(Mnemonic::movmatrix);
  CHECK(all.size() >= targets().size() - 1);
  for (const Instruction& instruction : all) {
    Registers a(1), d(1);
    a.fill(random);
    const std::vector<Register> before = a.values();
    move(instruction, d[0], a[0]);
    for (std::size_t lane = 0; lane < 32; ++lane)
      for (std::size_t half = 0; half < 2; ++half) {
        // Row r, column c of the source: lane 4r + c / 2, half c mod 2.
        const std::size_t row = 2 * (lane % 4) + half, column = lane / 4;
        CHECK(half_of(d[0], lane, half) == half_of(a[0], 4 * row + column / 2, column % 2));
      }
    CHECK(a.values() == before);
    move(instruction, d[0], d[0]);
    CHECK(d.values() == before);
  }
}

TEST_CASE("lanes whose address the form ignores may hold anything") {
  std::mt19937_64 random(27);
  for (const int number : {1, 2})
    for (const bool trans : {false, true}) {
      SharedMemory memory = random_memory(random);
      const Register addresses = distinct_rows(random);
      Register garbage = addresses;
      for (std::size_t lane = static_cast<std::size_t>(8 * number); lane < 32; ++lane)
        garbage[lane] = static_cast<std::uint32_t>(random()) | 0x8000'0001;
      Registers r(number), same(number);
      load(ldmatrix(number, trans), memory, addresses, r.list());
      CHECK_NOTHROW(load(ldmatrix(number, trans), memory, garbage, same.list()));
      CHECK(same.values() == r.values());
      const std::vector<std::uint8_t> before = copy(memory);
      CHECK_NOTHROW(store(stmatrix(number, trans), memory, garbage, r.list()));
      CHECK(copy(memory) == before);
    }
}

TEST_CASE("on sm_75 the addresses of all lanes must be valid, also those that ldmatrix does not need; on later targets they are ignored") {
  std::mt19937_64 random(34);
  for (const Instruction& instruction : instructions(Mnemonic::ldmatrix)) {
    const int rows = static_cast<int>(rows_of(instruction.form())) * instruction.form().number;
    for (int lane = rows; lane < 32; ++lane)
      for (const std::uint32_t address : {std::uint32_t{memory_bytes}, std::uint32_t{8}}) {
        SharedMemory memory = random_memory(random);
        Register addresses = distinct_rows(random);
        addresses[static_cast<std::size_t>(lane)] = address;
        Registers r(instruction.form().operand(OperandName::r).words());
        r.fill(random);
        const std::vector<Register> before = r.values();
        const auto trap = trap_in([&] { load(instruction, memory, addresses, r.list()); });
        CAPTURE(shown(instruction), lane, address);
        REQUIRE(trap.has_value() == (instruction.target().name == "sm_75"));
        if (!trap) continue;
        REQUIRE(trap->site.lane == lane);
        REQUIRE(trap->address == address);
        REQUIRE(r.values() == before);
      }
  }
}

TEST_CASE("a wrong row address traps, names the lane and changes nothing") {
  struct Row {
    std::uint32_t address;
    const char* reason;
  };
  constexpr Row rows[] = {{2, "16-byte aligned"},          {8, "16-byte aligned"},        {memory_bytes - 15, "16-byte aligned"},
                          {memory_bytes, "leaves"},        {memory_bytes + 16, "leaves"}, {0xFFFF'FFF0, "leaves"},
                          {0xFFFF'FFFF, "16-byte aligned"}};
  std::mt19937_64 random(28);
  for (const int number : {1, 2, 4})
    for (const bool trans : {false, true})
      for (int lane = 0; lane < 8 * number; ++lane)
        for (const Row& row : rows) {
          SharedMemory memory = random_memory(random);
          const std::vector<std::uint8_t> memory_before = copy(memory);
          Register addresses = distinct_rows(random);
          addresses[static_cast<std::size_t>(lane)] = row.address;
          Registers r(number);
          r.fill(random);
          const std::vector<Register> registers_before = r.values();
          for (const bool loads : {true, false}) {
            const auto trap = trap_in([&] {
              if (loads) load(ldmatrix(number, trans), memory, addresses, r.list());
              if (!loads) store(stmatrix(number, trans), memory, addresses, r.list());
            });
            CAPTURE(loads, number, trans, lane, row.address);
            REQUIRE(trap.has_value());
            REQUIRE(trap->site.lane == lane);
            REQUIRE(trap->address == row.address);
            REQUIRE(trap->reason.find(row.reason) != std::string::npos);
            REQUIRE(r.values() == registers_before);
            REQUIRE(copy(memory) == memory_before);
          }
        }
}

TEST_CASE("a row must end inside a shared memory of any size") {
  for (const std::size_t bytes : {0u, 15u, 16u, 17u, 31u, 32u}) {
    CAPTURE(bytes);
    SharedMemory memory(bytes);
    Register addresses{};
    Registers r(1);
    const std::size_t rows = bytes / row_bytes;
    for (std::uint32_t row = 0; row < 3; ++row) {
      addresses.fill(row * std::uint32_t{row_bytes});
      CHECK(trap_in([&] { load(ldmatrix(1, false), memory, addresses, r.list()); }).has_value() == (row >= rows));
      CHECK(trap_in([&] { store(stmatrix(1, false), memory, addresses, r.list()); }).has_value() == (row >= rows));
    }
  }
}

TEST_CASE("rows are addressed from the base of the shared memory on") {
  std::mt19937_64 random(33);
  SharedMemory memory = random_memory(random, 512), based(copy(memory), 0x1000);
  Register addresses, moved;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    addresses[lane] = static_cast<std::uint32_t>(row_bytes * (31 - lane));
    moved[lane] = addresses[lane] + 0x1000;
  }
  Registers r(4), same(4);
  load(ldmatrix(4, false), memory, addresses, r.list());
  load(ldmatrix(4, false), based, moved, same.list());
  CHECK(r.values() == same.values());
  store(stmatrix(4, true), memory, addresses, r.list());
  store(stmatrix(4, true), based, moved, r.list());
  CHECK(copy(memory) == copy(based));
  const auto trap = trap_in([&] { load(ldmatrix(4, false), based, addresses, r.list()); });
  REQUIRE(trap.has_value());
  CHECK(trap->site.lane == 0);
}

TEST_CASE("of several wrong addresses the lowest lane's is named") {
  SharedMemory memory(64);
  Register addresses{};
  addresses[6] = 8;
  addresses[3] = 4096;
  Registers r(1);
  const auto trap = trap_in([&] { load(ldmatrix(1, false), memory, addresses, r.list()); });
  REQUIRE(trap.has_value());
  CHECK(trap->site.lane == 3);
  CHECK(trap->address == 4096);
}

TEST_CASE("addresses and offset add modulo 2^32") {
  struct Row {
    std::uint32_t base;
    std::int64_t offset;
    std::uint32_t sum;
    bool inside;
  };
  constexpr Row rows[] = {{0, 0, 0, true},
                          {0, 32, 32, true},
                          {48, -48, 0, true},
                          {8, 8, 16, true},
                          {0xFFFF'FFF0, 16, 0, true},
                          {0xFFFF'FFF8, 0x28, 0x20, true},
                          {0x8000'0000, 0x8000'0000, 0, true},
                          {16, std::int64_t{1} << 32, 16, true},
                          {16, -(std::int64_t{1} << 32), 16, true},
                          {0, -16, 0xFFFF'FFF0, false},
                          {16, 8, 24, false},
                          {0, 64, 64, false}};
  std::mt19937_64 random(29);
  for (const Row& row : rows) {
    CAPTURE(row.base, row.offset);
    SharedMemory memory = random_memory(random, 64);
    Register addresses, sums;
    addresses.fill(row.base);
    sums.fill(row.sum);
    Registers r(1), expected(1);
    const auto trap = trap_in([&] { load(ldmatrix(1, false), memory, addresses, r.list(), row.offset); });
    CHECK(trap.has_value() != row.inside);
    if (trap) {
      CHECK(trap->address == row.sum);
      CHECK(trap_in([&] { store(stmatrix(1, false), memory, addresses, r.list(), row.offset); })->address == row.sum);
      continue;
    }
    load(ldmatrix(1, false), memory, sums, expected.list());
    CHECK(r.values() == expected.values());
    SharedMemory same = memory;
    r.fill(random);
    store(stmatrix(1, false), memory, addresses, r.list(), row.offset);
    store(stmatrix(1, false), same, sums, r.list());
    CHECK(copy(memory) == copy(same));
  }
}

TEST_CASE("the destination of ldmatrix may contain the address register") {
  std::mt19937_64 random(30);
  for (const bool trans : {false, true})
    for (std::size_t alias = 0; alias < 4; ++alias) {
      SharedMemory memory = random_memory(random);
      Register addresses = distinct_rows(random);
      Registers expected(4), r(4);
      load(ldmatrix(4, trans), memory, addresses, expected.list());
      r[alias] = addresses;
      load(ldmatrix(4, trans), memory, r[alias], r.list());
      CHECK(r.values() == expected.values());
    }
}

TEST_CASE("stmatrix may store its own address register") {
  std::mt19937_64 random(31);
  SharedMemory memory = random_memory(random), same = memory;
  Registers r(2);
  r.fill(random);
  r[1] = distinct_rows(random);
  const Register addresses = r[1];
  store(stmatrix(2, false), memory, r[1], r.list());
  store(stmatrix(2, false), same, addresses, r.list());
  CHECK(copy(memory) == copy(same));
}

TEST_CASE("of a register that ldmatrix lists twice, the later matrix stays") {
  std::mt19937_64 random(32);
  SharedMemory memory = random_memory(random);
  const Register addresses = distinct_rows(random);
  Registers plain(2), r(1);
  load(ldmatrix(2, false), memory, addresses, plain.list());
  std::uint32_t* const twice[] = {r[0].data(), r[0].data()};
  load(ldmatrix(2, false), memory, addresses, twice);
  CHECK(r[0] == plain[1]);
}

}  // namespace
}  // namespace warpmat::moves_test
