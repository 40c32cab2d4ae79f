#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <warpmat/lower/draft.h>

namespace warpmat::code {

/// A function's operations written anew, in `out`. Labels keep leading to what stands in place of the operations that they preceded.
class Rewrite {
 public:
  explicit Rewrite(DraftFunction& function) : function_(function), places_(function.operations.size() + 1) {
    out.reserve(function.operations.size());
  }

  /// What is added to `out` from here on stands in place of operation `i`.
  void come_to(int i) { places_[static_cast<std::size_t>(i)] = end(); }

  /// The place in `out` of what is added next.
  int end() const { return static_cast<int>(out.size()); }

  /// Gives the function the operations of `out`. come_to() was called for each of those that it had.
  void finish() {
    places_.back() = end();
    mark_steps();
    function_.operations = std::move(out);
    for (int& label : function_.labels) label = places_[static_cast<std::size_t>(label)];
  }

  std::vector<DraftOperation> out;

 private:
  /// Of the operations that stand in place of one of its statement, the last is the statement's own, if that was.
  void mark_steps() {
    for (std::size_t i = 0; i + 1 < places_.size(); ++i) {
      const Operation& old = function_.operations[i].operation;
      const auto next = static_cast<std::size_t>(places_[i + 1]);
      for (auto k = static_cast<std::size_t>(places_[i]); k < next; ++k) {
        Operation& made = out[k].operation;
        if (made.statement != old.statement) continue;
        const bool last = k + 1 == next || out[k + 1].operation.statement != old.statement;
        if (old.prepares || !last) made.prepares = true;
      }
    }
  }

  DraftFunction& function_;
  std::vector<int> places_;  ///< by operation, and behind the last
};

}  // namespace warpmat::code
