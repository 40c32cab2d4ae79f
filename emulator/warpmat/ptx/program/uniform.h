#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include <warpmat/ptx/program/definitions.h>
#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

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
  /// Whether operation `place` is in an arm of a branch that may part the lanes of a warp, or has a guard that may: some paths from the
  /// branch to where all meet again lead to it, and it is not on each path to the branch. Arms that only exit are none: the others go on
  /// together.
  bool may_be_apart(int place) const;

 private:
  bool is_uniform(int reader, int writer, Value value, int depth) const;
  bool is_uniform_source(int reader, Value value, int depth) const;
  bool is_uniform_exchange(int place, int depth) const;
  bool is_common(int reader, Value value, std::set<int>& seen) const;
  bool parts_lanes(const Block& block) const;
  void find_ways() const;
  void find_parting() const;
  void part(std::size_t block) const;
  const DraftOperation& last_of(const Block& block) const;
  std::size_t block_of(int place) const;

  /// How many operations a value is followed through.
  static constexpr int max_depth = 24;
  /// At which depths a value that an operation reads is one: up to some depth it is, from another on it is not known to be.
  struct Answer {
    int uniform_up_to = -1, not_from = max_depth + 1;
  };

  const DraftFunction& function_;
  const ProgramDraft& draft_;
  const Definitions& definitions_;
  mutable std::map<std::pair<int, Value>, Answer> answers_;  ///< by reader and value
  // What find_parting() fills when it is first needed.
  mutable std::vector<Block> blocks_;                   ///< without ways to blocks that only exit
  mutable std::vector<int> dominators_, meeting_;       ///< by block: the nearest one on all paths to it, and on all paths from it
  mutable std::vector<bool> in_arms_, behind_parting_;  ///< by block: in arms of branches that part lanes; there, or in such loops
};

/// Marks shuffles of such values whose predicate nothing reads: ptxas leaves them out. A lane then has the value also where the lane that
/// it reads takes no part. Source: machine code of ptxas 13.0; that lanes have the value, an H100.
/// In an arm of a branch that may part lanes ptxas leaves some out and keeps others: these are executed as PTX has them, and are in doubt.
void mark_uniform_shuffles(DraftFunction& function, ProgramDraft& draft);

}  // namespace warpmat::code
