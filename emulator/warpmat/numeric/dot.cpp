#include <warpmat/numeric/dot.h>
#include <warpmat/numeric/events.h>

#include <algorithm>
#include <array>
#include <cassert>

namespace warpmat {

std::int64_t truncate(const Value& term, int unit_exponent) {
  if (term.kind == Value::Kind::zero) return 0;
  const int shift = term.exponent - term.fraction_bits - unit_exponent;
  if (shift <= -64) return 0;
  const auto magnitude = static_cast<std::int64_t>(shift >= 0 ? term.significand << shift : term.significand >> -shift);
  return term.negative ? -magnitude : magnitude;
}

namespace {

/// Properties of all terms of one step, found in a first pass.
struct StepSummary {
  int largest_exponent = no_floor;  ///< of the terms that are not zero
  bool nan = false, positive_infinity = false, negative_infinity = false;

  void add(const Value& term) {
    switch (term.kind) {
      case Value::Kind::nan: nan = true; break;
      case Value::Kind::infinity: (term.negative ? negative_infinity : positive_infinity) = true; break;
      case Value::Kind::finite: largest_exponent = std::max(largest_exponent, term.exponent); break;
      case Value::Kind::zero: break;
    }
  }

  /// Whether the result is NaN or infinite: nothing is added then.
  bool special() const { return nan || positive_infinity || negative_infinity; }
  std::uint64_t special_result(Format accumulator) const {
    if (nan || (positive_infinity && negative_infinity)) return canonical_nan(accumulator);
    return infinity(accumulator, negative_infinity);
  }
};

std::uint64_t round_sum(const DotModel& model, Format accumulator, std::int64_t sum, int unit_exponent) {
  // A sum that rounds to zero loses its sign, so the rounding sees the magnitude alone.
  const auto magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  const Rounding rounding = accumulator == Format::f16 ? Rounding::nearest_even : Rounding::toward_zero;
  const std::uint64_t bits = round_to(accumulator, {false, magnitude, unit_exponent}, rounding, Overflow::infinity);
  const int cut = accumulator == Format::f32 ? row(Format::f32).fraction_bits - model.result_fraction_bits : 0;
  const std::uint64_t kept = bits >> cut << cut;
  return kept == 0 || sum > 0 ? kept : kept | std::uint64_t{1} << (row(accumulator).bits - 1);
}

}  // namespace

Value multiply(const Value& a, const Value& b) {
  const bool negative = a.negative != b.negative;
  const auto is = [&](Value::Kind kind) { return a.kind == kind || b.kind == kind; };
  if (is(Value::Kind::nan) || (is(Value::Kind::infinity) && is(Value::Kind::zero))) return Value::special(Value::Kind::nan);
  if (is(Value::Kind::infinity)) return Value::special(Value::Kind::infinity, negative);
  if (is(Value::Kind::zero)) return Value::special(Value::Kind::zero);
  return {Value::Kind::finite, negative, a.exponent + b.exponent, a.fraction_bits + b.fraction_bits, a.significand * b.significand};
}

std::uint64_t sum_step(const DotModel& model, Format accumulator, std::span<const Value> terms, Events* events) {
  StepSummary summary;
  for (const Value& term : terms) summary.add(term);
  if (summary.special()) {
    const std::uint64_t result = summary.special_result(accumulator);
    if (Observer* observer = observer_of(events)) observer->sum(accumulator, terms, nullptr, result);
    return result;
  }

  const int unit_exponent = std::max(summary.largest_exponent, model.floor(accumulator)) - model.fraction_bits;
  std::int64_t sum = 0;
  for (const Value& term : terms) sum += truncate(term, unit_exponent);
  const std::uint64_t result = round_sum(model, accumulator, sum, unit_exponent);
  const AlignedSum aligned{summary.largest_exponent, unit_exponent, sum};
  if (events != nullptr) count_sum(*events, model, accumulator, terms, aligned, result);
  if (Observer* observer = observer_of(events)) observer->sum(accumulator, terms, &aligned, result);
  return result;
}

std::uint64_t dot_step(const DotModel& model, Format accumulator, std::span<const Value> a, std::span<const Value> b, std::uint64_t c,
                       int scale_exponent, Events* events) {
  assert(a.size() == b.size() && a.size() <= max_step_elements);
  std::array<Value, max_step_elements + 1> storage;
  const std::span<Value> terms = std::span(storage).first(a.size() + 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    terms[i] = multiply(a[i], b[i]);
    terms[i].exponent += scale_exponent;
  }
  terms.back() = decode(accumulator, c);
  if (events != nullptr) count_operands(*events, a, b, terms.back());
  if (Observer* observer = observer_of(events)) observer->factors(a, b, c, 0);
  return sum_step(model, accumulator, terms, events);
}

std::uint64_t dot(const DotModel& model, int step_length, Format accumulator, std::span<const Value> a, std::span<const Value> b,
                  std::uint64_t c, int scale_exponent, Events* events) {
  const auto length = static_cast<std::size_t>(step_length);
  for (std::size_t k = 0; k < a.size(); k += length) {
    const std::size_t count = std::min(length, a.size() - k);
    c = dot_step(model, accumulator, a.subspan(k, count), b.subspan(k, count), c, scale_exponent, events);
  }
  return c;
}

namespace {

/// The exact sum of a group's products times two scale factors. 4-bit elements have neither NaN nor infinity; a scale may be NaN.
Value scaled_group(std::span<const Value> a, std::span<const Value> b, const Value& scale_a, const Value& scale_b) {
  if (scale_a.kind == Value::Kind::nan || scale_b.kind == Value::Kind::nan) return Value::special(Value::Kind::nan);
  std::int64_t sum = 0;  // in units of 1/4: e2m1 has one fraction bit and exponents from 0 on
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Value product = multiply(a[i], b[i]);
    if (product.kind == Value::Kind::zero) continue;
    const auto magnitude = static_cast<std::int64_t>(product.significand << product.exponent);
    sum += product.negative ? -magnitude : magnitude;
  }
  const auto magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum) * scale_a.significand * scale_b.significand;
  if (magnitude == 0) return Value::special(Value::Kind::zero);  // no term to align with, whatever its scales
  constexpr int product_fraction_bits = 2;
  return {Value::Kind::finite, sum < 0, scale_a.exponent + scale_b.exponent,
          product_fraction_bits + scale_a.fraction_bits + scale_b.fraction_bits, magnitude};
}

}  // namespace

std::uint64_t grouped_dot(const DotModel& model, Format accumulator, std::span<const Value> a, std::span<const Value> b,
                          std::span<const Value> scales_a, std::span<const Value> scales_b, std::uint64_t c, Events* events) {
  constexpr std::size_t max_groups = 4;
  assert(a.size() == b.size() && a.size() == scales_a.size() * group_elements && scales_a.size() <= max_groups);
  std::array<Value, max_groups + 1> storage;
  const std::span<Value> terms = std::span(storage).first(scales_a.size() + 1);
  for (std::size_t group = 0; group < scales_a.size(); ++group)
    terms[group] = scaled_group(a.subspan(group * group_elements, group_elements), b.subspan(group * group_elements, group_elements),
                                scales_a[group], scales_b[group]);
  terms.back() = decode(accumulator, c);
  if (events != nullptr) count_operands(*events, {}, {}, terms.back());
  if (Observer* observer = observer_of(events)) observer->factors(a, b, c, scales_a.size());
  return sum_step(model, accumulator, terms, events);
}

}  // namespace warpmat
