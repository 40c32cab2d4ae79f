#pragma once

#include <cstdint>

#include <warpmat/formats.h>

namespace warpmat {

__extension__ typedef unsigned __int128 uint128;  // NOLINT: the one name for the widest integer here

/// An exact number to be rounded: ±magnitude · 2^exponent. `sticky` says that the true magnitude lies strictly between
/// `magnitude` and `magnitude + 1` units.
struct Exact {
  bool negative = false;
  uint128 magnitude = 0;
  int exponent = 0;
  bool sticky = false;
};

/// Rounds `exact` to `format`. The reference rounds nowhere else (the kernels of execute/fast let the CPU round). Formats without infinity
/// saturate. Integer formats round to an integer and saturate. Returns the bits of one element.
std::uint64_t round_to(Format format, const Exact& exact, Rounding rounding, Overflow overflow = Overflow::ieee);

}  // namespace warpmat
