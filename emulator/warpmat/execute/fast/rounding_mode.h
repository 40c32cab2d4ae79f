#pragma once

#include <cfenv>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace warpmat {

/// The CPU rounds as a kernel needs it, whatever the caller set; afterwards as before. On x86 it neither flushes subnormal results nor takes
/// subnormal operands for zero meanwhile; elsewhere that stays as the caller set it.
class RoundingMode {
 public:
#if defined(__SSE2__)
  enum Mode : unsigned { nearest = 0x1f80, down = 0x3f80, up = 0x5f80, toward_zero = 0x7f80 };  // MXCSR, all exceptions masked
  explicit RoundingMode(Mode mode) : before_(_mm_getcsr()) {
    _mm_setcsr(mode);
  }
  ~RoundingMode() {
    _mm_setcsr(before_);
  }

 private:
  unsigned before_;
#else
  enum Mode : int { nearest = FE_TONEAREST, down = FE_DOWNWARD, up = FE_UPWARD, toward_zero = FE_TOWARDZERO };
  explicit RoundingMode(Mode mode) : before_(std::fegetround()) {
    std::fesetround(mode);
  }
  ~RoundingMode() {
    std::fesetround(before_);
  }

 private:
  int before_;
#endif

 public:
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;
};

}  // namespace warpmat
