#include <warpmat/instruction.h>
#include <warpmat/program.h>

#include "compressed_table.h"
#include "execute/registers.h"
#include "oracle/oracle.h"
#include "test.h"

// wmma against what an H200 answered: which element each place of a fragment holds is read from a table that the card filled, and products
// are chained by the oracle over the elements that this table names.

namespace warpmat::wmma_test {
namespace {

/// What the card's wmma.load put into each place, or wmma.store took from it: the numbers of elements in memory, for each lane, register
/// and element of the register.
struct Measured {
  std::string opcode;
  std::optional<std::uint32_t> stride;
  std::vector<std::uint32_t> numbers;
};

const std::vector<Measured>& measured() {
  static const std::vector<Measured> all = [] {
    std::vector<Measured> rows;
    for (const auto& row : read_table(source_path("tests/vectors/wmma_places_sm_90.tsv.gz"))) {
      if (row.front().starts_with('#')) continue;
      Measured& m = rows.emplace_back(Measured{row[0], {}, {}});
      if (row[1] != "-") m.stride = static_cast<std::uint32_t>(std::stoul(row[1]));
      std::istringstream numbers(row[2]);
      for (std::uint32_t number = 0; numbers >> number;) m.numbers.push_back(number);
    }
    return rows;
  }();
  return all;
}

const Fragment& moved(const Form& form) {
  return form.operand(OperandName::r).fragment;
}

constexpr std::size_t memory_bytes = 4096;

/// Bits from bit `first` of the memory on.
std::uint64_t bits_at(const std::vector<std::uint8_t>& memory, std::size_t first, std::size_t count) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) bits |= (std::uint64_t{memory[(first + i) / 8]} >> (first + i) % 8 & 1) << i;
  return bits;
}

/// Element `i` of register `reg` in a lane.
std::uint64_t place_bits(const Fragment& f, const Registers& registers, std::size_t lane, std::size_t reg, std::size_t i) {
  if (f.register_bits() == 64) return registers[2 * reg][lane] | std::uint64_t{registers[2 * reg + 1][lane]} << 32;
  const auto bits = static_cast<std::size_t>(f.element_bits());
  return registers[reg][lane] >> i * bits & (bits == 32 ? 0xffffffff : (1u << bits) - 1);
}

/// Calls `visit(lane, register, element of the register, number in memory)`.
template <typename Visit>
void for_each_place(const Fragment& f, const Measured& m, Visit visit) {
  std::size_t next = 0;
  for (std::size_t lane = 0; lane < warp_size; ++lane)
    for (std::size_t reg = 0; reg < static_cast<std::size_t>(f.registers()); ++reg)
      for (std::size_t i = 0; i < static_cast<std::size_t>(f.elements_per_register()); ++i) visit(lane, reg, i, m.numbers.at(next++));
}

/// A statement's registers, with the address and stride in all lanes; a stride may be left out.
struct Move {
  Move(const Form& form, std::optional<std::uint32_t> stride, std::uint32_t address = 0) : registers(form), memory(memory_bytes) {
    registers[OperandName::p][0].fill(address);
    batch = registers.batch();
    if (stride)
      registers[OperandName::stride][0].fill(*stride);
    else
      batch.source(OperandName::stride) = {};
    batch.use(memory);
  }
  Move(const Move&) = delete;
  Move& operator=(const Move&) = delete;

  FormRegisters registers;
  SharedMemory memory;
  Batch batch;
};

