#pragma once

#include <string>
#include <vector>

#include <warpmat/wgmma.h>

namespace warpmat {

/// Forms of wgmma that differ only in their width n: one line in tables.
struct WgmmaFamily {
  std::string pattern;                  ///< "wgmma.mma_async.sync.aligned.m64nNk16.f32.f16.f16"
  std::vector<const WgmmaForm*> forms;  ///< by width
};

/// All of them, in the table's order.
std::vector<WgmmaFamily> wgmma_families();

/// The meaning of N in the patterns, as a sentence.
inline constexpr const char* wgmma_widths =
    "N is a multiple of 8 from 8 to 256; for 8-bit integers and bits it is 8, 24 or a multiple of 16.";

}  // namespace warpmat
