#pragma once

#include <warpmat/program.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/cases/operand_classes.h"
#include "gpu/runners/runner.h"

namespace warpmat {

// Test cases of single instructions, derived from their forms. No form is named here.

/// The version of make_case's random draws. It changes whenever some case does, because recorded answers belong to the old one.
inline constexpr int case_generator_version = 3;

/// The number of programs that cover every value of PTX's immediate operands that the ISA defines (the selector of sparse metadata, the ids
/// of block scales): 1 for most forms.
int variants(const Form& form);

inline constexpr int class_variant = -1;  ///< variant number of the operand class among all classes

/// A program of one statement: `form` with a register for each register operand, in PTX's oldest version that has the form. Programs of
/// instructions with row addresses declare the memory that these address. `variant`, any number from 0 on, selects immediate operands;
/// variants(form) consecutive ones cover every value. Throws std::invalid_argument if `target` lacks the form.
Program program_for(const Form& form, const Target& target, const OperandClass& operand_class = operand_classes().front(),
                    int variant = class_variant);

/// Whether cases of `form` with operands of this class differ from those of other classes.
bool applies(const OperandClass& operand_class, const Form& form);

/// Warps `first_warp` to `first_warp + warps - 1` of the cases of `program`, which program_for made from `form`. Source registers are
/// filled from `operand_class`, destination registers and shared memory with random bits. Row addresses point into the program's memory,
/// which begins at `shared_base`. Rows may repeat in loads; in stores they are distinct, because the ISA does not define which of two wins.
/// Lanes whose addresses are ignored hold any number if the target allows that. A warp depends only on `seed` and its number.
WarpStates make_case(const Program& program, const Form& form, const OperandClass& operand_class, std::uint64_t seed,
                     std::size_t first_warp, std::size_t warps, std::uint32_t shared_base);

/// The words of a recorded answer. For an instruction that writes registers: the destination registers of a one-statement program in
/// `warp`, 32 words each. For one that writes memory: all of the memory, four bytes a word, little-endian, which also shows which rows it
/// wrote.
std::vector<std::uint32_t> answer_words(const Program& program, const WarpStates& states, std::size_t warp);

}  // namespace warpmat