std::vector<std::uint8_t> random_bytes(std::mt19937_64& random) {
  std::vector<std::uint8_t> bytes(memory_bytes);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

TEST_CASE("wmma.load and wmma.store move the elements that an H200 moves", "[wmma]") {
  REQUIRE(measured().size() == 488);  // 122 opcodes: generic with and without a stride, .global, .shared
  std::mt19937_64 random(1);
  Tally tally;
  for (const Measured& m : measured()) {
    const Instruction instruction(m.opcode, "sm_90");
    const Form& form = instruction.form();
    const auto bits = static_cast<std::size_t>(moved(form).element_bits());
    Move move(form, m.stride);
    const std::vector<std::uint8_t> memory = random_bytes(random);
    std::ranges::copy(memory, move.memory.bytes().begin());
    Registers& registers = move.registers[OperandName::r];
    registers.fill(random);
    execute(instruction, move.batch);
    const std::vector<std::uint8_t> after(move.memory.bytes().begin(), move.memory.bytes().end());
    std::vector<std::uint8_t> untouched = after;
    for_each_place(moved(form), m, [&](std::size_t lane, std::size_t reg, std::size_t i, std::size_t number) {
      const std::uint64_t expected = bits_at(form.mnemonic == Mnemonic::wmma_load ? memory : after, number * bits, bits);
      tally.expect(place_bits(moved(form), registers, lane, reg, i) == expected,
                   [&] { return fmt::format("{}: lane {}, register {}, element {} is not number {}", m.opcode, lane, reg, i, number); });
      for (std::size_t byte = number * bits / 8; byte < (number * bits + bits + 7) / 8; ++byte) untouched[byte] = memory[byte];
    });
    tally.expect(untouched == memory, [&] { return m.opcode + " writes elsewhere"; });
  }
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() > 100'000);
}

/// Where the elements of an operand lie, as the card's loads and stores say: by row and column, the lane, register and element of the
/// register.
struct CardPlace {
  std::size_t lane, reg, i;
};
using CardPlaces = std::map<std::pair<int, int>, CardPlace>;

std::string shape_text(const Shape& s) {
  return fmt::format("m{}n{}k{}", s.m, s.n, s.k);
}

/// `matrix`: 'a', 'b', 'c' or 'd'. Of several copies the first.
const CardPlaces& card_places(char matrix, const Shape& shape, Format format) {
  static std::map<std::string, CardPlaces> known;
  const bool column_major = matrix == 'b';  // all that have .row have it too, but for B of 4- and 1-bit elements
  const std::string opcode = fmt::format("wmma.{}.{}.sync.aligned.{}.{}.shared.{}", matrix == 'd' ? "store" : "load", matrix,
                                         column_major ? "col" : "row", shape_text(shape), name(format));
  const auto [found, is_new] = known.try_emplace(opcode);
  if (!is_new) return found->second;
  const auto m = std::ranges::find(measured(), opcode, &Measured::opcode);
  REQUIRE(m != measured().end());
  CardPlaces& places = found->second;
  for_each_place(moved(*find_form(opcode)), *m, [&](std::size_t lane, std::size_t reg, std::size_t i, std::uint32_t number) {
    const int line = static_cast<int>(number / *m->stride), in_line = static_cast<int>(number % *m->stride);
    places.try_emplace(column_major ? std::pair(in_line, line) : std::pair(line, in_line), CardPlace{lane, reg, i});
  });
  return places;
}

oracle::FloatFormat oracle_format(Format format) {
  return format == Format::f16 ? oracle::f16 : format == Format::bf16 ? oracle::bf16 : format == Format::tf32 ? oracle::tf32 : oracle::f32;
}

/// The unit of a hardware, and how many of K a machine instruction gives it at once: HMMA.16816, HMMA.1688 and HMMA.1684.
oracle::Unit oracle_unit(Hardware hardware, Format a) {
  const int tf32_step = 4;
  if (hardware < Hardware::sm_90) return oracle::ampere_unit(a == Format::tf32 ? tf32_step : 8);
  return oracle::hopper_unit(a == Format::tf32 ? tf32_step : 16);
}

std::uint64_t expected_element(const Form& form, Hardware hardware, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                               std::uint64_t c) {
  const Format type = form.format(OperandName::a);
  if (form.bit_operation == BitOperation::bit_xor) return oracle::xor_popc_dot(a, b, static_cast<std::uint32_t>(c));
  if (is_integer(row(type)))
    return oracle::integer_dot(row(type).bits, row(type).is_signed, row(type).is_signed, form.satfinite, a, b,
                               static_cast<std::uint32_t>(c));
  const bool f16_c = form.format(OperandName::c) == Format::f16, f16_d = form.format(OperandName::d) == Format::f16;
  const oracle::FloatFormat in_unit = f16_c && f16_d ? oracle::f16 : oracle::f32;
  constexpr std::uint64_t nan_f32 = 0x7fffffff, nan_f16 = 0x7fff;
  const auto is_special = [](oracle::FloatFormat f, std::uint64_t bits) { return oracle::is_nan(f, bits) || oracle::is_inf(f, bits); };
  if (f16_c && !f16_d)  // to f32: infinity and NaN by hand, all else is a number that f32 has
    c = oracle::is_nan(oracle::f16, c) ? nan_f32
        : is_special(oracle::f16, c)   ? (c << 16 & 0x80000000) | 0x7f800000
        : (c & 0x7fff) == 0            ? c << 16
                                       : oracle::nearest(oracle::f32, oracle::value(oracle::f16, c));
  const std::uint64_t sum = oracle::float_dot(oracle_unit(hardware, type), oracle_format(type), oracle_format(type), in_unit, a, b, c);
  if (!f16_d || f16_c) return sum;
  if (oracle::is_nan(oracle::f32, sum)) return nan_f16;
  if (is_special(oracle::f32, sum) || (sum & 0x7fffffff) == 0) return (sum >> 16 & 0x8000) | ((sum & 0x7fffffff) == 0 ? 0u : 0x7c00u);
  return oracle::nearest(oracle::f16, oracle::value(oracle::f32, sum));
}

/// Registers of numbers whose sums do not all overflow: random bits for integers, exponents near 0 for others, and sometimes random bits.
void fill_product(const Form& form, FormRegisters& registers, bool random_bits, std::mt19937_64& random) {
  registers.fill(random);
  if (random_bits || is_integer(row(form.format(OperandName::a)))) return;
  for (const OperandName operand : {OperandName::a, OperandName::b, OperandName::c}) {
    const FormatRow& f = row(form.format(operand));
    const int in_register = f.bits == 16 ? 2 : 1;
    Registers& words = registers[operand];
    for (std::size_t i = 0; i < words.size(); ++i)
      for (std::uint32_t& word : words[i]) {
        word = 0;
        for (int n = 0; n < in_register; ++n) {
          const std::uint64_t exponent = static_cast<std::uint64_t>(bias(f)) - 6 + random() % 13;
          const std::uint64_t fraction_bits = static_cast<std::uint64_t>(f.bits - 1 - f.exponent_bits);
          const std::uint64_t number =
              (random() & 1) << (f.bits - 1) | exponent << fraction_bits | (random() & ((std::uint64_t{1} << fraction_bits) - 1));
          word |= static_cast<std::uint32_t>(number << (16 * n));
        }
      }
  }
}

std::vector<const Form*> products() {
  std::vector<const Form*> out;
  for (const Form& form : forms())
    if (form.mnemonic == Mnemonic::wmma_mma) out.push_back(&form);
  return out;
}

using Lines = std::vector<std::vector<std::uint64_t>>;

/// The rows of an operand's matrix, or its columns.
Lines card_lines(const Form& form, FormRegisters& registers, OperandName operand, int rows, int columns, bool by_column = false) {
  const CardPlaces& places = card_places(name(operand).front(), form.shape, form.format(operand));
  const Fragment& fragment = form.operand(operand).fragment;
  Lines lines(static_cast<std::size_t>(by_column ? columns : rows));
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      const CardPlace at = places.at({i, j});
      lines[static_cast<std::size_t>(by_column ? j : i)].push_back(place_bits(fragment, registers[operand], at.lane, at.reg, at.i));
    }
  return lines;
}

