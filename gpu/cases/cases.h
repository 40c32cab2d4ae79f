#pragma once

#include <warpmat/ptx/program.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/cases/operand_classes.h"
#include "gpu/runners/runner.h"

namespace warpmat {

// Test cases of single instructions, derived from their forms: no form is named here.

/// The version of what make_case draws. It changes whenever some case does, because recorded answers belong to the old one.
inline constexpr int case_generator_version = 3;

/// How many programs it takes until what PTX writes as a number (the selector of sparse metadata, the ids of block scales) had every value
/// that the ISA defines: 1 for most forms.
int variants(const Form& form);

inline constexpr int class_variant = -1;  ///< the number of the operand class among all classes

/// A program of one statement, `form` with a register for everything that takes one, in PTX's oldest version that has the form. Programs
/// of instructions with row addresses declare the memory that these point to. `variant`, any number from 0 on, chooses what PTX writes as a
/// number: variants(form) of them in a row meet every value. Throws std::invalid_argument where `target` lacks the form.
Program program_for(const Form& form, const Target& target, const OperandClass& operand_class = operand_classes().front(),
                    int variant = class_variant);

/// Whether cases of `form` with operands of this class differ from those of other classes.
bool applies(const OperandClass& operand_class, const Form& form);

/// Warps `first_warp` to `first_warp + warps - 1` of the cases of `program`, which program_for made from `form`: source registers filled
/// from `operand_class`, destination registers and shared memory with random bits. Row addresses point into the program's memory, which
/// begins at `shared_base`: rows may repeat in loads and are distinct in stores, where the ISA leaves open which of two wins; lanes whose
/// addresses are ignored hold any number, where the target allows that. A warp depends on `seed` and its number alone.
WarpStates make_case(const Program& program, const Form& form, const OperandClass& operand_class, std::uint64_t seed,
                     std::size_t first_warp, std::size_t warps, std::uint32_t shared_base);

/// The words that a recorded answer consists of: the destination registers that the instruction of a one-statement program left in `warp`,
/// 32 words each, or for an instruction that writes memory all of that, four bytes a word, little-endian: which rows it wrote shows there
/// too.
std::vector<std::uint32_t> answer_words(const Program& program, const WarpStates& states, std::size_t warp);

}  // namespace warpmat
