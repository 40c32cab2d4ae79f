#pragma once

#include <cstdint>

namespace warpmat {

/// The swizzle of shared memory: exchanges the 16-byte chunks of a row of `bytes` bytes depending on the number of the row, in rows of 128
/// bytes (PTX ISA 9.1 sections 5.5.7 and 9.7.15.5.1.2). An enumerator's value is B of CuTe's Swizzle<B, 4, 3>.
enum class Swizzle : std::uint8_t { none, bytes_32, bytes_64, bytes_128 };

/// CuTe's Swizzle<bits, base, shift> of an address in bytes: bits base + shift to base + shift + bits - 1 are added, modulo 2, to the
/// `bits` bits from `base` on.
constexpr std::uint64_t swizzled(std::uint64_t address, int bits, int base, int shift) {
  const std::uint64_t chosen = ((std::uint64_t{1} << bits) - 1) << (base + shift);
  return address ^ (address & chosen) >> shift;
}

/// The physical address of byte `address` of shared memory. The swizzle's 0 to 3 bits from bit 4 on are combined with the bits from bit 7
/// on.
constexpr std::uint32_t swizzled(Swizzle swizzle, std::uint32_t address) {
  return static_cast<std::uint32_t>(swizzled(std::uint64_t{address}, static_cast<int>(swizzle), 4, 3));
}

}  // namespace warpmat
