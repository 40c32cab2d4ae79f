// Kernels of comparison and selection (PTX ISA 9.1 sections 9.7.6 and 9.7.7), compiled once for each instruction set.

#include <warpmat/scalar/half.h>
#include <warpmat/scalar/kernels.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/scalar/compare.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/scalar/lanes-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::scalar::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using std::int16_t, std::int32_t, std::int64_t, std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;

/// The number that is compared: halves, of which `shift` tells which one of a pair, as the f32 of the same value.
template <typename T>
HWY_INLINE auto number(const void* source, int lane, int shift, bool ftz) {
  if constexpr (std::is_integral_v<T>) {
    return load<T>(source, lane);
  } else if constexpr (sizeof(T) == 2) {
    const uint32_t code = load<uint32_t>(source, lane) >> shift & 0xffff;
    return widen_code<T>(ftz ? flush_code<T>(code) : code);
  } else {
    const T x = load<T>(source, lane);
    return ftz ? flush(x) : x;
  }
}

/// The lanes of a vector in which `mask` is set, as bits from `first` on.
template <class D, class M>
HWY_INLINE uint32_t bits_of(D d, M mask, std::size_t first) {
  uint64_t bytes = 0;
  hn::StoreMaskBits(d, mask, reinterpret_cast<uint8_t*>(&bytes));
  const uint64_t all = (uint64_t{1} << hn::Lanes(d)) - 1;
  return static_cast<uint32_t>((bytes & all) << first);
}

/// What is compared: numbers of up to 16 bits as 32-bit ones.
template <typename N>
using Compared = std::conditional_t<std::is_integral_v<N> && sizeof(N) == 2, std::conditional_t<std::is_signed_v<N>, int32_t, uint32_t>, N>;

/// The lanes whose comparison has one of the modifiers' outcomes.
template <typename T>
HWY_INLINE uint32_t compare(const void* const* sources, const Modifiers& m, int shift = 0) {
  using N = Compared<decltype(number<T>(nullptr, 0, 0, false))>;
  const bool ftz = m.ftz;
  alignas(64) N a[32], b[32];
  WARPMAT_EACH_LANE a[lane] = number<T>(sources[0], lane, shift, ftz);
  WARPMAT_EACH_LANE b[lane] = number<T>(sources[1], lane, shift, ftz);
  const hn::ScalableTag<N> d;
  uint32_t less = 0, equal = 0, greater = 0;
  for (std::size_t i = 0; i < 32; i += hn::Lanes(d)) {
    const auto x = hn::Load(d, a + i), y = hn::Load(d, b + i);
    less |= bits_of(d, hn::Lt(x, y), i);
    equal |= bits_of(d, hn::Eq(x, y), i);
    greater |= bits_of(d, hn::Lt(y, x), i);
  }
  const auto if_set = [&](Outcome outcome) HWY_ATTR { return (m.outcomes & outcome) != 0 ? ~uint32_t{0} : 0; };
  return (less & if_set(is_less)) | (equal & if_set(is_equal)) | (greater & if_set(is_greater)) |
         (~(less | equal | greater) & if_set(is_unordered));
}

HWY_INLINE uint32_t combine(uint32_t found, const void* const* sources, Combine how) {
  if (how == Combine::none) return found;
  const uint32_t condition = *static_cast<const uint32_t*>(sources[2]);
  switch (how) {
    case Combine::conjunction: return found & condition;
    case Combine::disjunction: return found | condition;
    default: return found ^ condition;
  }
}

/// results[0] is the comparison, results[1], which may be absent, its opposite, both combined with the predicate source.
template <typename T>
void set_predicate(void* const* results, const void* const* sources, const Modifiers& m) {
  const uint32_t found = compare<T>(sources, m);
  const uint32_t first = combine(found, sources, m.combine), second = combine(~found, sources, m.combine);
  *static_cast<uint32_t*>(results[0]) = first;
  if (results[1] != nullptr) *static_cast<uint32_t*>(results[1]) = second;
}

