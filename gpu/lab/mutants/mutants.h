#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpu/lab/mutants/exchange.h"
#include "gpu/models/variant.h"

namespace warpmat {

/// The change in a mutant: "fraction_bits+1", "floor none", "step halved", "products_normalised", "layout of a: lane 0 and register 1".
struct Mutant {
  std::string change;
  ModelVariant variant;              ///< of `table`
  std::optional<Exchange> exchange;  ///< of the form's layout
};

/// The mutants that concern `form`, executed by `row`, made from the columns of the model and from the deviations: every constant one and
/// two higher and lower, every floor also removed, steps halved and doubled, every deviation. A mutant concerns a form if some operands, by
/// the ranges of the formats, can distinguish it from the row.
std::vector<Mutant> mutants_of(const Form& form, const Lowering& row);

/// The mutants of the form's layouts: every two index bits of every operand exchanged.
std::vector<Mutant> layout_mutants_of(const Form& form);

}  // namespace warpmat
