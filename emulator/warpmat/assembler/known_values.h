#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include <warpmat/lower/definitions.h>

namespace warpmat::code {

/// What is known of the values of a function before it runs.
class KnownValues {
 public:
  KnownValues(const DraftFunction& function, const Constants& constants, const Definitions& definitions)
      : function_(function), constants_(constants), definitions_(definitions) {}

  /// The number of the text that operation `reader` reads as `value`, behind moves.
  std::optional<std::uint64_t> number(int reader, Value value) const;
  /// Whether ptxas may know what `reader` reads: what instructions make of numbers, in a loop that it may unroll too, and what is the same
  /// whatever an operand is, as x == x.
  bool may_be_known(int reader, Value value);

 private:
  const DraftOperation& at(int i) const { return function_.operations[static_cast<std::size_t>(i)]; }
  bool makes_known(int writer);
  bool is_same_whatever(int i) const;

  const DraftFunction& function_;
  const Constants& constants_;
  const Definitions& definitions_;
  int depth_ = 0;              ///< of makes_known() in itself
  std::map<int, bool> known_;  ///< by operation; true while its own sources are looked at, so that a loop's rounds count as known
};

}  // namespace warpmat::code
