#pragma once

#include <warpmat/execute/explain.h>

#include <optional>
#include <string>

namespace warpmat {

/// An element's explanation, and where that is asked for the same element as another GPU or a loop in f32 computes it.
struct ExplanationPair {
  Explanation one;
  std::optional<Explanation> other;

  /// The other one, or nullptr.
  const Explanation* beside() const { return other ? &*other : nullptr; }
};

/// `against` is the name of a target, "f32", or empty for nothing. Throws as explain() and explain_as_f32() do, and std::invalid_argument
/// where that target has no such form.
ExplanationPair explain_pair(const Instruction& instruction, const Arguments& arguments, const Element& element, const std::string& against,
                             const ExecutionOptions& options);

}  // namespace warpmat
