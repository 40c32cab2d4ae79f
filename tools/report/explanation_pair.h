#pragma once

#include <warpmat/explain.h>
#include <warpmat/tables/tcgen05.h>
#include <warpmat/wgmma.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace warpmat {

/// An element's explanation and, if requested, that of the same element on another GPU, with another model or by a loop in f32.
struct ExplanationPair {
  Explanation one;
  std::optional<Explanation> other;
  std::shared_ptr<const void> model;  ///< owns what `other` names, unless that is a row of the tables

  /// The other explanation, or nullptr.
  const Explanation* beside() const { return other ? &*other : nullptr; }
};

/// `against` is the name of a target ("sm_80"), "f32", a model with other constants for parse_variant() ("table:fraction_bits=25"), or
/// empty. Throws what explain() and explain_as_f32() throw, and std::invalid_argument if the target lacks the form or the model changes a
/// rule.
ExplanationPair explain_pair(const Instruction& instruction, const Call& call, const Element& element, const std::string& against,
                             const ExecutionOptions& options);

/// The same for one tile of a wgmma: 16 rows of A and 8 columns of B.
ExplanationPair explain_pair(const WgmmaForm& form, const Call& call, const Element& element, const std::string& against,
                             const ExecutionOptions& options);

/// A tcgen05.mma as its opcode and its instruction descriptor determine it. Explanations refer to the opcode.
struct NamedProduct {
  std::string_view opcode;
  TensorProduct product;
  const Target* target;  ///< of those that have the product
};
/// The same for one tile of a tcgen05.mma. Throws std::invalid_argument for K = 96, which has no tile.
ExplanationPair explain_pair(const NamedProduct& named, const Call& call, const Element& element, const std::string& against,
                             const ExecutionOptions& options);

}  // namespace warpmat
