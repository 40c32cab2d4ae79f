#pragma once

#include <cstdint>

#include <warpmat/export.h>
#include <warpmat/layout/linear_layout.h>
#include <warpmat/layout/matrix_descriptor.h>
#include <warpmat/tables/wgmma.h>

namespace warpmat {

/// Which registers hold a matrix of wgmma: from row and column (and of metadata the selector, as `matrix`) to bit, lane, register and warp.
/// `operand` is d, a (the registers, where A is no descriptor) or e. The places are those of the tile's fragment; rows beyond its 16 choose
/// the warp, columns of D beyond its 8 further registers. The widths n are no powers of two: a tile is repeated.
[[nodiscard]] WARPMAT_API TiledLayout register_layout(const WgmmaForm& form, OperandName operand);

/// Rows and columns of a whole matrix.
struct MatrixExtent {
  int rows = 0, columns = 0;
  friend bool operator==(const MatrixExtent&, const MatrixExtent&) = default;
};

/// Of operand a, b, c or d of the warpgroup; of a sparse A those that are stored.
[[nodiscard]] WARPMAT_API MatrixExtent matrix_extent(const WgmmaForm& form, OperandName operand);

/// A matrix in shared memory as a descriptor sees it (layout/matrix_descriptor.h): `lines` lines of `line_bytes` bytes each.
struct MatrixLines {
  Major major = Major::k;
  std::uint32_t lines = 0;       ///< a multiple of 8
  std::uint32_t line_bytes = 0;  ///< a multiple of 16

  /// How often a line leads on to the next eight, and how often to the next bytes of the same line that lie elsewhere.
  std::uint32_t line_steps() const { return lines / 8 - 1; }
  std::uint32_t byte_steps(Swizzle swizzle) const {
    const std::uint32_t width = MatrixDescriptor{.swizzle = swizzle}.line_bytes();
    return (line_bytes + width - 1) / width - 1;
  }

  friend bool operator==(const MatrixLines&, const MatrixLines&) = default;
};

/// Operand a or b of `form` in memory; A is that of all four warps, a sparse one as it is stored.
[[nodiscard]] WARPMAT_API MatrixLines matrix_lines(const WgmmaForm& form, OperandName operand, Major major);

/// The descriptor of a matrix whose bytes lie without gaps behind `start`, as kernels have them: eight lines behind eight lines, and behind
/// all of them the next bytes of each. The base offset is the one that lets the swizzle's pattern begin with the matrix.
[[nodiscard]] WARPMAT_API MatrixDescriptor compact_descriptor(const MatrixLines& matrix, Swizzle swizzle, std::uint32_t start);

/// Where an element of operand a or b begins in shared memory: of b1 at a bit of its byte.
struct MemoryPlace {
  std::uint32_t address = 0;
  int bit = 0;
  friend bool operator==(const MemoryPlace&, const MemoryPlace&) = default;
};
[[nodiscard]] WARPMAT_API MemoryPlace memory_place(const WgmmaForm& form, OperandName operand, Major major,
                                                   const MatrixDescriptor& descriptor, int row, int column);

}  // namespace warpmat
