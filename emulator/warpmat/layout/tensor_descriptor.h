#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <warpmat/layout/matrix_descriptor.h>

namespace warpmat {

/// A shared memory descriptor of tcgen05 (PTX ISA 9.1 section 9.7.16.4.1). Start address, offsets and base offset are those of wgmma's
/// (matrix_descriptor.h), and lie alike; that the addresses follow alike is the ISA's text and CuTe's canonical layouts. Evidence:
/// published.
struct TensorDescriptor {
  MatrixDescriptor matrix;
  /// 128-byte swizzle of 32-byte atoms: four lines of 128 bytes follow each other, and two bits from bit 5 on are combined with those from
  /// bit 7 on (CuTe's Swizzle<2, 5, 2>, mma_traits_sm100.hpp). `matrix.swizzle` is bytes_128.
  bool wide_atoms = false;

  /// The address of byte `byte` of line `line`, a multiple of 16 if `byte` is.
  std::uint32_t address(Major major, std::uint32_t line, std::uint32_t byte) const {
    if (!wide_atoms) return matrix.address(major, line, byte);
    constexpr std::uint32_t lines = 4, width = 128;
    const std::uint32_t linear =
        matrix.start + line / lines * matrix.stride + line % lines * width + byte / width * matrix.leading + byte % width;
    const std::uint32_t pattern = (linear >> 7) - static_cast<std::uint32_t>(matrix.base_offset);
    return linear ^ (pattern & (lines - 1)) << 5;
  }
};

/// Decodes `bits`, or says which field is wrong and what would be right, as the end of a sentence.
struct DecodedTensorDescriptor {
  TensorDescriptor descriptor;
  std::optional<std::string> problem;
};
DecodedTensorDescriptor decode_tensor_descriptor(std::uint64_t bits);

}  // namespace warpmat
