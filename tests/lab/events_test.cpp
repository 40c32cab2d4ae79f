#include "gpu/lab/rules/events.h"

#include "gpu/lab/rules/counting.h"
#include "test.h"

namespace warpmat::events_test {
namespace {

using Products = std::vector<std::pair<double, double>>;

/// What one step of `model` counts.
Events counted(const DotModel& model, Format factors, Format accumulator, const Products& products, double c) {
  std::vector<Value> a, b;
  for (const auto& [x, y] : products) {
    a.push_back(decode(factors, from_double(factors, x)));
    b.push_back(decode(factors, from_double(factors, y)));
  }
  Events counts;
  CountingArithmetic(counts).step(model, accumulator, a, b, from_double(accumulator, c));
  return counts;
}

Events f16_to_f16(const Products& products, double c = 0) {
  return counted(dot_models::hopper, Format::f16, Format::f16, products, c);
}
Events f16_to_f32(const Products& products, double c = 0) {
  return counted(dot_models::hopper, Format::f16, Format::f32, products, c);
}
Events bf16_to_f32(const Products& products, double c = 0) {
  return counted(dot_models::hopper, Format::bf16, Format::f32, products, c);
}

using enum Event;

TEST_CASE("every event has a name of its own and a meaning") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < event_count; ++i) {
    CHECK(names.insert(name(static_cast<Event>(i))).second);
    CHECK_FALSE(meaning(static_cast<Event>(i)).empty());
    CHECK(numbers_of(static_cast<Event>(i)) > 0);
  }
}

TEST_CASE("the floor: E above it, on it, and raised to it") {
  CHECK(f16_to_f16({{0x1p-10, 0x1p-10}}).count(e_above_floor) == 1);
  CHECK(f16_to_f16({{0x1p-10, 0x1p-11}}).count(e_at_floor) == 1);
  CHECK(f16_to_f16({{0x1p-11, 0x1p-11}}).count(e_below_floor) == 1);
  CHECK(f16_to_f32({{0x1p-14, 0x1p-14}}).count(e_above_floor) == 1);
  // 2^-24 is subnormal, its exponent -14: the product counts with -28, so it lies 7 below the floor and loses what is below 2^-46.
  const Events cut = f16_to_f16({{0x1p-24, 0x1p-24}});
  CHECK(cut.count(cut_by_floor) == 1);
  CHECK(cut.count(term_cut_whole) == 1);
  CHECK(cut.count(distance, 7) == 1);
  CHECK(f16_to_f16({{0x1p-23, 0x1p-23}}).count(cut_by_floor) == 0);
}

TEST_CASE("each term's distance to E, and what it loses") {
  const Events counts = f16_to_f32({{1, 1}, {0x1p-5, 1}, {0x1.8p-12, 0x1p-13}, {0x1p-13, 0x1p-13}, {0x1p-14, 0x1p-14}});
  CHECK(counts.count(distance, 0) == 1);
  CHECK(counts.count(distance, 5) == 1);
  CHECK(counts.count(distance, 25) == 1);
  CHECK(counts.count(distance, 26) == 1);
  CHECK(counts.count(distance, distance_beyond(dot_models::hopper)) == 1);
  CHECK(counts.count(term_kept) == 2);
  CHECK(counts.count(term_cut_in_part) == 1);
  CHECK(counts.count(term_cut_whole) == 2);
  CHECK(f16_to_f32({{1.5, 1.5}}).count(product_of_two_or_more) == 1);
  CHECK(f16_to_f32({{1.5, 1.25}}).count(product_of_two_or_more) == 0);
  CHECK(f16_to_f32({{1, 1}}, 2).count(e_of_c_alone) == 1);
  CHECK(f16_to_f32({{1, 1}}, 1.5).count(e_of_product_and_c) == 1);
  CHECK(f16_to_f32({{2, 1}}, 1.5).count(e_of_c_alone) == 0);
}

TEST_CASE("sums that carry, cancel, or lose all that is left") {
  CHECK(f16_to_f32({{1, 1}, {1, 1}}).count(sum_carries) == 1);
  CHECK(f16_to_f32({{1, 1}, {0x1p-1, 1}}).count(sum_carries) == 0);
  CHECK(f16_to_f32({{1, 1}, {-1, 1}}).count(cancels_to_zero) == 1);
  CHECK(f16_to_f32({{1, 1}, {-1, 1}, {0x1p-13, 0x1p-13}}).count(rest_cut_to_zero) == 1);
  CHECK(f16_to_f32({{1, 0}}).count(all_terms_zero) == 1);
  CHECK(f16_to_f16({{-0x1p-13, 0x1p-13}}).count(zero_of_negative) == 1);
  CHECK(f16_to_f16({{0x1p-13, 0x1p-13}}).count(zero_of_positive) == 1);
}

