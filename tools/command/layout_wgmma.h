#pragma once

#include <string>

#include <warpmat/tables/wgmma.h>

#include "layout_options.h"

namespace warpmat {

/// What 'warpmat layout' prints of wgmma: which warp, lane and register hold which element of d, a or e.
std::string wgmma_registers(const WgmmaForm& form, const LayoutOptions& options);

/// Where the elements of operand a or b lie in shared memory, with the matrix descriptor that says so: its fields, its bits, and what is
/// wrong with them.
std::string wgmma_memory(const WgmmaForm& form, const LayoutOptions& options);

}  // namespace warpmat
