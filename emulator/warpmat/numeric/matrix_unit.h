#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <span>

#include <warpmat/dot.h>
#include <warpmat/numeric/exact.h>

namespace warpmat {

/// A sum in the units of a matrix unit's register.
struct AlignedSum {
  int largest_exponent;  ///< of the nonzero terms; no_floor if all are zero
  int unit_exponent;     ///< a unit of `sum` is 2^unit_exponent
  std::int64_t sum;
};

/// The exact product of two elements; a zero of either sign is Kind::zero.
inline Value exact_product(const Value& a, const Value& b) {
  const bool negative = a.negative != b.negative;
  const auto is = [&](Value::Kind kind) { return a.kind == kind || b.kind == kind; };
  if (is(Value::Kind::nan) || (is(Value::Kind::infinity) && is(Value::Kind::zero))) return Value::special(Value::Kind::nan);
  if (is(Value::Kind::infinity)) return Value::special(Value::Kind::infinity, negative);
  if (is(Value::Kind::zero)) return Value::special(Value::Kind::zero);
  return {Value::Kind::finite, negative, a.exponent + b.exponent, a.fraction_bits + b.fraction_bits, a.significand * b.significand};
}

/// `term` in units of 2^unit_exponent, truncated toward zero, as a matrix unit does.
inline std::int64_t truncate(const Value& term, int unit_exponent) {
  if (term.kind == Value::Kind::zero) return 0;
  const int shift = term.exponent - term.fraction_bits - unit_exponent;
  if (shift <= -64) return 0;
  const auto magnitude = static_cast<std::int64_t>(shift >= 0 ? term.significand << shift : term.significand >> -shift);
  return term.negative ? -magnitude : magnitude;
}

/// The bit of the sign of `format`.
inline std::uint64_t sign_bit(Format format) {
  return std::uint64_t{1} << (row(format).bits - 1);
}

/// The arithmetic of dot.h, a function for each rule. It calls the functions of `Self`, the class that derives from it. So a
/// derived class may replace one rule and leave the others, or record the operands and results of a function. PlainUnit does neither. The
/// class has no state, and no call is virtual.
template <typename Self>
class MatrixUnit {
 public:
  // ---- Rules

  /// An element of A or B as the unit multiplies it.
  Value multiplicand(Format format, std::uint64_t bits) { return decode(format, bits); }
  /// C as a term; `bits` are of the format of the sum.
  Value addend(Format accumulator, std::uint64_t bits) { return decode(accumulator, bits); }
  Value product(const Value& a, const Value& b) { return exact_product(a, b); }
  /// Whether E is no less than the exponent of `term`, which is a number.
  bool has_exponent(const Value& term) { return term.kind == Value::Kind::finite; }
  /// `term` in units of 2^unit_exponent.
  std::int64_t cut(const Value& term, int unit_exponent) { return truncate(term, unit_exponent); }
  Rounding rounding(Format accumulator) { return accumulator == Format::f16 ? Rounding::nearest_even : Rounding::toward_zero; }
  Overflow overflow() { return Overflow::infinity; }
  /// The result if a term is NaN, and if there are infinities of both signs.
  std::uint64_t nan(Format accumulator) { return canonical_nan(accumulator); }
  std::uint64_t opposite_infinities(Format accumulator) { return self().nan(accumulator); }
  /// Which of `count` parts of K is the i-th that is added.
  std::size_t part_of_k(std::size_t i, std::size_t /*count*/) { return i; }

  // ---- One step

  /// See dot_step().
  std::uint64_t step(const DotModel& model, Format accumulator, std::span<const Value> a, std::span<const Value> b, std::uint64_t c,
                     int scale_exponent = 0) {
    assert(a.size() == b.size() && a.size() <= max_step_elements);
    std::array<Value, max_step_elements + 1> storage;
    const std::span<Value> terms = std::span(storage).first(a.size() + 1);
    for (std::size_t i = 0; i < a.size(); ++i) {
      terms[i] = self().product(a[i], b[i]);
      terms[i].exponent += scale_exponent;
    }
    terms.back() = self().addend(accumulator, c);
    return self().sum(model, accumulator, terms);
  }

  /// See sum_step().
  std::uint64_t sum(const DotModel& model, Format accumulator, std::span<const Value> terms) {
    int largest_exponent = no_floor;
    bool nan = false, positive_infinity = false, negative_infinity = false;
    for (const Value& term : terms) {
      if (term.kind == Value::Kind::nan)
        nan = true;
      else if (term.kind == Value::Kind::infinity)
        (term.negative ? negative_infinity : positive_infinity) = true;
      else if (self().has_exponent(term))
        largest_exponent = std::max(largest_exponent, term.exponent);
    }
    if (nan) return self().nan(accumulator);
    if (positive_infinity && negative_infinity) return self().opposite_infinities(accumulator);
    if (positive_infinity || negative_infinity) return infinity(accumulator, negative_infinity);

    AlignedSum aligned{largest_exponent, std::max(largest_exponent, model.floor(accumulator)) - model.fraction_bits, 0};
    for (const Value& term : terms) aligned.sum += self().cut(term, aligned.unit_exponent);
    return self().round(model, accumulator, aligned);
  }