/// results[0] is the comparison of the lower halves, results[1] that of the upper ones.
template <typename H>
void set_predicates(void* const* results, const void* const* sources, const Modifiers& m) {
  const uint32_t low = combine(compare<H>(sources, m, 0), sources, m.combine);
  const uint32_t high = combine(compare<H>(sources, m, 16), sources, m.combine);
  *static_cast<uint32_t*>(results[0]) = low;
  *static_cast<uint32_t*>(results[1]) = high;
}

/// The modifiers' value where the comparison holds, else 0.
template <typename T>
void set(void* const* results, const void* const* sources, const Modifiers& m) {
  const uint32_t found = combine(compare<T>(sources, m), sources, m.combine), value = m.true_value;
  WARPMAT_EACH_LANE store<uint32_t>(results[0], lane, (found >> lane & 1) != 0 ? value : 0);
}

/// Likewise in both halves.
template <typename H>
void set_pair(void* const* results, const void* const* sources, const Modifiers& m) {
  const uint32_t low = combine(compare<H>(sources, m, 0), sources, m.combine), value = m.true_value & 0xffff;
  const uint32_t high = combine(compare<H>(sources, m, 16), sources, m.combine);
  WARPMAT_EACH_LANE store<uint32_t>(results[0], lane, ((low >> lane & 1) != 0 ? value : 0) | ((high >> lane & 1) != 0 ? value << 16 : 0));
}

template <typename T>
constexpr T select_by_integer(T a, T b, int32_t c) {
  return c >= 0 ? a : b;
}

template <typename T>
constexpr T select_by_float(T a, T b, float c, const Modifiers& m) {
  return (m.ftz ? flush(c) : c) >= 0 ? a : b;
}

constexpr Kernel kernels[] = {
    {"setp.b16", set_predicate<uint16_t>},
    {"setp.s16", set_predicate<int16_t>},
    {"setp.b32", set_predicate<uint32_t>},
    {"setp.s32", set_predicate<int32_t>},
    {"setp.b64", set_predicate<uint64_t>},
    {"setp.s64", set_predicate<int64_t>},
    {"setp.f32", set_predicate<float>},
    {"setp.f64", set_predicate<double>},
    {"setp.f16", set_predicate<F16>},
    {"setp.bf16", set_predicate<Bf16>},
    {"setp.f16x2", set_predicates<F16>},
    {"setp.bf16x2", set_predicates<Bf16>},
    {"set.b16", set<uint16_t>},
    {"set.s16", set<int16_t>},
    {"set.b32", set<uint32_t>},
    {"set.s32", set<int32_t>},
    {"set.b64", set<uint64_t>},
    {"set.s64", set<int64_t>},
    {"set.f32", set<float>},
    {"set.f64", set<double>},
    {"set.f16", set<F16>},
    {"set.bf16", set<Bf16>},
    {"set.f16x2", set_pair<F16>},
    {"set.bf16x2", set_pair<Bf16>},
    {"slct.b16.s32", each_lane<select_by_integer<uint16_t>>},
    {"slct.b32.s32", each_lane<select_by_integer<uint32_t>>},
    {"slct.b64.s32", each_lane<select_by_integer<uint64_t>>},
    {"slct.b16.f32", each_lane<select_by_float<uint16_t>>},
    {"slct.b32.f32", each_lane<select_by_float<uint32_t>>},
    {"slct.b64.f32", each_lane<select_by_float<uint64_t>>},
};

std::span<const Kernel> comparison_kernels_here() {
  return kernels;
}

}  // namespace
}  // namespace warpmat::scalar::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat::scalar {

HWY_EXPORT(comparison_kernels_here);

std::span<const Kernel> comparison_kernels() {
  return HWY_DYNAMIC_DISPATCH(comparison_kernels_here)();
}

}  // namespace warpmat::scalar
#endif
