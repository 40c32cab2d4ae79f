#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <warpmat/wgmma.h>

#include "gpu/cases/operand_classes.h"
#include "gpu/runners/kernel_runner.h"

namespace warpmat {

// Cases of wgmma: kernels in which each block executes one product and is one case. Registers, shared memory, descriptors and scale-d are
// loaded from global memory, and D is stored there.
//
// A case's shared memory holds random bytes, and elements of the operand class at the places of the case's random descriptors; elements
// that share bytes overwrite each other. Shared memory begins at a multiple of 1024; the places depend on nothing else.

inline constexpr std::size_t warpgroup_threads = WgmmaForm::warps * warp_size;

/// PTX's immediate operands, and the place of A.
struct WgmmaVariant {
  bool a_in_registers = false;
  WgmmaImmediates immediates;
};

/// The number of consecutive variants that cover A in registers and in memory, both majors of each operand and all values of the selector.
int variants(const WgmmaForm& form);

/// Variant `number`, from 0 on. The operands that it negates are random.
WgmmaVariant wgmma_variant(const WgmmaForm& form, int number);

/// Whether cases of `form` with operands of this class differ from those of other classes.
bool applies(const OperandClass& operand_class, const WgmmaForm& form);

/// Cases `first` to `first + count - 1` as a launch of `count` blocks. A case depends only on the form, the class, the variant, `seed` and
/// its number. The first buffer holds the registers of D: [case][register][128 threads].
KernelLaunch make_cases(const WgmmaForm& form, const OperandClass& operand_class, int variant, std::uint64_t seed, std::size_t first,
                        std::size_t count);

/// The number of 32-bit words of a case's answer: the registers of D of 128 threads.
std::size_t answer_words(const WgmmaForm& form);

/// "row 3, column 17 (warp 0, lane 12, register 8)": the element in word `word` of a case's answer; for f16 "columns 0 and 1".
std::string answer_place(const WgmmaForm& form, std::size_t word);

/// The text of one statement: "wgmma.mma_async... {%d0, %d1}, %da, %db, %scale, 1, 1, 0, 0;". `scale` is a predicate or a number.
std::string wgmma_statement(const WgmmaForm& form, const WgmmaVariant& variant, const std::string& d, const std::string& a,
                            const std::string& b, const std::string& e, const std::string& scale);

}  // namespace warpmat
