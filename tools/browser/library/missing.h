#pragma once

// What C++20's library has and that of emscripten 3.1 lacks: libc++ 13, which has neither the algorithms on ranges nor std::bit_cast. Each
// file of the preset `wasm` includes this first. It has what the emulator uses of them, and is empty for a newer library.

#include <version>
#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 15000

#include <algorithm>
#include <compare>
#include <cstddef>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

_LIBCPP_BEGIN_NAMESPACE_STD

template <typename To, typename From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}

namespace ranges {

template <typename In, typename Out>
struct in_out_result {
  In in;
  Out out;
};
template <typename In1, typename In2>
struct in_in_result {
  In1 in1;
  In2 in2;
};
template <typename T>
struct min_max_result {
  T min, max;
};

template <typename Range>
using iterator_of = decltype(std::begin(std::declval<Range&>()));

// A call of the algorithm on iterators, with the projection in its predicate.
#define WARPMAT_BY_PREDICATE(name)                                                                       \
  template <typename Range, typename Predicate, typename Projection = identity>                          \
  constexpr auto name(Range&& range, Predicate predicate, Projection projection = {}) {                  \
    return std::name(std::begin(range), std::end(range), [&](auto&& element) -> bool {                   \
      return std::invoke(predicate, std::invoke(projection, static_cast<decltype(element)&&>(element))); \
    });                                                                                                  \
  }
WARPMAT_BY_PREDICATE(find_if)
WARPMAT_BY_PREDICATE(find_if_not)
WARPMAT_BY_PREDICATE(any_of)
WARPMAT_BY_PREDICATE(all_of)
WARPMAT_BY_PREDICATE(none_of)
WARPMAT_BY_PREDICATE(count_if)
#undef WARPMAT_BY_PREDICATE

#define WARPMAT_BY_ORDER(name)                                                                       \
  template <typename Range, typename Order = std::less<>, typename Projection = identity>            \
  constexpr auto name(Range&& range, Order order = {}, Projection projection = {}) {                 \
    return std::name(std::begin(range), std::end(range), [&](const auto& a, const auto& b) -> bool { \
      return std::invoke(order, std::invoke(projection, a), std::invoke(projection, b));             \
    });                                                                                              \
  }
WARPMAT_BY_ORDER(sort)
WARPMAT_BY_ORDER(stable_sort)
WARPMAT_BY_ORDER(max_element)
WARPMAT_BY_ORDER(min_element)
WARPMAT_BY_ORDER(is_sorted)
#undef WARPMAT_BY_ORDER

template <typename Range, typename T, typename Projection = identity>
constexpr auto find(Range&& range, const T& value, Projection projection = {}) {
  return ranges::find_if(
      range, [&](const auto& element) { return element == value; }, projection);
}
template <typename Range, typename T, typename Projection = identity>
constexpr auto count(Range&& range, const T& value, Projection projection = {}) {
  return ranges::count_if(
      range, [&](const auto& element) { return element == value; }, projection);
}
template <typename Range, typename T, typename Order = std::less<>, typename Projection = identity>
constexpr auto lower_bound(Range&& range, const T& value, Order order = {}, Projection projection = {}) {
  return std::partition_point(std::begin(range), std::end(range),
                              [&](const auto& element) -> bool { return std::invoke(order, std::invoke(projection, element), value); });
}
template <typename Range, typename T, typename Order = std::less<>, typename Projection = identity>
constexpr auto upper_bound(Range&& range, const T& value, Order order = {}, Projection projection = {}) {
  return std::partition_point(std::begin(range), std::end(range),
                              [&](const auto& element) -> bool { return !std::invoke(order, value, std::invoke(projection, element)); });
}
template <typename Range, typename Out>
constexpr in_out_result<iterator_of<Range>, Out> copy(Range&& range, Out out) {
  return {std::end(range), std::copy(std::begin(range), std::end(range), out)};
}
template <typename Range, typename Out>
constexpr in_out_result<iterator_of<Range>, Out> move(Range&& range, Out out) {
  return {std::end(range), std::move(std::begin(range), std::end(range), out)};
}
template <typename Range, typename Out, typename Predicate>
constexpr in_out_result<iterator_of<Range>, Out> copy_if(Range&& range, Out out, Predicate predicate) {
  return {std::end(range), std::copy_if(std::begin(range), std::end(range), out, predicate)};
}
template <typename Range, typename Out, typename Function>
requires requires(Range& range) {
  std::begin(range);
}
constexpr in_out_result<iterator_of<Range>, Out> transform(Range&& range, Out out, Function function) {
  return {std::end(range), std::transform(std::begin(range), std::end(range), out, [&](auto&& element) {
            return std::invoke(function, static_cast<decltype(element)&&>(element));
          })};
}
template <typename Range1, typename Range2, typename Out, typename Function>
constexpr auto transform(Range1&& a, Range2&& b, Out out, Function function) {
  return std::transform(std::begin(a), std::end(a), std::begin(b), out, function);
}
template <typename A, typename B, typename Equal = std::equal_to<>, typename ProjectionA = identity, typename ProjectionB = identity>
constexpr bool equal(A&& a, B&& b, Equal same = {}, ProjectionA of_a = {}, ProjectionB of_b = {}) {
  return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b),
                    [&](const auto& x, const auto& y) -> bool { return std::invoke(same, std::invoke(of_a, x), std::invoke(of_b, y)); });
}
template <typename A, typename B>
constexpr in_in_result<iterator_of<A>, iterator_of<B>> mismatch(A&& a, B&& b) {
  const auto found = std::mismatch(std::begin(a), std::end(a), std::begin(b), std::end(b));
  return {found.first, found.second};
}
template <typename A, typename B>
constexpr bool lexicographical_compare(A&& a, B&& b) {
  return std::lexicographical_compare(std::begin(a), std::end(a), std::begin(b), std::end(b));
}
template <typename A, typename B>
constexpr bool is_permutation(A&& a, B&& b) {
  return std::is_permutation(std::begin(a), std::end(a), std::begin(b), std::end(b));
}
template <typename A, typename B>
constexpr bool includes(A&& a, B&& b) {
  return std::includes(std::begin(a), std::end(a), std::begin(b), std::end(b));
}
template <typename Range, typename T>
constexpr bool binary_search(Range&& range, const T& value) {
  return std::binary_search(std::begin(range), std::end(range), value);
}
template <typename A, typename B, typename Out>
constexpr void set_difference(A&& a, B&& b, Out out) {
  std::set_difference(std::begin(a), std::end(a), std::begin(b), std::end(b), out);
}
template <typename A, typename B, typename Out>
constexpr void set_union(A&& a, B&& b, Out out) {
  std::set_union(std::begin(a), std::end(a), std::begin(b), std::end(b), out);
}
template <typename A, typename B, typename Out>
constexpr void merge(A&& a, B&& b, Out out) {
  std::merge(std::begin(a), std::end(a), std::begin(b), std::end(b), out);
}
template <typename A, typename B>
constexpr auto find_first_of(A&& a, B&& b) {
  return std::find_first_of(std::begin(a), std::end(a), std::begin(b), std::end(b));
}
template <typename Range>
constexpr auto adjacent_find(Range&& range) {
  return std::adjacent_find(std::begin(range), std::end(range));
}
template <typename Range, typename Function>
constexpr void for_each(Range&& range, Function function) {
  std::for_each(std::begin(range), std::end(range), function);
}
template <typename Range, typename T>
constexpr void fill(Range&& range, const T& value) {
  std::fill(std::begin(range), std::end(range), value);
}
template <typename Range, typename T>
constexpr void replace(Range&& range, const T& from, const T& to) {
  std::replace(std::begin(range), std::end(range), from, to);
}
template <typename Range>
constexpr void reverse(Range&& range) {
  std::reverse(std::begin(range), std::end(range));
}
template <typename Range, typename Iterator>
constexpr void nth_element(Range&& range, Iterator nth) {
  std::nth_element(std::begin(range), nth, std::end(range));
}
template <typename Range>
constexpr auto minmax(Range&& range) {
  const auto found = std::minmax_element(std::begin(range), std::end(range));
  return min_max_result<std::decay_t<decltype(*found.first)>>{*found.first, *found.second};
}
template <typename Range>
constexpr auto max(Range&& range) {
  return *std::max_element(std::begin(range), std::end(range));
}

}  // namespace ranges
_LIBCPP_END_NAMESPACE_STD

#endif
