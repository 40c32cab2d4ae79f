#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <warpmat/instruction.h>
#include <warpmat/ptx/catalogue/catalogue.h>
#include <warpmat/wgmma.h>

namespace warpmat {

/// Makes the operands that Instruction::operands() describes.
struct InstructionOperands {
  /// One that the text of a scalar instruction has. The pattern lasts until the process ends.
  static InstructionOperand scalar(const catalogue::Match& match, const catalogue::OperandPattern& pattern);
  /// Neither read nor written until use() says so.
  static InstructionOperand carry(const DataType& type);
  static void use(InstructionOperand& operand, bool written);
  /// Makes it optional.
  static void leave_out(InstructionOperand& operand);
  /// The registers and the address of a load or store. Names last until the process ends.
  static InstructionOperand data(std::string_view name, const DataType& type, int registers, bool written);
  static InstructionOperand address(std::string_view name);

  static InstructionOperand of_wgmma(std::string_view name, InstructionOperand::Kind kind, int registers, int register_bits,
                                     bool optional = false);
  /// Operand `name` of the tile, with `registers` registers.
  static InstructionOperand of_tile(const Form& tile, OperandName name, int registers);
};

/// The operands of a wgmma.mma_async by what they do, in PTX's order.
enum class WgmmaOperand : std::uint8_t { d, a, a_descriptor, b_descriptor, e, selector, scale_d, scale_a, scale_b, trans_a, trans_b };

/// Those that a form has. They last until the process ends.
struct WgmmaOperands {
  std::vector<WgmmaOperand> roles;
  std::vector<InstructionOperand> operands;  ///< of each role
};
const WgmmaOperands& operands_of(const WgmmaForm& form);
std::span<const InstructionOperand> operands_of(const Form& form);

/// The fewest operands that a call has: optional ones at the end may be left out.
std::size_t fewest_operands(std::span<const InstructionOperand> operands);

}  // namespace warpmat
