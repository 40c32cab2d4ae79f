#include <warpmat/ptx/program/folding_rules.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include <warpmat/numeric/canonical_nan.h>

namespace warpmat::code {

using catalogue::Folds;
using catalogue::is_number;
using catalogue::Match;
using catalogue::Name;
using catalogue::Qualifier;

namespace {

constexpr std::uint32_t f32_sign = 0x80000000, f32_infinity = 0x7f800000, f32_quiet = 0x00400000, f32_nan = canonical_f32_nan;
constexpr std::uint32_t f32_one = 0x3f800000, smallest_normal = 0x00800000, two_to_126 = 0x7e800000;

float to_float(std::uint64_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}
std::uint32_t to_bits(double value) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}
bool is_f32_nan(std::uint64_t bits) {
  return (bits & ~std::uint64_t{f32_sign}) > f32_infinity;
}
/// Subnormal numbers become zeros.
std::uint32_t flush(std::uint64_t bits) {
  const auto word = static_cast<std::uint32_t>(bits);
  return (word & f32_infinity) == 0 ? word & f32_sign : word;
}

/// Whether the low bits that `type` has are a NaN.
bool is_nan(const DataType& type, std::uint64_t bits) {
  const auto above = [&](std::uint64_t sign, std::uint64_t infinity) { return (bits & (sign - 1)) > infinity; };
  if (is_number(type, Format::f16)) return above(0x8000, 0x7c00);
  if (is_number(type, Format::bf16)) return above(0x8000, 0x7f80);
  if (is_number(type, Format::f32) || is_number(type, Format::tf32)) return above(f32_sign, f32_infinity);
  if (is_number(type, Format::f64)) return above(f64_sign, 0x7ff0000000000000);
  return false;
}

// The functions of the multi-function unit, rounded correctly. Without .ftz ptxas scales operands or results out of the subnormal numbers,
// as it does for the unit, and rounds after each step.

double exp2_of(double x) {
  return std::exp2(x);
}
double log2_of(double x) {
  return std::log2(x);
}
double reciprocal_of(double x) {
  return 1 / x;
}
double reciprocal_root_of(double x) {
  return 1 / std::sqrt(x);
}
double root_of(double x) {
  return std::sqrt(x);
}
double sine_of(double x) {
  return std::sin(x);
}
double cosine_of(double x) {
  return std::cos(x);
}

struct ApproximateFunction {
  Name name;
  double (*of)(double);
  bool flushes;  ///< subnormal operands also without .ftz
};

constexpr std::array functions{
    ApproximateFunction{Name::ex2, exp2_of, false},       ApproximateFunction{Name::lg2, log2_of, false},
    ApproximateFunction{Name::rcp, reciprocal_of, false}, ApproximateFunction{Name::rsqrt, reciprocal_root_of, false},
    ApproximateFunction{Name::sqrt, root_of, false},      ApproximateFunction{Name::sin, sine_of, true},
    ApproximateFunction{Name::cos, cosine_of, true}};

const ApproximateFunction* find_function(const Match& match) {
  if (!match.has(Qualifier::approx) || match.types.size() != 1 || !is_number(*match.types[0], Format::f32)) return nullptr;
  const auto* const found = std::ranges::find(functions, match.name(), &ApproximateFunction::name);
  return found == functions.end() ? nullptr : found;
}

/// The function without .ftz of a normal or subnormal number.
std::uint32_t scaled(const ApproximateFunction& function, float x) {
  if (function.name == Name::ex2 && x < -126) {
    const auto root = static_cast<float>(function.of(x * 0.5));
    return to_bits(static_cast<double>(root) * root);
  }
  if (function.name == Name::rcp && std::abs(x) > std::bit_cast<float>(two_to_126))
    return to_bits(static_cast<float>(function.of(x * 0.25)) * 0.25);
  if (function.name == Name::lg2 && std::abs(x) < std::bit_cast<float>(smallest_normal))
    return to_bits(static_cast<double>(static_cast<float>(function.of(x * 0x1p24))) - 24);
  return to_bits(function.of(x));
}

std::optional<std::uint64_t> approximate(const ApproximateFunction& function, const Match& match, std::uint64_t source,
                                         std::uint64_t computed) {
  const bool ftz = match.has(Qualifier::ftz);
  const float x = to_float(ftz || function.flushes ? flush(source) : static_cast<std::uint32_t>(source));
  if (is_f32_nan(computed) || (x == 0 && function.name == Name::lg2)) return std::nullopt;
  if (x == 0 || std::isinf(x)) return computed;
  return ftz ? flush(to_bits(function.of(x))) : scaled(function, x);
}

/// The quotient that a constant divisor's steps make of a constant dividend.
std::optional<std::uint64_t> quotient(const Match& match, std::uint64_t dividend, std::uint64_t divisor) {
  const auto by = constant_divisor(match, static_cast<std::uint32_t>(divisor));
  if (!by) return std::nullopt;
  const auto flushed = [&](std::uint32_t bits) { return match.has(Qualifier::ftz) ? flush(bits) : bits; };
  const auto times = [&](std::uint32_t a, std::uint32_t b) {
    return flushed(to_bits(static_cast<double>(to_float(flushed(a))) * to_float(flushed(b))));
  };
  const std::uint32_t scaled_dividend =
      by->scale == f32_one ? static_cast<std::uint32_t>(dividend) : times(static_cast<std::uint32_t>(dividend), by->scale);
  // A subnormal dividend is not flushed before an infinite reciprocal.
  if (match.has(Qualifier::ftz) && (dividend & ~std::uint64_t{f32_sign}) != 0 && flush(dividend) != dividend &&
      (by->reciprocal & ~f32_sign) == f32_infinity)
    return ((static_cast<std::uint32_t>(dividend) ^ by->reciprocal) & f32_sign) | f32_infinity;
  const std::uint32_t result = times(scaled_dividend, by->reciprocal);
  if (is_f32_nan(result)) return std::nullopt;
  return result;
}

// NaNs, whose payload the machine drops or keeps otherwise.

/// abs and neg turn a sign, of f32 after making the NaN quiet; of f16 that is not packed and of bf16, NaNs are the machine's.
std::uint64_t with_sign(const Match& match, std::uint64_t source, std::uint64_t computed) {
  const DataType& type = *match.types[0];
  const bool absolute = match.is(Name::abs);
  const auto turned = [&](std::uint64_t bits, std::uint64_t sign) { return absolute ? bits & ~sign : bits ^ sign; };
  if (is_number(type, Format::f32)) return is_f32_nan(source) ? turned(source | f32_quiet, f32_sign) : computed;
  if (is_number(type, Format::f64)) return turned(source, f64_sign);
  return type.format == Format::f16 && type.elements == 2 ? turned(source, 0x80008000) : computed;
}

std::optional<std::uint64_t> signed_result(const Match& match, std::uint64_t source, std::uint64_t computed) {
  if (match.types.size() != 1) return std::nullopt;
  if (!match.types[0]->is_floating()) return computed;
  if (match.has(Qualifier::ftz) && !is_number(*match.types[0], Format::f32)) return std::nullopt;
  return with_sign(match, source, computed);
}

/// A NaN converted from one type to another, where it is not the machine's.
struct ConvertedNan {
  Format to, from;
  std::uint64_t nan;
};
constexpr std::array converted_nans{
    ConvertedNan{Format::f32, Format::bf16, f32_nan}, ConvertedNan{Format::f64, Format::f16, 0x7fffffffe0000000},
    ConvertedNan{Format::f64, Format::bf16, 0x7fffffffe0000000}, ConvertedNan{Format::f16, Format::f64, canonical_half_nan},
    ConvertedNan{Format::bf16, Format::f64, canonical_half_nan}};

/// What ptxas does with conversions: those that it leaves to the machine have another rounding, or wide integers beside floating point.
std::optional<std::uint64_t> converted(const Match& match, std::uint64_t source, std::uint64_t computed) {
  if (match.types.size() != 2 || match.has(Qualifier::relu) || match.has(Qualifier::satfinite)) return std::nullopt;
  const DataType &to = *match.types[0], &from = *match.types[1];
  const bool to_floating = to.is_floating(), from_floating = from.is_floating();
  if (!to_floating && !from_floating) return computed;
  if (match.has(Qualifier::rz) || match.has(Qualifier::rm) || match.has(Qualifier::rp) || match.has(Qualifier::rmi) ||
      match.has(Qualifier::rpi))
    return std::nullopt;
  if (!to_floating) return is_nan(from, source) || to.bits < 16 ? std::nullopt : std::optional(computed);
  if (!from_floating) return is_number(to, Format::f32) && from.bits <= 32 ? std::optional(computed) : std::nullopt;
  if (to.bits > 16 && to.bits < 32) return std::nullopt;
  if (!is_nan(from, source) || match.has(Qualifier::sat)) return computed;
  if (is_number(to, Format::f32) && is_number(from, Format::f32) && match.has(Qualifier::ftz) && !match.has(Qualifier::rni) &&
      !match.has(Qualifier::rzi))
    return source | f32_quiet;
  const auto* const nan =
      std::ranges::find_if(converted_nans, [&](const ConvertedNan& c) { return is_number(to, c.to) && is_number(from, c.from); });
  return nan == converted_nans.end() ? computed : nan->nan;
}

// Everything else gives what the machine does, or is left to it.

/// Of f32 with .rn every result; without a rounding modifier all but NaNs.
bool sum_or_product(const Match& match, std::uint64_t computed) {
  const DataType& type = *match.types[0];
  if (is_number(type, Format::f32) && has_rounding(match)) return match.has(Qualifier::rn) && !match.has(Qualifier::sat);
  return (is_number(type, Format::f32) || is_number(type, Format::f64)) && !has_rounding(match) && !is_nan(type, computed);
}
bool arithmetic(const Match& match, std::uint64_t computed) {
  if (match.types.empty()) return false;
  const DataType& type = *match.types[0];
  if (type.is_floating()) return sum_or_product(match, computed);
  if (match.has(Qualifier::relu) || type.elements == 2) return false;
  if (match.has(Qualifier::cc)) return match.is(Name::add) && type.bits == 32;
  if (match.has(Qualifier::hi)) return match.is(Name::mul) ? type.bits <= 32 : type.bits == 16;
  return true;
}
bool extremum(const Match& match, std::uint64_t computed) {
  if (match.types.empty() || match.has(Qualifier::relu) || match.has(Qualifier::NaN) || match.has(Qualifier::xorsign) ||
      match.has(Qualifier::abs))
    return false;
  const DataType& type = *match.types[0];
  if (is_number(type, Format::f64)) return !is_nan(type, computed);
  return is_number(type, Format::f32) || (!type.is_floating() && type.elements != 2);
}
bool has_plain_types(const Match& match) {
  return std::ranges::all_of(match.types, [](const DataType* type) {
    return !type->is_floating() || is_number(*type, Format::f32) || is_number(*type, Format::f64);
  });
}

/// mad of integers; of floating point it is fma, which ptxas leaves to the machine.
bool folds_mad(const Match& match) {
  return !match.types.empty() && !match.types[0]->is_floating() && !match.has(Qualifier::cc) && !match.has(Qualifier::sat) &&
         (!match.has(Qualifier::hi) || match.types[0]->bits == 16);
}

bool is_quotient(const Match& match) {
  return match.is(Name::div) && (match.has(Qualifier::approx) || match.has(Qualifier::full));
}

/// A rule by which instructions become simpler.
struct Simplification {
  Name name;
  std::optional<Simplified> (*of)(const Match&, std::span<const std::optional<std::uint64_t>>);
};

constexpr std::uint64_t low_byte = 255;

struct One {
  Format format;
  std::uint64_t bits, sign;
};
constexpr std::array ones{One{Format::f32, f32_one, f32_sign}, One{Format::f64, 0x3ff0000000000000, f64_sign},
                          One{Format::f16, 0x3c00, 0x8000}, One{Format::bf16, 0x3f80, 0x8000}};

/// x * 1 and x / 1 without a rounding modifier keep every bit of x; x * -1 is neg.
std::optional<Simplified> product(const Match& match, std::span<const std::optional<std::uint64_t>> sources) {
  if (match.types.size() != 1 || match.has(Qualifier::ftz) || match.has(Qualifier::sat) || has_rounding(match)) return std::nullopt;
  const auto* const one = std::ranges::find_if(ones, [&](const One& each) { return is_number(*match.types[0], each.format); });
  if (one == ones.end()) return std::nullopt;
  const bool multiplies = match.is(Name::mul);
  for (const std::size_t factor : {std::size_t{1}, std::size_t{0}}) {
    if (!sources[factor] || (factor == 0 && !multiplies)) continue;
    if (*sources[factor] == one->bits) return Simplified{Simplified::Kind::source, 1 - factor};
    if (multiplies && *sources[factor] == (one->bits | one->sign)) return Simplified{Simplified::Kind::negated, 1 - factor};
  }
  return std::nullopt;
}

std::optional<Simplified> divided(const Match& match, std::span<const std::optional<std::uint64_t>> sources) {
  return is_quotient(match) ? product(match, sources) : std::nullopt;
}

bool is_signed_word(const DataType& type) {
  return catalogue::is_integer_of(type, 32) && type.is_signed;
}

/// A signed field above bit 31 is taken for -1.
std::optional<Simplified> extracted(const Match& match, std::span<const std::optional<std::uint64_t>> sources) {
  if (!is_signed_word(*match.types[0]) || sources[0] || !sources[1] || !sources[2]) return std::nullopt;
  if ((*sources[1] & low_byte) < 32 || (*sources[2] & low_byte) == 0) return std::nullopt;
  return Simplified{Simplified::Kind::constant, 0, 0xffffffff};
}

/// Of the length of a constant field that is inserted at bit 1 or above, the low five bits count.
std::optional<Simplified> inserted(const Match& match, std::span<const std::optional<std::uint64_t>> sources) {
  if (match.types[0]->bits != 32 || !sources[0] || sources[1] || !sources[2] || !sources[3]) return std::nullopt;
  const std::uint64_t position = *sources[2] & low_byte, length = *sources[3] & low_byte;
  if (position == 0 || position >= 32 || length < 32) return std::nullopt;
  const std::uint64_t mask = (((std::uint64_t{1} << (length & 31)) - 1) << position) & 0xffffffff;
  return Simplified{Simplified::Kind::masked, 1, (*sources[0] << position) & mask, mask};
}

/// A constant selector of slct.s32.s32 is compared as an f32.
std::optional<Simplified> selected(const Match& match, std::span<const std::optional<std::uint64_t>> sources) {
  if (match.types.size() != 2 || !is_signed_word(*match.types[0]) || !is_signed_word(*match.types[1]) || !sources[2]) return std::nullopt;
  return Simplified{Simplified::Kind::source, to_float(*sources[2]) >= 0 ? std::size_t{0} : std::size_t{1}};
}

/// The upper half of a 64-bit product whose carry is a constant 0 becomes the second factor.
std::optional<Simplified> carried(const Match& match, std::span<const std::optional<std::uint64_t>> sources) {
  if (!match.has(Qualifier::hi) || match.types[0]->bits != 64 || sources.back() != 0) return std::nullopt;
  return Simplified{Simplified::Kind::source, 1};
}

bool is_extremum(const Match& match) {
  return match.is(Name::min) || match.is(Name::max);
}

/// min and max of one register twice keep every bit of it.
std::optional<Simplified> extremum_of_one(const Match& match) {
  if (match.types.size() != 1 || match.qualifiers.size() != 1) return std::nullopt;  // .ftz, .NaN, .xorsign.abs, .relu
  const DataType& type = *match.types[0];
  if (!is_number(type, Format::f32) && !is_number(type, Format::f64) && !is_number(type, Format::f16)) return std::nullopt;
  return Simplified{Simplified::Kind::source, 0};
}

constexpr std::array simplifications{Simplification{Name::mul, product},   Simplification{Name::div, divided},
                                     Simplification{Name::bfe, extracted}, Simplification{Name::bfi, inserted},
                                     Simplification{Name::slct, selected}, Simplification{Name::madc, carried}};

}  // namespace

