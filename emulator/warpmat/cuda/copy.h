#pragma once

#include <cstddef>

#include <warpmat/cuda/stream.h>

namespace warpmat::cuda {

/// The nodes that copy a box and fill rows. They check both ends now: throw ApiError.
GraphNode copy_node(Context& context, const Copy3D& copy);
GraphNode fill_node(Context& context, const Fill& fill);

/// A fill is the work of the stream's GPU, which must have access to the memory `at`: else throws ApiError, as an H200 returns.
void require_access(Context& context, Stream* stream, const void* at);

/// The device address of `bytes` bytes of a variable, which the program names by its host shadow. Throws ApiError.
void* variable_at(Context& context, const void* shadow, std::size_t offset, std::size_t bytes);

}  // namespace warpmat::cuda
