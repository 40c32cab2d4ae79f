#pragma once

#include <cstdint>

#include <warpmat/export.h>
#include <warpmat/layout/linear_layout.h>
#include <warpmat/layout/matrix_descriptor.h>
#include <warpmat/tables/wgmma.h>

namespace warpmat {

/// The registers of a matrix of wgmma: a map from row and column (for metadata also the selector, as `matrix`) to bit, lane, register and
/// warp. `operand` is d, a (if A is in registers) or e. The places are those of the tile's fragment. Rows beyond its 16 select the warp;
/// columns of D beyond its 8 select further registers. The widths n are no powers of two, so a tile is repeated.
[[nodiscard]] WARPMAT_API TiledLayout register_layout(const WgmmaForm& form, OperandName operand);

/// Rows and columns of a matrix of the whole warpgroup.
struct MatrixExtent {
  int rows = 0, columns = 0;
  friend bool operator==(const MatrixExtent&, const MatrixExtent&) = default;
};

/// The extent of operand a, b, c or d of the warpgroup; for a sparse A that of the stored elements.
[[nodiscard]] WARPMAT_API MatrixExtent matrix_extent(const WgmmaForm& form, OperandName operand);

/// A matrix in shared memory as a descriptor describes it (layout/matrix_descriptor.h): `lines` lines of `line_bytes` bytes each.
struct MatrixLines {
  Major major = Major::k;
  std::uint32_t lines = 0;       ///< a multiple of 8
  std::uint32_t line_bytes = 0;  ///< a multiple of 16

  /// The number of steps to the next eight lines, and to the next non-adjacent bytes of the same line.
  std::uint32_t line_steps() const { return lines / 8 - 1; }
  std::uint32_t byte_steps(Swizzle swizzle) const {
    const std::uint32_t width = MatrixDescriptor{.swizzle = swizzle}.line_bytes();
    return (line_bytes + width - 1) / width - 1;
  }

  friend bool operator==(const MatrixLines&, const MatrixLines&) = default;
};

/// Operand a or b of `form` in memory. A is that of all four warps; a sparse A is the stored one.
[[nodiscard]] WARPMAT_API MatrixLines matrix_lines(const WgmmaForm& form, OperandName operand, Major major);

/// The descriptor of a matrix whose bytes follow `start` without gaps, as in kernels: groups of eight lines in order, then the next bytes
/// of each line. The base offset makes the swizzle's pattern begin with the matrix.
[[nodiscard]] WARPMAT_API MatrixDescriptor compact_descriptor(const MatrixLines& matrix, Swizzle swizzle, std::uint32_t start);

/// The first byte of an element of operand a or b in shared memory, and for b1 its bit.
struct MemoryPlace {
  std::uint32_t address = 0;
  int bit = 0;
  friend bool operator==(const MemoryPlace&, const MemoryPlace&) = default;
};
[[nodiscard]] WARPMAT_API MemoryPlace memory_place(const WgmmaForm& form, OperandName operand, Major major,
                                                   const MatrixDescriptor& descriptor, int row, int column);

}  // namespace warpmat
