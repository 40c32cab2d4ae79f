#include <warpmat/formats.h>

#include <algorithm>
#include <bit>
#include <cassert>

#include <warpmat/numeric/bit_length.h>
#include <warpmat/numeric/exact.h>
#include <warpmat/numeric/low_mask.h>

namespace warpmat {
namespace {

int sign_shift(const FormatRow& f) {
  return f.bits - 1;
}

/// Bits of a floating-point format below its sign, ignored bits included.
int magnitude_bits(const FormatRow& f) {
  return f.exponent_bits + f.fraction_bits + f.ignored_low_bits;
}

std::uint64_t with_sign(const FormatRow& f, std::uint64_t magnitude, bool negative) {
  return magnitude | (negative && f.is_signed ? std::uint64_t{1} << sign_shift(f) : 0);
}

Value decode_integer(const FormatRow& f, std::uint64_t bits) {
  const bool negative = f.is_signed && (bits >> sign_shift(f) & 1) != 0;
  const std::uint64_t magnitude = negative ? (~bits + 1) & low_mask(f.bits) : bits;
  return {magnitude == 0 ? Value::Kind::zero : Value::Kind::finite, negative, 0, 0, magnitude};
}

/// Whether a magnitude rounds up. Its discarded part is `rest` of `half * 2`, with `sticky` below it.
bool rounds_up(Rounding rounding, bool negative, bool odd, uint128 rest, uint128 half, bool sticky) {
  const bool inexact = rest != 0 || sticky;
  switch (rounding) {
    case Rounding::nearest_even: return rest > half || (rest == half && half != 0 && (sticky || odd));
    case Rounding::toward_zero: return false;
    case Rounding::down: return negative && inexact;
    case Rounding::up: return !negative && inexact;
  }
  return false;
}

/// `exact` rounded to a whole number of units of 2^unit_exponent.
uint128 round_to_units(const Exact& exact, int unit_exponent, Rounding rounding) {
  if (exact.magnitude == 0 && !exact.sticky) return 0;
  const int drop = unit_exponent - exact.exponent;
  if (drop <= 0) {
    assert(bit_length(exact.magnitude) - drop <= 128);
    // A sticky remainder differs from a half unit only if at least one bit is dropped.
    assert(!exact.sticky || rounding != Rounding::nearest_even);
    const uint128 units = exact.magnitude << -drop;
    return units + (rounds_up(rounding, exact.negative, false, 0, 0, exact.sticky) ? 1 : 0);
  }
  if (drop > 128) return rounds_up(rounding, exact.negative, false, 0, 1, true) ? 1 : 0;  // less than half a unit
  const uint128 units = drop == 128 ? 0 : exact.magnitude >> drop;
  const uint128 rest = drop == 128 ? exact.magnitude : exact.magnitude - (units << drop);
  const uint128 half = uint128{1} << (drop - 1);
  return units + (rounds_up(rounding, exact.negative, (units & 1) != 0, rest, half, exact.sticky) ? 1 : 0);
}

std::uint64_t round_to_integer(const FormatRow& f, const Exact& exact, Rounding rounding) {
  const uint128 limit = low_mask(f.is_signed ? f.bits - 1 : f.bits);
  const bool huge = exact.magnitude != 0 && exact.exponent > 0 && bit_length(exact.magnitude) + exact.exponent > 65;
  const uint128 units = huge ? limit + 2 : round_to_units(exact, 0, rounding);
  if (!exact.negative) return static_cast<std::uint64_t>(std::min(units, limit));
  if (!f.is_signed) return 0;
  return (~static_cast<std::uint64_t>(std::min(units, limit + 1)) + 1) & low_mask(f.bits);
}

std::uint64_t overflowed(const FormatRow& f, bool negative, Rounding rounding, Overflow overflow) {
  const bool toward_infinity = rounding == Rounding::nearest_even || rounding == (negative ? Rounding::down : Rounding::up);
  const bool infinite = overflow == Overflow::infinity || (overflow == Overflow::ieee && toward_infinity);
  return infinite && f.specials == Specials::ieee ? infinity(f.format, negative) : largest_finite(f.format, negative);
}

}  // namespace

Value decode(Format format, std::uint64_t bits) {
  const FormatRow& f = row(format);
  bits &= low_mask(f.bits);
  if (is_integer(f)) return decode_integer(f, bits);

  const bool negative = f.is_signed && (bits >> sign_shift(f) & 1) != 0;
  const std::uint64_t magnitude = (bits & low_mask(magnitude_bits(f))) >> f.ignored_low_bits;
  const std::uint64_t fraction = magnitude & low_mask(f.fraction_bits);
  const std::uint64_t field = magnitude >> f.fraction_bits;
  const bool top = field == low_mask(f.exponent_bits);

  if (f.specials == Specials::ieee && top)
    return {fraction == 0 ? Value::Kind::infinity : Value::Kind::nan, negative, 0, f.fraction_bits, fraction};
  if (f.specials == Specials::one_nan && top && fraction == low_mask(f.fraction_bits))
    return {Value::Kind::nan, negative, 0, f.fraction_bits, fraction};
  if (field == 0 && f.has_zero)
    return {fraction == 0 ? Value::Kind::zero : Value::Kind::finite, negative, min_exponent(f), f.fraction_bits, fraction};
  return {Value::Kind::finite, negative, static_cast<int>(field) - bias(f), f.fraction_bits,
          fraction | std::uint64_t{1} << f.fraction_bits};
}

std::uint64_t round_to(Format format, const Exact& exact, Rounding rounding, Overflow overflow) {
  const FormatRow& f = row(format);
  if (is_integer(f)) return round_to_integer(f, exact, rounding);
  if (exact.negative && !f.is_signed) return 0;

  const int leading = exact.exponent + bit_length(exact.magnitude) - 1;
  if (exact.magnitude != 0 && leading > max_exponent(f)) return overflowed(f, exact.negative, rounding, overflow);
  const int exponent = exact.magnitude == 0 ? min_exponent(f) : std::max(leading, min_exponent(f));
  const uint128 units = round_to_units(exact, exponent - f.fraction_bits, rounding);
  if (units == 0 && !f.has_zero) return 0;  // the smallest code is the nearest to zero

  // A carry out of the significand, or from the subnormals into the smallest normal number, propagates into the exponent field.
  const std::uint64_t unit_field = static_cast<std::uint64_t>(exponent - min_exponent(f));
  const std::uint64_t hidden = f.has_zero ? 0 : std::uint64_t{1} << f.fraction_bits;
  const std::uint64_t magnitude = (unit_field << f.fraction_bits) + static_cast<std::uint64_t>(units) - hidden;
  if (magnitude > (largest_finite(format, false) >> f.ignored_low_bits)) return overflowed(f, exact.negative, rounding, overflow);
  return with_sign(f, magnitude << f.ignored_low_bits, exact.negative);
}

std::uint64_t encode(Format format, const Value& value, Rounding rounding, Overflow overflow) {
  const FormatRow& f = row(format);
  switch (value.kind) {
    case Value::Kind::nan:
      if (is_integer(f) || f.specials == Specials::none) return largest_finite(format, value.negative);
      if (value.fraction_bits == f.fraction_bits) {
        const std::uint64_t payload = value.significand << f.ignored_low_bits;
        const std::uint64_t exponent = low_mask(f.exponent_bits) << (f.fraction_bits + f.ignored_low_bits);
        const std::uint64_t bits = with_sign(f, exponent | payload, value.negative);
        if (decode(format, bits).kind == Value::Kind::nan) return bits;  // other payloads make an infinity or a finite number
      }
      return canonical_nan(format);
    case Value::Kind::infinity:
      return f.specials == Specials::ieee && overflow != Overflow::saturate ? infinity(format, value.negative)
                                                                            : largest_finite(format, value.negative);
    case Value::Kind::zero: return is_integer(f) ? 0 : with_sign(f, 0, value.negative);
    case Value::Kind::finite: break;
  }
  return round_to(format, {value.negative, value.significand, value.exponent - value.fraction_bits}, rounding, overflow);
}

std::uint64_t canonical_nan(Format format) {
  const FormatRow& f = row(format);
  return is_integer(f) || f.specials == Specials::none ? largest_finite(format, false) : low_mask(magnitude_bits(f));
}

std::uint64_t infinity(Format format, bool negative) {
  const FormatRow& f = row(format);
  assert(f.specials == Specials::ieee);
  return with_sign(f, low_mask(f.exponent_bits) << (f.fraction_bits + f.ignored_low_bits), negative);
}

std::uint64_t largest_finite(Format format, bool negative) {
  const FormatRow& f = row(format);
  if (is_integer(f)) {
    if (!negative) return low_mask(f.is_signed ? f.bits - 1 : f.bits);
    return f.is_signed ? std::uint64_t{1} << sign_shift(f) : 0;
  }
  if (negative && !f.is_signed) return 0;
  const std::uint64_t all_ones = low_mask(f.exponent_bits + f.fraction_bits);
  const std::uint64_t reserved = f.specials == Specials::ieee ? low_mask(f.fraction_bits) + 1 : f.specials == Specials::one_nan ? 1 : 0;
  return with_sign(f, (all_ones - reserved) << f.ignored_low_bits, negative);
}

double to_double(Format format, std::uint64_t bits) {
  return std::bit_cast<double>(encode(Format::f64, decode(format, bits)));
}

std::uint64_t from_double(Format format, double value) {
  return encode(format, decode(Format::f64, std::bit_cast<std::uint64_t>(value)));
}

}  // namespace warpmat
