#include <warpmat/execute/reference/multiplicands.h>

#include <bit>

#include <warpmat/instruction.h>
#include <warpmat/text.h>

namespace warpmat {
namespace {

/// Traps for the byte of `word` that holds bit number `wrong`.
[[noreturn]] void trap(const Operand& operand, int lane, int reg, std::uint32_t word, int wrong) {
  const Fragment& fragment = operand.fragment;
  const int bit = wrong / fragment.element_bits() * fragment.element_bits();
  const Element element = fragment.element({lane, reg, bit});
  throw Trap(
      Trap::Kind::undefined, operand.name, lane, std::nullopt,
      format_text(
          "operand {} holds {:#04x} for row {}, column {} (register {}, bits {}-{}); of the byte of an {} all but bits {}-{} must be zero",
          name(operand.name), word >> bit & 0xff, element.row, element.column, reg, bit, bit + fragment.element_bits() - 1,
          name(*operand.format), fragment.payload_shift(), fragment.payload_shift() + fragment.payload_bits() - 1));
}

}  // namespace

void check_padding(const Operand& operand, const ConstRegisterView& registers) {
  const std::uint32_t padding = padding_bits(operand.fragment);
  if (padding == 0) return;
  for (int reg = 0; reg < operand.fragment.registers(); ++reg)
    for (int lane = 0; lane < warp_size; ++lane) {
      const std::uint32_t word = registers.at(reg, lane);
      if ((word & padding) != 0) trap(operand, lane, reg, word, std::countr_zero(word & padding));
    }
}

}  // namespace warpmat
