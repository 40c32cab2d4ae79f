// Numbers of chosen sizes, subnormal ones among them, and few infinities and NaNs: kernels take subnormal floats for zeros, compute with
// integers where they count, and decide from the rows of A and the columns of B that have infinities and NaNs.

#include <warpmat/execute/fast/instruction_sets.h>
#include <warpmat/instruction.h>

#include "execute/registers.h"
#include "test.h"

namespace warpmat::drawn_numbers_test {
namespace {

struct Case {
  std::string_view opcode, target;
  int warps;
};

/// Compares each instruction set with the reference, on what draw(form, registers, number of the warp, random) has put in the registers.
template <typename Draw>
void compare_sets(std::span<const Case> cases, std::uint64_t seed, Draw draw) {
  std::mt19937_64 random(seed);
  Tally tally;
  std::size_t comparisons = 0;
  for (const Case& c : cases) {
    const Instruction mma(c.opcode, c.target);
    FormRegisters registers(mma.form());
    for (int i = 0; i < c.warps; ++i) {
      registers.fill(random);
      draw(mma.form(), registers, i, random);
      execute(mma, registers.batch(), 1, {.path = Path::reference});
      const std::vector<Register> expected = registers[OperandName::d].values();
      for (const std::string_view set : instruction_sets()) {
        use_instruction_set(set);
        execute(mma, registers.batch());
        ++comparisons;
        tally.expect(registers[OperandName::d].values() == expected,
                     [&] { return std::string(c.opcode) + " on " + std::string(c.target) + " with " + std::string(set); });
      }
    }
    use_best_instruction_set();
  }
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() == comparisons);
}

/// The exponent's bits in a code, and what codes with all of them are.
struct Exponent {
  std::uint64_t lowest, all;
  enum { infinity_and_nans, one_nan, numbers } top;
};

Exponent exponent_of(Format format) {
  switch (format) {
    case Format::f32:
    case Format::tf32: return {0x0080'0000, 0x7f80'0000, Exponent::infinity_and_nans};
    case Format::bf16: return {0x0080, 0x7f80, Exponent::infinity_and_nans};
    case Format::f16: return {0x0400, 0x7c00, Exponent::infinity_and_nans};
    case Format::e5m2: return {0x04, 0x7c, Exponent::infinity_and_nans};
    case Format::e4m3: return {0x08, 0x78, Exponent::one_nan};
    default: return {0x01, 0, Exponent::numbers};
  }
}

/// The code of a number made of random bits: between 1 and 2, or of any size.
std::uint64_t number(Format format, bool one_size, std::uint64_t bits) {
  const Exponent e = exponent_of(format);
  if (e.top == Exponent::numbers) return bits;
  if (one_size) return (bits & ~e.all) | (e.all >> 1 & e.all);
  return (bits & e.all) == e.all ? bits - e.lowest : bits;
}

std::uint64_t special(Format format, bool nan, std::uint64_t bits) {
  const Exponent e = exponent_of(format);
  const std::uint64_t fraction = e.lowest - 1, sign = e.all + e.lowest;
  switch (e.top) {
    case Exponent::infinity_and_nans:
      // The first two fraction bits are kept by every format of these codes.
      return (bits & sign) | e.all | (nan ? (bits & fraction) | e.lowest / (bits % 3 == 0 ? 4 : 2) : 0);
    case Exponent::one_nan: return (bits & sign) | e.all | fraction;
    default: return bits;
  }
}

std::uint64_t bits_of(Format format, std::mt19937_64& random) {
  return random() >> (64 - row(format).bits);
}

void place_special(const Form& form, FormRegisters& registers, OperandName name, std::mt19937_64& random) {
  const Fragment& f = form.operand(name).fragment;
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  const Format format = form.format(name);
  const std::uint64_t bits = special(format, random() % 2 == 0, bits_of(format, random));
  write_element(f, registers[name].list(), {below(f.rows()), below(f.columns())}, bits);
}

/// Numbers, of one size in every second warp, with up to four infinities and NaNs.
void draw_few_specials(const Form& form, FormRegisters& registers, int warp, std::mt19937_64& random) {
  const bool one_size = warp % 2 == 0;
  for (const OperandName name : {OperandName::a, OperandName::b, OperandName::c}) {
    const Fragment& f = form.operand(name).fragment;
    const Format format = form.format(name);
    for (int row = 0; row < f.rows(); ++row)
      for (int column = 0; column < f.columns(); ++column)
        write_element(f, registers[name].list(), {row, column}, number(format, one_size, bits_of(format, random)));
  }
  for (std::uint64_t count = random() % 4; count > 0; --count)
    place_special(form, registers, random() % 2 == 0 ? OperandName::a : OperandName::b, random);
  if (random() % 4 == 0) place_special(form, registers, OperandName::c, random);
}

/// Exponent fields of f32, bf16 and tf32.
struct Fields {
  unsigned first, last;
};
constexpr Fields sizes[] = {{0, 0}, {0, 2}, {1, 1}, {0, 24}, {55, 75}, {100, 110}, {125, 129}, {150, 170}, {1, 254}, {250, 254}};
constexpr Fields top = {255, 255};

Fields any_size(std::mt19937_64& random) {
  return sizes[random() % std::size(sizes)];
}

/// Operands with eight bits of exponent have numbers of one or two sizes, in the same rows or columns or anywhere, and zeros; some have
/// an infinity or NaN. Others: any bits.
void draw_sizes(const Form& form, FormRegisters& registers, int, std::mt19937_64& random) {
  for (const OperandName name : {OperandName::a, OperandName::b, OperandName::c}) {
    const Format format = form.format(name);
    if (format != Format::f32 && format != Format::tf32 && format != Format::bf16) continue;
    const int fraction_bits = row(format).bits - 9;
    const Fragment& f = form.operand(name).fragment;
    const Fields most = any_size(random), few = random() % 2 == 0 ? most : any_size(random);
    const bool has_zeros = random() % 4 == 0;
    const auto of_few = random() % 3 == 0 ? random() : 0;  // rows, or columns of B
    const auto put = [&](int i, int j, Fields fields) {
      const std::uint64_t sign_and_fraction = random() >> (64 - row(format).bits) & ~(std::uint64_t{0xff} << fraction_bits);
      const std::uint64_t field = fields.first + random() % (fields.last - fields.first + 1);
      const bool infinite = fields.first == top.first && random() % 2 == 0, zero = has_zeros && random() % 4 == 0;
      const std::uint64_t sign = std::uint64_t{1} << (fraction_bits + 8);
      write_element(f, registers[name].list(), {i, j},
                    (infinite || zero ? sign_and_fraction & sign : sign_and_fraction) | (zero ? 0 : field << fraction_bits));
    };
    for (int i = 0; i < f.rows(); ++i)
      for (int j = 0; j < f.columns(); ++j) {
        const bool is_few = of_few != 0 ? (of_few >> (name == OperandName::b ? j : i) & 1) != 0 : random() % 8 == 0;
        put(i, j, is_few ? few : most);
      }
    if (random() % 8 == 0)
      put(static_cast<int>(random() % static_cast<unsigned>(f.rows())), static_cast<int>(random() % static_cast<unsigned>(f.columns())),
          top);
  }
}

TEST_CASE("numbers of any size, subnormal ones among them, have the reference's results with every instruction set") {
  constexpr Case cases[] = {
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "sm_80", 1500},
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "sm_90", 1500},
      {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", "sm_90", 500},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "sm_80", 1500},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "sm_90", 1500},
      {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", "sm_90", 500},
      {"mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32", "sm_90", 500},
      {"mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", "sm_80", 500},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_80", 500},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_90", 500},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", "sm_90", 500},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e5m2.f32.ue8m0", "sm_120a", 500},
  };
  compare_sets(cases, 2811, draw_sizes);
}

TEST_CASE("few infinities and NaNs among numbers have the reference's results with every instruction set") {
  constexpr Case cases[] = {
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_80", 300},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_90", 300},
      {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "sm_80", 300},
      {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "sm_90", 300},
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "sm_75", 300},
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "sm_80", 300},
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "sm_90", 300},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "sm_80", 300},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "sm_90", 300},
      {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", "sm_80", 300},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", "sm_89", 300},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", "sm_90", 300},
      {"mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16", "sm_90", 300},
      {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e5m2.f32", "sm_120a", 300},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0", "sm_120a", 300},
      {"mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32", "sm_90", 300},
      {"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "sm_90", 300},
  };
  compare_sets(cases, 29, draw_few_specials);
}

}  // namespace
}  // namespace warpmat::drawn_numbers_test
