#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <warpmat/tables/tcgen05.h>

#include "layout_options.h"

namespace warpmat {

/// The output of 'warpmat layout' for tcgen05: which thread and register holds which cell of tensor memory in ld and st, and which cell
/// holds which element of d, a, e, scale-a and scale-b of mma, whose instruction descriptor is TileOptions::descriptor.
std::string tensor_layout(const LayoutOptions& options);

/// The product that a tcgen05.mma of this opcode computes with an instruction descriptor, K = 96 of sm_103a included. Throws
/// std::invalid_argument for an opcode that is none, for none or a wrong descriptor.
TensorProduct tensor_product_of(const std::string& opcode, std::optional<std::uint64_t> descriptor);

}  // namespace warpmat
