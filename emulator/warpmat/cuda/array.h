#pragma once

#include <cstdint>
#include <vector>

#include <warpmat/cuda/context.h>

namespace warpmat::cuda {

/// cudaArray_t and CUarray: texels in a buffer of the GPU, row by row, slice by slice. Programs know the pointer to this alone.
struct Array {
  ChannelFormat format{};
  Extent extent{};     ///< as asked for: 0 where there is no such dimension
  unsigned flags = 0;  ///< cudaArrayLayered and its kin
  std::uint64_t address = 0;
  bool of_mipmap = false;

  std::size_t texel_bytes() const { return static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8; }
  std::size_t row_bytes() const { return extent.width * texel_bytes(); }
  std::size_t rows() const { return extent.height == 0 ? 1 : extent.height; }
  std::size_t slices() const { return extent.depth == 0 ? 1 : extent.depth; }
  bool layered() const { return (flags & 1) != 0; }
  bool cube() const { return (flags & 4) != 0; }
};

/// cudaMipmappedArray_t and CUmipmappedArray.
struct MipmappedArray;

/// The number of channels. Throws ApiError where no texel has that format.
int channels_of(const ChannelFormat& format);

/// Throws ApiError with cudaErrorInvalidResourceHandle for what no array is.
Array& array_of(const void* handle);
/// The levels of a mipmap, the largest first. Throws the same.
std::vector<Array*> levels_of(const MipmappedArray* handle);

}  // namespace warpmat::cuda
