// What the files of cvt share. Included once for each instruction set.

#if defined(WARPMAT_SCALAR_CONVERT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_SCALAR_CONVERT_INL_H_
#undef WARPMAT_SCALAR_CONVERT_INL_H_
#else
#define WARPMAT_SCALAR_CONVERT_INL_H_
#endif

#include <bit>
#include <cstdint>
#include <type_traits>

#include <warpmat/scalar/convert.h>
#include <warpmat/scalar/half.h>
#include <warpmat/scalar/lanes-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::scalar::HWY_NAMESPACE {

/// A source as a number: halves as f32, other types unchanged. Only f32 has .ftz.
template <typename S>
HWY_INLINE auto number(const void* source, int lane, bool ftz) {
  const S x = load<S>(source, lane);
  if constexpr (std::is_same_v<S, float>)
    return ftz ? flush(x) : x;
  else if constexpr (sizeof(S) == 2)
    return widen(x);
  else
    return x;
}

/// Calls `pass` with the rounding as a compile-time constant, for conversions whose loops depend on it.
template <typename Pass>
HWY_INLINE void with_rounding(Rounding rounding, Pass pass) {
  using enum Rounding;
  switch (rounding) {
    case nearest_even: return pass(std::integral_constant<Rounding, nearest_even>());
    case toward_zero: return pass(std::integral_constant<Rounding, toward_zero>());
    case down: return pass(std::integral_constant<Rounding, down>());
    case up: return pass(std::integral_constant<Rounding, up>());
  }
}

/// A NaN in a shorter format [H200]: the sign and the upper bits of its fraction, quiet.
template <typename T>
constexpr std::uint32_t shorter_nan(T x, int fraction_bits, std::uint32_t sign) {
  constexpr int all_fraction_bits = std::countr_zero(FloatBits<T>::smallest_normal);
  const auto bits = std::bit_cast<Bits<T>>(x);
  const std::uint32_t all = sign - 1;  // exponent and fraction
  const std::uint32_t exponent = all >> fraction_bits << fraction_bits, quiet_bit = 1u << (fraction_bits - 1);
  return ((bits & FloatBits<T>::sign) != 0 ? sign : 0) | exponent | quiet_bit |
         (static_cast<std::uint32_t>(bits >> (all_fraction_bits - fraction_bits)) & (quiet_bit - 1));
}

}  // namespace warpmat::scalar::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
