#pragma once

#include <warpmat/layout/fragment.h>
#include <warpmat/numeric/events.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/mutants/variant.h"
#include "gpu/runners/runner.h"

namespace warpmat {

/// Which of two models does a card follow? The question is put by operands on which they differ.
struct Question {
  const Target* target = nullptr;
  ModelVariant first, second;
  std::size_t cases = 512;  ///< warps of each operand class that are tried
  std::uint64_t seed = 1;
};

/// Operands of one result on which two models differ, as simple as they were found: all else is zero.
struct Distinction {
  const Form* form = nullptr;
  Program program;     ///< `form` alone, every operand in registers of its own
  WarpStates initial;  ///< of one warp, as are the two answers
  WarpStates by_first, by_second;
  Element element;                           ///< of D, where they differ
  std::string found_in;                      ///< "class ladder, case 17"
  Events events_of_first, events_of_second;  ///< the regions that these operands meet in each model without deviations (numeric/events.h)
};

/// Operands of `form` on which the two models differ; nothing where the cases tried have none. Classes of operands that meet other regions
/// in one model than in the other are tried four times as often, because there the models do different things, seen or not. Throws
/// std::invalid_argument where a model cannot execute the form (see VariedLowering).
std::optional<Distinction> distinguish(const Form& form, const Question& question);

/// Bits of the elements that make D's `element`: a row of A, a column of B, C.
struct ResultOperands {
  std::vector<std::uint64_t> a, b;
  std::uint64_t c = 0;
};

ResultOperands operands_of(const Distinction& distinction);

/// The bits of D's element in `states`.
std::uint64_t result_bits(const Distinction& distinction, const WarpStates& states);

/// An element as a person reads it: "2^-12", "-1.5 * 2^3", "+0", "NaN 0x7f800001", "-17".
std::string value_text(Format format, std::uint64_t bits);

}  // namespace warpmat
