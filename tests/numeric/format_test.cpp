#include <warpmat/formats.h>
#include <warpmat/numeric/canonical_nan.h>

#include "numeric/oracle_format.h"
#include "test.h"

namespace warpmat::format_test {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// What encoding gives back of a code: all of it, but for ue4m3, whose top bit means nothing.
std::uint64_t meaning(const FormatRow& f, std::uint64_t code) {
  return f.format == Format::ue4m3 ? code & 0x7F : code;
}

std::string shown(const FormatRow& f, std::uint64_t code, std::uint64_t got) {
  return fmt::format("{} {:#x}: got {:#x}", f.name, code, got);
}

/// Calls `visit(row, code)` for every code of every format of at most 16 bits.
template <typename Visit>
void for_each_code(Visit visit) {
  for (const FormatRow& f : format_rows())
    if (f.bits <= 16)
      for (std::uint64_t code = 0; code < std::uint64_t{1} << f.bits; ++code) visit(f, code);
}

// 2 formats of 16 bits; e4m3, e5m2, ue8m0, ue4m3, s8, u8; e3m2, e2m3; e2m1, s4, u4; b1.
constexpr std::size_t small_codes = 2 * 65536 + 6 * 256 + 2 * 64 + 3 * 16 + 2;

bool is_nan(const FormatRow& f, std::uint64_t code) {
  return decode(f.format, code).kind == Value::Kind::nan;
}

TEST_CASE("every code of every format up to 16 bits survives decode and encode, NaN payloads included") {
  Tally tally;
  for_each_code([&](const FormatRow& f, std::uint64_t code) {
    const std::uint64_t again = encode(f.format, decode(f.format, code));
    tally.expect(again == meaning(f, code), [&] { return shown(f, code, again); });
  });
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() == small_codes);
}

TEST_CASE("NaNs become the double NaN and the canonical NaN of the format") {
  struct Row {
    Format format;
    std::uint64_t nan, canonical;
  };
  constexpr Row rows[] = {{Format::f64, 0xFFF0'0000'0000'0001, 0x7FFF'FFFF'FFFF'FFFF},
                          {Format::f32, 0xFF80'0001, 0x7FFF'FFFF},
                          {Format::tf32, 0x7F80'2000, 0x7FFF'FFFF},
                          {Format::bf16, 0x7F81, 0x7FFF},
                          {Format::f16, 0xFC01, 0x7FFF},
                          {Format::e4m3, 0xFF, 0x7F},
                          {Format::e5m2, 0x7D, 0x7F},
                          {Format::ue8m0, 0xFF, 0xFF},
                          {Format::ue4m3, 0xFF, 0x7F}};
  for (const Row& r : rows) {
    CAPTURE(name(r.format));
    CHECK(std::isnan(to_double(r.format, r.nan)));
    CHECK(canonical_nan(r.format) == r.canonical);
    CHECK(is_nan(row(r.format), r.canonical));
    // f64 is the format of the double itself, whose payload stays.
    if (r.format != Format::f64) CHECK(from_double(r.format, std::numeric_limits<double>::quiet_NaN()) == r.canonical);
  }
}

TEST_CASE("the canonical NaNs of kernels are those of the formats") {
  CHECK(canonical_f32_nan == canonical_nan(Format::f32));
  CHECK(canonical_half_nan == canonical_nan(Format::f16));
  CHECK(canonical_half_nan == canonical_nan(Format::bf16));
}

