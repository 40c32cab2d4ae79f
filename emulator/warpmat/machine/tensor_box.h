#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <warpmat/machine/tensor_map.h>

namespace warpmat::machine {

/// Where a statement has a tensor map's copy begin.
struct TensorPlace {
  std::array<std::int32_t, TensorMap::most_dimensions> coordinates{};
  /// im2col: from the base of the filter to the element that it takes, along W, {H, {D}}.
  std::array<std::uint16_t, TensorMap::most_dimensions - 2> offsets{};
};

/// A row of a copy: bytes that lie together in global memory.
struct TensorRow {
  std::uint64_t address = 0;  ///< generic address of the first byte inside of the tensor
  std::uint32_t shared = 0;   ///< where the row begins in the box's bytes, before the swizzle
  std::uint32_t begin = 0;    ///< bytes of the row that lie before the tensor
  std::uint32_t end = 0;      ///< from here on they lie behind it; begin == end where none is inside
};

/// The rows that a copy moves, in the order of shared memory (PTX ISA 9.1 sections 5.5.3, 5.5.4 and 5.5.6; what the text leaves open was
/// measured on an H200).
///
/// Tile: every place of the box, dimension 0 fastest. im2col: the filter's base begins at the coordinates and walks in the box between the
/// corners, W fastest, by element strides; beyond the end of a dimension it goes on at its lower corner, beyond the last at the next image.
std::vector<TensorRow> tensor_rows(const TensorMap& map, const TensorPlace& place);

/// The same for stores: they write whole 16 bytes, so up to 15 bytes behind the tensor's last element of a row (measured on an H200).
std::vector<TensorRow> stored_rows(const TensorMap& map, const TensorPlace& place);

}  // namespace warpmat::machine
