#include "test.h"

#include "oracle/oracle.h"
#include "scalar/lanes.h"

namespace warpmat::float_test {

// Floating-point arithmetic against exact rational numbers: the oracle adds and multiplies without rounding, then rounds once.

namespace {

using oracle::Dyadic;
using oracle::FloatFormat;

struct Type {
  std::string name;
  FloatFormat format;
};

const std::vector<Type> types{{"f32", oracle::f32}, {"f64", oracle::f64}, {"f16", oracle::f16}, {"bf16", oracle::bf16}};

struct Direction {
  std::string qualifier;
  std::uint64_t (*round)(FloatFormat, const Dyadic&);
};

/// As IEEE 754 has it: what is too large becomes the largest number. (The oracle's toward_zero is that of the matrix units, which give
/// infinity.)
std::uint64_t toward_zero(FloatFormat format, const Dyadic& number) {
  return number.is_negative() ? oracle::up(format, number) : oracle::down(format, number);
}

const std::vector<Direction> directions{{".rn", oracle::nearest}, {".rz", toward_zero}, {".rm", oracle::down}, {".rp", oracle::up}};

/// Finite numbers where results tie, cancel, underflow and overflow.
std::vector<std::uint64_t> finite_numbers(const FloatFormat& f) {
  const std::uint64_t one_exponent = (std::uint64_t{1} << (f.exponent_bits - 1)) - 1, top = 2 * one_exponent,
                      ones = (std::uint64_t{1} << f.fraction_bits) - 1;
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t sign = 0; sign < 2; ++sign)
    for (const auto& [exponent, fraction] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 0},
                                                                                                 {0, 1},
                                                                                                 {0, ones},
                                                                                                 {1, 0},
                                                                                                 {1, 1},
                                                                                                 {one_exponent / 2, ones},
                                                                                                 {one_exponent - 1, ones},
                                                                                                 {one_exponent, 0},
                                                                                                 {one_exponent, 1},
                                                                                                 {one_exponent, ones / 2 + 1},
                                                                                                 {one_exponent + 1, 3},
                                                                                                 {one_exponent + 3, ones - 1},
                                                                                                 {top, 0},
                                                                                                 {top, ones}})
      numbers.push_back(sign << (f.bits - 1) | exponent << f.fraction_bits | fraction);
  return numbers;
}

/// Whether `found` is `expected`, zeros of either sign being equal: their signs have a test of their own.
bool same(const FloatFormat& f, std::uint64_t found, std::uint64_t expected) {
  const std::uint64_t magnitude = (std::uint64_t{1} << (f.bits - 1)) - 1;
  return found == expected || ((found & magnitude) == 0 && (expected & magnitude) == 0);
}

bool has_all_roundings(const Type& type) {
  return type.format.bits >= 32;
}

void check_binary(const std::string& mnemonic, const std::function<Dyadic(const Dyadic&, const Dyadic&)>& exact) {
  for (const Type& type : types)
    for (const Direction& direction : directions) {
      if (!has_all_roundings(type) && direction.qualifier != ".rn") continue;
      const std::string opcode = mnemonic + direction.qualifier + "." + type.name;
      for (const std::uint64_t a : finite_numbers(type.format))
        for (const std::uint64_t b : finite_numbers(type.format)) {
          const std::uint64_t expected = direction.round(type.format, exact(oracle::value(type.format, a), oracle::value(type.format, b)));
          const std::uint64_t found = run_scalar_lane(opcode, {a, b});
          if (!same(type.format, found, expected))
            FAIL_CHECK(fmt::format("{} {:#x}, {:#x}: {:#x}, not {:#x}", opcode, a, b, found, expected));
        }
    }
}

}  // namespace

TEST_CASE("sums, differences and products are rounded once, in every direction", "[scalar]") {
  check_binary("add", [](const Dyadic& a, const Dyadic& b) { return a + b; });
  check_binary("sub", [](const Dyadic& a, const Dyadic& b) { return a - b; });
  check_binary("mul", [](const Dyadic& a, const Dyadic& b) { return a * b; });
}

TEST_CASE("fused products and sums are rounded once, in every direction", "[scalar]") {
  for (const Type& type : types)
    for (const Direction& direction : directions) {
      if (!has_all_roundings(type) && direction.qualifier != ".rn") continue;
      const std::string opcode = "fma" + direction.qualifier + "." + type.name;
      const std::vector<std::uint64_t> numbers = finite_numbers(type.format);
      for (std::size_t i = 0; i < numbers.size() * numbers.size() * 7; ++i) {
        const std::uint64_t a = numbers[i % numbers.size()], b = numbers[i / numbers.size() % numbers.size()],
                            c = numbers[(i * 5 + i / 31) % numbers.size()];
        const Dyadic exact = oracle::value(type.format, a) * oracle::value(type.format, b) + oracle::value(type.format, c);
        const std::uint64_t found = run_scalar_lane(opcode, {a, b, c}), expected = direction.round(type.format, exact);
        if (!same(type.format, found, expected))
          FAIL_CHECK(fmt::format("{} {:#x}, {:#x}, {:#x}: {:#x}, not {:#x}", opcode, a, b, c, found, expected));
      }
    }
}

