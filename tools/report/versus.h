#pragma once

#include <string>

#include "tools/report/warp_place.h"

namespace warpmat {

/// A warp that has run, and its target's name.
struct Ran {
  const Warp& warp;
  const WarpPlace& place;
  std::string_view target;
};

/// The differences of a place after the same program ran for two targets: the number of elements, the largest distance in units of the last
/// place, and some of the elements.
std::string versus_text(const Ran& one, const Ran& other);

}  // namespace warpmat