void compare_product(Tally& tally, const Instruction& wmma, FormRegisters& registers) {
  const Form& form = wmma.form();
  const auto [m, n, k] = form.shape;
  const Lines a = card_lines(form, registers, OperandName::a, m, k), b = card_lines(form, registers, OperandName::b, k, n, true);
  Lines expected = card_lines(form, registers, OperandName::c, m, n);
  for (std::size_t i = 0; i < expected.size(); ++i)
    for (std::size_t j = 0; j < expected[i].size(); ++j)
      expected[i][j] = expected_element(form, wmma.target().hardware, a[i], b[j], expected[i][j]);
  for (const Path path : {Path::fast, Path::reference}) {
    for (std::size_t i = 0; i < registers[OperandName::d].size(); ++i) registers[OperandName::d][i].fill(0xdeadbeef);
    execute(wmma, registers.batch(), 1, {.path = path});
    const Lines found = card_lines(form, registers, OperandName::d, m, n);
    for (std::size_t i = 0; i < found.size(); ++i)
      for (std::size_t j = 0; j < found[i].size(); ++j)
        tally.expect(found[i][j] == expected[i][j], [&] {
          return fmt::format("{} on {}, {}: row {}, column {} is {:#x}; the oracle says {:#x}", form.opcode, wmma.target().name,
                             path == Path::fast ? "fast" : "reference", i, j, found[i][j], expected[i][j]);
        });
  }
}

TEST_CASE("wmma.mma multiplies the matrices that the card's loads make, by the steps of its machine instructions", "[wmma]") {
  std::mt19937_64 random(2);
  Tally tally;
  std::size_t compared = 0;
  for (const Form* form : products()) {
    if (form->format(OperandName::a) == Format::f64) continue;
    const bool row_col = form->opcode.find(".row.col.") != std::string::npos;  // the other layouts are the same computation
    for (const std::string on : {"sm_75", "sm_80", "sm_90", "sm_120"}) {       // sm_70: volta_wmma_test.cpp
      if (unavailable(*form, target(on)) || (!row_col && on != "sm_90")) continue;
      const Instruction wmma(*form, target(on));
      FormRegisters registers(*form);
      for (const bool random_bits : {false, true}) {
        fill_product(*form, registers, random_bits, random);
        compare_product(tally, wmma, registers);
        ++compared;
      }
    }
  }
  CHECK(tally.failures() == "");
  CHECK(compared > 400);
}

