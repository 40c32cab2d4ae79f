#include <warpmat/execute/reference/execute.h>
#include <warpmat/instruction.h>

#include "execute/both_paths.h"
#include "execute/registers.h"
#include "numeric/operand_classes.h"
#include "numeric/oracle_format.h"
#include "oracle/oracle.h"
#include "test.h"

namespace warpmat::mma_test {
namespace {

// ---- Registers by the oracle's formulas, never by the emulator's fragments ----------------------------------------------------------

using Codes = std::vector<std::uint64_t>;

/// A logical matrix of codes, row by row.
struct Matrix {
  int rows, columns;
  Codes codes = Codes(static_cast<std::size_t>(rows * columns));

  std::uint64_t& at(int row, int column) { return codes[static_cast<std::size_t>(row * columns + column)]; }
  std::uint64_t at(int row, int column) const { return codes[static_cast<std::size_t>(row * columns + column)]; }

  Codes row(int i) const {
    const auto begin = codes.begin() + static_cast<std::ptrdiff_t>(i) * columns;
    return {begin, begin + columns};
  }
  Codes column(int j) const {
    Codes out;
    for (int i = 0; i < rows; ++i) out.push_back(at(i, j));
    return out;
  }
};

/// kind::f8f6f4 gives each element of A and B a byte.
bool in_bytes(const Form& form, OperandName name) {
  return form.opcode.find(".kind::f8f6f4.") != std::string::npos && (name == OperandName::a || name == OperandName::b);
}

/// Bits of an element with its container.
int bits_of(const Form& form, OperandName name) {
  return in_bytes(form, name) ? 8 : row(*form.operand(name).format).bits;
}

/// Where in its container an element begins.
int shift_of(const Form& form, OperandName name) {
  return in_bytes(form, name) && form.operand(name).format == Format::e2m1 ? 2 : 0;
}

Matrix matrix_of(const Form& form, OperandName name) {
  const auto [m, n, k] = form.shape;
  return name == OperandName::a ? Matrix{m, k} : name == OperandName::b ? Matrix{k, n} : Matrix{m, n};
}

oracle::Position position(Shape shape, OperandName name, int bits, int lane, int i) {
  const auto [m, n, k] = shape;
  if (name == OperandName::a) return oracle::a_position(m, k, bits, lane, i);
  if (name == OperandName::b) return oracle::b_position(k, n, bits, lane, i);
  return oracle::c_position(m, lane, i);
}

/// Calls `visit(row, column, register, lane, bit)` for every element of the operand.
template <typename Visit>
void for_each_element(const Form& form, OperandName name, Visit visit) {
  const Matrix shape = matrix_of(form, name);
  const int bits = bits_of(form, name);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < shape.rows * shape.columns / 32; ++i) {
      const oracle::Position p = position(form.shape, name, bits, lane, i);
      visit(p.row, p.column, static_cast<std::size_t>(i * bits / 32), static_cast<std::size_t>(lane), i * bits % 32);
    }
}

int registers_of(const Form& form, OperandName name) {
  const Matrix shape = matrix_of(form, name);
  return shape.rows * shape.columns * bits_of(form, name) / 1024;
}

void put(const Form& form, OperandName name, const Matrix& matrix, Registers& registers) {
  for (std::size_t i = 0; i < registers.size(); ++i) registers[i].fill(0);
  const int shift = shift_of(form, name);
  for_each_element(form, name, [&](int row, int column, std::size_t reg, std::size_t lane, int bit) {
    registers[reg][lane] |= static_cast<std::uint32_t>(matrix.at(row, column) << (bit + shift));
  });
}

Matrix get(const Form& form, OperandName name, const Registers& registers) {
  Matrix matrix = matrix_of(form, name);
  const std::uint64_t mask = (std::uint64_t{1} << bits_of(form, name)) - 1;
  for_each_element(form, name, [&](int row, int column, std::size_t reg, std::size_t lane, int bit) {
    matrix.at(row, column) = registers[reg][lane] >> bit & mask;
  });
  return matrix;
}

/// The registers of one mma, all different.
struct Operands {
  Registers a, b, c, d;

  explicit Operands(const Form& form)
      : a(registers_of(form, OperandName::a)),
        b(registers_of(form, OperandName::b)),
        c(registers_of(form, OperandName::c)),
        d(registers_of(form, OperandName::d)) {}

