#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <warpmat/forms.h>
#include <warpmat/wgmma.h>

namespace warpmat::inline v0_1 {

/// SASS's spelling of the one machine instruction that `form` becomes under `lowering`, types and modifiers included:
/// "HMMA.16816.F32.BF16", "LDSM.16.MT88.4". Nothing if there are several.
std::optional<std::string> sass_name(const Form& form, const Lowering& lowering);

/// The first form of the table that `target` has and that becomes the machine instruction `name`, or nullptr. A shape may have crosses or
/// none: "DMMA.8x8x4", "DMMA.884".
const Form* find_sass(std::string_view name, const Target& target);

/// The same of a warpgroup's product: "HGMMA.64x128x16.F32.BF16", "IGMMA.SP.64x128x64.S8.U8.SAT".
std::string sass_name(const WgmmaForm& form);

/// The first form of the table that becomes the machine instruction `name`, or nullptr.
const WgmmaForm* find_wgmma_sass(std::string_view name);

/// A machine instruction of sm_70 that is one of the steps of an mma.m8n8k4: it reads A and B, and registers of C and D with the same
/// numbers. Compiled programs show the registers (HMMA.884.F32.F32.STEP0 to STEP3 with R8, R10, R4 and R6: arXiv 1811.08309, figure 9);
/// their elements are those of the fragment, which PTX ISA 9.1 has.
struct SassStep {
  static constexpr int registers = 2;  ///< of C and D

  const Form* form;
  int step, steps;
  int first_register() const { return step * registers; }
};

/// The step that SASS calls `name`, "HMMA.884.F32.F32.STEP2", and whose operands A and B have these layouts, "row" or "col", as SASS writes
/// them behind the registers; or nothing.
std::optional<SassStep> find_sass_step(std::string_view name, std::string_view layout_a, std::string_view layout_b, const Target& target);

/// Why find_sass has no form for `name` on `target`, and the nearest name: one sentence.
std::string explain_unknown_sass(std::string_view name, const Target& target);

}  // namespace warpmat::inline v0_1