  /// A sum as bits of `accumulator`. A sum that rounds to zero loses its sign, so the rounding sees the magnitude alone.
  std::uint64_t round(const DotModel& model, Format accumulator, const AlignedSum& aligned) {
    const auto magnitude = static_cast<std::uint64_t>(aligned.sum < 0 ? -aligned.sum : aligned.sum);
    const std::uint64_t kept = self().round_magnitude(model, accumulator, {false, magnitude, aligned.unit_exponent});
    return kept == 0 || aligned.sum > 0 ? kept : kept | sign_bit(accumulator);
  }

  std::uint64_t round_magnitude(const DotModel& model, Format accumulator, const Exact& magnitude) {
    const std::uint64_t bits = round_to(accumulator, magnitude, self().rounding(accumulator), self().overflow());
    const int zeros = zero_bits(model, accumulator);
    return bits >> zeros << zeros;
  }

  /// Fraction bits of a result that the unit does not keep.
  static int zero_bits(const DotModel& model, Format accumulator) {
    return accumulator == Format::f32 ? row(Format::f32).fraction_bits - model.result_fraction_bits : 0;
  }

  // ---- All of K

  /// See dot().
  std::uint64_t dot(const DotModel& model, int step_length, Format accumulator, std::span<const Value> a, std::span<const Value> b,
                    std::uint64_t c, int scale_exponent = 0) {
    const auto length = static_cast<std::size_t>(step_length);
    const std::size_t steps = (a.size() + length - 1) / length;
    for (std::size_t i = 0; i < steps; ++i) {
      const std::size_t first = self().part_of_k(i, steps) * length, count = std::min(length, a.size() - first);
      c = self().step(model, accumulator, a.subspan(first, count), b.subspan(first, count), c, scale_exponent);
    }
    return c;
  }

  /// See grouped_dot().
  std::uint64_t grouped_dot(const DotModel& model, Format accumulator, std::span<const Value> a, std::span<const Value> b,
                            std::span<const Value> scales_a, std::span<const Value> scales_b, std::uint64_t c) {
    constexpr std::size_t most_groups = 6;
    assert(a.size() == b.size() && a.size() == scales_a.size() * group_elements && scales_a.size() <= most_groups);
    std::array<Value, most_groups + 1> storage;
    const std::span<Value> terms = std::span(storage).first(scales_a.size() + 1);
    for (std::size_t group = 0; group < scales_a.size(); ++group)
      terms[group] = self().group(a.subspan(group * group_elements, group_elements), b.subspan(group * group_elements, group_elements),
                                  scales_a[group], scales_b[group]);
    terms.back() = self().addend(accumulator, c);
    return self().sum(model, accumulator, terms);
  }

  /// The exact sum of a group's products times two scale factors. 4-bit elements have neither NaN nor infinity; a scale may be NaN.
  Value group(std::span<const Value> a, std::span<const Value> b, const Value& scale_a, const Value& scale_b) {
    if (scale_a.kind == Value::Kind::nan || scale_b.kind == Value::Kind::nan) return Value::special(Value::Kind::nan);
    const std::int64_t sum = sum_of_group(a, b);
    const auto magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum) * scale_a.significand * scale_b.significand;
    if (magnitude == 0) return Value::special(Value::Kind::zero);  // no term to align with, whatever its scales
    constexpr int product_fraction_bits = 2;
    return {Value::Kind::finite, sum < 0, scale_a.exponent + scale_b.exponent,
            product_fraction_bits + scale_a.fraction_bits + scale_b.fraction_bits, magnitude};
  }

  /// The sum of a group's products in units of 1/4: e2m1 has one fraction bit and exponents from 0 on.
  static std::int64_t sum_of_group(std::span<const Value> a, std::span<const Value> b) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const Value product = exact_product(a[i], b[i]);
      if (product.kind == Value::Kind::zero) continue;
      const auto magnitude = static_cast<std::int64_t>(product.significand << product.exponent);
      sum += product.negative ? -magnitude : magnitude;
    }
    return sum;
  }

 protected:
  Self& self() { return static_cast<Self&>(*this); }
};

/// The arithmetic as it is measured.
struct PlainUnit final : MatrixUnit<PlainUnit> {};

}  // namespace warpmat
