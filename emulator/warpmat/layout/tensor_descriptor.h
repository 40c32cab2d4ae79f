#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <warpmat/layout.h>

namespace warpmat {

/// A shared memory descriptor of tcgen05 (PTX ISA 9.1 section 9.7.16.4.1). Start address, offsets and base offset are those of wgmma's
/// (layout.h), and lie alike; that the addresses follow alike is the ISA's text and CuTe's canonical layouts. Evidence:
/// published.
struct TensorDescriptor {
  MatrixDescriptor matrix;
  /// 128-byte swizzle of 32-byte atoms: four lines of 128 bytes follow each other, and two bits from bit 5 on are combined with those from
  /// bit 7 on (CuTe's Swizzle<2, 5, 2>, mma_traits_sm100.hpp). `matrix.swizzle()` is bytes_128.
  bool wide_atoms = false;
  /// `matrix.leading()` is the address of what follows the first 128 bytes of lines, from the 128-byte boundary below the start on; of
  /// K-major matrices with a swizzle of 128 bytes on sm_103a, for rows of 48 bytes.
  bool absolute = false;

  /// The address of byte `byte` of line `line`, a multiple of 16 if `byte` is.
  std::uint32_t address(Major major, std::uint32_t line, std::uint32_t byte) const {
    if (absolute) return absolute_address(line, byte);
    if (!wide_atoms) return matrix.address(major, line, byte);
    constexpr std::uint32_t lines = 4, width = 128;
    const std::uint32_t linear =
        matrix.start() + line / lines * matrix.stride() + line % lines * width + byte / width * matrix.leading() + byte % width;
    const std::uint32_t pattern = (linear >> 7) - static_cast<std::uint32_t>(matrix.base_offset());
    return linear ^ (pattern & (lines - 1)) << 5;
  }

 private:
  std::uint32_t absolute_address(std::uint32_t line, std::uint32_t byte) const {
    constexpr std::uint32_t lines = 8, width = 128;
    const std::uint32_t inside = matrix.start() % width + byte;
    const std::uint32_t first = inside < width ? matrix.start() + byte : matrix.leading() + inside - width;
    const std::uint32_t linear = first + line / lines * matrix.stride() + line % lines * width;
    return linear ^ ((linear >> 7) & (lines - 1)) << 4;
  }
};

/// Decodes `bits`, or says which field is wrong and what would be right, as the end of a sentence.
struct DecodedTensorDescriptor {
  TensorDescriptor descriptor;
  std::optional<std::string> problem;
};
/// `absolute`: for a product of K = 96, which may have an absolute address.
DecodedTensorDescriptor decode_tensor_descriptor(std::uint64_t bits, bool absolute = false);

}  // namespace warpmat
