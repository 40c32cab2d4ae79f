#include <warpmat/instruction.h>

#include <cassert>

#include <warpmat/numeric/low_mask.h>

namespace warpmat::inline v0_1 {

std::uint64_t read_element(const Fragment& fragment, ConstRegisterList registers, const Element& element) {
  const Place place = fragment.place(element);
  const auto reg = static_cast<std::size_t>(place.reg);
  const auto lane = static_cast<std::size_t>(place.lane);
  if (fragment.register_bits() == 64) return registers[2 * reg][lane] | std::uint64_t{registers[2 * reg + 1][lane]} << 32;
  return (registers[reg][lane] >> (place.bit + fragment.payload_shift())) & low_mask(fragment.payload_bits());
}

namespace {

void write_at(const Fragment& fragment, RegisterList registers, const Place& place, std::uint64_t bits) {
  const auto reg = static_cast<std::size_t>(place.reg);
  const auto lane = static_cast<std::size_t>(place.lane);
  if (fragment.register_bits() == 64) {
    registers[2 * reg][lane] = static_cast<std::uint32_t>(bits);
    registers[2 * reg + 1][lane] = static_cast<std::uint32_t>(bits >> 32);
    return;
  }
  const auto mask = static_cast<std::uint32_t>(low_mask(fragment.element_bits()) << place.bit);
  std::uint32_t& word = registers[reg][lane];
  word = (word & ~mask) |
         (static_cast<std::uint32_t>((bits & low_mask(fragment.payload_bits())) << (place.bit + fragment.payload_shift())) & mask);
}

}  // namespace

void write_element(const Fragment& fragment, RegisterList registers, const Element& element, std::uint64_t bits) {
  for (int copy = 0; copy < fragment.copies(); ++copy) write_at(fragment, registers, fragment.place(element, copy), bits);
}

}  // namespace warpmat::inline v0_1
