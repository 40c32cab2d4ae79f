// Converts lane functions to warp functions (row.h): each_lane<f> calls `R f(S...)` in all 32 lanes. Included once for each instruction
// set.
//
// The types of f define the registers: bool is a predicate; types of up to 32 bits are the low bits of a word; types of 64 bits use 64-bit
// elements. Integers and floating-point numbers of every width are allowed. A function with two results returns Two<R, Q>.

#if defined(WARPMAT_PTX_CATALOGUE_LANE_LOOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_PTX_CATALOGUE_LANE_LOOP_INL_H_
#undef WARPMAT_PTX_CATALOGUE_LANE_LOOP_INL_H_
#else
#define WARPMAT_PTX_CATALOGUE_LANE_LOOP_INL_H_
#endif

#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <hwy/highway.h>

#include <warpmat/ptx/catalogue/two.h>
#include <warpmat/warp.h>

/// Precedes a loop over independent lanes: no lane reads what another one writes, although a result may be the array of a source.
#ifndef WARPMAT_INDEPENDENT_LANES
#ifdef __clang__
#define WARPMAT_INDEPENDENT_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define WARPMAT_INDEPENDENT_LANES _Pragma("GCC ivdep")
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {

/// An unsigned type for the bits of a value of size N, and the array element that stores it.
template <std::size_t N>
struct LaneWord;
template <>
struct LaneWord<1> {
  using Bits = std::uint8_t;
  using Element = std::uint32_t;
};
template <>
struct LaneWord<2> {
  using Bits = std::uint16_t;
  using Element = std::uint32_t;
};
template <>
struct LaneWord<4> {
  using Bits = std::uint32_t;
  using Element = std::uint32_t;
};
template <>
struct LaneWord<8> {
  using Bits = std::uint64_t;
  using Element = std::uint64_t;
};

template <typename T>
HWY_INLINE T read_lane(const void* source, int lane) {
  if constexpr (std::is_same_v<T, bool>) {
    return (*static_cast<const LaneMask*>(source) >> lane & 1) != 0;
  } else {
    using Word = LaneWord<sizeof(T)>;
    const auto element = static_cast<const typename Word::Element*>(source)[lane];
    return std::bit_cast<T>(static_cast<typename Word::Bits>(element));
  }
}

/// Writes lanes of one result. A predicate is collected in `mask` and written at the end.
template <typename T>
HWY_INLINE void write_lane(void* result, LaneMask& mask, int lane, T value) {
  if constexpr (std::is_same_v<T, bool>) {
    mask |= static_cast<LaneMask>(value) << lane;
  } else {
    using Word = LaneWord<sizeof(T)>;
    static_cast<typename Word::Element*>(result)[lane] = std::bit_cast<typename Word::Bits>(value);
  }
}

template <typename T>
HWY_INLINE void finish(void* result, LaneMask mask) {
  if constexpr (std::is_same_v<T, bool>) *static_cast<LaneMask*>(result) = mask;
}

template <auto f>
struct LaneLoop {
  template <typename R, typename... S, std::size_t... I>
  static HWY_INLINE void run(R (*)(S...), void* const* results, const void* const* sources, std::index_sequence<I...>) {
    void* const result = results[0];
    const void* const source[] = {sources[I]..., nullptr};
    LaneMask mask = 0;
    WARPMAT_INDEPENDENT_LANES
    for (int lane = 0; lane < warp_size; ++lane) write_lane<R>(result, mask, lane, f(read_lane<S>(source[I], lane)...));
    finish<R>(result, mask);
  }

  template <typename R, typename Q, typename... S, std::size_t... I>
  static HWY_INLINE void run(Two<R, Q> (*)(S...), void* const* results, const void* const* sources, std::index_sequence<I...>) {
    void* const first = results[0];
    void* const second = results[1];
    const void* const source[] = {sources[I]..., nullptr};
    LaneMask first_mask = 0, second_mask = 0;
    WARPMAT_INDEPENDENT_LANES
    for (int lane = 0; lane < warp_size; ++lane) {
      const Two<R, Q> value = f(read_lane<S>(source[I], lane)...);
      write_lane<R>(first, first_mask, lane, value.first);
      write_lane<Q>(second, second_mask, lane, value.second);
    }
    finish<R>(first, first_mask);
    finish<Q>(second, second_mask);
  }

  template <typename R, typename... S>
  static HWY_INLINE void start(R (*g)(S...), void* const* results, const void* const* sources) {
    run(g, results, sources, std::index_sequence_for<S...>());
  }
};

/// The warp function of lane function `f`.
template <auto f>
void each_lane(void* const* results, const void* const* sources) {
  LaneLoop<f>::start(f, results, sources);
}

}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
