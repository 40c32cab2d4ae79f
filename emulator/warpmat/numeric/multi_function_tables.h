#pragma once

#include <cstdint>

namespace warpmat::multi_function {

/// A row of a table: the value on a segment is c0 + c1 · x + c2 · S in the units of its function.
struct Segment {
  std::int32_t c0, c1, c2;
};

/// The units of a function as exponents of two, in multiples of 2^-40, and the constant in every sum.
struct Interpolation {
  int c0_shift, c1_shift, c2_shift;
  std::int32_t rounding;
};

inline constexpr Interpolation rcp_interpolation{14, 0, 1, 4046};
inline constexpr Interpolation rsq_interpolation{14, 0, 2, -1};
inline constexpr Interpolation sqrt_interpolation{15, 0, 1, -1};
inline constexpr Interpolation ex2_interpolation{15, 2, 2, 24456};
inline constexpr Interpolation lg2_interpolation{14, 2, 3, 3348};
inline constexpr Interpolation sin_interpolation{15, 3, 3, 0};
inline constexpr Interpolation tanh_interpolation{16, 0, 0, 0};

extern const Segment rcp_segments[128];   ///< by 7 fraction bits
extern const Segment rsq_segments[128];   ///< even exponents, then odd ones; by 6 fraction bits
extern const Segment sqrt_segments[128];  ///< likewise
extern const Segment ex2_segments[64];
extern const Segment lg2_segments[64];
extern const Segment sin_segments[64];   ///< a quarter wave
extern const Segment tanh_segments[51];  ///< see tanh_binades

/// A binade of tanh. Its segments begin at row `first_row`; the lowest `dropped_bits` bits of the operand are ignored.
struct TanhBinade {
  std::uint8_t first_row, dropped_bits;
};

inline constexpr int first_tanh_exponent = -8, tanh_binade_count = 11;
extern const TanhBinade tanh_binades[tanh_binade_count];  ///< [2^-8, 2^-7), ... [4, 8)

}  // namespace warpmat::multi_function
