#pragma once

#include <cstdint>

#include <warpmat/numeric/value.h>

namespace warpmat {

class Events;

// IEEE 754 operations on bits of f16, f32 or f64, for the forms that the hardware executes outside its matrix units or with fused
// multiply-adds: m8n8k4 of f16 from sm_80 on, the last addition of fp8 on sm_90 and sm_100, f64.

/// The rule for NaN results.
enum class NanRule : std::uint8_t {
  canonical,  ///< canonical_nan(format): f16 and f32
  propagate,  ///< the NaN of b, else of c, else of a, made quiet; an invalid operation on numbers gives the default NaN,
              ///< which is negative: 0xFFF8000000000000 of f64 [H200]
};

/// a · b + c, rounded once. `events` (numeric/events.h) counts what happened unless it is nullptr.
std::uint64_t fused_multiply_add(Format format, std::uint64_t a, std::uint64_t b, std::uint64_t c, Rounding rounding, NanRule nan_rule,
                                 Events* events = nullptr);

/// a + b, with canonical NaN.
inline std::uint64_t add(Format format, std::uint64_t a, std::uint64_t b, Rounding rounding, Events* events = nullptr) {
  const std::uint64_t one = static_cast<std::uint64_t>(bias(row(format))) << row(format).fraction_bits;
  return fused_multiply_add(format, a, one, b, rounding, NanRule::canonical, events);
}

}  // namespace warpmat
