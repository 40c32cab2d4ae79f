#include <warpmat/execute/reference/deviating_unit.h>

#include <algorithm>
#include <array>
#include <bit>

#include <warpmat/numeric/exact.h>

namespace warpmat {
namespace {

using enum Deviation;
using Kind = Value::Kind;

constexpr int exponent_of_zero = -126;  ///< in MMA-Sim 2, whatever the format

bool is_subnormal(const Value& value) {
  return value.kind == Kind::finite && value.significand >> value.fraction_bits == 0;
}

/// The same number with the exponent of its leading bit.
Value normalised(Value value) {
  const int shift = value.fraction_bits + 1 - static_cast<int>(std::bit_width(value.significand));
  value.exponent -= shift;
  value.fraction_bits -= shift;
  return value;
}

}  // namespace

std::uint64_t quiet_nan(Format format) {
  return infinity(format, false) | std::uint64_t{1} << (row(format).fraction_bits - 1);
}

std::uint64_t flushed(Format format, std::uint64_t bits) {
  if (!is_subnormal(decode(format, bits))) return bits;
  return bits & std::uint64_t{1} << (row(format).bits - 1);
}

Value DeviatingUnit::multiplicand(Format format, std::uint64_t bits) const {
  Value value = decode(has(tf32_low_bits_kept) && format == Format::tf32 ? Format::f32 : format, bits);
  if (!is_subnormal(value)) return value;
  if (has(multiplicand_subnormals_flushed)) return {Kind::zero, value.negative, value.exponent, value.fraction_bits, 0};
  return has(subnormals_normalised) ? normalised(value) : value;
}

std::uint64_t DeviatingUnit::accumulator(std::uint64_t c) const {
  return has(accumulator_subnormals_flushed) ? flushed(result_, c) : c;
}

std::uint64_t DeviatingUnit::nan() const {
  return has(nan_quiet) ? quiet_nan(result_) : canonical_nan(result_);
}

/// A zero keeps its sign and has an exponent here; both count if a deviation says so.
Value DeviatingUnit::product(const Value& a, const Value& b) const {
  const bool negative = a.negative != b.negative;
  const auto exponent = [](const Value& v) { return v.kind == Kind::zero ? exponent_of_zero : v.exponent; };
  const bool zero = a.kind == Kind::zero || b.kind == Kind::zero;
  const bool infinite = a.kind == Kind::infinity || b.kind == Kind::infinity;
  const bool ignored = zero && infinite && has(infinity_times_zero_ignored);
  Value result = ignored ? Value::special(Kind::zero) : multiply(a, b);
  if (result.kind == Kind::zero) return {Kind::zero, negative, exponent(a) + exponent(b), 0, 0};
  const bool reaches_two = result.kind == Kind::finite && result.significand >> (result.fraction_bits + 1) != 0;
  return reaches_two && has(products_normalised) ? normalised(result) : result;
}

std::uint64_t DeviatingUnit::step(std::span<const Value> a, std::span<const Value> b, std::uint64_t c) const {
  const Value addend = decode(result_, accumulator(c));
  if (addend.kind == Kind::nan && has(nan_payload_kept)) return c;
  std::array<Value, max_step_elements + 1> storage;
  for (std::size_t i = 0; i < a.size(); ++i) storage[i] = product(a[i], b[i]);
  if (has(accumulator_last)) {
    storage[0] = decode(result_, sum(std::span(storage).first(a.size())));
    storage[1] = addend;
    return sum(std::span(storage).first(2));
  }
  storage[a.size()] = addend;
  if (addend.kind == Kind::zero) storage[a.size()].exponent = exponent_of_zero;
  return sum(std::span(storage).first(a.size() + 1));
}

std::uint64_t DeviatingUnit::dot(int step_length, std::span<const Value> a, std::span<const Value> b, std::uint64_t c) const {
  const auto length = static_cast<std::size_t>(step_length);
  const std::size_t steps = (a.size() + length - 1) / length;
  for (std::size_t i = 0; i < steps; ++i) {
    const std::size_t first = (has(k_descending) ? steps - 1 - i : i) * length;
    const std::size_t count = std::min(length, a.size() - first);
    c = step(a.subspan(first, count), b.subspan(first, count), c);
  }
  return c;
}

std::uint64_t DeviatingUnit::last_addition(std::uint64_t sum, std::uint64_t c) const {
  c = accumulator(c);
  const auto is_nan = [&](std::uint64_t bits) { return decode(result_, bits).kind == Kind::nan; };
  if (is_nan(c) && has(nan_payload_kept)) return c;
  const std::uint64_t result = add(result_, sum, c, has(last_addition_toward_zero) ? Rounding::toward_zero : Rounding::nearest_even);
  if (is_nan(result)) return nan();
  return has(result_subnormals_flushed) ? flushed(result_, result) : result;
}

std::uint64_t DeviatingUnit::sum(std::span<const Value> terms) const {
  bool is_nan = false, positive = false, negative = false, all_negative = true;
  int largest = no_floor;
  for (const Value& term : terms) {
    is_nan = is_nan || term.kind == Kind::nan;
    if (term.kind == Kind::infinity) (term.negative ? negative : positive) = true;
    if (term.kind == Kind::finite || (term.kind == Kind::zero && has(zero_terms_aligned))) largest = std::max(largest, term.exponent);
    all_negative = all_negative && term.negative;
  }
  if (is_nan) return nan();
  if (positive && negative) return has(opposite_infinities_positive) ? infinity(result_, false) : nan();
  if (positive || negative) return infinity(result_, negative);

  const int unit_exponent = std::max(largest, model_.floor(result_)) - model_.fraction_bits;
  std::int64_t total = 0;
  for (const Value& term : terms) total += cut(term, unit_exponent);
  return round(total, unit_exponent, all_negative);
}

/// `term` in units of 2^unit_exponent.
std::int64_t DeviatingUnit::cut(const Value& term, int unit_exponent) const {
  if (term.kind == Kind::zero) return 0;
  const int shift = std::max(term.exponent - term.fraction_bits - unit_exponent, -63);
  if (shift >= 0) return static_cast<std::int64_t>(term.significand << shift) * (term.negative ? -1 : 1);
  auto magnitude = static_cast<std::int64_t>(term.significand >> -shift);
  const std::uint64_t rest = term.significand & ((std::uint64_t{1} << -shift) - 1), half = std::uint64_t{1} << (-shift - 1);
  if (rest != 0 && has(cut_down) && term.negative) ++magnitude;
  if (rest != 0 && has(cut_sticky)) magnitude |= 1;
  if (has(cut_nearest) && (rest > half || (rest == half && (magnitude & 1) != 0))) ++magnitude;
  return term.negative ? -magnitude : magnitude;
}

std::uint64_t DeviatingUnit::round(std::int64_t sum, int unit_exponent, bool all_negative) const {
  const auto magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  const bool nearest = result_ == Format::f16 ? !has(result_toward_zero) : has(result_nearest);
  const Rounding rounding = nearest ? Rounding::nearest_even : Rounding::toward_zero;
  const Overflow overflow = has(overflow_to_largest) ? Overflow::saturate : Overflow::infinity;
  const int dropped = result_ == Format::f32 ? row(Format::f32).fraction_bits - model_.result_fraction_bits : 0;
  // A sum without its lowest bits is no longer than an f32, so it is rounded only once.
  std::uint64_t bits = round_to(result_, {false, magnitude, unit_exponent}, dropped > 0 ? Rounding::toward_zero : rounding, overflow);
  if (dropped > 0 && nearest) bits += (std::uint64_t{1} << (dropped - 1)) - 1 + (bits >> dropped & 1);
  bits = bits >> dropped << dropped;
  if (has(result_subnormals_flushed)) bits = flushed(result_, bits);
  if (bits != 0) return sum < 0 ? bits | sign_bit() : bits;
  const bool negative_zero = (sum < 0 && has(sign_of_zero_kept)) || (sum == 0 && all_negative && has(negative_zero_kept));
  return negative_zero ? sign_bit() : 0;
}

std::uint64_t deviating_fma(Deviations deviations, Format format, std::uint64_t a, std::uint64_t b, std::uint64_t c, Rounding rounding,
                            NanRule nan_rule) {
  if (deviations.has(multiplicand_subnormals_flushed)) a = flushed(format, a), b = flushed(format, b);
  if (deviations.has(accumulator_subnormals_flushed)) c = flushed(format, c);
  const auto kind = [&](std::uint64_t bits) { return decode(format, bits).kind; };
  const bool any_nan = kind(a) == Kind::nan || kind(b) == Kind::nan || kind(c) == Kind::nan;
  const auto quiet = [&](std::uint64_t bits) { return bits | (quiet_nan(format) ^ infinity(format, false)); };
  if (kind(a) == Kind::nan && deviations.has(nan_of_a_first)) return quiet(a);
  if (kind(c) == Kind::nan && deviations.has(nan_of_accumulator_first)) return quiet(c);
  if (kind(c) == Kind::nan && deviations.has(nan_payload_kept)) return c;
  const bool numbers = kind(a) == Kind::finite && kind(b) == Kind::finite && (kind(c) == Kind::finite || kind(c) == Kind::zero);
  if (numbers && deviations.has(products_rounded)) {
    const std::uint64_t negative_zero = std::uint64_t{1} << (row(format).bits - 1);
    return add(format, fused_multiply_add(format, a, b, negative_zero, rounding, nan_rule), c, rounding);
  }
  const std::uint64_t result = fused_multiply_add(format, a, b, c, rounding, nan_rule);
  if (kind(result) == Kind::nan) {
    if (deviations.has(nan_quiet)) return quiet_nan(format);
    return !any_nan && deviations.has(nan_positive) ? result & ~(std::uint64_t{1} << (row(format).bits - 1)) : result;
  }
  return deviations.has(result_subnormals_flushed) ? flushed(format, result) : result;
}

}  // namespace warpmat