TEST_CASE("codes of the 32- and 64-bit formats survive decode and encode; tf32 loses its 13 low bits") {
  struct Row {
    Format format;
    std::uint64_t kept;
  };
  const Row row = GENERATE(Row{Format::f32, 0xFFFF'FFFF}, Row{Format::tf32, 0xFFFF'E000}, Row{Format::s32, 0xFFFF'FFFF},
                           Row{Format::f64, 0xFFFF'FFFF'FFFF'FFFF});
  std::mt19937_64 random(1);
  Tally tally;
  for (std::size_t i = 0; i < case_count(100'000); ++i) {
    // A quarter with an exponent field of ones: NaNs and infinities.
    const std::uint64_t ones = row.format == Format::f64 ? 0x7FF0'0000'0000'0000 : 0x7F80'0000;
    const std::uint64_t code = (random() | (i % 4 == 0 ? ones : 0)) & (row.format == Format::f64 ? ~std::uint64_t{0} : 0xFFFF'FFFF);
    const std::uint64_t again = encode(row.format, decode(row.format, code));
    tally.expect(again == (code & row.kept), [&] { return shown(warpmat::row(row.format), code, again); });
  }
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() == case_count(100'000));
}

TEST_CASE("bits above an element are ignored") {
  for (const FormatRow& f : format_rows()) {
    if (f.bits == 64) continue;
    CAPTURE(f.name);
    CHECK(decode(f.format, 0xA5A5'A5A5'0000'0000 | 1) == decode(f.format, 1));
    CHECK(decode(f.format, ~std::uint64_t{0} << f.bits) == decode(f.format, 0));
  }
}

TEST_CASE("decoding agrees with the oracle's values") {
  Tally tally;
  const auto compare = [&](const FormatRow& f, std::uint64_t code) {
    const oracle::FloatFormat format = *oracle_format(f.format);
    const Value value = decode(f.format, code);
    bool agrees = value.negative == oracle::is_negative(format, code);
    if (oracle::is_nan(format, code)) {
      agrees = agrees && value.kind == Value::Kind::nan;
    } else if (oracle::is_inf(format, code)) {
      agrees = agrees && value.kind == Value::Kind::infinity;
    } else {
      const auto significand = static_cast<std::int64_t>(value.significand);
      const oracle::Dyadic number(value.negative ? -significand : significand, value.exponent - value.fraction_bits);
      agrees = agrees && number == oracle::value(format, code);
      agrees = agrees && value.kind == (significand == 0 ? Value::Kind::zero : Value::Kind::finite);
    }
    tally.expect(agrees, [&] { return fmt::format("{} {:#x}", f.name, code); });
  };

  for_each_code([&](const FormatRow& f, std::uint64_t code) {
    if (oracle_format(f.format)) compare(f, code);
  });
  CHECK(tally.comparisons() == 2 * 65536 + 2 * 256 + 2 * 64 + 16);
  std::mt19937_64 random(2);
  for (std::size_t i = 0; i < case_count(20'000); ++i) {
    compare(row(Format::f32), random() & 0xFFFF'FFFF);
    compare(row(Format::tf32), random() & 0xFFFF'FFFF);
    compare(row(Format::f64), random());
    compare(row(Format::tf32), (random() & 0x8000'3FFF) | 0x7F80'0000);
  }
  CHECK(tally.failures() == "");
}

TEST_CASE("the scale formats and the integers decode to their formulas") {
  Tally tally;
  const auto expect = [&](Format format, std::uint64_t code, double value) {
    tally.expect(to_double(format, code) == value, [&] { return fmt::format("{} {:#x} is not {}", name(format), code, value); });
  };
  for (std::uint64_t code = 0; code < 256; ++code) {
    const int exponent = static_cast<int>(code) - 127;
    if (code != 0xFF) expect(Format::ue8m0, code, std::ldexp(1.0, exponent));
    if ((code & 0x7F) != 0x7F) expect(Format::ue4m3, code, to_double(Format::e4m3, code & 0x7F));
    expect(Format::u8, code, static_cast<double>(code));
    expect(Format::s8, code, static_cast<double>(static_cast<std::int8_t>(code)));
  }
  for (std::uint64_t code = 0; code < 16; ++code) {
    expect(Format::u4, code, static_cast<double>(code));
    expect(Format::s4, code, static_cast<double>(code) - (code < 8 ? 0 : 16));
  }
  expect(Format::b1, 0, 0);
  expect(Format::b1, 1, 1);
  expect(Format::s32, 0x8000'0000, -2147483648.0);
  expect(Format::s32, 0x7FFF'FFFF, 2147483647.0);
  CHECK(tally.failures() == "");
}

TEST_CASE("smallest, largest and infinite numbers of each format are those of its standard") {
  struct Row {
    Format format;
    double smallest, largest;
    bool infinite;
  };
  constexpr auto two_to = [](int power) { return std::ldexp(1.0, power); };
  const Row rows[] = {
      {Format::f64, std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max(), true},
      {Format::f32, two_to(-149), std::numeric_limits<float>::max(), true},
      {Format::tf32, two_to(-136), two_to(128) - two_to(117), true},
      {Format::bf16, two_to(-133), two_to(128) - two_to(120), true},
      {Format::f16, two_to(-24), 65504, true},
      {Format::e4m3, two_to(-9), 448, false},
      {Format::e5m2, two_to(-16), 57344, true},
      {Format::e3m2, two_to(-4), 28, false},
      {Format::e2m3, two_to(-3), 7.5, false},
      {Format::e2m1, 0.5, 6, false},
      {Format::ue8m0, two_to(-127), two_to(127), false},
      {Format::ue4m3, two_to(-9), 448, false},
      {Format::s32, 1, 2147483647, false},
      {Format::s8, 1, 127, false},
      {Format::u8, 1, 255, false},
      {Format::s4, 1, 7, false},
      {Format::u4, 1, 15, false},
      {Format::b1, 1, 1, false},
  };
  CHECK(std::size(rows) == format_rows().size());
  for (const Row& r : rows) {
    CAPTURE(name(r.format));
    const FormatRow& f = row(r.format);
    const std::uint64_t smallest_code = f.has_zero ? std::uint64_t{1} << f.ignored_low_bits : 0;
    CHECK(to_double(r.format, smallest_code) == r.smallest);
    CHECK(to_double(r.format, largest_finite(r.format, false)) == r.largest);
    if (f.is_signed) CHECK(to_double(r.format, largest_finite(r.format, true)) == -r.largest - (is_integer(f) ? 1 : 0));
    if (!f.is_signed) CHECK(largest_finite(r.format, true) == 0);
    CHECK((f.specials == Specials::ieee) == r.infinite);
    if (!r.infinite) continue;
    CHECK(to_double(r.format, infinity(r.format, false)) == infinite);
    CHECK(to_double(r.format, infinity(r.format, true)) == -infinite);
    CHECK(from_double(r.format, -infinite) == infinity(r.format, true));
  }
}

TEST_CASE("formats are found by PTX's spelling and by nothing else") {
  for (const FormatRow& f : format_rows()) {
    CAPTURE(f.name);
    CHECK(find_format(f.name) == &f);
    CHECK(&row(f.format) == &f);
    CHECK(name(f.format) == f.name);
  }
  for (const char* unknown : {"", "f1", "f166", ".f16", "F16", "f8"}) CHECK(find_format(unknown) == nullptr);
}

}  // namespace
}  // namespace warpmat::format_test
