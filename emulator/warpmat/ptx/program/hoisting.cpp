#include <warpmat/ptx/program/hoisting.h>

#include <algorithm>
#include <vector>

#include <warpmat/ptx/program/arithmetic.h>
#include <warpmat/ptx/program/control_flow.h>
#include <warpmat/ptx/program/rewrite.h>

namespace warpmat::code {

using catalogue::Name;
using catalogue::Semantics;

namespace {

class Hoisting {
 public:
  explicit Hoisting(DraftFunction& function) : function_(function), moves_(function.operations.size()) {}

  void run() {
    const std::vector<Block> blocks = find_blocks(function_);
    bool any = false;
    for (std::size_t b = 1; b < blocks.size(); ++b)
      if (is_loop(blocks, b)) any |= find_moves(blocks[b]);
    if (any) rebuild(blocks);
  }

 private:
  const DraftOperation& at(int i) const { return function_.operations[static_cast<std::size_t>(i)]; }
  bool moves(int i) const { return moves_[static_cast<std::size_t>(i)]; }

  /// A block that may follow itself, into which the block before falls through and no other leads.
  bool is_loop(const std::vector<Block>& blocks, std::size_t block) const {
    const DraftOperation &last = at(blocks[block].last - 1), &before = at(blocks[block].first - 1);
    if (!goes_to(last, blocks[block].first) || goes_to(before, blocks[block].first)) return false;
    if (std::ranges::find(function_.unrolled, last.label) != function_.unrolled.end()) return false;
    for (std::size_t other = 0; other < blocks.size(); ++other) {
      const bool leads = std::ranges::find(blocks[other].next, static_cast<int>(block)) != blocks[other].next.end();
      if (leads != (other == block || other == block - 1)) return false;
    }
    return true;
  }

  bool goes_to(const DraftOperation& operation, int place) const {
    return operation.operation.semantics == Semantics::branch && function_.labels[static_cast<std::size_t>(operation.label)] == place;
  }

  static bool is(const DraftOperation& operation, Name name) {
    return is_of(operation, name) && !operation.operation.guarded && has_numbers(*operation.match);
  }
  static bool is_sum(const DraftOperation& operation) { return is(operation, Name::add) || is(operation, Name::sub); }

  static bool reads(const DraftOperation& operation, Value value) {
    bool found = false;
    for_each_read(operation, [&](Value read) { found |= read == value; });
    return found;
  }

  /// Marks what moves; whether that is anything.
  bool find_moves(const Block& loop) {
    for (bool changed = true; changed;) {
      changed = false;
      for (int i = loop.first; i < loop.last; ++i)
        if (!moves(i) && is_unchanged(loop, i)) moves_[static_cast<std::size_t>(i)] = changed = true;
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (int i = loop.first; i < loop.last; ++i)
        if (moves(i) && !may_move(loop, i)) {
          moves_[static_cast<std::size_t>(i)] = false;
          changed = true;
        }
    }
    return std::any_of(moves_.begin() + loop.first, moves_.begin() + loop.last, [](bool moved) { return moved; });
  }

  /// Whether each round computes the same, and nothing reads the register before or writes it else.
  bool is_unchanged(const Block& loop, int i) const {
    const DraftOperation& operation = at(i);
    if (!is_sum(operation) && !is(operation, Name::mul) && !is(operation, Name::neg)) return false;
    for (int other = loop.first; other < loop.last; ++other) {
      if (other < i && reads(at(other), operation.results[0])) return false;
      if (other != i && writes(at(other), operation.results[0])) return false;
      const auto is_source = [&](Value value) { return std::ranges::find(operation.sources, value) != operation.sources.end(); };
      if ((!moves(other) || other > i) && std::ranges::any_of(at(other).results, is_source)) return false;
    }
    return true;
  }

  /// A sum whose products move; a product, all of whose readers in the loop do.
  bool may_move(const Block& loop, int i) const {
    const DraftOperation& operation = at(i);
    for (int other = loop.first; other < loop.last; ++other) {
      const bool feeds = std::ranges::any_of(at(other).results, [&](Value value) { return reads(operation, value); });
      if (feeds && !moves(other)) return false;
      if (is_sum(operation) || !reads(at(other), operation.results[0])) continue;
      if (!moves(other)) return false;
    }
    return is_sum(operation) || feeds_moved(loop, operation.results[0]);
  }

  bool feeds_moved(const Block& loop, Value value) const {
    for (int other = loop.first; other < loop.last; ++other)
      if (moves(other) && reads(at(other), value)) return true;
    return false;
  }

  void rebuild(const std::vector<Block>& blocks) {
    Rewrite rewrite(function_);
    for (const Block& block : blocks) {
      for (int i = block.first; i < block.last; ++i)
        if (moves(i)) rewrite.out.push_back(at(i));
      for (int i = block.first; i < block.last; ++i) {
        rewrite.come_to(i);
        if (!moves(i)) rewrite.out.push_back(at(i));
      }
    }
    rewrite.finish();
  }

  DraftFunction& function_;
  std::vector<bool> moves_;  ///< by operation
};

}  // namespace

void hoist_sums(DraftFunction& function) {
  Hoisting(function).run();
}

}  // namespace warpmat::code
