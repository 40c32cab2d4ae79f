// Few infinities and NaNs among numbers: kernels decide from the rows of A and the columns of B that have them.

#include <warpmat/execute/fast/instruction_sets.h>
#include <warpmat/instruction.h>

#include "execute/registers.h"
#include "test.h"

namespace warpmat::few_specials_test {

namespace {

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

class Warp {
 public:
  explicit Warp(const Form& form) : form_(form), registers_(form) {}

  Batch batch() { return registers_.batch(); }

  void draw(bool one_size, std::mt19937_64& random) {
    registers_.fill(random);
    for (const OperandName name : {OperandName::a, OperandName::b, OperandName::c}) {
      const Fragment& f = form_.operand(name).fragment;
      const Format format = form_.format(name);
      for (int row = 0; row < f.rows(); ++row)
        for (int column = 0; column < f.columns(); ++column)
          write_element(f, registers_[name].list(), {row, column}, number(format, one_size, bits_of(format, random)));
    }
    for (std::uint64_t count = random() % 4; count > 0; --count) place_special(random() % 2 == 0 ? OperandName::a : OperandName::b, random);
    if (random() % 4 == 0) place_special(OperandName::c, random);
  }

  std::vector<Register> result() { return registers_[OperandName::d].values(); }

 private:
  void place_special(OperandName name, std::mt19937_64& random) {
    const Fragment& f = form_.operand(name).fragment;
    const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
    const Format format = form_.format(name);
    const std::uint64_t bits = special(format, random() % 2 == 0, bits_of(format, random));
    write_element(f, registers_[name].list(), {below(f.rows()), below(f.columns())}, bits);
  }

  static std::uint64_t bits_of(Format format, std::mt19937_64& random) { return random() >> (64 - row(format).bits); }

  const Form& form_;
  FormRegisters registers_;
};

}  // namespace

TEST_CASE("few infinities and NaNs among numbers have the reference's results with every instruction set") {
  struct Case {
    std::string_view opcode, target;
  };
  constexpr Case cases[] = {
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_80"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_90"},
      {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "sm_80"},
      {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "sm_90"},
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "sm_75"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "sm_80"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "sm_90"},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "sm_80"},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "sm_90"},
      {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", "sm_80"},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", "sm_89"},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", "sm_90"},
      {"mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16", "sm_90"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e5m2.f32", "sm_120a"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0", "sm_120a"},
      {"mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32", "sm_90"},
      {"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "sm_90"},
  };
  std::mt19937_64 random(29);
  Tally tally;
  for (const Case& c : cases) {
    const Instruction mma(c.opcode, c.target);
    Warp warp(mma.form());
    for (int i = 0; i < 300; ++i) {
      warp.draw(i % 2 == 0, random);
      execute(mma, warp.batch(), 1, {.path = Path::reference});
      const std::vector<Register> expected = warp.result();
      for (const std::string_view set : instruction_sets()) {
        use_instruction_set(set);
        execute(mma, warp.batch());
        tally.expect(warp.result() == expected,
                     [&] { return std::string(c.opcode) + " on " + std::string(c.target) + " with " + std::string(set); });
      }
    }
    use_best_instruction_set();
  }
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() == std::size(cases) * 300 * instruction_sets().size());
}

}  // namespace warpmat::few_specials_test
