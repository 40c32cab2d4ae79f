#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <warpmat/launch.h>

namespace warpmat {

// The 128 bytes of a tensor map while they need not be one: tensormap.replace edits a field at a time, and a GPU's driver may accept what
// TensorMap refuses.

WARPMAT_API TensorMap::Encoded tensor_map_bytes(const TensorMap::Arguments& map);

/// Nothing if the bytes are none that tensor_map_bytes() makes of known enumerators and 1 to 5 dimensions.
WARPMAT_API std::optional<TensorMap::Arguments> tensor_map_arguments(std::span<const std::uint8_t> encoded);

}  // namespace warpmat
