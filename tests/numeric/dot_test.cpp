#include <warpmat/dot.h>

#include "numeric/operand_classes.h"
#include "numeric/oracle_format.h"
#include "test.h"

namespace warpmat::dot_test {
namespace {

/// The models once more, as the oracle has them.
struct Unit {
  const DotModel* model;
  int step_bytes;
  oracle::Unit (*oracle)(int step_elements);
};

constexpr Unit units[] = {{&dot_models::volta, 8, oracle::volta_unit},
                          {&dot_models::ampere, 16, oracle::ampere_unit},
                          {&dot_models::ada_fp8, 16, oracle::ada_fp8_unit},
                          {&dot_models::hopper, 32, oracle::hopper_unit}};

struct Multiplicands {
  Format a, b;
};

constexpr Multiplicands multiplicands[] = {{Format::f16, Format::f16},   {Format::bf16, Format::bf16}, {Format::tf32, Format::tf32},
                                           {Format::e4m3, Format::e4m3}, {Format::e5m2, Format::e5m2}, {Format::e4m3, Format::e5m2}};

std::vector<Value> decoded(Format format, const std::vector<std::uint64_t>& codes) {
  std::vector<Value> values;
  for (const std::uint64_t code : codes) values.push_back(decode(format, code));
  return values;
}

std::string shown(const DotOperands& x) {
  std::string text = fmt::format("c {:x}", x.c);
  for (std::size_t i = 0; i < x.a.size(); ++i) text += fmt::format(" + {:x} * {:x}", x.a[i], x.b[i]);
  return text;
}

void compare_with_oracle(const Unit& unit, const Multiplicands& in, Format accumulator) {
  const int step = step_elements(*unit.model, in.a);
  CHECK(step == unit.step_bytes * 8 / row(in.a).bits);
  std::mt19937_64 random(9);
  Tally tally;
  const std::size_t cases = case_count(2'000);
  for (const DotClass operand_class : dot_classes)
    for (std::size_t i = 0; i < cases; ++i) {
      // One step mostly, sometimes two, a half, or a single product.
      const auto whole = static_cast<std::size_t>(step);
      const std::size_t length = i % 8 == 0 ? 2 * whole : i % 8 == 1 ? (whole + 1) / 2 : i % 8 == 2 ? 1 : whole;
      const DotOperands x = draw_operands(operand_class, in.a, in.b, accumulator, length, random);
      const std::vector<Value> a = decoded(in.a, x.a), b = decoded(in.b, x.b);
      const std::uint64_t got =
          length > whole ? dot(*unit.model, step, accumulator, a, b, x.c) : dot_step(*unit.model, accumulator, a, b, x.c);
      const std::uint64_t expected =
          oracle::float_dot(unit.oracle(step), *oracle_format(in.a), *oracle_format(in.b), *oracle_format(accumulator), x.a, x.b, x.c);
      tally.expect(got == expected,
                   [&] { return fmt::format("{}, {}: got {:x}, expected {:x}", name(operand_class), shown(x), got, expected); });
    }
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() == cases * std::size(dot_classes));
}

TEST_CASE("dot products of every model and format agree with the oracle bit for bit") {
  for (const Unit& unit : units)
    for (const Multiplicands& in : multiplicands)
      for (const Format accumulator : {Format::f32, Format::f16})
        DYNAMIC_SECTION(unit.model->name << " " << name(in.a) << " " << name(in.b) << " " << name(accumulator)) {
          compare_with_oracle(unit, in, accumulator);
        }
}

TEST_CASE("the random operands reach what they are meant to reach") {
  std::mt19937_64 random(10);
  const auto results_of = [&](DotClass operand_class, Format format, Format accumulator) {
    std::size_t zeros = 0, infinities = 0, nans = 0;
    for (int i = 0; i < 1000; ++i) {
      const DotOperands x = draw_operands(operand_class, format, format, accumulator, 8, random);
      const Value value = decode(accumulator, dot_step(dot_models::ampere, accumulator, decoded(format, x.a), decoded(format, x.b), x.c));
      zeros += value.kind == Value::Kind::zero;
      infinities += value.kind == Value::Kind::infinity;
      nans += value.kind == Value::Kind::nan;
    }
    return std::array{zeros, infinities, nans};
  };
  CHECK(results_of(DotClass::narrow_exponents, Format::f16, Format::f32) == std::array<std::size_t, 3>{0, 0, 0});
  CHECK(results_of(DotClass::cancelling, Format::f16, Format::f32)[0] > 50);
  CHECK(results_of(DotClass::wide_exponents, Format::f16, Format::f16)[1] > 50);
  const auto specials = results_of(DotClass::specials, Format::bf16, Format::f32);
  CHECK(specials[1] > 50);
  CHECK(specials[2] > 50);
  CHECK(specials[1] + specials[2] < 950);
}

TEST_CASE("a dot product is the chain of its steps, ascending") {
  std::mt19937_64 random(11);
  for (int i = 0; i < 200; ++i) {
    const DotOperands x = draw_operands(DotClass::wide_exponents, Format::f16, Format::f16, Format::f32, 16, random);
    const std::vector<Value> a = decoded(Format::f16, x.a), b = decoded(Format::f16, x.b);
    std::uint64_t c = x.c;
    for (std::size_t k = 0; k < 16; k += 4)
      c = dot_step(dot_models::volta, Format::f32, std::span(a).subspan(k, 4), std::span(b).subspan(k, 4), c);
    REQUIRE(dot(dot_models::volta, 4, Format::f32, a, b, x.c) == c);
  }
}

TEST_CASE("the order inside a step does not matter") {
  std::mt19937_64 random(12);
  for (int i = 0; i < 200; ++i) {
    const DotOperands x = draw_operands(DotClass::wide_exponents, Format::bf16, Format::bf16, Format::f32, 16, random);
    std::vector<Value> a = decoded(Format::bf16, x.a), b = decoded(Format::bf16, x.b);
    const std::uint64_t forward = dot_step(dot_models::hopper, Format::f32, a, b, x.c);
    std::ranges::reverse(a);
    std::ranges::reverse(b);
    REQUIRE(dot_step(dot_models::hopper, Format::f32, a, b, x.c) == forward);
  }
}

}  // namespace
}  // namespace warpmat::dot_test