  void fill(std::mt19937_64& random) {
    for (Registers* r : {&a, &b, &c, &d}) r->fill(random);
  }
  Batch batch() {
    Batch batch;
    batch.destination = d.list();
    batch.source(OperandName::a) = a.list();
    batch.source(OperandName::b) = b.list();
    batch.source(OperandName::c) = c.list();
    return batch;
  }
};

// ---- What each hardware must do -----------------------------------------------------------------------------------------------------

/// From measurements and publications, not from the emulator's tables.
oracle::Unit unit_of(const Form& form, Hardware hardware) {
  const int bits = bits_of(form, OperandName::a);
  if (bits == 8 && hardware == Hardware::sm_89) return oracle::ada_fp8_unit(128 / bits);
  return hardware < Hardware::sm_90 ? oracle::ampere_unit(128 / bits) : oracle::hopper_unit(256 / bits);
}

/// A, B and C as logical matrices.
struct Inputs {
  Matrix a, b, c;
};

Format format_of(const Form& form, OperandName name) {
  return *form.operand(name).format;
}

bool is_float(const Form& form) {
  return !is_integer(row(format_of(form, OperandName::a)));
}

Matrix float_results(const Form& form, const oracle::Unit& unit, const Inputs& in) {
  const Format a = format_of(form, OperandName::a), b = format_of(form, OperandName::b), d = format_of(form, OperandName::d);
  Matrix out = matrix_of(form, OperandName::d);
  for (int i = 0; i < out.rows; ++i)
    for (int j = 0; j < out.columns; ++j)
      out.at(i, j) =
          oracle::float_dot(unit, *oracle_format(a), *oracle_format(b), *oracle_format(d), in.a.row(i), in.b.column(j), in.c.at(i, j));
  return out;
}

Matrix integer_results(const Form& form, const Inputs& in) {
  const auto is_signed = [&](OperandName name) { return row(format_of(form, name)).is_signed; };
  const bool exclusive = form.bit_operation == BitOperation::bit_xor;
  const int bits = bits_of(form, OperandName::a);
  Matrix out = matrix_of(form, OperandName::d);
  for (int i = 0; i < out.rows; ++i)
    for (int j = 0; j < out.columns; ++j)
      out.at(i, j) = exclusive ? oracle::xor_popc_dot(in.a.row(i), in.b.column(j), static_cast<std::uint32_t>(in.c.at(i, j)))
                               : oracle::integer_dot(bits, is_signed(OperandName::a), is_signed(OperandName::b), form.satfinite,
                                                     in.a.row(i), in.b.column(j), static_cast<std::uint32_t>(in.c.at(i, j)));
  return out;
}

Inputs float_inputs(const Form& form, DotClass operand_class, std::mt19937_64& random) {
  Inputs in{matrix_of(form, OperandName::a), matrix_of(form, OperandName::b), matrix_of(form, OperandName::c)};
  const Format a = format_of(form, OperandName::a), b = format_of(form, OperandName::b), c = format_of(form, OperandName::c);
  for (int i = 0; i < form.shape.m; ++i) {
    const DotOperands x = draw_operands(operand_class, a, b, c, static_cast<std::size_t>(form.shape.k), random);
    for (int k = 0; k < form.shape.k; ++k) {
      in.a.at(i, k) = x.a[static_cast<std::size_t>(k)];
      if (i < form.shape.n) in.b.at(k, i) = x.b[static_cast<std::size_t>(k)];
    }
    for (int j = 0; j < form.shape.n; ++j) in.c.at(i, j) = draw_code(operand_class, c, random);
    if (i < form.shape.n) in.c.at(i, i) = x.c;
  }
  if (operand_class != DotClass::cancelling) return in;
  // Off the diagonal c cancels the sum too, in every second row.
  for (int i = 0; i < form.shape.m; i += 2)
    for (int j = 0; j < form.shape.n; ++j) in.c.at(i, j) = opposite_of_sum(a, b, c, in.a.row(i), in.b.column(j));
  return in;
}

/// Random numbers, or only the ends of the range; c anywhere, or so near an end of s32 that sums cross it.
Inputs integer_inputs(const Form& form, bool extreme, std::mt19937_64& random) {
  Inputs in{matrix_of(form, OperandName::a), matrix_of(form, OperandName::b), matrix_of(form, OperandName::c)};
  const int bits = bits_of(form, OperandName::a);
  const std::uint64_t highest = (std::uint64_t{1} << bits) - 1, half = std::uint64_t{1} << (bits - 1);
  const std::uint64_t ends[] = {0, 1, half - 1, half, highest};
  const std::uint64_t largest_sum = static_cast<std::uint64_t>(form.shape.k) << (2 * bits - 1);
  for (Matrix* matrix : {&in.a, &in.b})
    for (std::uint64_t& code : matrix->codes) code = extreme ? ends[random() % std::size(ends)] : random() & highest;
  for (std::uint64_t& code : in.c.codes) {
    code = random() & 0xFFFF'FFFF;
    if (extreme) code = (random() % 2 == 0 ? 0x7FFF'FFFF - random() % largest_sum : 0x8000'0000 + random() % largest_sum);
  }
  return in;
}

/// Where `form` exists and is executed in one of the ways that the oracle describes: of m16n8 and m8n8 shapes, dense, without scales.
std::vector<Hardware> hardware_of(const Form& form, std::initializer_list<Semantics> ways) {
  std::set<Hardware> out;
  if (form.sparsity != Sparsity::dense || form.scale_vector != 0) return {};
  for (const Target& target : targets())
    if (!unavailable(form, target) && std::ranges::find(ways, find_lowering(form, target.hardware)->semantics) != ways.end())
      out.insert(target.hardware);
  return {out.begin(), out.end()};
}

const Target& target_of(const Form& form, Hardware hardware) {
  return *std::ranges::find_if(targets(), [&](const Target& target) { return target.hardware == hardware && !unavailable(form, target); });
}

/// The form on each of `all`, made once for all cases.
std::vector<Instruction> instructions_of(const Form& form, const std::vector<Hardware>& all) {
  std::vector<Instruction> out;
  for (const Hardware hardware : all) out.emplace_back(form, target_of(form, hardware));
  return out;
}

void compare(Tally& tally, const Instruction& mma, std::string_view what, const Inputs& in, const Matrix& expected) {
  const Form& form = mma.form();
  Operands registers(form);
  put(form, OperandName::a, in.a, registers.a);
  put(form, OperandName::b, in.b, registers.b);
  put(form, OperandName::c, in.c, registers.c);
  const auto a = registers.a.values(), b = registers.b.values(), c = registers.c.values();
  execute_both_paths(mma, registers.batch());
  const Matrix got = get(form, OperandName::d, registers.d);
  for (int i = 0; i < got.rows; ++i)
    for (int j = 0; j < got.columns; ++j)
      tally.expect(got.at(i, j) == expected.at(i, j), [&] {
        return fmt::format("{} on {}, {}: D[{}][{}] is {:#x}, expected {:#x}", form.opcode, mma.target().name, what, i, j, got.at(i, j),
                           expected.at(i, j));
      });
  tally.expect(registers.a.values() == a && registers.b.values() == b && registers.c.values() == c,
               [&] { return form.opcode + " changes a source"; });
}

std::vector<const Form*> mma_forms() {
  std::vector<const Form*> out;
  for (const Form& form : forms())
    if (form.mnemonic == Mnemonic::mma) out.push_back(&form);
  return out;
}

TEST_CASE("every floating-point mma on every hardware agrees with the oracle bit for bit") {
  constexpr std::size_t wide_cases = 8, narrow_cases = 4;
  std::mt19937_64 random(40);
  Tally tally;
  std::size_t compared = 0, wide_pairs = 0, narrow_pairs = 0;
  for (const Form* form : mma_forms()) {
    if (!is_float(*form)) continue;
    const bool wide = bits_of(*form, OperandName::a) >= 16;
    const std::vector<Hardware> all = hardware_of(*form, {Semantics::dot});
    (wide ? wide_pairs : narrow_pairs) += all.size();
    if (all.empty()) continue;
    const std::vector<Instruction> instructions = instructions_of(*form, all);
    for (const DotClass operand_class : dot_classes)
      for (std::size_t i = 0; i < case_count(wide ? wide_cases : narrow_cases); ++i) {
        const Inputs in = float_inputs(*form, operand_class, random);
        std::map<oracle::Unit, Matrix> expected;  // hardware with the same unit has the same results
        for (const Instruction& instruction : instructions) {
          const oracle::Unit unit = unit_of(*form, instruction.target().hardware);
          if (!expected.contains(unit)) expected.emplace(unit, float_results(*form, unit, in));
          compare(tally, instruction, name(operand_class), in, expected.at(unit));
          ++compared;
        }
      }
  }
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() == compared * (16 * 8 + 1));
  // 2 forms from sm_75 on and 6 from sm_80 on; 16 of fp8 on sm_89, sm_120 and sm_121, and 58 of kind::f8f6f4 on the latter.
  CHECK(wide_pairs == 2 * 12 + 6 * 11);
  CHECK(narrow_pairs == 16 * 3 + 58 * 2);
  CHECK(compared == (wide_pairs * case_count(wide_cases) + narrow_pairs * case_count(narrow_cases)) * std::size(dot_classes));
}

