#pragma once

#include <cstdint>

#include <warpmat/numeric/exact.h>

namespace warpmat {

// IEEE 754 operations on bits of f16, f32 or f64, for the forms that the hardware executes outside its matrix units or with fused
// multiply-adds: m8n8k4 of f16 from sm_80 on, the last addition of fp8 on sm_90 and sm_100, f64.

/// The rule for NaN results.
enum class NanRule : std::uint8_t {
  canonical,  ///< canonical_nan(format): f16 and f32
  propagate,  ///< the NaN of b, else of c, else of a, made quiet; an invalid operation on numbers gives the default NaN,
              ///< which is negative: 0xFFF8000000000000 of f64 [H200]
};

/// a · b + c, rounded once.
std::uint64_t fused_multiply_add(Format format, std::uint64_t a, std::uint64_t b, std::uint64_t c, Rounding rounding, NanRule nan_rule);

/// 1 as bits of `format`.
inline std::uint64_t one(Format format) {
  return static_cast<std::uint64_t>(bias(row(format))) << row(format).fraction_bits;
}

/// a + b, with canonical NaN.
inline std::uint64_t add(Format format, std::uint64_t a, std::uint64_t b, Rounding rounding) {
  return fused_multiply_add(format, a, one(format), b, rounding, NanRule::canonical);
}

/// a · b + c of finite numbers, a and b not zero, up to a sticky remainder far below the result's last bit.
Exact exact_multiply_add(const Value& a, const Value& b, const Value& c);

}  // namespace warpmat
