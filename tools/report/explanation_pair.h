#pragma once

#include <warpmat/execute/explain.h>
#include <warpmat/tables/wgmma.h>

#include <memory>
#include <optional>
#include <string>

namespace warpmat {

/// An element's explanation, and where that is asked for the same element as another GPU, another model or a loop in f32 computes it.
struct ExplanationPair {
  Explanation one;
  std::optional<Explanation> other;
  std::shared_ptr<const void> model;  ///< keeps what `other` names, where that is no row of the tables

  /// The other one, or nullptr.
  const Explanation* beside() const { return other ? &*other : nullptr; }
};

/// `against` is the name of a target ("sm_80"), "f32", a model with other constants as parse_variant() reads it ("table:fraction_bits=25"),
/// or empty for nothing. Throws as explain() and explain_as_f32() do, and std::invalid_argument where the target has no such form, or where
/// the model turns a rule.
ExplanationPair explain_pair(const Instruction& instruction, const Arguments& arguments, const Element& element, const std::string& against,
                             const ExecutionOptions& options);

/// The same of one tile of a wgmma: 16 rows of A and 8 columns of B.
ExplanationPair explain_pair(const WgmmaForm& form, const Arguments& arguments, const Element& element, const std::string& against,
                             const ExecutionOptions& options);

}  // namespace warpmat
