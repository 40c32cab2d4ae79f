#include <warpmat/numeric/bit_length.h>
#include <warpmat/numeric/ieee.h>

#include <algorithm>
#include <bit>

namespace warpmat {
namespace {

using Kind = Value::Kind;

/// ±magnitude · 2^exponent, not zero.
struct Term {
  bool negative;
  uint128 magnitude;
  int exponent;
};

int leading_exponent(const Term& term) {
  return term.exponent + bit_length(term.magnitude) - 1;
}

/// The exact sum of two terms, up to a sticky remainder far below the result's last bit.
///
/// The larger term moves to the top of 128 bits. The smaller term loses bits only if the exponents differ so much that at most one leading
/// bit cancels. The lost bits are then more than 100 bits below the sum's leading bit.
Exact exact_sum(Term large, Term small) {
  if (leading_exponent(large) < leading_exponent(small)) std::swap(large, small);
  constexpr int top = 125;  // leaves a bit for a carry
  const int lift = top + 1 - bit_length(large.magnitude);
  large.magnitude <<= lift;
  large.exponent -= lift;

  const int shift = small.exponent - large.exponent;
  uint128 addend = 0;
  bool lost = false;
  if (shift >= 0) {
    addend = small.magnitude << shift;
  } else if (shift > -128) {
    addend = small.magnitude >> -shift;
    lost = (addend << -shift) != small.magnitude;
  } else {
    lost = true;
  }
  if (large.negative == small.negative) return {large.negative, large.magnitude + addend, large.exponent, lost};
  if (addend > large.magnitude) return {small.negative, addend - large.magnitude, large.exponent, lost};
  return {large.negative, large.magnitude - addend - (lost ? 1 : 0), large.exponent, lost};
}

Term term(const Value& v) {
  return {v.negative, v.significand, v.exponent - v.fraction_bits};
}

std::uint64_t signed_zero(Format format, bool negative) {
  return negative ? std::uint64_t{1} << (row(format).bits - 1) : 0;
}

std::uint64_t quiet_bit(Format format) {
  return std::uint64_t{1} << (row(format).fraction_bits - 1);
}

std::uint64_t quiet(Format format, std::uint64_t nan) {
  return nan | quiet_bit(format);
}

std::uint64_t default_nan(Format format) {
  return infinity(format, true) | quiet_bit(format);
}

}  // namespace

Exact exact_multiply_add(const Value& a, const Value& b, const Value& c) {
  const Term product{a.negative != b.negative, static_cast<uint128>(a.significand) * b.significand,
                     a.exponent - a.fraction_bits + b.exponent - b.fraction_bits};
  return c.kind == Kind::zero ? Exact{product.negative, product.magnitude, product.exponent} : exact_sum(product, term(c));
}

std::uint64_t fused_multiply_add(Format format, std::uint64_t a_bits, std::uint64_t b_bits, std::uint64_t c_bits, Rounding rounding,
                                 NanRule nan_rule) {
  const Value a = decode(format, a_bits), b = decode(format, b_bits), c = decode(format, c_bits);
  const bool product_negative = a.negative != b.negative;
  const bool product_zero = a.kind == Kind::zero || b.kind == Kind::zero;
  const bool product_infinite = a.kind == Kind::infinity || b.kind == Kind::infinity;

  const bool any_nan = a.kind == Kind::nan || b.kind == Kind::nan || c.kind == Kind::nan;
  const bool invalid =
      (product_infinite && product_zero) || (product_infinite && c.kind == Kind::infinity && product_negative != c.negative);
  if (any_nan || invalid) {
    if (nan_rule == NanRule::canonical) return canonical_nan(format);
    return b.kind == Kind::nan   ? quiet(format, b_bits)
           : c.kind == Kind::nan ? quiet(format, c_bits)
           : a.kind == Kind::nan ? quiet(format, a_bits)
                                 : default_nan(format);
  }
  if (product_infinite) return infinity(format, product_negative);
  if (c.kind == Kind::infinity) return c_bits;

  const bool zero_sign = product_negative == c.negative ? c.negative : rounding == Rounding::down;
  if (product_zero) return c.kind == Kind::zero ? signed_zero(format, zero_sign) : c_bits;
  const Exact sum = exact_multiply_add(a, b, c);
  if (sum.magnitude == 0 && !sum.sticky) return signed_zero(format, rounding == Rounding::down);
  return round_to(format, sum, rounding);
}

}  // namespace warpmat
