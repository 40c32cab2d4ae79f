// Loops over the lanes of a warp. Each kernel file includes this once for each instruction set.

#if defined(WARPMAT_SCALAR_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_SCALAR_LANES_INL_H_
#undef WARPMAT_SCALAR_LANES_INL_H_
#else
#define WARPMAT_SCALAR_LANES_INL_H_
#endif

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <hwy/highway.h>

#include <warpmat/scalar/kernel.h>

/// A loop over independent lanes: no iteration reads what another one writes, although a result may be the array of a source.
#ifndef WARPMAT_EACH_LANE
#if defined(__clang__)
#define WARPMAT_EACH_LANE _Pragma("clang loop vectorize(assume_safety)") for (int lane = 0; lane < 32; ++lane)
#else
#define WARPMAT_EACH_LANE _Pragma("GCC ivdep") for (int lane = 0; lane < 32; ++lane)
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace warpmat::scalar::HWY_NAMESPACE {

template <std::size_t bytes>
using UnsignedOf =
    std::conditional_t<bytes == 1, std::uint8_t,
                       std::conditional_t<bytes == 2, std::uint16_t, std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>>;

/// An element of the array that holds values of type T.
template <typename T>
using Element = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// Lane `lane` of a source; bool means a predicate.
template <typename T>
HWY_INLINE T load(const void* source, int lane) {
  if constexpr (std::is_same_v<T, bool>)
    return (*static_cast<const std::uint32_t*>(source) >> lane & 1) != 0;
  else
    return std::bit_cast<T>(static_cast<UnsignedOf<sizeof(T)>>(static_cast<const Element<T>*>(source)[lane]));
}

template <typename T>
HWY_INLINE void store(void* result, int lane, T value) {
  static_cast<Element<T>*>(result)[lane] = std::bit_cast<UnsignedOf<sizeof(T)>>(value);
}

/// The predicate of the lanes for which `f(lane)` is true.
template <typename F>
HWY_INLINE std::uint32_t mask_of(F f) {
  std::uint32_t mask = 0;
  for (int lane = 0; lane < 32; ++lane) mask |= static_cast<std::uint32_t>(f(lane)) << lane;
  return mask;
}

/// The lanes in which `mask` is set, as bits from `first` on. It reads only bytes as they were stored: the CPU does not forward a store to
/// a longer load.
template <class D, class M>
HWY_INLINE std::uint32_t bits_of(D d, M mask, std::size_t first) {
  std::conditional_t<(HWY_LANES(hwy::HWY_NAMESPACE::TFromD<D>) > 8), std::uint16_t, std::uint8_t> bits;
  std::uint8_t bytes[8];
  hwy::HWY_NAMESPACE::StoreMaskBits(d, mask, bytes);
  std::memcpy(&bits, bytes, sizeof bits);
  return std::uint32_t{bits} << first;
}

/// results[0] = f(sources[0], sources[1], ...) in every lane. The types of f are those of the operands. A last parameter may be the
/// modifiers.
template <auto f>
struct Lanes;

template <typename R, typename... T, R (*f)(T...)>
struct Lanes<f> {
  template <typename A>
  static HWY_INLINE decltype(auto) argument(const void* source, const Modifiers& m, int lane) {
    if constexpr (std::is_same_v<std::remove_cvref_t<A>, Modifiers>)
      return (m);
    else
      return load<A>(source, lane);
  }

  template <std::size_t... i>
  static HWY_INLINE void run(void* result, const void* const* sources, const Modifiers& m, std::index_sequence<i...>) {
    const void* const source[] = {(std::is_same_v<std::remove_cvref_t<T>, Modifiers> ? nullptr : sources[i])...};
    if constexpr (std::is_same_v<R, bool>)
      *static_cast<std::uint32_t*>(result) = mask_of([&](int lane) HWY_ATTR { return f(argument<T>(source[i], m, lane)...); });
    else
      WARPMAT_EACH_LANE store<R>(result, lane, f(argument<T>(source[i], m, lane)...));
  }

  static void run(void* const* results, const void* const* sources, const Modifiers& modifiers) {
    const Modifiers m = modifiers;  // a copy that no store to a result can change
    run(results[0], sources, m, std::index_sequence_for<T...>());
  }
};

template <auto f>
constexpr Function each_lane = Lanes<f>::run;

}  // namespace warpmat::scalar::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
