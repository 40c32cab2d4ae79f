#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <warpmat/c.h>

#include <warpmat/forms.h>
#include <warpmat/instruction.h>

namespace warpmat::c {

/// What a call needs to know of an operand, in one word.
struct CallOperand {
  InstructionOperand::Kind kind;
  std::uint8_t words;  ///< 32-bit words a lane; an address has two where the call's have 64 bits
  bool written, optional;
};

}  // namespace warpmat::c

/// The C interface's handle: an instruction and what a call needs to know about it. Made once; never destroyed.
struct warpmat_instruction {
  explicit warpmat_instruction(const warpmat::Form& form, const warpmat::Target& target);
  /// Of another kind than matrix.
  explicit warpmat_instruction(const warpmat::Instruction& other);

  bool is_matrix() const { return instruction.kind() == warpmat::InstructionKind::matrix; }

  const warpmat::Instruction instruction;
  const std::vector<warpmat::c::CallOperand> operands;  ///< of Instruction::operands()
  const std::size_t fewest_operands;                    ///< without optional ones at the end
  const bool addresses_memory;
  const bool loads;  ///< ldmatrix and wmma.load
  const std::optional<std::string> sass;
  const std::string machine;  ///< `sass` if it is known
  const std::string evidence, source, layout_evidence, layout_source, target, opcode;
  const warpmat::OpcodeFields fields;
};

namespace warpmat::c {

/// The registers as all of the library sees them.
template <typename Word = std::uint32_t>
BasicRegisterView<Word> view_of(const warpmat_registers& r) {
  return {r.words, static_cast<std::size_t>(r.warp_stride), r.word_stride, r.lane_stride, r.numbers};
}

/// The error in a caller's description of an operand of at least `words` words; nullptr if there is none.
inline const char* problem_of_registers(const warpmat_registers& r, std::size_t words, bool written) {
  if (r.words == nullptr) return "words is null";
  if (reinterpret_cast<std::uintptr_t>(r.words) % alignof(std::uint32_t) != 0) return "words do not lie at a multiple of 4 bytes";
  if (r.numbers != nullptr && r.number_count < words) return "the list of register numbers is too short";
  if (written && r.lane_stride == 0) return "it is written, so its lane_stride cannot be 0";
  return nullptr;
}

/// The instruction of a form and a target of the tables: always the same object. Throws std::invalid_argument if the target lacks the form.
const warpmat_instruction& persistent_instruction(const Form& form, const Target& target);
/// The same of an instruction of any kind.
const warpmat_instruction& persistent_instruction(const Instruction& instruction);
/// What the interface calls operand `index` of Instruction::operands().
warpmat_operand operand_id(const Instruction& instruction, std::size_t index);

}  // namespace warpmat::c
