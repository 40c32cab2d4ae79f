#pragma once

#include <map>
#include <set>

#include <warpmat/ptx/program/definitions.h>
#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::inline v0_1::code {

/// Which values all lanes of a warp surely have in common, as ptxas sees it: constants, parameters, what it says of blocks, what is loaded
/// from one address, votes, redux, shuffles that read one lane, and what is computed of these alone.
class Uniform {
 public:
  Uniform(const DraftFunction& function, const ProgramDraft& draft, const Definitions& definitions)
      : function_(function), draft_(draft), definitions_(definitions) {}

  /// Whether `value` is one behind operation `place`.
  bool behind(int place, Value value) const { return is_uniform(place + 1, definitions_.find_behind(place, value), value, 0); }
  /// Whether what operation `place` reads as `value` is one.
  bool at(int place, Value value) const { return is_uniform(place, definitions_.find(place, value), value, 0); }
  /// Whether a branch that may part the lanes of a warp leads past operation `place`; but not one to the function's end.
  bool is_in_parted_arm(int place) const;

 private:
  bool is_uniform(int reader, int writer, Value value, int depth) const;
  bool is_uniform_source(int reader, Value value, int depth) const;
  bool is_uniform_exchange(int place, int depth) const;
  bool is_in_parted_loop(int place) const;
  bool parts_lanes(int branch) const;
  bool is_common(int reader, Value value, std::set<int>& seen) const;
  int target_of(int branch) const;  ///< -1 of other operations, and of branches without a guard

  const DraftFunction& function_;
  const ProgramDraft& draft_;
  const Definitions& definitions_;
  mutable std::map<int, bool> parting_;  ///< branches; one that is being looked at counts as none that parts lanes
};

/// Marks shuffles of such values whose predicate nothing reads: ptxas leaves them out. A lane then has the value also where the lane that
/// it reads takes no part. Source: machine code of ptxas 13.0; that lanes have the value, an H100.
void mark_uniform_shuffles(DraftFunction& function, ProgramDraft& draft);

}  // namespace warpmat::inline v0_1::code
