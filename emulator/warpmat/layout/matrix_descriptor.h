#pragma once

#include <cstdint>

#include <warpmat/export.h>
#include <warpmat/layout/linear_layout.h>

namespace warpmat {

// The addresses at which wgmma reads a matrix in shared memory.
//
// A matrix consists of lines. In K-major operands a line is a row of A or a column of B, along k. In MN-major operands a line is one k,
// along m or n. Eight consecutive lines of W bytes follow each other; W is 16 without a swizzle, else the swizzle's 32, 64 or 128. Two byte
// offsets lead to the next eight lines and to the next W bytes of a line. The stride byte offset is the first and the leading byte offset
// the second, except for MN-major matrices without a swizzle, which exchange them.
//
// The swizzle exchanges the 16-byte chunks of the resulting address. Bits 4 and up are combined by exclusive or with the address's number
// of 128-byte blocks, less the base offset.
//
// PTX ISA 9.1 section 9.7.15.5.1.2; all of it compared with an H200 for 2,240 random descriptors of f16, bf16, tf32, s8 and e4m3, dense and
// sparse, A and B: the byte of every element [H200]. Beyond the ISA's text it showed: swizzles use the bits of the absolute address,
// wherever the matrix begins; the sum of start and offsets does not wrap at 2^18; the leading byte offset counts also where a K-major line
// is longer than the swizzle (64 bytes of B beside a sparse A, 32-byte swizzle); bits 14, 15, 30, 31, 46 to 48 and 52 to 61 are ignored.

/// The axis along which a line's bytes run: k of A and B ("K-major"), or m of A and n of B ("MN-major", the transposed operands).
enum class Major : std::uint8_t { k, mn };

/// A matrix descriptor of wgmma, decoded. Offsets and addresses in bytes, multiples of 16 from 0 to 2^18 - 16.
struct MatrixDescriptor {
  std::uint32_t start = 0;    ///< address of the first line in shared memory
  std::uint32_t leading = 0;  ///< leading (dimension) byte offset
  std::uint32_t stride = 0;   ///< stride (dimension) byte offset
  int base_offset = 0;        ///< 0 to 7: offset into the swizzle's pattern
  Swizzle swizzle = Swizzle::none;

  /// Decodes a 64-bit register. Bits outside all fields are ignored.
  [[nodiscard]] WARPMAT_API static MatrixDescriptor decode(std::uint64_t bits);

  /// The 64 bits. Throws std::invalid_argument if a field cannot hold its value.
  [[nodiscard]] WARPMAT_API std::uint64_t encode() const;

  /// The address from which the matrix unit reads byte `byte` of line `line`.
  std::uint32_t address(Major major, std::uint32_t line, std::uint32_t byte) const {
    const std::uint32_t width = line_bytes();
    const bool exchanged = major == Major::mn && swizzle == Swizzle::none;
    const std::uint32_t lines_on = exchanged ? leading : stride, bytes_on = exchanged ? stride : leading;
    const std::uint32_t linear = start + line / 8 * lines_on + line % 8 * width + (byte >> width_bits()) * bytes_on + (byte & (width - 1));
    const std::uint32_t pattern = (linear >> 7) - static_cast<std::uint32_t>(base_offset);
    return linear ^ (pattern & (width / 16 - 1)) << 4;
  }

  /// Consecutive bytes of a line: 16, 32, 64 or 128.
  std::uint32_t line_bytes() const { return 1u << width_bits(); }

  friend constexpr bool operator==(const MatrixDescriptor&, const MatrixDescriptor&) = default;

 private:
  unsigned width_bits() const { return 4 + static_cast<unsigned>(swizzle); }
};

}  // namespace warpmat
