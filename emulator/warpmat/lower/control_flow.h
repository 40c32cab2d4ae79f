#pragma once

#include <vector>

#include <warpmat/lower/draft.h>
#include <warpmat/lower/value_set.h>

namespace warpmat::code {

/// A basic block: operations from `first` to `last`, which is excluded.
struct Block {
  int first = 0, last = 0;
  std::vector<int> next;  ///< blocks that may follow
  bool leaves = false;    ///< its last operation leaves the function in all lanes
};

/// The basic blocks of a function, in the order of the text. Where `ends` is given, they end behind its operations too.
std::vector<Block> find_blocks(const DraftFunction& function, const std::vector<bool>* ends = nullptr);

/// For each block those that may come before it, in the order of the text.
std::vector<std::vector<int>> predecessors(const std::vector<Block>& blocks);

/// For each block its immediate post-dominator: the nearest block on every path from it to the function's end; -1 for the end itself. Paths
/// that never end (traps, endless loops) do not count.
std::vector<int> immediate_post_dominators(const std::vector<Block>& blocks);

/// The block that begins at operation `first`.
int block_at(const std::vector<Block>& blocks, int first);

/// Whether the lanes that come to `block` exit there and do nothing else.
bool only_exits(const DraftFunction& function, const std::vector<Block>& blocks, int block);

/// The registers that are live at the end of each block.
class Liveness {
 public:
  Liveness(const DraftFunction& function, const std::vector<Block>& blocks);

  bool live_out(int block, Value value) const { return bit(out_, block, value); }
  bool live_in(int block, Value value) const { return bit(in_, block, value); }
  /// Registers that are live across block boundaries.
  const std::vector<Value>& global() const { return global_; }

 private:
  bool bit(const std::vector<ValueSet>& sets, int block, Value value) const {
    const int index = index_[static_cast<std::size_t>(value)];
    return index >= 0 && sets[static_cast<std::size_t>(block)].contains(index);
  }

  std::vector<Value> global_;
  std::vector<int> index_;          ///< by register: its position in global_, or -1
  std::vector<ValueSet> in_, out_;  ///< by block: positions in global_
};

/// Whether the operation writes `value`, with or without a guard.
bool writes(const DraftOperation& operation, Value value);

/// Whether operation `from` is in a loop that ends before `to`.
bool leaves_loop(const DraftFunction& function, int from, int to);

/// Calls visit(register) for each register that the operation reads, including its guard and results that a guarded write keeps.
template <typename Visit>
void for_each_read(const DraftOperation& operation, Visit visit) {
  for (const Value value : operation.sources)
    if (!is_constant(value)) visit(value);
  for (const Value value : operation.keeps) visit(value);
  if (!operation.operation.guarded) return;
  if (!is_constant(operation.guard)) visit(operation.guard);
  for (const Value value : operation.results) visit(value);
}

}  // namespace warpmat::code
