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
  /// bit 7 on (CuTe's Swizzle<2, 5, 2>, mma_traits_sm100.hpp). `matrix.swizzle` is bytes_128.
  bool wide_atoms = false;

  /// The address of byte `byte` of line `line`, a multiple of 16 if `byte` is.
  std::uint32_t address(Major major, std::uint32_t line, std::uint32_t byte) const;
};

/// Decodes `bits`, or says which field is wrong and what would be right, as the end of a sentence.
struct DecodedTensorDescriptor {
  TensorDescriptor descriptor;
  std::optional<std::string> problem;
};
DecodedTensorDescriptor decode_tensor_descriptor(std::uint64_t bits);

}  // namespace warpmat
