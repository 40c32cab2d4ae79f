#pragma once

#include <array>
#include <cstdint>

#include <warpmat/machine/tensor_map.h>

namespace warpmat::machine {

/// A row of a box: elements of the innermost dimension that lie together in global memory.
struct TensorRow {
  std::uint64_t address;  ///< generic address of the first element inside of the tensor
  std::uint32_t shared;   ///< where the row begins in the box's bytes, before the swizzle
  std::uint32_t begin;    ///< bytes of the row that lie before the tensor
  std::uint32_t end;      ///< from here on they lie behind it; begin == end where none is inside
};

/// The box of a tensor map at some coordinates, row by row in the order of shared memory (tile mode, PTX ISA 9.1 section 5.5.3).
class TensorBox {
 public:
  using Coordinates = std::array<std::int32_t, TensorMap::most_dimensions>;

  TensorBox(const TensorMap& map, const Coordinates& coordinates);

  std::uint32_t row_bytes() const { return row_bytes_; }
  std::uint32_t rows() const { return rows_; }
  TensorRow row(std::uint32_t index) const;
  /// The same for stores: they write whole 16 bytes, so up to 15 bytes behind the tensor's last element of a row (measured on an H200).
  TensorRow stored_row(std::uint32_t index) const;

 private:
  const TensorMap& map_;
  Coordinates coordinates_;
  std::uint32_t row_bytes_, pitch_;
  std::uint32_t rows_ = 1;
};

/// Where the bytes at `address` of shared memory lie when the swizzle has permuted 16-byte chunks (PTX ISA 9.1 section 5.5.7): bits 4 to 6
/// of the address are combined with bits 7 to 9.
inline std::uint32_t swizzled(TensorMap::Swizzle swizzle, std::uint32_t address) {
  const std::uint32_t bits = (1u << static_cast<int>(swizzle)) - 1;
  return address ^ (address >> 3 & bits << 4);
}

}  // namespace warpmat::machine
