#include <warpmat/numeric/dot.h>

#include <algorithm>
#include <array>
#include <cassert>

namespace warpmat {
namespace {

Value multiply(const Value& a, const Value& b) {
  const bool negative = a.negative != b.negative;
  const auto is = [&](Value::Kind kind) { return a.kind == kind || b.kind == kind; };
  if (is(Value::Kind::nan) || (is(Value::Kind::infinity) && is(Value::Kind::zero))) return {Value::Kind::nan};
  if (is(Value::Kind::infinity)) return {Value::Kind::infinity, negative};
  if (is(Value::Kind::zero)) return {Value::Kind::zero};
  return {Value::Kind::finite, negative, a.exponent + b.exponent, a.fraction_bits + b.fraction_bits, a.significand * b.significand};
}

/// `term` in units of 2^unit_exponent, truncated toward zero.
std::int64_t truncate(const Value& term, int unit_exponent) {
  if (term.kind == Value::Kind::zero) return 0;
  const int shift = term.exponent - term.fraction_bits - unit_exponent;
  if (shift <= -64) return 0;
  const auto magnitude = static_cast<std::int64_t>(shift >= 0 ? term.significand << shift : term.significand >> -shift);
  return term.negative ? -magnitude : magnitude;
}

constexpr std::size_t max_step_elements = 32;  // 32 bytes of an 8-bit format
constexpr int no_term = -10'000;  ///< below every exponent, and far enough from the limits of int to subtract from

/// What the terms of one step have in common, found in a first pass over them.
struct Survey {
  int largest_exponent = no_term;  ///< of the terms that are not zero
  bool nan = false, positive_infinity = false, negative_infinity = false;

  void add(const Value& term) {
    switch (term.kind) {
      case Value::Kind::nan: nan = true; break;
      case Value::Kind::infinity: (term.negative ? negative_infinity : positive_infinity) = true; break;
      case Value::Kind::finite: largest_exponent = std::max(largest_exponent, term.exponent); break;
      case Value::Kind::zero: break;
    }
  }
};

std::uint64_t round_sum(const DotModel& model, Format accumulator, std::int64_t sum, int unit_exponent) {
  // What rounds to zero loses its sign, so the rounding sees the magnitude alone.
  const auto magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  const Rounding rounding = accumulator == Format::f16 ? Rounding::nearest_even : Rounding::toward_zero;
  const std::uint64_t bits = round_to(accumulator, {false, magnitude, unit_exponent}, rounding, Overflow::infinity);
  const int cut = accumulator == Format::f32 ? row(Format::f32).fraction_bits - model.result_fraction_bits : 0;
  const std::uint64_t kept = bits >> cut << cut;
  return kept == 0 || sum > 0 ? kept : kept | std::uint64_t{1} << (row(accumulator).bits - 1);
}

}  // namespace

std::uint64_t dot_step(const DotModel& model, Format accumulator, std::span<const Value> a, std::span<const Value> b, std::uint64_t c) {
  assert(a.size() == b.size() && a.size() <= max_step_elements);
  std::array<Value, max_step_elements + 1> storage;
  const std::span<Value> terms = std::span(storage).first(a.size() + 1);
  for (std::size_t i = 0; i < a.size(); ++i) terms[i] = multiply(a[i], b[i]);
  terms.back() = decode(accumulator, c);

  Survey survey;
  for (const Value& term : terms) survey.add(term);
  if (survey.nan || (survey.positive_infinity && survey.negative_infinity)) return canonical_nan(accumulator);
  if (survey.positive_infinity || survey.negative_infinity) return infinity(accumulator, survey.negative_infinity);

  const int unit_exponent = survey.largest_exponent - model.fraction_bits;
  std::int64_t sum = 0;
  for (const Value& term : terms) sum += truncate(term, unit_exponent);
  return round_sum(model, accumulator, sum, unit_exponent);
}

std::uint64_t dot(const DotModel& model, int step_length, Format accumulator, std::span<const Value> a, std::span<const Value> b,
                  std::uint64_t c) {
  const auto length = static_cast<std::size_t>(step_length);
  for (std::size_t k = 0; k < a.size(); k += length) {
    const std::size_t count = std::min(length, a.size() - k);
    c = dot_step(model, accumulator, a.subspan(k, count), b.subspan(k, count), c);
  }
  return c;
}

}  // namespace warpmat
