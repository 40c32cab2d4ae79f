#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <warpmat/numeric/matrix_unit.h>

namespace warpmat {

// Regions of operands in which one rule of an instruction decides the bits. A count of compared outputs says nothing about a region that no
// operand reached. These events record which regions were reached; execute_counting() of counting.h counts them.

/// A region. Some events carry a number: binades of `distance`, signs 0 or 1, codes, lanes.
enum class Event : std::uint8_t {
  // Operands that enter a product. An element of B counts only if a stored element of A is multiplied by it.
  subnormal_a,
  subnormal_b,
  subnormal_c,
  dropped_bits,
  // Alignment in a matrix unit. E is the largest exponent of the terms that are not zero, but no less than the floor.
  e_above_floor,
  e_at_floor,
  e_below_floor,
  e_of_c_alone,
  e_of_product_and_c,
  all_terms_zero,
  distance,
  term_kept,
  term_cut_in_part,
  term_cut_whole,
  cut_by_floor,
  product_of_two_or_more,
  subnormal_product,
  // The sum.
  sum_carries,
  cancels_to_zero,
  rest_cut_to_zero,
  // Rounding of a nonzero sum, by the bits below the result's last bit.
  exact,
  just_above,
  below_half,
  just_below_half,
  half_beside_even,
  half_beside_odd,
  just_above_half,
  above_half,
  just_below_next,
  rounding_carries,
  // The result.
  zero_of_positive,
  zero_of_negative,
  negative_zero,
  subnormal_result,
  largest_result,
  overflow_by_sum,
  overflow_by_rounding,
  result_bits_dropped,
  infinity_of_product,
  infinity_of_c,
  nan_of_a,
  nan_of_b,
  nan_of_c,
  nan_of_zero_times_infinity,
  nan_of_infinity_times_zero,
  nan_of_products,
  nan_of_product_and_c,
  nan_of_scale,
  // Integers.
  integer_inside,
  integer_at_highest,
  integer_at_lowest,
  integer_one_above,
  integer_one_below,
  integer_above,
  integer_below,
  integer_leaves_and_returns,
  // Selectors.
  metadata_code,
  selector,
  scale_ids_a,
  scale_ids_b,
  scale_zero,
  scale_subnormal,
  scale_smallest,
  scale_largest,
  // Data movement.
  row_address,
};

inline constexpr std::size_t event_count = static_cast<std::size_t>(Event::row_address) + 1;

/// "e_at_floor".
std::string_view name(Event event);

/// Its meaning, in one line.
std::string_view meaning(Event event);

/// The number of distinct numbers of an event: an upper bound.
constexpr std::size_t numbers_of(Event event) {
  switch (event) {
    case Event::distance: return 40;
    case Event::infinity_of_product:
    case Event::infinity_of_c: return 2;
    case Event::metadata_code: return 16;
    case Event::selector: return 4;
    case Event::scale_ids_a: return 8;
    case Event::scale_ids_b: return 16;
    case Event::row_address: return 32;
    default: return 1;
  }
}

/// The index of each event's first count.
inline constexpr auto event_places = [] {
  std::array<std::size_t, event_count + 1> places{};
  for (std::size_t i = 0; i < event_count; ++i) places[i + 1] = places[i] + numbers_of(static_cast<Event>(i));
  return places;
}();

/// How often each region was reached.
class Events {
 public:
  void add(Event event, std::size_t number = 0) { ++counts_[place(event) + number]; }
  void add_if(bool happened, Event event) { counts_[place(event)] += happened; }
  std::uint64_t count(Event event, std::size_t number = 0) const { return counts_[place(event) + number]; }
  void add(const Events& other);

 private:
  static constexpr std::size_t place(Event event) { return event_places[static_cast<std::size_t>(event)]; }

  std::array<std::uint64_t, event_places.back()> counts_{};
};

/// The `distance` that stands for all distances at which `model` truncates a whole term to zero.
constexpr std::size_t distance_beyond(const DotModel& model) {
  return static_cast<std::size_t>(model.fraction_bits) + 2;
}

// CountingArithmetic calls these with values that the arithmetic has computed.

/// Counts the factors of a step's products, in order, and C: subnormals, and causes of NaN or infinity.
void count_operands(Events& counts, std::span<const Value> a, std::span<const Value> b, const Value& c);

/// Counts a step of `model`. The last term is C; `result` is the encoded sum.
void count_sum(Events& counts, const DotModel& model, Format accumulator, std::span<const Value> terms, const AlignedSum& aligned,
               std::uint64_t result);

/// Counts the rounding of the nonzero `exact` to `result`. A value is near a boundary if it differs from it by at most `near` of its units.
void count_rounding(Events& counts, Format format, const Exact& exact, std::uint64_t result, uint128 near);

/// Counts an IEEE multiply-add a * b + c, all of them bits of `format`.
void count_fused(Events& counts, Format format, std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t result);

/// Counts a scale factor of `format`.
void count_scale(Events& counts, Format format, std::uint64_t code);

/// Counts an integer sum, with the minimum and maximum of its partial sums, C included.
void count_integer(Events& counts, std::int64_t sum, std::int64_t least, std::int64_t largest);

}  // namespace warpmat
