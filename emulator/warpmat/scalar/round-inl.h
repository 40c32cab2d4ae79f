// Rounding of the CPU's arithmetic by the modifiers. Each kernel file includes this once for each instruction set.

#if defined(WARPMAT_SCALAR_ROUND_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_SCALAR_ROUND_INL_H_
#undef WARPMAT_SCALAR_ROUND_INL_H_
#else
#define WARPMAT_SCALAR_ROUND_INL_H_
#endif

#include <warpmat/numeric/rounding_mode.h>
#include <warpmat/scalar/lanes-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::scalar::HWY_NAMESPACE {

/// Whether the caller's mode (kernel.h) is that of the modifiers, so that a kernel neither reads nor writes it.
HWY_INLINE bool is_callers_mode(Rounding rounding, bool ftz) {
  return mode_of(rounding) == RoundingMode::nearest && !ftz;
}

/// Calls `lanes` in the mode of the modifiers.
template <typename Lanes>
HWY_INLINE void in_mode(Rounding rounding, Lanes lanes) {
  if (is_callers_mode(rounding, false)) return lanes();
  const RoundingMode mode(mode_of(rounding));
  lanes();
}

}  // namespace warpmat::scalar::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
