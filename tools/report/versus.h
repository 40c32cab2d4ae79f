#pragma once

#include <string>

#include "tools/report/warp_place.h"

namespace warpmat {

/// A warp that has run, and what its target is called.
struct Ran {
  const Warp& warp;
  const WarpPlace& place;
  std::string_view target;
};

/// How a place differs after the same program ran as two targets: how many elements, by how many units in the last place at most, and some
/// of them.
std::string versus_text(const Ran& one, const Ran& other);

}  // namespace warpmat
