#pragma once

#include <string>

#include "layout_options.h"

namespace warpmat {

/// The output of 'warpmat layout' for tcgen05: which thread and register holds which cell of tensor memory in ld and st, and which cell
/// holds which element of d, a, e, scale-a and scale-b of mma, whose instruction descriptor is TileOptions::descriptor.
std::string tensor_layout(const LayoutOptions& options);

}  // namespace warpmat
