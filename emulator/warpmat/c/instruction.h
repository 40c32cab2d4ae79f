#pragma once

#include <optional>
#include <span>
#include <string>

#include <warpmat/c.h>

#include <warpmat/execute/operand_words.h>
#include <warpmat/execute/staged_warp.h>
#include <warpmat/forms.h>
#include <warpmat/instruction.h>

/// The C interface's handle: an instruction and what a call needs to know about it. Made once; never destroyed.
struct warpmat_instruction {
  explicit warpmat_instruction(const warpmat::Form& form, const warpmat::Target& target);

  const warpmat::Instruction instruction;
  const std::span<const warpmat::OperandWords> operands;
  const bool addresses_memory;
  const warpmat::FastPath* const lane_kernel;   ///< see StagedWarp
  const warpmat::FastPath* const product;       ///< see StagedProduct; nullptr for other instructions
  const warpmat::FastPath* const lane_product;  ///< see LaneProduct; the same or nullptr
  const warpmat::MovePlan* const moves;         ///< for ldmatrix, stmatrix and movmatrix, else nullptr
  const std::optional<std::string> sass;
  const std::string machine;  ///< `sass` if it is known
  const std::string evidence, source, layout_evidence, layout_source, target;
  const warpmat::OpcodeFields fields;
};

namespace warpmat::inline v0_1::c {

/// The instruction of a form and a target of the tables: always the same object. Throws std::invalid_argument if the target lacks the form.
const warpmat_instruction& persistent_instruction(const Form& form, const Target& target);

}  // namespace warpmat::inline v0_1::c
