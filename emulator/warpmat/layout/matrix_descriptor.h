#pragma once

#include <cstdint>

#include <warpmat/export.h>
#include <warpmat/layout/linear_layout.h>

namespace warpmat {

// Where wgmma finds a matrix in shared memory.
//
// A matrix lies in lines: those of K-major A and B are the rows of A and the columns of B, each along k; those of MN-major matrices are the
// k, each along m or n. Eight lines of W bytes lie one behind the other, W being 16 without a swizzle, else the swizzle's 32, 64 or 128.
// Two byte offsets lead on: to the next eight lines, and to the next W bytes of a line. Of all matrices but MN-major ones without a swizzle
// the first is the stride byte offset and the second the leading byte offset; of those it is the other way round.
//
// The swizzle exchanges the 16-byte chunks of the address that results: bits 4 and up are combined by exclusive or with the number of the
// 128 bytes that the address lies in, less the base offset.
//
// PTX ISA 9.1 section 9.7.15.5.1.2; all of it compared with an H200 for 2,240 random descriptors of f16, bf16, tf32, s8 and e4m3, dense and
// sparse, A and B: the byte of every element [H200]. Beyond the ISA's text it showed: swizzles use the bits of the absolute address,
// wherever the matrix begins; the sum of start and offsets does not wrap at 2^18; the leading byte offset counts also where a K-major line
// is longer than the swizzle (64 bytes of B beside a sparse A, 32-byte swizzle); bits 14, 15, 30, 31, 46 to 48 and 52 to 61 are ignored.

/// Along which axis the bytes of a line count: k of A and B ("K-major"), or m of A and n of B ("MN-major", the transposed operands).
enum class Major : std::uint8_t { k, mn };

/// A matrix descriptor of wgmma, decoded. Offsets and addresses in bytes, multiples of 16 from 0 to 2^18 - 16.
struct MatrixDescriptor {
  std::uint32_t start = 0;    ///< address of the first line in shared memory
  std::uint32_t leading = 0;  ///< leading (dimension) byte offset
  std::uint32_t stride = 0;   ///< stride (dimension) byte offset
  int base_offset = 0;        ///< 0 to 7: of the swizzle's pattern
  Swizzle swizzle = Swizzle::none;

  /// From the 64 bits of a register. Bits that no field has are ignored.
  [[nodiscard]] WARPMAT_API static MatrixDescriptor decode(std::uint64_t bits);

  /// The 64 bits. Throws std::invalid_argument where a field cannot hold its value.
  [[nodiscard]] WARPMAT_API std::uint64_t encode() const;

  /// The address of byte `byte` of line `line`, which the matrix unit reads.
  std::uint32_t address(Major major, std::uint32_t line, std::uint32_t byte) const {
    const std::uint32_t width = line_bytes();
    const bool exchanged = major == Major::mn && swizzle == Swizzle::none;
    const std::uint32_t lines_on = exchanged ? leading : stride, bytes_on = exchanged ? stride : leading;
    const std::uint32_t linear = start + line / 8 * lines_on + line % 8 * width + (byte >> width_bits()) * bytes_on + (byte & (width - 1));
    const std::uint32_t pattern = (linear >> 7) - static_cast<std::uint32_t>(base_offset);
    return linear ^ (pattern & (width / 16 - 1)) << 4;
  }

  /// Bytes of a line that lie one behind the other: 16, 32, 64 or 128.
  std::uint32_t line_bytes() const { return 1u << width_bits(); }

  friend constexpr bool operator==(const MatrixDescriptor&, const MatrixDescriptor&) = default;

 private:
  unsigned width_bits() const { return 4 + static_cast<unsigned>(swizzle); }
};

}  // namespace warpmat