TEST_CASE("the position of the sum between two results") {
  const auto beside = [](double rest) { return f16_to_f16({{1, 1}, {0x1p-10, rest}}); };
  CHECK(beside(1).count(exact) == 1);
  CHECK(beside(0.25).count(below_half) == 1);
  CHECK(beside(0.5).count(half_beside_even) == 1);
  CHECK(beside(1.5).count(half_beside_odd) == 1);
  CHECK(beside(0.75).count(above_half) == 1);
  // A unit is 2^-25, the half 2^-11.
  CHECK(f16_to_f16({{1, 1}, {0x1p-12, 0x1p-13}}).count(just_above) == 1);
  CHECK(f16_to_f16({{1, 1}, {0x1p-11, 1}, {-0x1p-12, 0x1p-13}}).count(just_below_half) == 1);
  CHECK(f16_to_f16({{1, 1}, {0x1p-11, 1}, {0x1p-12, 0x1p-13}}).count(just_above_half) == 1);
  CHECK(f16_to_f16({{1, 1}, {0x1p-10, 1}, {-0x1p-12, 0x1p-13}}).count(just_below_next) == 1);
  CHECK(f16_to_f16({{1, 1}, {0x1p-12, 0x1p-12}}).count(just_above) == 0);
  CHECK(f16_to_f16({{1, 0x1.ffcp0}, {0x1p-11, 1}}).count(rounding_carries) == 1);
  CHECK(f16_to_f16({{1, 0x1.ffcp0}, {0x1p-12, 1}}).count(rounding_carries) == 0);
}

TEST_CASE("overflow by the sum, and by rounding alone") {
  CHECK(f16_to_f16({{0x1p8, 0x1p8}}).count(overflow_by_sum) == 1);
  CHECK(f16_to_f16({{4, 4}}, 65504).count(overflow_by_rounding) == 1);
  CHECK(f16_to_f16({{4, 2}}, 65504).count(overflow_by_rounding) == 0);
  CHECK(f16_to_f16({{4, 2}}, 65504).count(largest_result) == 1);
  CHECK(bf16_to_f32({{0x1p127, 2}}).count(overflow_by_sum) == 1);
  CHECK(f16_to_f16({{0x1p-14, 0x1p-2}}).count(subnormal_result) == 1);
  CHECK(f16_to_f16({{0x1p-14, 0x1p-2}}).count(subnormal_product) == 1);
}

TEST_CASE("each cause of a NaN, and of an infinity") {
  const double inf = INFINITY, nan = NAN;
  CHECK(f16_to_f32({{nan, 1}}).count(nan_of_a) == 1);
  CHECK(f16_to_f32({{1, nan}}).count(nan_of_b) == 1);
  CHECK(f16_to_f32({{1, 1}}, nan).count(nan_of_c) == 1);
  CHECK(f16_to_f32({{0, inf}}).count(nan_of_zero_times_infinity) == 1);
  CHECK(f16_to_f32({{inf, 0}}).count(nan_of_infinity_times_zero) == 1);
  CHECK(f16_to_f32({{inf, 1}, {inf, -1}}).count(nan_of_products) == 1);
  CHECK(f16_to_f32({{inf, 1}}, -inf).count(nan_of_product_and_c) == 1);
  CHECK(f16_to_f32({{inf, -1}}, -inf).count(infinity_of_product, 1) == 1);
  CHECK(f16_to_f32({{inf, 1}}).count(infinity_of_product, 0) == 1);
  CHECK(f16_to_f32({{1, 1}}, -inf).count(infinity_of_c, 1) == 1);
  CHECK(f16_to_f32({{1, 1}}, nan).count(infinity_of_product) == 0);
}

TEST_CASE("subnormal operands") {
  CHECK(f16_to_f32({{0x1p-20, 1}}).count(subnormal_a) == 1);
  CHECK(f16_to_f32({{1, 0x1p-20}}).count(subnormal_b) == 1);
  CHECK(f16_to_f32({{1, 1}}, 0x1p-140).count(subnormal_c) == 1);
  CHECK(f16_to_f32({{0x1p-14, 1}}, 0x1p-126).count(subnormal_a) == 0);
}

TEST_CASE("integer sums beside the limits of s32") {
  const auto count = [](std::int64_t sum, std::int64_t least, std::int64_t largest) {
    Events counts;
    count_integer(counts, sum, least, largest);
    return counts;
  };
  constexpr std::int64_t highest = 0x7fffffff, lowest = -highest - 1;
  CHECK(count(highest, 0, highest).count(integer_at_highest) == 1);
  CHECK(count(highest, 0, highest).count(integer_inside) == 1);
  CHECK(count(highest, 0, highest + 5).count(integer_leaves_and_returns) == 1);
  CHECK(count(highest, 0, highest + 5).count(integer_inside) == 0);
  CHECK(count(highest + 1, 0, highest + 1).count(integer_one_above) == 1);
  CHECK(count(highest + 1, 0, highest + 1).count(integer_above) == 1);
  CHECK(count(highest + 2, 0, highest + 2).count(integer_one_above) == 0);
  CHECK(count(lowest, lowest, 0).count(integer_at_lowest) == 1);
  CHECK(count(lowest - 1, lowest - 1, 0).count(integer_one_below) == 1);
  CHECK(count(lowest - 1, lowest - 1, 0).count(integer_below) == 1);
}

TEST_CASE("counts add up, and counting does not change the bits") {
  Events all;
  all.add(distance, 3);
  Events more;
  more.add(distance, 3);
  more.add(exact);
  all.add(more);
  CHECK(all.count(distance, 3) == 2);
  CHECK(all.count(exact) == 1);
  CHECK(all.count(distance, 4) == 0);
  const Value half = decode(Format::f16, 0x3800);
  const std::vector<Value> halves(16, half);
  CHECK(CountingArithmetic(all).step(dot_models::hopper, Format::f16, halves, halves, 0x3c00) ==
        dot_step(dot_models::hopper, Format::f16, halves, halves, 0x3c00));
}

}  // namespace
}  // namespace warpmat::events_test
