#include <warpmat/dot.h>

#include "test.h"

namespace warpmat::dot_known_answers_test {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

using dot_models::ada_fp8, dot_models::ampere, dot_models::hopper, dot_models::volta;

/// Factors of the products of one step.
using Products = std::vector<std::pair<double, double>>;

std::uint64_t step(const DotModel& model, Format format, Format accumulator, const Products& products, std::uint64_t c) {
  std::vector<Value> a, b;
  for (const auto& [x, y] : products) {
    a.push_back(decode(format, from_double(format, x)));
    b.push_back(decode(format, from_double(format, y)));
    REQUIRE((x != x || to_double(format, from_double(format, x)) == x));  // the example means what it says
    REQUIRE((y != y || to_double(format, from_double(format, y)) == y));
  }
  return dot_step(model, accumulator, a, b, c);
}

/// An f32 accumulator.
std::uint64_t f32(double x) {
  return from_double(Format::f32, x);
}

struct Hex {
  std::uint64_t bits;
  friend bool operator==(const Hex&, const Hex&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Hex& h) { return out << fmt::format("{:#010x}", h.bits); }
};

Hex f16_to_f32(const DotModel& model, const Products& products, std::uint64_t c) {
  return {step(model, Format::f16, Format::f32, products, c)};
}
Hex f16_to_f16(const DotModel& model, const Products& products, std::uint64_t c) {
  return {step(model, Format::f16, Format::f16, products, c)};
}
Hex bf16_to_f32(const DotModel& model, const Products& products, std::uint64_t c) {
  return {step(model, Format::bf16, Format::f32, products, c)};
}

constexpr std::uint64_t minus_zero = 0x8000'0000;

}  // namespace

TEST_CASE("a result of zero is +0, whatever it came from") {
  for (const DotModel* model : {&volta, &ampere, &ada_fp8, &hopper}) {
    CAPTURE(model->name);
    CHECK(f16_to_f32(*model, {}, minus_zero) == Hex{0});                             // -0 alone
    CHECK(f16_to_f32(*model, {{-0.0, 1}, {1, -0.0}}, minus_zero) == Hex{0});         // every term is -0
    CHECK(f16_to_f16(*model, {{-0.0, 1}}, 0x8000) == Hex{0});                        // in f16 too
    CHECK(f16_to_f32(*model, {{1, 1}, {-1, 1}}, 0) == Hex{0});                       // exact cancellation
    CHECK(f16_to_f32(*model, {{1, 1}, {-1, 1}, {-0x1p-14, 0x1p-14}}, 0) == Hex{0});  // what is left is truncated away
    CHECK(bf16_to_f32(*model, {{-0x1p-100, 0x1p-50}}, 0) == Hex{0});                 // below the smallest f32
    CHECK(f16_to_f16(*model, {{-0x1p-13, 0x1p-13}}, 0) == Hex{0});                   // below the smallest f16
    CHECK(f16_to_f16(*model, {{-0x1p-13, 0x1p-12}}, 0) == Hex{0});                   // a tie with it goes to the even zero
    CHECK(f16_to_f16(*model, {{-0x1.8p-13, 0x1p-12}}, 0) == Hex{0x8001});            // above the tie
  }
}

TEST_CASE("sums of opposite large numbers are zero at every exponent") {
  for (int exponent = -60; exponent <= 63; ++exponent) {
    CAPTURE(exponent);
    const double x = std::ldexp(1.0, exponent);
    CHECK(bf16_to_f32(hopper, {{x, x}, {-x, x}}, 0) == Hex{0});
    CHECK(bf16_to_f32(ampere, {{x, x}}, f32(-x * x)) == Hex{0});
    CHECK(Hex{step(volta, Format::bf16, Format::f16, {{x, x}, {-x, x}}, 0)} == Hex{0});
  }
}