TEST_CASE("every integer mma on every hardware agrees with the oracle, wrapping or clamped") {
  std::mt19937_64 random(41);
  Tally tally;
  std::map<int, std::size_t> forms_seen;  // by bits of an element
  for (const Form* form : mma_forms()) {
    if (is_float(*form)) continue;
    const std::vector<Hardware> all = hardware_of(*form, {Semantics::integer_dot, Semantics::bit_dot});
    if (all.empty()) continue;
    ++forms_seen[bits_of(*form, OperandName::a)];
    const std::vector<Instruction> instructions = instructions_of(*form, all);
    for (const bool extreme : {false, true})
      for (std::size_t i = 0; i < case_count(10); ++i) {
        const Inputs in = integer_inputs(*form, extreme, random);
        const Matrix expected = integer_results(*form, in);
        for (const Instruction& instruction : instructions) compare(tally, instruction, extreme ? "extreme" : "random", in, expected);
      }
  }
  CHECK(tally.failures() == "");
  CHECK(forms_seen == std::map<int, std::size_t>{{8, 3 * 4 * 2}, {4, 3 * 4 * 2}, {1, 3 * 2}});
}

/// Calls `visit(instruction, registers)` for every mma form with registers that are filled at random.
template <typename Visit>
void for_each_filled(std::uint64_t seed, Visit visit) {
  std::mt19937_64 random(seed);
  for (const Form* form : mma_forms()) {
    CAPTURE(form->opcode);
    FormRegisters registers(*form);
    registers.fill(random);
    visit(Instruction(*form, target_with(*form)), registers);
  }
}

