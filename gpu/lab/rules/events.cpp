#include "gpu/lab/rules/events.h"

#include <warpmat/numeric/bit_length.h>
#include <warpmat/numeric/ieee.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace warpmat {
namespace {

using Kind = Value::Kind;

struct EventText {
  std::string_view name, meaning;
};

constexpr EventText texts[] = {
    {"subnormal a", "a factor from A is subnormal"},
    {"subnormal b", "a factor from B is subnormal"},
    {"subnormal C", "C is subnormal"},
    {"dropped bits", "a factor has bits that are dropped when it is read"},
    {"E above floor", "the largest exponent of a term, E, lies above the floor"},
    {"E at floor", "E is the floor"},
    {"E below floor", "all terms lie below the floor, which takes the place of E"},
    {"E of C alone", "only C has the exponent E"},
    {"E of product and C", "a product and C have the exponent E"},
    {"all terms zero", "every product and C are zero"},
    {"distance", "a term lies this many binades below E"},
    {"term kept", "a term keeps all its bits"},
    {"term cut in part", "a term loses bits in the alignment and keeps others"},
    {"term cut whole", "a term loses all its bits in the alignment"},
    {"cut by floor", "a term loses bits that it would keep without the floor"},
    {"product of 2 or more", "the product of two significands reaches 2"},
    {"subnormal product", "a product lies below the smallest normal number of the result's format"},
    {"sum carries", "the sum reaches a binade above that of every term"},
    {"cancels to zero", "terms that are not zero cancel, none of them cut"},
    {"rest cut to zero", "terms that are not zero leave nothing, because bits of them were cut"},
    {"exact", "the result holds the sum exactly"},
    {"just above", "the sum lies one unit above what the result's format holds"},
    {"below half", "the sum lies in the lower half between two results"},
    {"just below half", "the sum lies one unit below the middle of two results"},
    {"half beside even", "the sum is the middle of two results, of which the lower is even"},
    {"half beside odd", "the sum is the middle of two results, of which the lower is odd"},
    {"just above half", "the sum lies one unit above the middle of two results"},
    {"above half", "the sum lies in the upper half between two results"},
    {"just below next", "the sum lies one unit below what the result's format holds"},
    {"rounding carries", "rounding reaches the next binade"},
    {"zero of positive", "a positive sum becomes zero"},
    {"zero of negative", "a negative sum becomes zero"},
    {"negative zero", "the result is -0"},
    {"subnormal result", "the result is subnormal"},
    {"largest result", "the result is the largest number of its format"},
    {"overflow by sum", "the sum lies beyond the last binade of its format"},
    {"overflow by rounding", "rounding alone leaves the last binade"},
    {"result bits dropped", "the result loses bits that its format has but the unit does not keep"},
    {"infinity of product", "the result is a product's infinity: + and -"},
    {"infinity of C", "the result is the infinity of C: + and -"},
    {"NaN of a", "a factor from A is NaN"},
    {"NaN of b", "a factor from B is NaN"},
    {"NaN of C", "C is NaN"},
    {"NaN of 0 x infinity", "A has a zero where B has an infinity"},
    {"NaN of infinity x 0", "A has an infinity where B has a zero"},
    {"NaN of products", "products are infinities of both signs"},
    {"NaN of product and C", "a product and C are infinities of opposite signs"},
    {"NaN of scale", "a scale factor is NaN"},
    {"inside", "the sum is an s32, and so was every sum on the way"},
    {"at highest", "the sum is the largest s32"},
    {"at lowest", "the sum is the smallest s32"},
    {"one above", "the sum is one more than the largest s32"},
    {"one below", "the sum is one less than the smallest s32"},
    {"above", "the sum is larger than any s32"},
    {"below", "the sum is smaller than any s32"},
    {"leaves and returns", "the sum is an s32, but sums on the way were not"},
    {"metadata code", "a group of A is stored as the code says"},
    {"selector", "the selector's value"},
    {"scale ids a", "which scale factors of A the ids select"},
    {"scale ids b", "which scale factors of B the ids select"},
    {"scale zero", "a scale factor is zero"},
    {"scale subnormal", "a scale factor is subnormal"},
    {"scale smallest", "a scale factor is the smallest power of two"},
    {"scale largest", "a scale factor is the largest number"},
    {"row address", "the lane whose address names the row"},
};
static_assert(std::size(texts) == event_count);

bool is_subnormal(const Value& v) {
  return v.kind == Kind::finite && v.significand >> v.fraction_bits == 0;
}

/// Whether the leading bit of `v` is below 2^exponent.
bool lies_below(const Value& v, int exponent) {
  return v.exponent - v.fraction_bits + static_cast<int>(std::bit_width(v.significand)) - 1 < exponent;
}

/// The bits of `term` below 2^unit_exponent.
std::uint64_t cut_off(const Value& term, int unit_exponent) {
  const int below = unit_exponent - (term.exponent - term.fraction_bits);
  if (below <= 0) return 0;
  return below >= 64 ? term.significand : term.significand & ((std::uint64_t{1} << below) - 1);
}

void count_terms(Events& counts, const DotModel& model, Format accumulator, std::span<const Value> terms, const AlignedSum& aligned) {
  const int e = aligned.unit_exponent + model.fraction_bits;
  for (const Value& term : terms) {
    if (term.kind != Kind::finite) continue;
    counts.add(Event::distance, std::min(static_cast<std::size_t>(e - term.exponent), distance_beyond(model)));
    const std::uint64_t lost = cut_off(term, aligned.unit_exponent);
    counts.add(lost == 0 ? Event::term_kept : lost == term.significand ? Event::term_cut_whole : Event::term_cut_in_part);
    counts.add_if(lost != cut_off(term, aligned.largest_exponent - model.fraction_bits), Event::cut_by_floor);
  }
  const Value& c = terms.back();
  for (const Value& product : terms.first(terms.size() - 1)) {
    if (product.kind != Kind::finite) continue;
    counts.add_if(product.significand >> product.fraction_bits >= 2, Event::product_of_two_or_more);
    counts.add_if(lies_below(product, min_exponent(row(accumulator))), Event::subnormal_product);
  }
  if (c.kind != Kind::finite || c.exponent != aligned.largest_exponent) return;
  const bool product_too = std::ranges::any_of(
      terms.first(terms.size() - 1), [&](const Value& product) { return product.kind == Kind::finite && product.exponent == c.exponent; });
  counts.add(product_too ? Event::e_of_product_and_c : Event::e_of_c_alone);
}

void count_e(Events& counts, int largest_exponent, int floor) {
  counts.add(largest_exponent > floor ? Event::e_above_floor : largest_exponent == floor ? Event::e_at_floor : Event::e_below_floor);
}

/// Counts the result's class and its kind of overflow.
void count_result(Events& counts, Format format, const Exact& exact, std::uint64_t result) {
  const FormatRow& f = row(format);
  const std::uint64_t magnitude = result & ((std::uint64_t{1} << (f.bits - 1)) - 1);
  if (magnitude == 0) return counts.add(exact.negative ? Event::zero_of_negative : Event::zero_of_positive);
  counts.add_if(magnitude >> f.fraction_bits == 0, Event::subnormal_result);
  counts.add_if(magnitude == largest_finite(format, false), Event::largest_result);
  const int leading = exact.exponent + bit_length(exact.magnitude) - 1;
  const bool beyond = leading > max_exponent(f);
  counts.add_if(beyond, Event::overflow_by_sum);
  counts.add_if(!beyond && magnitude == infinity(format, false), Event::overflow_by_rounding);
}

}  // namespace

