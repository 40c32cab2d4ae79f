#include <warpmat/lower/control_flow.h>

#include <algorithm>

namespace warpmat::code {

using catalogue::Semantics;

namespace {

bool ends_block(const DraftOperation& o) {
  return catalogue::has(o.operation.semantics, catalogue::fact::ends_block);
}

/// The position of each block in post-order from the end, successors first; -1 for blocks from which the end is unreachable.
std::vector<int> post_order_from_end(const std::vector<Block>& blocks, const std::vector<std::vector<int>>& before,
                                     std::vector<int>& order) {
  std::vector<int> position(blocks.size(), -1);
  std::vector<bool> seen(blocks.size());
  std::vector<std::pair<int, std::size_t>> stack;
  for (std::size_t root = 0; root < blocks.size(); ++root) {
    if (!blocks[root].leaves || seen[root]) continue;
    seen[root] = true;
    stack.emplace_back(static_cast<int>(root), 0);
    while (!stack.empty()) {
      auto& [block, next] = stack.back();
      const std::vector<int>& previous = before[static_cast<std::size_t>(block)];
      if (next == previous.size()) {
        position[static_cast<std::size_t>(block)] = static_cast<int>(order.size());
        order.push_back(block);
        stack.pop_back();
        continue;
      }
      const int predecessor = previous[next++];
      if (seen[static_cast<std::size_t>(predecessor)]) continue;
      seen[static_cast<std::size_t>(predecessor)] = true;
      stack.emplace_back(predecessor, 0);
    }
  }
  return position;
}

}  // namespace

std::vector<Block> find_blocks(const DraftFunction& function, const std::vector<bool>* ends) {
  const auto size = static_cast<int>(function.operations.size());
  std::vector<bool> begins(static_cast<std::size_t>(size) + 1);
  begins[0] = true;
  for (const int label : function.labels) begins[static_cast<std::size_t>(label)] = true;
  for (int i = 0; i < size; ++i)
    if (ends_block(function.operations[static_cast<std::size_t>(i)]) || (ends != nullptr && (*ends)[static_cast<std::size_t>(i)]))
      begins[static_cast<std::size_t>(i) + 1] = true;
  std::vector<Block> blocks;
  std::vector<int> block_at(static_cast<std::size_t>(size) + 1, -1);
  for (int i = 0; i < size; ++i) {
    if (begins[static_cast<std::size_t>(i)]) blocks.push_back({.first = i, .last = i, .next = {}});
    block_at[static_cast<std::size_t>(i)] = static_cast<int>(blocks.size()) - 1;
    blocks.back().last = i + 1;
  }
  const auto label_block = [&](int label) { return block_at[static_cast<std::size_t>(function.labels[static_cast<std::size_t>(label)])]; };
  for (Block& block : blocks) {
    const DraftOperation& last = function.operations[static_cast<std::size_t>(block.last) - 1];
    const Semantics semantics = last.operation.semantics;
    const bool falls_through = !ends_block(last) || last.operation.guarded;
    block.leaves = !falls_through && catalogue::has(semantics, catalogue::fact::leaves);
    if (semantics == Semantics::branch) block.next.push_back(label_block(last.label));
    for (const int label : last.table) block.next.push_back(label_block(label));
    if (falls_through && block.last < size) block.next.push_back(block_at[static_cast<std::size_t>(block.last)]);
    std::ranges::sort(block.next);
    block.next.erase(std::unique(block.next.begin(), block.next.end()), block.next.end());
  }
  return blocks;
}

std::vector<std::vector<int>> predecessors(const std::vector<Block>& blocks) {
  std::vector<std::vector<int>> before(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (const int next : blocks[i].next) before[static_cast<std::size_t>(next)].push_back(static_cast<int>(i));
  return before;
}

/// The algorithm of Cooper, Harvey and Kennedy ("A simple, fast dominance algorithm", 2001) on the reversed graph.
std::vector<int> immediate_post_dominators(const std::vector<Block>& blocks) {
  std::vector<int> order;
  std::vector<int> position = post_order_from_end(blocks, predecessors(blocks), order);
  const auto end = static_cast<int>(blocks.size());  // a virtual block after all exits
  position.push_back(static_cast<int>(order.size()));
  constexpr int unknown = -2;
  std::vector<int> dominator(blocks.size() + 1, unknown);
  dominator[static_cast<std::size_t>(end)] = end;
  const auto meet = [&](int a, int b) {
    while (a != b) {
      while (position[static_cast<std::size_t>(a)] < position[static_cast<std::size_t>(b)]) a = dominator[static_cast<std::size_t>(a)];
      while (position[static_cast<std::size_t>(b)] < position[static_cast<std::size_t>(a)]) b = dominator[static_cast<std::size_t>(b)];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
      const Block& block = blocks[static_cast<std::size_t>(*i)];
      int common = block.leaves ? end : unknown;
      for (const int next : block.next) {
        if (dominator[static_cast<std::size_t>(next)] == unknown) continue;
        common = common == unknown ? next : meet(common, next);
      }
      if (common == dominator[static_cast<std::size_t>(*i)]) continue;
      dominator[static_cast<std::size_t>(*i)] = common;
      changed = true;
    }
  }
  dominator.pop_back();
  for (int& d : dominator)
    if (d == end || d == unknown) d = -1;
  return dominator;
}

int block_at(const std::vector<Block>& blocks, int first) {
  return static_cast<int>(std::ranges::lower_bound(blocks, first, {}, &Block::first) - blocks.begin());
}

bool only_exits(const DraftFunction& function, const std::vector<Block>& blocks, int block) {
  for (std::size_t branches = 0; branches <= blocks.size(); ++branches) {  // more of them are a loop
    const Block& here = blocks[static_cast<std::size_t>(block)];
    const Operation& first = function.operations[static_cast<std::size_t>(here.first)].operation;
    if (first.guarded || first.semantics != Semantics::branch) return !first.guarded && first.semantics == Semantics::exit;
    block = here.next.front();
  }
  return false;
}

Liveness::Liveness(const DraftFunction& function, const std::vector<Block>& blocks) : index_(function.registers.size(), -1) {
  // Registers that a block reads before it writes them; all others are local to one block.
  std::vector<std::vector<Value>> reads(blocks.size()), writes(blocks.size());
  std::vector<int> written_in(function.registers.size(), -1), read_in(function.registers.size(), -1);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (int i = blocks[b].first; i < blocks[b].last; ++i) {
      const DraftOperation& operation = function.operations[static_cast<std::size_t>(i)];
      for_each_read(operation, [&](Value value) {
        const auto v = static_cast<std::size_t>(value);
        if (written_in[v] == static_cast<int>(b) || read_in[v] == static_cast<int>(b)) return;
        read_in[v] = static_cast<int>(b);
        reads[b].push_back(value);
        if (index_[v] < 0) {
          index_[v] = static_cast<int>(global_.size());
          global_.push_back(value);
        }
      });
      if (operation.operation.guarded) continue;
      for (const Value value : operation.results) {
        if (written_in[static_cast<std::size_t>(value)] == static_cast<int>(b)) continue;
        written_in[static_cast<std::size_t>(value)] = static_cast<int>(b);
        writes[b].push_back(value);
      }
    }
  }
  in_.assign(blocks.size(), ValueSet(global_.size()));
  out_ = in_;
  std::vector<ValueSet> written = in_;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (const Value value : writes[b])
      if (const int index = index_[static_cast<std::size_t>(value)]; index >= 0) written[b].insert(index);
    for (const Value value : reads[b]) in_[b].insert(index_[static_cast<std::size_t>(value)]);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = blocks.size(); b-- > 0;) {
      for (const int next : blocks[b].next) out_[b].insert(in_[static_cast<std::size_t>(next)]);
      changed |= in_[b].insert_without(out_[b], written[b]);
    }
  }
}

bool writes(const DraftOperation& operation, Value value) {
  return std::ranges::find(operation.results, value) != operation.results.end() ||
         std::ranges::find(operation.keeps, value) != operation.keeps.end();
}

bool leaves_loop(const DraftFunction& function, int from, int to) {
  for (int i = from; i < to; ++i) {
    const int label = function.operations[static_cast<std::size_t>(i)].label;
    if (label >= 0 && function.labels[static_cast<std::size_t>(label)] <= from) return true;
  }
  return false;
}

}  // namespace warpmat::code
