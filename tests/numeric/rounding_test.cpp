#include <warpmat/numeric/exact.h>

#include "numeric/oracle_format.h"
#include "test.h"

namespace warpmat::rounding_test {
namespace {

constexpr Format float_formats[] = {Format::f64,  Format::f32,  Format::tf32, Format::bf16, Format::f16,
                                    Format::e4m3, Format::e5m2, Format::e3m2, Format::e2m3, Format::e2m1};

oracle::Dyadic number(const Exact& exact) {
  const auto part = [&](int from) { return static_cast<std::int64_t>(exact.magnitude >> from & 0xFFFF'FFFF); };
  oracle::Dyadic sum;
  for (int from = 0; from < 128; from += 32) sum = sum + oracle::Dyadic(part(from), exact.exponent + from);
  // What is sticky lies in the middle of the unit, as good as anywhere else inside.
  if (exact.sticky) sum = sum + oracle::Dyadic(1, exact.exponent - 1);
  return exact.negative ? -sum : sum;
}

std::string shown(const Exact& exact) {
  return fmt::format("{}{:#x}'{:016x} * 2^{}{}", exact.negative ? "-" : "", static_cast<std::uint64_t>(exact.magnitude >> 64),
                     static_cast<std::uint64_t>(exact.magnitude), exact.exponent, exact.sticky ? " and a bit" : "");
}

/// Compares every rounding direction and every kind of overflow with the oracle.
void compare_with_oracle(Tally& tally, Format format, const Exact& exact) {
  const oracle::FloatFormat f = *oracle_format(format);
  const oracle::Dyadic x = number(exact);
  const std::uint64_t inward = x.is_negative() ? oracle::up(f, x) : oracle::down(f, x);
  const std::uint64_t nearest = oracle::nearest(f, x);
  const std::uint64_t saturated = oracle::is_inf(f, nearest) ? largest_finite(format, x.is_negative()) : nearest;
  // An Exact may be a negative zero; the oracle's numbers know one zero.
  const std::uint64_t sign = exact.negative && x.is_zero() ? std::uint64_t{1} << (f.bits - 1) : 0;

  struct Row {
    const char* direction;
    Rounding rounding;
    Overflow overflow;
    std::uint64_t expected;
  };
  const Row rows[] = {{"nearest", Rounding::nearest_even, Overflow::ieee, nearest},
                      {"nearest, to infinity", Rounding::nearest_even, Overflow::infinity, nearest},
                      {"nearest, saturated", Rounding::nearest_even, Overflow::saturate, saturated},
                      {"toward zero", Rounding::toward_zero, Overflow::ieee, inward},
                      {"toward zero, to infinity", Rounding::toward_zero, Overflow::infinity, oracle::toward_zero(f, x)},
                      {"down", Rounding::down, Overflow::ieee, oracle::down(f, x)},
                      {"up", Rounding::up, Overflow::ieee, oracle::up(f, x)}};
  for (const Row& r : rows) {
    const std::uint64_t got = round_to(format, exact, r.rounding, r.overflow);
    tally.expect(got == (r.expected | sign), [&] {
      return fmt::format("{} to {}, {}: got {:#x}, expected {:#x}", shown(exact), name(format), r.direction, got, r.expected | sign);
    });
  }
}

constexpr std::size_t roundings = 7;

/// A finite code of `f` without its sign: any, subnormal, or among the largest.
std::uint64_t finite_code(const FormatRow& f, std::mt19937_64& random) {
  const std::uint64_t largest = largest_finite(f.format, false) >> f.ignored_low_bits;
  const std::uint64_t choice = random();
  std::uint64_t rank = random() % (largest + 1);
  if (choice % 4 == 0) rank = random() % (std::uint64_t{2} << f.fraction_bits);
  if (choice % 4 == 1) rank = largest - random() % 3;
  return rank << f.ignored_low_bits;
}

TEST_CASE("rounding agrees with the oracle at codes, midpoints and their neighbours, subnormals and overflow borders included") {
  const Format format = GENERATE(from_range(std::begin(float_formats), std::end(float_formats)));
  CAPTURE(name(format));
  const FormatRow& f = row(format);
  std::mt19937_64 random(3);
  Tally tally;
  const std::size_t cases = case_count(format == Format::f64 ? 200 : 1500);
  for (std::size_t i = 0; i < cases; ++i) {
    const Value value = decode(format, finite_code(f, random));
    // Between a code and the next: 2^extra parts; the middle is a tie.
    const int extra = 2 + static_cast<int>(random() % 40);
    const uint128 part = uint128{1} << extra;
    const uint128 base = uint128{value.significand} << extra;
    for (const uint128 offset : {uint128{0}, uint128{1}, part / 2 - 1, part / 2, part / 2 + 1, part - 1, uint128{random()} % part}) {
      const Exact exact{random() % 2 == 0, base + offset, value.exponent - value.fraction_bits - extra};
      compare_with_oracle(tally, format, exact);
    }
  }
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() == cases * 7 * roundings);
}

TEST_CASE("rounding agrees with the oracle on random numbers of any size") {
  const Format format = GENERATE(from_range(std::begin(float_formats), std::end(float_formats)));
  CAPTURE(name(format));
  const FormatRow& f = row(format);
  std::mt19937_64 random(4);
  Tally tally;
  const std::size_t cases = case_count(format == Format::f64 ? 500 : 5000);
  const int lowest = min_exponent(f) - f.fraction_bits - 6;
  const int highest = max_exponent(f) + 4;
  for (std::size_t i = 0; i < cases; ++i) {
    const uint128 all = uint128{random()} << 64 | random();
    const int bits = 1 + static_cast<int>(random() % 128);
    const int leading = lowest + static_cast<int>(random() % static_cast<std::uint64_t>(highest - lowest + 1));
    const Exact exact{random() % 2 == 0, all >> (128 - bits), leading - bits + 1, bits > 64 && random() % 2 == 0};
    compare_with_oracle(tally, format, exact);
  }
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() == cases * roundings);
}

TEST_CASE("zero rounds to zero whatever its exponent, and keeps its sign") {
  Tally tally;
  for (const Format format : float_formats)
    for (const bool negative : {false, true})
      for (const int exponent : {-5000, -200, -1, 0, 1, 100, 127, 128, 129, 5000})
        compare_with_oracle(tally, format, {negative, 0, exponent});
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() == std::size(float_formats) * 2 * 10 * roundings);
  for (const FormatRow& f : format_rows()) {
    CAPTURE(f.name);
    for (const int exponent : {-5000, -1, 0, 1, 66, 5000}) CHECK(round_to(f.format, {false, 0, exponent}, Rounding::nearest_even) == 0);
  }
}

TEST_CASE("numbers far out of range round to the ends of the range") {
  Tally tally;
  for (const Format format : float_formats)
    for (const bool negative : {false, true})
      for (const uint128 magnitude : {uint128{1}, uint128{0xFFFF'FFFF}, ~uint128{0}})
        for (const int exponent : {-5000, -1300, -400, 400, 1300, 5000})
          compare_with_oracle(tally, format, {negative, magnitude, exponent});
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() == std::size(float_formats) * 2 * 3 * 6 * roundings);
}

TEST_CASE("a half of the smallest number is a tie, however wide the number is written") {
  // Magnitudes of 128 bits whose half unit is their highest bit.
  constexpr uint128 half = uint128{1} << 127;
  Tally tally;
  for (const Format format : float_formats) {
    const int unit = min_exponent(row(format)) - row(format).fraction_bits;
    for (const uint128 magnitude : {half - 1, half, half + 1, half + (half - 1)})
      for (const int below : {127, 128, 129}) compare_with_oracle(tally, format, {false, magnitude, unit - below});
  }
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() == std::size(float_formats) * 4 * 3 * roundings);
}

TEST_CASE("from_double to f32 is the compiler's conversion, and to_double its inverse") {
  std::mt19937_64 random(5);
  Tally tally;
  const auto compare = [&](double x) {
    const auto expected = std::bit_cast<std::uint32_t>(static_cast<float>(x));
    const std::uint64_t got = from_double(Format::f32, x);
    tally.expect(got == expected, [&] { return fmt::format("{:a}: got {:#x}, expected {:#x}", x, got, expected); });
    const double back = to_double(Format::f32, got);
    tally.expect(std::bit_cast<std::uint64_t>(back) == std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<float>(x))),
                 [&] { return fmt::format("{:#x} back to double: {:a}", got, back); });
  };
  const std::size_t cases = case_count(100'000);
  for (std::size_t i = 0; i < cases; ++i) {
    // Exponents from below the subnormals to above the overflow border; the low bits often those of a tie.
    std::uint64_t bits = (random() & 0x800F'FFFF'FFFF'FFFF) | (std::uint64_t{1023 - 152} + random() % 283) << 52;
    if (i % 2 == 0) bits = (bits & ~std::uint64_t{0x1FFF'FFFF}) | (0x0FFF'FFFF + random() % 3);
    compare(std::bit_cast<double>(bits));
  }
  for (const double x : {0.0, -0.0, 1.0, -1.0, 0x1p-149, 0x1p-150, 0x1.000001p-150, 0x1.fffffefffffffp127, 0x1.ffffffp127, -0x1.ffffffp127})
    compare(x);
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() == 2 * (cases + 10));
}

TEST_CASE("integers round as the C library does and saturate at both ends") {
  constexpr Format formats[] = {Format::s32, Format::s8, Format::u8, Format::s4, Format::u4, Format::b1};
  std::mt19937_64 random(7);
  Tally tally;
  const auto compare = [&](Format format, bool negative, std::uint64_t magnitude, int exponent) {
    const FormatRow& f = row(format);
    const double x =
        std::ldexp(static_cast<double>(negative ? -static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude)), exponent);
    struct Row {
      Rounding rounding;
      double whole;
    };
    const Row rows[] = {{Rounding::nearest_even, std::nearbyint(x)},
                        {Rounding::toward_zero, std::trunc(x)},
                        {Rounding::down, std::floor(x)},
                        {Rounding::up, std::ceil(x)}};
    const double lowest = f.is_signed ? -std::ldexp(1.0, f.bits - 1) : 0;
    const double highest = std::ldexp(1.0, f.is_signed ? f.bits - 1 : f.bits) - 1;
    for (const Row& r : rows) {
      const double expected = std::clamp(r.whole, lowest, highest);
      const std::uint64_t got = round_to(format, {negative, magnitude, exponent}, r.rounding);
      tally.expect(got >> f.bits == 0 && to_double(format, got) == expected, [&] {
        return fmt::format("{} to {} with rounding {}: got {:#x}, expected {}", x, f.name, static_cast<int>(r.rounding), got, expected);
      });
    }
  };
  const std::size_t cases = case_count(5'000);
  for (const Format format : formats) {
    for (std::size_t i = 0; i < cases; ++i) {
      const int fraction = static_cast<int>(random() % 4);  // ties are frequent
      const std::uint64_t range = std::uint64_t{1} << (row(format).bits + 1 + fraction);
      compare(format, random() % 2 == 0, random() % range, -fraction);
    }
    for (const bool negative : {false, true})
      for (const int exponent : {-200, -60, -1, 0, 1, 20, 40, 60, 64, 65, 66, 100, 900}) compare(format, negative, 1, exponent);
  }
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() == std::size(formats) * (cases + 26) * 4);
}

TEST_CASE("encode rounds values of one format to another like the oracle, specials included") {
  constexpr Format sources[] = {Format::f32, Format::f16, Format::e5m2};
  std::mt19937_64 random(8);
  Tally tally;
  for (const Format from : sources)
    for (const Format to : float_formats)
      for (std::size_t i = 0; i < case_count(500); ++i) {
        const std::uint64_t code = random() & ((std::uint64_t{1} << row(from).bits) - 1);
        const oracle::FloatFormat source = *oracle_format(from), target = *oracle_format(to);
        const bool negative = oracle::is_negative(source, code);
        std::uint64_t expected = oracle::nearest(target, oracle::value(source, code));
        if (oracle::value(source, code).is_zero() && negative) expected = std::uint64_t{1} << (target.bits - 1);
        if (oracle::is_inf(source, code)) expected = target.has_infinity ? infinity(to, negative) : largest_finite(to, negative);
        const std::uint64_t got = encode(to, decode(from, code));
        if (oracle::is_nan(source, code)) {
          const bool nan = oracle::is_nan(target, got);
          tally.expect(target.has_nan ? nan : got == largest_finite(to, negative),
                       [&] { return fmt::format("NaN {:#x} {} to {}", code, name(from), name(to)); });
          continue;
        }
        tally.expect(got == expected,
                     [&] { return fmt::format("{} {:#x} to {}: got {:#x}, expected {:#x}", name(from), code, name(to), got, expected); });
      }
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() == std::size(sources) * std::size(float_formats) * case_count(500));
}

