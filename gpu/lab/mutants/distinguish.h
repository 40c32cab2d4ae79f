#pragma once

#include <warpmat/layout.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/lab/rules/events.h"
#include "gpu/models/variant.h"
#include "gpu/runners/runner.h"

namespace warpmat {

/// The question which of two models a card follows; operands on which they differ answer it.
struct Question {
  const Target* target = nullptr;
  ModelVariant first, second;
  std::size_t cases = 512;  ///< warps of each operand class to try
  std::uint64_t seed = 1;
  /// What executes the form in place of the target's hardware: for tiles of tcgen05.mma, whose lowering is not mma's. Immediate operands
  /// are then the first ones.
  const Lowering* lowering = nullptr;

  const Lowering& lowering_of(const Form& form) const { return lowering != nullptr ? *lowering : *find_lowering(form, target->hardware); }
};

/// Operands of one result on which two models differ, simplified: all others are zero.
struct Distinction {
  const Form* form = nullptr;
  Program program;     ///< `form` alone, with separate registers for every operand
  WarpStates initial;  ///< of one warp, like the two answers
  WarpStates by_first, by_second;
  Element element;       ///< of D, where they differ
  std::string found_in;  ///< "class ladder, case 17"
  Events events_of_first,
      events_of_second;  ///< the regions that these operands reach in each model without deviations (gpu/lab/rules/events.h)
};

/// Operands of `form` on which the two models differ; nothing if no tried case has them. Classes that reach other regions in one model than
/// in the other are tried four times as often, because the models behave differently there. Throws std::invalid_argument if a model cannot
/// execute the form (see VariedLowering).
std::optional<Distinction> distinguish(const Form& form, const Question& question);

/// Bits of the elements that determine D's `element`: a row of A, a column of B, C.
struct ResultOperands {
  std::vector<std::uint64_t> a, b;
  std::uint64_t c = 0;
};

ResultOperands operands_of(const Distinction& distinction);

/// The bits of any element of an operand in `states`, which are those of the distinction.
std::uint64_t element_bits(const Distinction& distinction, const WarpStates& states, OperandName operand, const Element& element);

/// The bits of D's element in `states`.
std::uint64_t result_bits(const Distinction& distinction, const WarpStates& states);

/// An element as text: "2^-12", "-1.5 * 2^3", "+0", "NaN 0x7f800001", "-17".
std::string value_text(Format format, std::uint64_t bits);

}  // namespace warpmat