TEST_CASE("NaN, 0 times infinity and infinities of both signs give the canonical NaN") {
  const Products cases[] = {{{not_a_number, 1}},
                            {{1, not_a_number}},
                            {{not_a_number, 0}},
                            {{0, infinite}},
                            {{-infinite, 0}},
                            {{infinite, 1}, {-infinite, 1}},
                            {{infinite, 1}, {infinite, -1}},
                            {{infinite, 1}, {not_a_number, 1}}};
  for (const DotModel* model : {&volta, &ampere, &ada_fp8, &hopper})
    for (const Products& products : cases) {
      CHECK(f16_to_f32(*model, products, 0) == Hex{0x7FFF'FFFF});
      CHECK(f16_to_f16(*model, products, 0) == Hex{0x7FFF});
      CHECK(bf16_to_f32(*model, products, f32(-1)) == Hex{0x7FFF'FFFF});
    }
  CHECK(f16_to_f32(hopper, {{1, 1}}, 0xFF80'0001) == Hex{0x7FFF'FFFF});         // the payload and sign of c's NaN are lost
  CHECK(f16_to_f32(hopper, {{infinite, 1}}, 0xFF80'0000) == Hex{0x7FFF'FFFF});  // c is the other infinity
  CHECK(f16_to_f16(hopper, {{infinite, 1}}, 0xFC00) == Hex{0x7FFF});
  CHECK(Hex{step(hopper, Format::e4m3, Format::f32, {{not_a_number, 1}}, 0)} == Hex{0x7FFF'FFFF});
}

TEST_CASE("an infinity keeps its sign") {
  for (const DotModel* model : {&volta, &ampere, &ada_fp8, &hopper}) {
    CAPTURE(model->name);
    CHECK(f16_to_f32(*model, {{infinite, 2}, {-4, 65504}}, f32(-1)) == Hex{0x7F80'0000});
    CHECK(f16_to_f32(*model, {{infinite, -2}}, f32(1)) == Hex{0xFF80'0000});
    CHECK(f16_to_f32(*model, {{-infinite, -infinite}}, 0) == Hex{0x7F80'0000});
    CHECK(f16_to_f32(*model, {{-infinite, 1}, {1, -infinite}}, 0xFF80'0000) == Hex{0xFF80'0000});
    CHECK(f16_to_f32(*model, {{1, 1}}, 0xFF80'0000) == Hex{0xFF80'0000});
    CHECK(f16_to_f16(*model, {{infinite, -1}}, 0x7BFF) == Hex{0xFC00});
  }
}

TEST_CASE("a tf32 NaN whose payload is in the ignored bits acts as infinity") {
  const auto tf32_step = [](std::uint64_t a, std::uint64_t b) {
    const Value x = decode(Format::tf32, a), y = decode(Format::tf32, b);
    return Hex{dot_step(hopper, Format::f32, {&x, 1}, {&y, 1}, 0)};
  };
  CHECK(tf32_step(0x7F80'0001, 0x3F80'0000) == Hex{0x7F80'0000});
  CHECK(tf32_step(0xFF80'1FFF, 0x3F80'0000) == Hex{0xFF80'0000});
  CHECK(tf32_step(0x7F80'2000, 0x3F80'0000) == Hex{0x7FFF'FFFF});
  CHECK(tf32_step(0x7F80'0001, 0x0000'1FFF) == Hex{0x7FFF'FFFF});  // a zero, once its low bits are dropped
  CHECK(tf32_step(0x3F80'1FFF, 0x3F80'1FFF) == Hex{0x3F80'0000});
}

TEST_CASE("f32 results overflow to infinity at 2^128, not before, though they are truncated") {
  constexpr std::uint64_t largest = 0x7F7F'FFFF;
  for (const DotModel* model : {&volta, &ampere, &hopper}) {
    CAPTURE(model->name);
    CHECK(bf16_to_f32(*model, {{0x1p127, 1}, {0x1p127, 1}}, 0) == Hex{0x7F80'0000});
    CHECK(bf16_to_f32(*model, {{-0x1p127, 1}, {0x1p127, -1}}, 0) == Hex{0xFF80'0000});
    CHECK(bf16_to_f32(*model, {{0x1p52, 0x1p52}}, largest) == Hex{0x7F80'0000});  // one unit more
    CHECK(bf16_to_f32(*model, {{-0x1p52, 0x1p52}}, largest | minus_zero) == Hex{0xFF80'0000});
    CHECK(bf16_to_f32(*model, {{0x1p52, 0x1p51}}, largest) == Hex{largest});  // half a unit: to nearest this would be infinity
    CHECK(bf16_to_f32(*model, {{-0x1p52, 0x1p51}}, largest | minus_zero) == Hex{largest | minus_zero});
    CHECK(bf16_to_f32(*model, {{0x1p127, 2}, {-0x1p127, 1}}, 0) == Hex{0x7F00'0000});  // only the sum counts
  }
}

TEST_CASE("f16 results are rounded to nearest even and overflow from 65520 on") {
  constexpr std::uint64_t largest = 0x7BFF, lowest = 0xFBFF;
  for (const DotModel* model : {&volta, &ampere, &hopper}) {
    CAPTURE(model->name);
    CHECK(f16_to_f16(*model, {{4, 4}}, largest) == Hex{0x7C00});
    CHECK(f16_to_f16(*model, {{-4, 4}}, lowest) == Hex{0xFC00});
    CHECK(f16_to_f16(*model, {{1, 15.9921875}}, largest) == Hex{largest});
    CHECK(f16_to_f16(*model, {{1, -15.9921875}}, lowest) == Hex{lowest});
    CHECK(f16_to_f16(*model, {{1, 1}, {0x1p-11, 1}}, 0) == Hex{0x3C00});                      // a tie, to even
    CHECK(f16_to_f16(*model, {{1, 1}, {0x1.8p-10, 1}}, 0) == Hex{0x3C02});                    // a tie, to even, upward
    CHECK(f16_to_f16(*model, {{1, 1}, {0x1p-11, 1}, {0x1p-11, 0x1p-11}}, 0) == Hex{0x3C01});  // 2^-22 above the tie
  }
}

TEST_CASE("f32 results are truncated") {
  CHECK(f16_to_f32(hopper, {{0x1p-12, 0x1p-12}, {0x1p-13, 0x1p-12}}, f32(1)) == Hex{0x3F80'0000});   // 0.75 units above
  CHECK(f16_to_f32(hopper, {{0x1p-12, 0x1p-12}, {0x1p-13, 0x1p-12}}, f32(-1)) == Hex{0xBF7F'FFFE});  // -(1 - 2^-24 - 2^-25), cut
  CHECK(f16_to_f32(hopper, {{-0x1p-12, 0x1p-12}}, f32(-1)) == Hex{0xBF80'0000});
}

TEST_CASE("bits below the fraction bits of a model are lost: 23, 24 and 25 differ") {
  struct Row {
    Products small;  ///< what is left when a 1 and a -1 have cancelled
    double volta, ampere, hopper;
  };
  const Row rows[] = {
      {{{0x1p-11, 0x1p-12}}, 0x1p-23, 0x1p-23, 0x1p-23},
      {{{0x1p-12, 0x1p-12}}, 0, 0x1p-24, 0x1p-24},
      {{{0x1p-12, 0x1p-13}}, 0, 0, 0x1p-25},
      {{{0x1p-13, 0x1p-13}}, 0, 0, 0},
      {{{0x1.8p-12, 0x1p-12}}, 0, 0x1p-24, 0x1.8p-24},
      {{{0x1.cp-11, 0x1p-12}}, 0x1p-23, 0x1.8p-23, 0x1.cp-23},
      {{{-0x1.cp-11, 0x1p-12}}, -0x1p-23, -0x1.8p-23, -0x1.cp-23},
      {{{0x1.8p-12, 0x1p-12}, {0x1.8p-12, 0x1p-12}}, 0, 0x1p-23, 0x1.8p-23},  // each term is cut before the sum
  };
  for (const Row& r : rows) {
    Products products{{1, 1}, {-1, 1}};
    products.insert(products.end(), r.small.begin(), r.small.end());
    CAPTURE(r.small.front().first, r.small.front().second);
    CHECK(f16_to_f32(volta, products, 0) == Hex{f32(r.volta)});
    CHECK(f16_to_f32(ampere, products, 0) == Hex{f32(r.ampere)});
    CHECK(f16_to_f32(hopper, products, 0) == Hex{f32(r.hopper)});
  }
}

TEST_CASE("products of 2 and more are not renormalised before the alignment") {
  // 1.5 * 1.5 = 2.25 counts with exponent 0, the accumulator 2.25 with exponent 1.
  CHECK(f16_to_f32(hopper, {{1.5, 1.5}, {-1.5, 1.5}, {0x1p-12, 0x1p-13}}, 0) == Hex{f32(0x1p-25)});
  CHECK(f16_to_f32(hopper, {{1.5, 1.5}, {0x1p-12, 0x1p-13}}, f32(-2.25)) == Hex{0});
  CHECK(f16_to_f32(ampere, {{1.5, 1.5}, {-1.5, 1.5}, {0x1p-12, 0x1p-12}}, 0) == Hex{f32(0x1p-24)});
  CHECK(f16_to_f32(ampere, {{1.5, 1.5}, {0x1p-12, 0x1p-12}}, f32(-2.25)) == Hex{0});
}

TEST_CASE("subnormal numbers are aligned with the smallest exponent of their format") {
  // 2^-24 in f16 counts with exponent -14: the lowest bit that stays beside it is 2^-39, not 2^-49.
  CHECK(f16_to_f32(hopper, {{0x1p-24, 1}}, f32(0x1p-39)) == Hex{f32(0x1p-24 + 0x1p-39)});
  CHECK(f16_to_f32(hopper, {{0x1p-24, 1}}, f32(0x1p-40)) == Hex{f32(0x1p-24)});
  CHECK(bf16_to_f32(hopper, {{0x1p-24, 1}}, f32(0x1p-40)) == Hex{f32(0x1p-24 + 0x1p-40)});  // normal in bf16
}

TEST_CASE("fp8 on Ada keeps 13 fraction bits of terms and results") {
  const auto e4m3_step = [](const Products& products, std::uint64_t c) {
    return Hex{step(ada_fp8, Format::e4m3, Format::f32, products, c)};
  };
  CHECK(e4m3_step({{1, 1}}, f32(0x1p-13)) == Hex{f32(1 + 0x1p-13)});
  CHECK(e4m3_step({{1, 1}}, f32(0x1p-14)) == Hex{f32(1)});
  CHECK(e4m3_step({}, 0x3F80'03FF) == Hex{0x3F80'0000});            // c is cut though nothing is added to it
  CHECK(e4m3_step({{1, 1}, {1, 1}}, f32(0x1p-13)) == Hex{f32(2)});  // 2 + 2^-13 has 14 fraction bits
  CHECK(e4m3_step({{-1, 1}, {-1, 1}}, f32(-0x1p-13)) == Hex{f32(-2)});
  CHECK(Hex{step(ada_fp8, Format::e4m3, Format::f16, {{1, 1}, {0x1p-6, 0x1p-5}}, 0)} == Hex{0x3C00});  // a tie in f16
}

TEST_CASE("the bytes of a step decide which products are added together") {
  // Sixteen ones beside 2^24: a unit of volta's is 2, of ampere's and hopper's at most 1.
  const std::vector<Value> ones(16, decode(Format::f16, 0x3C00));
  const std::uint64_t c = f32(0x1p24);
  const auto whole = [&](const DotModel& model) { return Hex{dot(model, step_elements(model, Format::f16), Format::f32, ones, ones, c)}; };
  CHECK(whole(volta) == Hex{f32(0x1p24)});
  CHECK(whole(ampere) == Hex{f32(0x1p24 + 16)});
  CHECK(whole(hopper) == Hex{f32(0x1p24 + 16)});

  // Nine times 2^-24 beside 1: eight in the first step make half a unit of 2^-20, the ninth alone makes nothing.
  std::vector<Value> a(16, decode(Format::f16, 0)), b(16, decode(Format::f16, from_double(Format::f16, 0x1p-12)));
  for (std::size_t k = 0; k < 9; ++k) a[k] = b[k];
  CHECK(Hex{dot(ampere, 8, Format::f32, a, b, f32(1))} == Hex{f32(1 + 8 * 0x1p-24)});
  CHECK(Hex{dot(hopper, 16, Format::f32, a, b, f32(1))} == Hex{f32(1 + 8 * 0x1p-24)});
  a[9] = b[9];
  CHECK(Hex{dot(ampere, 8, Format::f32, a, b, f32(1))} == Hex{f32(1 + 10 * 0x1p-24)});
  a[10] = b[10];
  a[0] = decode(Format::f16, 0);  // seven in the first step, three in the second: each sum loses its odd half unit
  CHECK(Hex{dot(ampere, 8, Format::f32, a, b, f32(1))} == Hex{f32(1 + 8 * 0x1p-24)});
  CHECK(Hex{dot(hopper, 16, Format::f32, a, b, f32(1))} == Hex{f32(1 + 10 * 0x1p-24)});
}

TEST_CASE("a step's elements follow from its bytes") {
  CHECK(step_elements(volta, Format::f16) == 4);
  CHECK(step_elements(ampere, Format::f16) == 8);
  CHECK(step_elements(ampere, Format::bf16) == 8);
  CHECK(step_elements(ampere, Format::tf32) == 4);
  CHECK(step_elements(ada_fp8, Format::e4m3) == 16);
  CHECK(step_elements(hopper, Format::f16) == 16);
  CHECK(step_elements(hopper, Format::tf32) == 8);
  CHECK(step_elements(hopper, Format::e5m2) == 32);
}

TEST_CASE("with f16 results no term is aligned to less than a unit's floor") {
  // A tie in f16 between 0 and 2^-24, and a product above it that the floor, less the bits that the unit keeps, cuts or not.
  const auto beside_tie = [](const DotModel& model, int exponent, std::uint64_t c) {
    return f16_to_f16(model, {{0x1p-12, 0x1p-13}, {0x1p-24, std::ldexp(1.0, exponent + 24)}}, c);
  };
  struct Row {
    const DotModel& model;
    int lowest;  ///< the exponent of the smallest product that counts
  };
  for (const Row& r : {Row{volta, -42}, Row{ampere, -44}, Row{hopper, -46}}) {
    CAPTURE(r.model.name);
    for (const std::uint64_t zero : {std::uint64_t{0}, std::uint64_t{0x8000}}) {
      CHECK(beside_tie(r.model, r.lowest, zero) == Hex{1});
      CHECK(beside_tie(r.model, r.lowest - 1, zero) == Hex{0});
      CHECK(beside_tie(r.model, -48, zero) == Hex{0});  // hopper: measured on an H200, 2^-12 · 2^-13 + 2^-24 · 2^-24
    }
  }
}

TEST_CASE("beside tiny products a hopper unit keeps bits down to 2^-158, or 2^-151 where C is not zero") {
  // 2^-149 - 2^-below, truncated to a multiple of 2^-149: nothing, unless the second product was lost.
  const auto left = [](int below, std::uint64_t c) {
    return bf16_to_f32(hopper, {{0x1p-75, 0x1p-74}, {-0x1p-75, std::ldexp(1.0, 75 - below)}}, c);
  };
  for (const std::uint64_t zero : {std::uint64_t{0}, minus_zero}) {
    CHECK(left(150, zero) == Hex{0});
    CHECK(left(158, zero) == Hex{0});
    CHECK(left(159, zero) == Hex{1});
    CHECK(left(174, zero) == Hex{1});
  }
  CHECK(left(151, 1) == Hex{1});
  CHECK(left(152, 1) == Hex{2});
}

}  // namespace warpmat::dot_known_answers_test
