#pragma once

#include <vector>

#include <warpmat/lower/context.h>
#include <warpmat/lower/control_flow.h>
#include <warpmat/lower/value_set.h>

namespace warpmat::code {

/// Where values of a function are made and used, as an assembler sees it when it fuses: without operations whose results nothing needs,
/// without branches around nothing, and with blocks that always follow each other as one region.
/// A region ends behind statements of which it makes branches: division of integers and rounded division, fences, guarded accesses.
class ValueUses {
 public:
  ValueUses(const DraftFunction& function, const ProgramDraft& draft);

  /// A place that reads a value: an operation's source. `operand` is -1 where something else of the operation keeps or needs it, and
  /// `operation` is -1 where the value leaves its region.
  struct Use {
    int operation;
    int operand;
  };

  /// The operations of each region whose results are needed, in the order of execution.
  const std::vector<std::vector<int>>& regions() const { return regions_; }
  /// The uses of what an operation with one result writes.
  const std::vector<Use>& uses(int operation) const { return uses_[static_cast<std::size_t>(operation)]; }
  /// The operation of the same region that writes what `operation` reads there, or -1.
  int writer(int operation, int operand) const;
  /// The region of an operation, or -1 where its result is not needed.
  int region(int operation) const { return region_[static_cast<std::size_t>(operation)]; }

 private:
  using Bits = std::vector<bool>;

  const Bits& find_ends(const ProgramDraft& draft);
  /// Whether a region ends behind an operation that is no branch.
  bool ends_region(int operation) const {
    return ends_[static_cast<std::size_t>(operation)] && needed_[static_cast<std::size_t>(operation)];
  }
  void find_needed(bool branches);
  bool walk_block(std::size_t block, ValueSet live, bool branches);
  void drop_empty_blocks();
  bool is_empty(int block) const;
  void join_blocks();
  void link(const std::vector<int>& blocks);

  const DraftFunction& function_;
  Bits calls_, ends_;  ///< by operation: whether it is a call; whether a region ends behind it
  std::vector<Block> blocks_;
  std::vector<ValueSet> live_in_;  ///< by block: registers whose values needed operations read
  Bits needed_;                    ///< by operation
  Bits effective_;                 ///< those that more than branches need
  std::vector<std::vector<int>> regions_;
  std::vector<std::vector<Use>> uses_;
  std::vector<std::size_t> first_source_;  ///< by operation: where its sources' writers begin in writers_
  std::vector<int> writers_;               ///< of the sources of operation 0, of operation 1, ...
  std::vector<int> last_;                  ///< by register: the last writer of the region that is linked, or -1
  std::vector<int> region_;
};

}  // namespace warpmat::code
