#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <warpmat/execute/wgmma.h>

#include "gpu/cases/operand_classes.h"
#include "gpu/runners/kernel_runner.h"

namespace warpmat {

// Cases of wgmma: kernels in which each block executes one product and is one case. Registers, shared memory, descriptors and scale-d come
// from global memory, and D goes there.
//
// A case's shared memory holds random bytes, and the elements of the operand class where the case's random descriptors say; elements that
// share bytes overwrite each other. Shared memory begins at a multiple of 1024, which is all that the places depend on.

/// What PTX writes as numbers, and where A is.
struct WgmmaVariant {
  bool a_in_registers = false;
  WgmmaImmediates immediates;
};

/// How many variants in a row have A in registers and in memory, with both majors of each operand and all values of the selector.
int variants(const WgmmaForm& form);

/// Variant `number`, from 0 on; which operands it negates is drawn.
WgmmaVariant wgmma_variant(const WgmmaForm& form, int number);

/// Whether cases of `form` with operands of this class differ from those of other classes.
bool applies(const OperandClass& operand_class, const WgmmaForm& form);

/// Cases `first` to `first + count - 1` as a launch of `count` blocks; a case depends on the form, the class, the variant, `seed` and its
/// number alone. The first buffer has the registers of D: [case][register][128 threads].
KernelLaunch make_cases(const WgmmaForm& form, const OperandClass& operand_class, int variant, std::uint64_t seed, std::size_t first,
                        std::size_t count);

/// 32-bit words that a case answers: the registers of D of 128 threads.
std::size_t answer_words(const WgmmaForm& form);

/// "row 3, column 17 (warp 0, lane 12, register 8)": the element that word `word` of a case's answer holds; of f16 "columns 0 and 1".
std::string answer_place(const WgmmaForm& form, std::size_t word);

/// What one statement of PTX is: "wgmma.mma_async... {%d0, %d1}, %da, %db, %scale, 1, 1, 0, 0;". `scale` is a predicate or a number.
std::string wgmma_statement(const WgmmaForm& form, const WgmmaVariant& variant, const std::string& d, const std::string& a,
                            const std::string& b, const std::string& e, const std::string& scale);

}  // namespace warpmat
