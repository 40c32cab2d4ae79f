#pragma once

#include <warpmat/formats.h>

// The sets of formats that rows of the tables name for A and B.

namespace warpmat::format_sets {

inline constexpr Format f64[] = {Format::f64};
inline constexpr Format f16[] = {Format::f16};
inline constexpr Format bf16[] = {Format::bf16};
inline constexpr Format tf32[] = {Format::tf32};
inline constexpr Format fp8[] = {Format::e4m3, Format::e5m2};
inline constexpr Format fp8_fp6_fp4[] = {Format::e4m3, Format::e5m2, Format::e3m2, Format::e2m3, Format::e2m1};
inline constexpr Format fp4[] = {Format::e2m1};
inline constexpr Format bytes[] = {Format::s8, Format::u8};
inline constexpr Format nibbles[] = {Format::s4, Format::u4};
inline constexpr Format bits[] = {Format::b1};

}  // namespace warpmat::format_sets
