#pragma once

#include <warpmat/formats.h>

#include <optional>

#include "oracle/oracle.h"

/// The oracle's description of `format`, or nothing for the formats that it does not know.
inline std::optional<oracle::FloatFormat> oracle_format(warpmat::Format format) {
  using enum warpmat::Format;
  switch (format) {
    case f64: return oracle::f64;
    case f32: return oracle::f32;
    case tf32: return oracle::tf32;
    case bf16: return oracle::bf16;
    case f16: return oracle::f16;
    case e5m2: return oracle::e5m2;
    case e4m3: return oracle::e4m3;
    case e3m2: return oracle::e3m2;
    case e2m3: return oracle::e2m3;
    case e2m1: return oracle::e2m1;
    default: return std::nullopt;
  }
}
