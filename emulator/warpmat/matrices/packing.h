#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <warpmat/export.h>
#include <warpmat/matrices/eigen.h>
#include <warpmat/tables/form.h>

namespace warpmat {

// Rows of 8-, 6- and 4-bit elements in shared memory, as ldmatrix reads them (PTX ISA 9.1 section 9.7.14.5.15): always 16 elements in 16
// bytes.
//
// The mma of kind::f8f6f4 and kind::mxf8f6f4 cannot use registers loaded by b4x16_p64 as they are. ldmatrix puts a 4-bit element into the
// low bits of its byte, but those kinds expect e2m1 in bits 2 to 5. shl.b32 by 2 moves every element there, as CUTLASS does. 6- and 8-bit
// elements need no shift.

/// The packing of 16 elements in 16 bytes, the first in the lowest bits.
enum class RowPacking : std::uint8_t {
  b8x16,      ///< a byte for each element: 8-bit formats, or fp6 and fp4 in the containers of kind::f8f6f4 (container_shift), ready for mma
  b6x16_p32,  ///< 6 bits for each element, then 4 bytes of padding
  b4x16_p64,  ///< 4 bits for each element, then 8 bytes of padding
};

/// PTX's spelling without the dot: "b6x16_p32".
[[nodiscard]] WARPMAT_API std::string_view name(RowPacking packing);

/// The bytes of `matrix`, row by row, its elements rounded to `format`; padding is zero. A row of c elements has c bytes; c must be a
/// multiple of 16. Throws std::invalid_argument for another number of columns, and for a format that `packing` does not support.
[[nodiscard]] std::vector<std::uint8_t> pack_rows(RowPacking packing, Format format, const Eigen::MatrixXd& matrix);

/// The matrix of `columns` columns in `bytes`; padding is ignored. Throws std::invalid_argument as pack_rows does, and if `bytes` has an
/// incomplete row.
[[nodiscard]] Eigen::MatrixXd unpack_rows(RowPacking packing, Format format, std::span<const std::uint8_t> bytes, int columns);

namespace numbers {

// The same without Eigen: see numbers.h.
[[nodiscard]] WARPMAT_API std::vector<std::uint8_t> pack_rows(RowPacking packing, Format format, const Matrix& matrix);
[[nodiscard]] WARPMAT_API Matrix unpack_rows(RowPacking packing, Format format, std::span<const std::uint8_t> bytes, int columns);

}  // namespace numbers

inline std::vector<std::uint8_t> pack_rows(RowPacking packing, Format format, const Eigen::MatrixXd& matrix) {
  return numbers::pack_rows(packing, format, from_eigen(matrix));
}
inline Eigen::MatrixXd unpack_rows(RowPacking packing, Format format, std::span<const std::uint8_t> bytes, int columns) {
  return to_eigen(numbers::unpack_rows(packing, format, bytes, columns));
}

}  // namespace warpmat
