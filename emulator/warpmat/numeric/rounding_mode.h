#pragma once

#include <cfenv>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace warpmat {

/// The CPU rounds as a kernel needs it, and treats subnormal numbers as it needs them, whatever the caller set; afterwards as before. Where
/// that is the case already, nothing is set: reading the mode is cheap, writing it is not. Off x86, flushing stays as the caller set it.
///
/// Arithmetic between the two ends stays there if its operands come from memory and its results go to memory: the compiler moves neither
/// loads nor stores across them. Arithmetic on variables may move.
class RoundingMode {
 public:
#if defined(__SSE2__)
  enum Mode : unsigned { nearest = 0x1f80, down = 0x3f80, up = 0x5f80, toward_zero = 0x7f80 };  // MXCSR, all exceptions masked
  /// `flush`: subnormal operands are zeros of their sign, and so are results that would be below the smallest normal number if the exponent
  /// had no bound.
  explicit RoundingMode(Mode mode, bool flush = false) : before_(_mm_getcsr()) {
    const unsigned wanted = mode | (flush ? flush_to_zero | denormals_are_zeros : 0);
    same_ = (before_ & all_but_flags) == wanted;
    if (!same_) _mm_setcsr(wanted);
    fence();
  }
  ~RoundingMode() {
    fence();
    if (!same_) _mm_setcsr(before_);
  }

 private:
  static constexpr unsigned all_but_flags = 0xffc0, flush_to_zero = 0x8000, denormals_are_zeros = 0x0040;
  unsigned before_;
  bool same_;
#else
  enum Mode : int { nearest = FE_TONEAREST, down = FE_DOWNWARD, up = FE_UPWARD, toward_zero = FE_TOWARDZERO };
  /// Only for CPUs other than x86-64: `flush` is not known to them.
  explicit RoundingMode(Mode mode, bool = false) : before_(std::fegetround()) {
    if (before_ != mode) std::fesetround(mode);
    fence();
  }
  ~RoundingMode() {
    fence();
    std::fesetround(before_);
  }

 private:
  int before_;
#endif

  static void fence() {
    asm volatile("" ::: "memory");
  }

 public:
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;
};

}  // namespace warpmat
