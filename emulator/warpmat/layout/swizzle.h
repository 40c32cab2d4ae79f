#pragma once

#include <cstdint>

namespace warpmat {

/// How shared memory is swizzled: the 16-byte chunks of a row of `bytes` bytes change places with the number of the row, 128 bytes at a
/// time (PTX ISA 9.1 sections 5.5.7 and 9.7.15.5.1.2; CuTe's Swizzle<B, 4, 3>, whose B an enumerator's value is).
enum class Swizzle : std::uint8_t { none, bytes_32, bytes_64, bytes_128 };

/// CuTe's Swizzle<bits, base, shift> of an address in bytes: bits base + shift to base + shift + bits - 1 are added, modulo 2, to the
/// `bits` bits from `base` on.
constexpr std::uint64_t swizzled(std::uint64_t address, int bits, int base, int shift) {
  const std::uint64_t chosen = ((std::uint64_t{1} << bits) - 1) << (base + shift);
  return address ^ (address & chosen) >> shift;
}

/// Where the byte at `address` of shared memory lies: bits 4 to 6 are combined with bits 7 to 9, as many as the swizzle has.
constexpr std::uint32_t swizzled(Swizzle swizzle, std::uint32_t address) {
  return static_cast<std::uint32_t>(swizzled(std::uint64_t{address}, static_cast<int>(swizzle), 4, 3));
}

}  // namespace warpmat