TEST_CASE("quotients and square roots are rounded in the right direction", "[scalar]") {
  for (const Type& type : types) {
    if (!has_all_roundings(type)) continue;
    const FloatFormat& f = type.format;
    const auto value = [&](std::uint64_t bits) { return oracle::value(f, bits); };
    for (const std::uint64_t a : finite_numbers(f)) {
      for (const std::uint64_t b : finite_numbers(f)) {
        if (value(b).is_zero() || value(a).is_zero()) continue;
        // Down and up are neighbours that hold the quotient between them: a lies between their products with b.
        const std::uint64_t low = run_scalar_lane("div.rm." + type.name, {a, b}), high = run_scalar_lane("div.rp." + type.name, {a, b});
        if (oracle::is_inf(f, low) || oracle::is_inf(f, high)) continue;
        const bool positive = !value(b).is_negative();
        CHECK((positive ? value(low) * value(b) <= value(a) : value(low) * value(b) >= value(a)));
        CHECK((positive ? value(high) * value(b) >= value(a) : value(high) * value(b) <= value(a)));
        const std::uint64_t nearest = run_scalar_lane("div.rn." + type.name, {a, b}), zero = run_scalar_lane("div.rz." + type.name, {a, b});
        CHECK((nearest == low || nearest == high));
        CHECK(zero == (oracle::is_negative(f, a) != oracle::is_negative(f, b) ? high : low));
      }
      if (value(a).is_negative() || value(a).is_zero()) continue;
      const std::uint64_t low = run_scalar_lane("sqrt.rm." + type.name, {a}), high = run_scalar_lane("sqrt.rp." + type.name, {a});
      CHECK(value(low) * value(low) <= value(a));
      CHECK(value(high) * value(high) >= value(a));
      CHECK(high - low <= 1);
    }
  }
}

TEST_CASE("zeros that cancel, infinities and NaN", "[scalar]") {
  constexpr std::uint64_t one = 0x3f800000, minus_one = 0xbf800000, infinity = 0x7f800000, nan = 0x7fffffff, some_nan = 0xff812345;
  CHECK(run_scalar_lane("add.f32", {one, minus_one}) == 0);
  CHECK(run_scalar_lane("add.rm.f32", {one, minus_one}) == 0x80000000);
  CHECK(run_scalar_lane("add.f32", {infinity, 0xff800000}) == nan);
  CHECK(run_scalar_lane("mul.f32", {infinity, 0}) == nan);
  CHECK(run_scalar_lane("fma.rn.f32", {some_nan, one, one}) == nan);
  CHECK(run_scalar_lane("add.sat.f32", {some_nan, one}) == 0);
  CHECK(run_scalar_lane("add.sat.f32", {one, one}) == one);
  CHECK(run_scalar_lane("add.sat.f32", {minus_one, 0}) == 0);
  CHECK(run_scalar_lane("add.f64", {0x7ff0000000000001, 0x3ff0000000000000}) == 0x7ff8000000000001);
  CHECK(run_scalar_lane("max.f32", {some_nan, one}) == one);
  CHECK(run_scalar_lane("max.NaN.f32", {some_nan, one}) == nan);
  CHECK(run_scalar_lane("min.f32", {0x80000000, 0}) == 0x80000000);
  CHECK(run_scalar_lane("fma.rn.oob.f16", {0x7ff7, 0x3c00, 0x3c00}) == 0);
  CHECK(run_scalar_lane("fma.rn.oob.f16", {0x7fff, 0x3c00, 0x3c00}) == 0x7fff);
}

TEST_CASE("results are flushed if their bits with an unbounded exponent are too small", "[scalar]") {
  // 2^-126 (1 - 2^-24) has 24 bits and is too small. 2^-126 - 2^-252 rounds to 2^-126.
  CHECK(run_scalar_lane("mul.ftz.f32", {0x3f7fffff, 0x00800000}) == 0);
  CHECK(run_scalar_lane("mul.f32", {0x3f7fffff, 0x00800000}) == 0x00800000);
  CHECK(run_scalar_lane("fma.rn.ftz.f32", {0x80800000, 0x00800000, 0x00800000}) == 0x00800000);
  CHECK(run_scalar_lane("add.ftz.f32", {0x00000001, 0x3f800000}) == 0x3f800000);
  CHECK(run_scalar_lane("mul.ftz.f16", {0x0fff, 0x3000}) == 0);
  CHECK(run_scalar_lane("mul.ftz.f16", {0x8574, 0xb9de}) == 0x0400);
  CHECK(run_scalar_lane("mul.f16", {0x0fff, 0x3000}) == 0x0400);
}

TEST_CASE("min and max of two halves are those of each half", "[scalar]") {
  for (const char* const type : {"f16", "bf16"})
    for (const char* const operation : {"min", "max", "min.NaN", "max.NaN", "min.xorsign.abs", "max.NaN.xorsign.abs"}) {
      const std::string opcode = std::string(operation) + "." + type;
      const std::vector<std::uint64_t> halves{0, 0x8000, 1, 0x8003, 0x3c00, 0xbc01, 0x7c00, 0xfc00, 0x7f80, 0xff80, 0x7fff, 0xffff, 0x4248};
      for (const std::uint64_t a : halves)
        for (const std::uint64_t b : halves)
          for (const auto& [c, d] : {std::pair{a, b}, std::pair{b, a}, std::pair<std::uint64_t, std::uint64_t>{0x3c00, 0xbc01}}) {
            CAPTURE(opcode, a, b, c, d);
            const std::uint64_t low = run_scalar_lane(opcode, {a, b}), high = run_scalar_lane(opcode, {c, d});
            CHECK(run_scalar_lane(opcode + "x2", {c << 16 | a, d << 16 | b}) == (high << 16 | low));
          }
    }
}

}  // namespace warpmat::float_test
