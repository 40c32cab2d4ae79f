#include <warpmat/instruction.h>

#include <cassert>

#include <warpmat/numeric/low_mask.h>

namespace warpmat {

std::uint64_t read_element(const Fragment& fragment, const ConstRegisterView& registers, const Element& element) {
  const Place place = fragment.place(element);
  if (fragment.register_bits() == 64)
    return registers.at(2 * place.reg, place.lane) | std::uint64_t{registers.at(2 * place.reg + 1, place.lane)} << 32;
  return (registers.at(place.reg, place.lane) >> (place.bit + fragment.payload_shift())) & low_mask(fragment.payload_bits());
}

namespace {

void write_at(const Fragment& fragment, const RegisterView& registers, const Place& place, std::uint64_t bits) {
  if (fragment.register_bits() == 64) {
    registers.at(2 * place.reg, place.lane) = static_cast<std::uint32_t>(bits);
    registers.at(2 * place.reg + 1, place.lane) = static_cast<std::uint32_t>(bits >> 32);
    return;
  }
  const auto mask = static_cast<std::uint32_t>(low_mask(fragment.element_bits()) << place.bit);
  std::uint32_t& word = registers.at(place.reg, place.lane);
  word = (word & ~mask) |
         (static_cast<std::uint32_t>((bits & low_mask(fragment.payload_bits())) << (place.bit + fragment.payload_shift())) & mask);
}

}  // namespace

void write_element(const Fragment& fragment, const RegisterView& registers, const Element& element, std::uint64_t bits) {
  for (int copy = 0; copy < fragment.copies(); ++copy) write_at(fragment, registers, fragment.place(element, copy), bits);
}

}  // namespace warpmat