TEST_CASE("infinity saturates where it is asked to or where the format has none") {
  const Value infinite = Value::special(Value::Kind::infinity, true);
  CHECK(encode(Format::f16, infinite) == 0xFC00);
  CHECK(encode(Format::f16, infinite, Rounding::nearest_even, Overflow::saturate) == 0xFBFF);
  CHECK(encode(Format::e4m3, infinite) == 0xFE);
  CHECK(encode(Format::e2m1, infinite) == 0xF);
  CHECK(encode(Format::s8, infinite) == 0x80);
  CHECK(encode(Format::u8, infinite) == 0);
}

TEST_CASE("ue4m3 rounds like e4m3 and has nothing below zero") {
  for (const double x : {0.0, 1.0, 1.06, 1.0625, 1.1875, 448.0, 464.0, 1e9, 0x1p-10, 0x1.8p-10}) {
    CAPTURE(x);
    CHECK(from_double(Format::ue4m3, x) == from_double(Format::e4m3, x));
    CHECK(from_double(Format::ue4m3, -x) == 0);
  }
}

TEST_CASE("ue8m0 rounds to powers of two and ends at 2^-127 and 2^127") {
  struct Row {
    double x;
    Rounding rounding;
    double expected;
  };
  using enum Rounding;
  const Row rows[] = {{1.0, up, 1.0},
                      {1.25, up, 2.0},
                      {1.99, toward_zero, 1.0},
                      {1.99, down, 1.0},
                      {1.25, nearest_even, 1.0},
                      {1.75, nearest_even, 2.0},
                      {0x1p-127, up, 0x1p-127},
                      {0x1p-140, toward_zero, 0x1p-127},
                      {0.0, nearest_even, 0x1p-127},
                      {0x1p127, up, 0x1p127},
                      {0x1.8p127, up, 0x1p127},
                      {0x1p200, nearest_even, 0x1p127}};
  for (const Row& r : rows) {
    CAPTURE(r.x, static_cast<int>(r.rounding));
    CHECK(to_double(Format::ue8m0, encode(Format::ue8m0, decode(Format::f64, std::bit_cast<std::uint64_t>(r.x)), r.rounding)) ==
          r.expected);
  }
}

}  // namespace
}  // namespace warpmat::rounding_test
