#pragma once

#include <cfenv>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace warpmat {

/// The CPU rounds as a kernel needs it, and neither flushes subnormal results nor takes subnormal operands for zero, whatever the caller
/// set; afterwards as before. On x86 alone: elsewhere flushing stays as the caller set it. Where that is the case already, nothing is set: reading the mode is cheap, writing it is not.
///
/// Arithmetic between the two ends stays there if its operands come from memory and its results go to memory: the compiler moves neither
/// loads nor stores across them. Arithmetic on variables may move.
class RoundingMode {
 public:
#if defined(__SSE2__)
  enum Mode : unsigned { nearest = 0x1f80, down = 0x3f80, up = 0x5f80, toward_zero = 0x7f80 };  // MXCSR, all exceptions masked
  explicit RoundingMode(Mode mode) : before_(_mm_getcsr()), same_((before_ & all_but_flags) == mode) {
    if (!same_) _mm_setcsr(mode);
    fence();
  }
  ~RoundingMode() {
    fence();
    if (!same_) _mm_setcsr(before_);
  }

 private:
  static constexpr unsigned all_but_flags = 0xffc0;
  unsigned before_;
  bool same_;
#else
  enum Mode : int { nearest = FE_TONEAREST, down = FE_DOWNWARD, up = FE_UPWARD, toward_zero = FE_TOWARDZERO };
  explicit RoundingMode(Mode mode) : before_(std::fegetround()) {
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

  static void fence() { asm volatile("" ::: "memory"); }

 public:
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;
};

}  // namespace warpmat