TEST_CASE("D may be C, A or B, or any mixture of their registers") {
  for_each_filled(42, [](const Instruction& mma, FormRegisters& clean) {
    const Form& form = mma.form();
    FormRegisters untouched(form);
    for (const Operand& operand : form.operands) untouched[operand.name].set(clean[operand.name].values());
    execute(mma, clean.batch());

    const bool sequence = mma.lowering().semantics == Semantics::split_dot;  // reads C while it writes D: see register_places_test
    for (const std::string source : {"c", "a", "b", "mixed"}) {
      CAPTURE(source);
      if (sequence && (source == "c" || source == "mixed")) continue;
      FormRegisters x(form);
      for (const Operand& operand : form.operands) x[operand.name].set(untouched[operand.name].values());
      Registers &a = x[OperandName::a], &b = x[OperandName::b], &c = x[OperandName::c], &d = x[OperandName::d];
      // The registers of the source in reverse, then, where it has too few, d's own.
      std::vector<std::uint32_t*> candidates;
      const auto add = [&](Registers& r) {
        for (std::size_t i = r.size(); i-- > 0;) candidates.push_back(r[i].data());
      };
      if (source == "c") add(c);
      if (source == "a") add(a);
      if (source == "b") add(b);
      if (source == "mixed") candidates = {c[c.size() - 1].data(), a[0].data(), b[0].data(), c[0].data()};
      if (candidates.size() > d.size()) candidates.resize(d.size());
      for (std::size_t i = 0; candidates.size() < d.size(); ++i) candidates.push_back(d[i].data());
      Batch batch = x.batch();
      batch.destination = candidates;
      execute(mma, batch);
      for (std::size_t i = 0; i < d.size(); ++i) REQUIRE(std::ranges::equal(std::span(candidates[i], warp_size), clean[OperandName::d][i]));
    }
  });
}

TEST_CASE("of a register that d lists several times, what the later place gets stays") {
  for_each_filled(44, [](const Instruction& mma, FormRegisters& clean) {
    execute(mma, clean.batch());
    Registers& d = clean[OperandName::d];
    const std::size_t count = d.size();
    const auto execute_to = [&](const std::vector<std::uint32_t*>& destination) {
      Batch batch = clean.batch();
      batch.destination = destination;
      execute(mma, batch);
    };
    Register once{};
    execute_to(std::vector<std::uint32_t*>(count, once.data()));
    CHECK(once == d[count - 1]);
    if (count < 4) return;
    Register first{}, last{};
    std::vector<std::uint32_t*> halves(count, first.data());
    std::fill(halves.begin() + static_cast<std::ptrdiff_t>(count / 2), halves.end(), last.data());
    execute_to(halves);
    CHECK(first == d[count / 2 - 1]);
    CHECK(last == d[count - 1]);
  });
}

}  // namespace
}  // namespace warpmat::mma_test