bool has_rounding(const Match& match) {
  return match.has(Qualifier::rn) || match.has(Qualifier::rz) || match.has(Qualifier::rm) || match.has(Qualifier::rp);
}

std::optional<std::uint64_t> folded_result(const Match& match, std::span<const std::uint64_t> sources, std::uint64_t computed) {
  if (const ApproximateFunction* function = find_function(match)) return approximate(*function, match, sources[0], computed);
  if (is_quotient(match)) return quotient(match, sources[0], sources[1]);
  const auto where = [&](bool folds) { return folds ? std::optional(computed) : std::nullopt; };
  switch (catalogue::row_of(match.name()).folds) {
    case Folds::never: return std::nullopt;
    case Folds::always: return computed;
    case Folds::arithmetic: return where(arithmetic(match, computed));
    case Folds::conversion: return converted(match, sources[0], computed);
    case Folds::extremum: return where(extremum(match, computed));
    case Folds::plain_types: return where(has_plain_types(match));
    case Folds::sign: return signed_result(match, sources[0], computed);
    case Folds::whole_mad: return where(folds_mad(match));
  }
  return std::nullopt;
}

bool has_simplification(const Match& match) {
  return is_extremum(match) || std::ranges::find(simplifications, match.name(), &Simplification::name) != simplifications.end();
}

std::optional<Simplified> simplified(const Match& match, std::span<const std::optional<std::uint64_t>> sources, bool same) {
  if (same && sources.size() == 2 && is_extremum(match)) return extremum_of_one(match);
  const auto* const rule = std::ranges::find(simplifications, match.name(), &Simplification::name);
  return rule == simplifications.end() ? std::nullopt : rule->of(match, sources);
}

std::optional<ConstantDivisor> constant_divisor(const Match& match, std::uint32_t divisor) {
  if (!is_quotient(match) || is_f32_nan(divisor)) return std::nullopt;
  ConstantDivisor by;
  const std::uint32_t magnitude = divisor & ~f32_sign;
  float scale = 1;
  if (match.has(Qualifier::full) && magnitude > two_to_126) scale = 0.25F;
  if (!match.has(Qualifier::ftz) && magnitude < smallest_normal) scale = 0x1p24F;
  by.scale = std::bit_cast<std::uint32_t>(scale);
  const float scaled_divisor = to_float(flush(std::bit_cast<std::uint32_t>(to_float(divisor) * scale)));
  by.reciprocal = flush(to_bits(1.0 / scaled_divisor));
  return by;
}

}  // namespace warpmat::code
