#pragma once

#include <memory>
#include <string>

namespace warpmat {

/// A regular expression of ECMAScript's grammar that a user typed. Only its source includes <regex>, which takes seconds to compile.
class Pattern {
 public:
  enum class Case { kept, ignored };

  /// Throws std::runtime_error "'EXPRESSION' is not a regular expression: REASON".
  explicit Pattern(const std::string& expression, Case letters = Case::kept);

  /// Whether the expression matches somewhere in `text`.
  bool found_in(const std::string& text) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace warpmat
