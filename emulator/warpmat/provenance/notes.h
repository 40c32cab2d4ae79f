#pragma once

#include <vector>

#include <warpmat/warp.h>

namespace warpmat::provenance {

/// The notes of all lists, one after the other.
template <typename... Lists>
std::vector<Trap::Note> together(const Lists&... lists) {
  std::vector<Trap::Note> all;
  (all.insert(all.end(), lists.begin(), lists.end()), ...);
  return all;
}

}  // namespace warpmat::provenance
