#pragma once

#include <string>
#include <vector>

#include "gpu/mutants/variant.h"

namespace warpmat {

/// What is changed in a mutant, for whatever form: "fraction_bits+1", "floor none", "step halved", "products_normalised".
struct Mutant {
  std::string change;
  ModelVariant variant;  ///< of `table`
};

/// The mutants that concern `form`, executed as `row` says, made from the columns of the model and from the deviations: every constant one
/// and two more and less, every floor none too, steps halved and doubled, every deviation. A mutant concerns a form if some operands, by
/// the ranges of the formats, can tell it from the row.
std::vector<Mutant> mutants_of(const Form& form, const Lowering& row);

}  // namespace warpmat