std::string_view name(Event event) {
  return texts[static_cast<std::size_t>(event)].name;
}

std::string_view meaning(Event event) {
  return texts[static_cast<std::size_t>(event)].meaning;
}

void Events::add(const Events& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

void count_operands(Events& counts, std::span<const Value> a, std::span<const Value> b, const Value& c) {
  bool positive = false, negative = false, nan = c.kind == Kind::nan;
  for (std::size_t i = 0; i < a.size(); ++i) {
    counts.add_if(is_subnormal(a[i]), Event::subnormal_a);
    counts.add_if(is_subnormal(b[i]), Event::subnormal_b);
    counts.add_if(a[i].kind == Kind::nan, Event::nan_of_a);
    counts.add_if(b[i].kind == Kind::nan, Event::nan_of_b);
    counts.add_if(a[i].kind == Kind::zero && b[i].kind == Kind::infinity, Event::nan_of_zero_times_infinity);
    counts.add_if(a[i].kind == Kind::infinity && b[i].kind == Kind::zero, Event::nan_of_infinity_times_zero);
    const Value product = multiply(a[i], b[i]);
    nan = nan || product.kind == Kind::nan;
    if (product.kind == Kind::infinity) (product.negative ? negative : positive) = true;
  }
  counts.add_if(is_subnormal(c), Event::subnormal_c);
  counts.add_if(c.kind == Kind::nan, Event::nan_of_c);
  if (nan) return;
  const bool infinite_c = c.kind == Kind::infinity;
  if (positive && negative) return counts.add(Event::nan_of_products);
  if (infinite_c && (positive || negative) && c.negative != negative) return counts.add(Event::nan_of_product_and_c);
  if (positive || negative) return counts.add(Event::infinity_of_product, negative);
  if (infinite_c) counts.add(Event::infinity_of_c, c.negative);
}

void count_sum(Events& counts, const DotModel& model, Format accumulator, std::span<const Value> terms, const AlignedSum& aligned,
               std::uint64_t result) {
  if (aligned.largest_exponent == no_floor) return counts.add(Event::all_terms_zero);
  count_e(counts, aligned.largest_exponent, model.floor(accumulator));
  count_terms(counts, model, accumulator, terms, aligned);
  const auto magnitude = static_cast<std::uint64_t>(std::abs(aligned.sum));
  if (magnitude == 0) {
    const bool cut =
        std::ranges::any_of(terms, [&](const Value& t) { return t.kind == Kind::finite && cut_off(t, aligned.unit_exponent) != 0; });
    return counts.add(cut ? Event::rest_cut_to_zero : Event::cancels_to_zero);
  }
  counts.add_if(static_cast<int>(std::bit_width(magnitude)) > model.fraction_bits + 1, Event::sum_carries);
  const Exact exact{aligned.sum < 0, magnitude, aligned.unit_exponent};
  count_rounding(counts, accumulator, exact, result, 1);
  const int cut = row(Format::f32).fraction_bits - model.result_fraction_bits;
  if (accumulator == Format::f32 && cut > 0) {
    const std::uint64_t uncut = round_to(accumulator, exact, Rounding::toward_zero, Overflow::infinity);
    counts.add_if((uncut & ((std::uint64_t{1} << cut) - 1)) != 0, Event::result_bits_dropped);
  }
}

void count_rounding(Events& counts, Format format, const Exact& exact, std::uint64_t result, uint128 near) {
  const FormatRow& f = row(format);
  count_result(counts, format, exact, result);
  const int leading = exact.exponent + bit_length(exact.magnitude) - 1;
  if (leading > max_exponent(f)) return;
  const int drop = std::max(leading, min_exponent(f)) - f.fraction_bits - exact.exponent;
  if (drop <= 0) return counts.add(Event::exact);
  if (drop > 126) return counts.add(Event::below_half);
  const uint128 half = uint128{1} << (drop - 1), rest = exact.magnitude & (2 * half - 1), units = exact.magnitude >> drop;
  if (rest == 0 && !exact.sticky) return counts.add(Event::exact);
  const bool at_half = rest == half && !exact.sticky;
  if (at_half) counts.add((units & 1) == 0 ? Event::half_beside_even : Event::half_beside_odd);
  if (!at_half) counts.add(rest < half ? Event::below_half : Event::above_half);
  counts.add_if(rest <= near && !at_half, Event::just_above);
  counts.add_if(rest < half && half - rest <= near, Event::just_below_half);
  counts.add_if(rest >= half && !at_half && rest - half <= near, Event::just_above_half);
  counts.add_if(rest > half && 2 * half - rest <= near, Event::just_below_next);
  const std::uint64_t significand = (std::uint64_t{1} << (f.fraction_bits + 1)) - 1;
  const std::uint64_t truncated = round_to(format, {false, exact.magnitude, exact.exponent}, Rounding::toward_zero);
  const std::uint64_t magnitude = result & ((std::uint64_t{1} << (f.bits - 1)) - 1);
  counts.add_if((units == significand || truncated >> f.fraction_bits == 0) && magnitude >> f.fraction_bits != truncated >> f.fraction_bits,
                Event::rounding_carries);
}

namespace {

/// Counts the rounding of the nonzero `exact`. The product is not zero and less than 2^product_limit.
void count_fused_rounding(Events& counts, Format format, int product_limit, const Exact& exact, std::uint64_t result) {
  constexpr int near_bits = 10;  // below the result's last bit: a near tie that only a much wider sum can resolve
  const FormatRow& f = row(format);
  counts.add_if(format == Format::f64 && product_limit <= min_exponent(f), Event::subnormal_product);  // f32 chains multiply f16 numbers
  const int leading = exact.exponent + bit_length(exact.magnitude) - 1;
  const int drop = std::max(leading, min_exponent(f)) - f.fraction_bits - exact.exponent;
  count_rounding(counts, format, exact, result, uint128{1} << std::clamp(drop - near_bits, 0, 100));
  counts.add_if(result == sign_bit(format), Event::negative_zero);
}

}  // namespace

void count_fused(Events& counts, Format format, std::uint64_t a_bits, std::uint64_t b_bits, std::uint64_t c_bits, std::uint64_t result) {
  const Value a = decode(format, a_bits), b = decode(format, b_bits), c = decode(format, c_bits);
  const auto is_number = [](const Value& value) { return value.kind == Kind::zero || value.kind == Kind::finite; };
  if (!is_number(a) || !is_number(b) || !is_number(c)) return;
  const bool product_zero = a.kind == Kind::zero || b.kind == Kind::zero;
  if (product_zero && c.kind == Kind::zero) {
    counts.add(Event::all_terms_zero);
    return counts.add_if(result == sign_bit(format), Event::negative_zero);
  }
  if (product_zero) return count_rounding(counts, format, {c.negative, c.significand, c.exponent - c.fraction_bits}, result, 1);
  const Exact sum = exact_multiply_add(a, b, c);
  if (sum.magnitude == 0 && !sum.sticky) return counts.add(Event::cancels_to_zero);
  const int product_limit =
      a.exponent - a.fraction_bits + b.exponent - b.fraction_bits + bit_length(static_cast<uint128>(a.significand) * b.significand);
  count_fused_rounding(counts, format, product_limit, sum, result);
}

void count_scale(Events& counts, Format format, std::uint64_t code) {
  const Value scale = decode(format, code);
  counts.add_if(scale.kind == Kind::nan, Event::nan_of_scale);
  counts.add_if(scale.kind == Kind::zero, Event::scale_zero);
  counts.add_if(is_subnormal(scale), Event::scale_subnormal);
  counts.add_if(scale.kind == Kind::finite && code <= 1, Event::scale_smallest);
  counts.add_if(code == largest_finite(format, false), Event::scale_largest);
}

void count_integer(Events& counts, std::int64_t sum, std::int64_t least, std::int64_t largest) {
  constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max(), lowest = std::numeric_limits<std::int32_t>::min();
  const bool inside = sum >= lowest && sum <= highest, always = least >= lowest && largest <= highest;
  counts.add_if(inside && always, Event::integer_inside);
  counts.add_if(inside && !always, Event::integer_leaves_and_returns);
  counts.add_if(sum == highest, Event::integer_at_highest);
  counts.add_if(sum == lowest, Event::integer_at_lowest);
  counts.add_if(sum == highest + 1, Event::integer_one_above);
  counts.add_if(sum == lowest - 1, Event::integer_one_below);
  counts.add_if(sum > highest, Event::integer_above);
  counts.add_if(sum < lowest, Event::integer_below);
}

}  // namespace warpmat
