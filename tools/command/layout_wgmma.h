#pragma once

#include <string>

#include <warpmat/wgmma.h>

#include "layout_options.h"

namespace warpmat {

/// The output of 'warpmat layout' for wgmma: the warp, lane and register of each element of d, a or e.
std::string wgmma_registers(const WgmmaForm& form, const LayoutOptions& options);

/// The places of operand a's or b's elements in shared memory, with the matrix descriptor: its fields, its bits, and its errors.
std::string wgmma_memory(const WgmmaForm& form, const LayoutOptions& options);

}  // namespace warpmat
