// Kernels of comparison and selection (PTX ISA 9.1 sections 9.7.6 and 9.7.7), compiled once for each instruction set.

#include <cstring>

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

/// The code of the smallest normal number; for halves, in the upper half of a word.
template <typename T>
constexpr uint32_t smallest_normal = uint32_t{T::smallest_normal} << 16;
template <>
constexpr uint32_t smallest_normal<float> = FloatBits<float>::smallest_normal;

/// The type in which T is compared. Halves and 16-bit integers are in the upper half of a 32-bit number, which has the same order.
template <typename T>
using Compared =
    std::conditional_t<sizeof(T) != 2, T,
                       std::conditional_t<!std::is_integral_v<T>, float, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>>;

/// The numbers of lanes `first` and following. `shift` selects a half of a pair: 0 or 16.
template <typename T, class D>
HWY_INLINE hn::Vec<D> numbers(D d, const void* source, std::size_t first, int shift, bool ftz) {
  const hn::RebindToUnsigned<D> du;
  using Word = hn::TFromD<decltype(du)>;
  auto bits = hn::LoadU(du, static_cast<const Word*>(source) + first);
  if constexpr (sizeof(T) == 2) bits = shift == 0 ? hn::ShiftLeft<16>(bits) : hn::And(bits, hn::Set(du, 0xffff0000));
  if constexpr (std::is_same_v<T, float> || (sizeof(T) == 2 && !std::is_integral_v<T>)) {
    const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffffff));
    const Word flushed_below = ftz ? smallest_normal<T> : 0;
    bits = hn::IfThenZeroElse(hn::Lt(magnitude, hn::Set(du, flushed_below)), bits);
    if constexpr (std::is_same_v<T, F16>)  // NaNs of the other types are NaNs in f32
      bits = hn::IfThenElse(hn::Gt(magnitude, hn::Set(du, Word{F16::infinity} << 16)), hn::Set(du, FloatBits<float>::nan), bits);
  }
  return hn::BitCast(d, bits);
}

/// The lanes whose comparison has one of the outcomes in the modifiers.
template <typename T>
HWY_INLINE uint32_t compare(const void* const* sources, const Modifiers& m, int shift = 0) {
  const hn::ScalableTag<Compared<T>> d;
  uint32_t less = 0, equal = 0, greater = 0;
  for (std::size_t i = 0; i < 32; i += hn::Lanes(d)) {
    const auto x = numbers<T>(d, sources[0], i, shift, m.ftz), y = numbers<T>(d, sources[1], i, shift, m.ftz);
    less |= bits_of(d, hn::Lt(x, y), i);
    equal |= bits_of(d, hn::Eq(x, y), i);
    if constexpr (!std::is_integral_v<T>) greater |= bits_of(d, hn::Lt(y, x), i);
  }
  if constexpr (std::is_integral_v<T>) greater = ~(less | equal);
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

/// results[0] is the comparison and results[1], if present, its negation. Both are combined with the predicate source.
template <typename T>
void set_predicate(void* const* results, const void* const* sources, const Modifiers& m) {
  const uint32_t found = compare<T>(sources, m);
  const uint32_t first = combine(found, sources, m.combine), second = combine(~found, sources, m.combine);
  *static_cast<uint32_t*>(results[0]) = first;
  if (results[1] != nullptr) *static_cast<uint32_t*>(results[1]) = second;
}

/// results[0] is the comparison of the lower halves, results[1] that of the upper halves.
template <typename H>
void set_predicates(void* const* results, const void* const* sources, const Modifiers& m) {
  const uint32_t low = combine(compare<H>(sources, m, 0), sources, m.combine);
  const uint32_t high = combine(compare<H>(sources, m, 16), sources, m.combine);
  *static_cast<uint32_t*>(results[0]) = low;
  *static_cast<uint32_t*>(results[1]) = high;
}

/// The modifiers' value if the comparison is true, else 0.
template <typename T>
void set(void* const* results, const void* const* sources, const Modifiers& m) {
  const uint32_t found = combine(compare<T>(sources, m), sources, m.combine), value = m.true_value;
  WARPMAT_EACH_LANE store<uint32_t>(results[0], lane, (found >> lane & 1) != 0 ? value : 0);
}

/// The same in both halves.
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

constexpr Kernel compare_table[] = {
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
  return compare_table;
}

}  // namespace
}  // namespace warpmat::scalar::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat::scalar {

HWY_EXPORT(comparison_kernels_here);

std::span<const Kernel> comparison_kernels() {
  return WARPMAT_KERNEL(comparison_kernels_here)();
}

}  // namespace warpmat::scalar
#endif
