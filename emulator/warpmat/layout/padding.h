#pragma once

#include <cstdint>

#include <warpmat/layout/fragment.h>

namespace warpmat {

/// The bits of a register that belong to no element of `fragment`: the padding of its containers.
constexpr std::uint32_t padding_bits(const Fragment& fragment) {
  if (fragment.payload_bits == fragment.element_bits) return 0;
  const std::uint32_t element = ((1u << fragment.payload_bits) - 1) << fragment.payload_shift;
  std::uint32_t elements = 0;
  for (int bit = 0; bit < fragment.register_bits; bit += fragment.element_bits) elements |= element << bit;
  return ~elements;
}

}  // namespace warpmat
