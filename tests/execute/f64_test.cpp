#include <warpmat/execute/reference/execute.h>
#include <warpmat/instruction.h>

#include <cfenv>

#include "execute/both_paths.h"
#include "execute/registers.h"
#include "test.h"

namespace warpmat::f64_test {

namespace {

int direction_of(const std::string& opcode) {
  if (opcode.find(".rz.") != std::string::npos) return FE_TOWARDZERO;
  if (opcode.find(".rm.") != std::string::npos) return FE_DOWNWARD;
  return opcode.find(".rp.") != std::string::npos ? FE_UPWARD : FE_TONEAREST;
}

/// std::fma of this machine, rounded in `direction`.
double fma_in(int direction, double a, double b, double c) {
  volatile double x = a, y = b, z = c;
  std::fesetround(direction);
  volatile double result = std::fma(x, y, z);
  std::fesetround(FE_TONEAREST);
  return result;
}

/// A finite number: about 1, of any size, or tiny, so that sums cancel, overflow and become subnormal.
std::uint64_t draw(std::mt19937_64& random) {
  const std::uint64_t bits = random() & 0x800F'FFFF'FFFF'FFFF;
  const std::uint64_t exponents[] = {1020 + random() % 6, random() % 2047, 500 + random() % 30, 0, 1535 + random() % 3};
  return random() % 8 == 0 ? bits & 0x8000'0000'0000'0000 : bits | exponents[random() % std::size(exponents)] << 52;
}

void fill(const Operand& operand, Registers& registers, std::uint64_t bits) {
  for (int i = 0; i < operand.fragment.rows(); ++i)
    for (int j = 0; j < operand.fragment.columns(); ++j) write_element(operand.fragment, registers.list(), {i, j}, bits);
}

}  // namespace

TEST_CASE("f64 mma is a chain of this machine's fused multiply-adds, rounded as the form says") {
  std::mt19937_64 random(82);
  Tally tally;
  std::size_t forms_seen = 0;
  for (const Form& form : forms()) {
    if (form.mnemonic != Mnemonic::mma || form.format(OperandName::d) != Format::f64) continue;
    ++forms_seen;
    const Instruction mma(form, target_with(form));
    FormRegisters registers(form);
    const auto at = [&](OperandName name, int i, int j) {
      return std::bit_cast<double>(read_element(form.operand(name).fragment, registers[name].list(), {i, j}));
    };
    for (std::size_t n = 0; n < case_count(20); ++n) {
      for (const OperandName name : {OperandName::a, OperandName::b, OperandName::c}) {
        const Fragment& f = form.operand(name).fragment;
        for (int i = 0; i < f.rows(); ++i)
          for (int j = 0; j < f.columns(); ++j) write_element(f, registers[name].list(), {i, j}, draw(random));
      }
      execute_both_paths(mma, registers.batch());
      for (int i = 0; i < form.shape.m; ++i)
        for (int j = 0; j < 8; ++j) {
          double want = at(OperandName::c, i, j);
          for (int k = 0; k < form.shape.k; ++k)
            want = fma_in(direction_of(form.opcode), at(OperandName::a, i, k), at(OperandName::b, k, j), want);
          const double got = at(OperandName::d, i, j);
          if (std::isnan(want)) continue;  // infinities cancelled: another test
          tally.expect(std::bit_cast<std::uint64_t>(got) == std::bit_cast<std::uint64_t>(want),
                       [&] { return fmt::format("{}: D[{}][{}] is {:a}, expected {:a}", form.opcode, i, j, got, want); });
        }
    }
  }
  CHECK(tally.failures() == "");
  CHECK(forms_seen == 4 * 5);
  CHECK(tally.comparisons() > 15 * 128 * case_count(20));
}

TEST_CASE("a NaN of f64 passes on, made quiet: b's before c's before a's; invalid operations give the default one") {
  constexpr std::uint64_t one = 0x3FF0'0000'0000'0000, infinity = 0x7FF0'0000'0000'0000, minus_infinity = 0xFFF0'0000'0000'0000;
  constexpr std::uint64_t invalid = 0xFFF8'0000'0000'0000, nan_a = 0x7FF0'0000'0000'000A, nan_b = 0xFFF0'0000'0000'000B,
                          nan_c = 0x7FF0'0000'0000'000C;
  constexpr std::uint64_t quiet = 0x0008'0000'0000'0000;
  struct Row {
    std::uint64_t a, b, c, d;
  };
  constexpr Row rows[] = {
      {nan_a, one, one, nan_a | quiet},     {one, nan_b, one, nan_b | quiet},   {one, one, nan_c, nan_c | quiet},
      {nan_a, nan_b, one, nan_b | quiet},   {nan_a, one, nan_c, nan_c | quiet}, {one, nan_b, nan_c, nan_b | quiet},
      {nan_a, nan_b, nan_c, nan_b | quiet}, {0, infinity, one, invalid},        {infinity, one, minus_infinity, invalid}};
  const Instruction mma("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "sm_90");
  const Form& form = mma.form();
  for (const Row& r : rows) {
    CAPTURE(r.a, r.b, r.c);
    FormRegisters registers(form);
    fill(form.operand(OperandName::a), registers[OperandName::a], 0);  // the later products add nothing
    fill(form.operand(OperandName::b), registers[OperandName::b], 0);
    fill(form.operand(OperandName::c), registers[OperandName::c], r.c);
    for (int i = 0; i < 8; ++i) {
      write_element(form.operand(OperandName::a).fragment, registers[OperandName::a].list(), {i, 0}, r.a);
      write_element(form.operand(OperandName::b).fragment, registers[OperandName::b].list(), {0, i}, r.b);
    }
    execute_both_paths(mma, registers.batch());
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j)
        REQUIRE(read_element(form.operand(OperandName::d).fragment, registers[OperandName::d].list(), {i, j}) == r.d);
  }
}

}  // namespace warpmat::f64_test