TEST_CASE("wmma.mma reads the first copy of elements that registers hold several times", "[wmma]") {
  std::mt19937_64 random(4);
  const Instruction wmma("wmma.mma.sync.aligned.row.col.m8n32k16.f32.f32", "sm_90");
  FormRegisters registers(wmma.form());
  fill_product(wmma.form(), registers, false, random);
  CHECK(wmma.form().operand(OperandName::a).fragment.copies() == 4);
  execute(wmma, registers.batch());
  const auto expected = registers[OperandName::d].values();
  for (std::size_t i = 2; i < 8; ++i) registers[OperandName::a][i].fill(0x7e007e00);
  execute(wmma, registers.batch());
  CHECK(registers[OperandName::d].values() == expected);
  registers[OperandName::a][1].fill(0x7e007e00);
  execute(wmma, registers.batch());
  CHECK(registers[OperandName::d].values() != expected);
}

TEST_CASE("wmma.load and wmma.store trap where address or stride are wrong, and change nothing", "[wmma]") {
  const Instruction load("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16", "sm_90");
  const Instruction store("wmma.store.d.sync.aligned.col.m16n16k16.f32", "sm_90");
  const auto reason = [](const Instruction& instruction, auto change, std::optional<std::uint32_t> stride = 16, std::uint32_t address = 0) {
    Move move(instruction.form(), stride, address);
    for (std::size_t i = 0; i < move.registers[OperandName::r].size(); ++i) move.registers[OperandName::r][i].fill(7);
    change(move);
    const auto trap = trap_in([&] { execute(instruction, move.batch); });
    for (std::size_t i = 0; i < move.registers[OperandName::r].size(); ++i)
      for (const std::uint32_t word : move.registers[OperandName::r][i]) CHECK((!trap || word == 7));
    if (trap)
      for (const std::uint8_t byte : move.memory.bytes()) CHECK(byte == 0);
    return trap ? trap->reason : std::string();
  };
  const auto nothing = [](Move&) {};
  CHECK(reason(load, nothing) == "");
  CHECK(reason(store, nothing) == "");
  CHECK(reason(load, nothing, std::nullopt) == "");
  CHECK(reason(load, nothing, 24, 16) == "");
  CHECK(reason(load, nothing, 16, 8) == "the address of a matrix must be a multiple of 16 bytes for " + load.form().opcode);
  CHECK(reason(load, nothing, 20) == "a stride of 20 elements is no multiple of 16 bytes, which " + load.form().opcode + " needs");
  CHECK(reason(load, [](Move& m) { m.registers[OperandName::p][0][3] = 32; }) ==
        "the address is 0x20, and 0x0 in lane 0; all lanes must give the same");
  CHECK(reason(store, [](Move& m) { m.registers[OperandName::stride][0][31] = 32; }) ==
        "the stride is 0x20, and 0x10 in lane 0; all lanes must give the same");
  CHECK(reason(load, nothing, 0x10000) != "");
  CHECK(reason(store, nothing, 0x1000) != "");  // the first column fits, the second does not
  CHECK(reason(load, nothing, 16, memory_bytes - 496) != "");
}

// tests/vectors/wmma_overlaps_sm_90.tsv.gz: the statement; %r0 to %r23 before it, "-" where it has none of that register; elements of D
// that the card gave, each of them other than if the statement read everything before it wrote anything, or one half after the other.
TEST_CASE("wmma.mma whose D registers are also sources gives what an H200 gives", "[wmma]") {
  const auto rows = read_table(source_path("tests/vectors/wmma_overlaps_sm_90.tsv.gz"));
  std::size_t compared = 0;
  for (const auto& row : rows) {
    if (row.front().starts_with('#')) continue;
    INFO(row[0]);
    const Program program = parse(".reg .b32 %r<24>;\n" + row[0], "sm_90a");
    for (const Path path : {Path::fast, Path::reference}) {
      Warp warp(program);
      std::istringstream words(row[1]), expected(row[2]);
      std::string text;
      for (int reg = 0; words >> text; ++reg)
        for (std::size_t lane = 0; text != "-" && lane < warp_size; ++lane)
          warp.named_registers()[static_cast<std::size_t>(reg)][lane] =
              static_cast<std::uint32_t>(std::stoul(text.substr(8 * lane, 8), nullptr, 16));
      run(warp, {.path = path});
      const Statement& statement = program.statements().front();
      std::vector<const std::uint32_t*> d;
      for (std::uint32_t* word : warp.words(statement.operands().front())) d.push_back(word);
      const Fragment& fragment = statement.matrix()->form().operand(OperandName::d).fragment;
      int i = 0, j = 0;
      char comma = 0, equals = 0;
      for (std::uint64_t bits = 0; expected >> std::dec >> i >> comma >> j >> equals >> std::hex >> bits; ++compared)
        CHECK(read_element(fragment, d, {i, j}) == bits);
    }
  }
  CHECK(rows.size() == 22);
  CHECK(compared > 2 * 50);
}

}  // namespace
}  // namespace warpmat::wmma_test
