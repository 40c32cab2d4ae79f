#include <warpmat/ptx/program/uniform.h>

#include <algorithm>
#include <array>

namespace warpmat::code {

using catalogue::Semantics;

namespace {

/// Special registers that all lanes of a warp have in common.
constexpr std::array common{SpecialRegister::ntid_x,   SpecialRegister::ntid_y,   SpecialRegister::ntid_z,
                            SpecialRegister::ctaid_x,  SpecialRegister::ctaid_y,  SpecialRegister::ctaid_z,
                            SpecialRegister::nctaid_x, SpecialRegister::nctaid_y, SpecialRegister::nctaid_z};

bool is_shuffle(const WarpExchange& exchange) {
  return exchange.operation < WarpOperation::vote_all;
}

/// Whether something may read `value` as operation `writer` leaves it. That a guarded one keeps its own result is no read.
bool is_read(const DraftFunction& function, const Definitions& definitions, int writer, Value value) {
  bool found = std::ranges::find(function.return_registers, value) != function.return_registers.end();
  for (int i = 0; i < static_cast<int>(function.operations.size()); ++i) {
    const DraftOperation& operation = function.operations[static_cast<std::size_t>(i)];
    for_each_read(operation, [&](Value read) {
      if (read != value || (i == writer && operation.guard != value)) return;
      const int from = definitions.find(i, value);
      found |= from == writer || from < 0;
    });
  }
  return found;
}

}  // namespace

const DraftOperation& Uniform::last_of(const Block& block) const {
  return function_.operations[static_cast<std::size_t>(block.last) - 1];
}

bool Uniform::parts_lanes(const Block& block) const {
  const DraftOperation& last = last_of(block);
  std::set<int> seen;
  switch (last.operation.semantics) {
    case Semantics::branch:
    case Semantics::exit: return last.operation.guarded && !is_common(block.last - 1, last.guard, seen);
    case Semantics::branch_table:
      return !std::ranges::all_of(last.sources, [&](Value source) { return is_common(block.last - 1, source, seen); });
    default: return false;
  }
}

/// Marks what lies behind a branch that parts lanes, until all meet again.
void Uniform::part(std::size_t block) const {
  std::vector<bool> seen(blocks_.size()), before(blocks_.size());
  for (int b = static_cast<int>(block); b >= 0; b = dominators_[static_cast<std::size_t>(b)]) before[static_cast<std::size_t>(b)] = true;
  std::vector<std::size_t> open{block};
  while (!open.empty()) {
    const std::size_t from = open.back();
    open.pop_back();
    for (const int next : blocks_[from].next) {
      const auto to = static_cast<std::size_t>(next);
      if (next == meeting_[block] || seen[to]) continue;
      seen[to] = behind_parting_[to] = true;
      if (!before[to]) in_arms_[to] = true;
      open.push_back(to);
    }
  }
}

/// Leaves out the ways to blocks that only exit, but from blocks that have no other way to the function's end: those in endless loops.
void Uniform::find_ways() const {
  const std::vector<Block> all = find_blocks(function_);
  blocks_ = all;
  std::vector<bool> ends(all.size());
  std::vector<std::size_t> open;
  for (std::size_t b = 0; b < all.size(); ++b) {
    std::erase_if(blocks_[b].next, [&](int next) { return only_exits(function_, all, next); });
    const Operation& last = last_of(blocks_[b]).operation;
    blocks_[b].leaves |= blocks_[b].next.empty() || (last.semantics == Semantics::trap && !last.guarded);
    if (!blocks_[b].leaves) continue;
    ends[b] = true;
    open.push_back(b);
  }
  const std::vector<std::vector<int>> before = predecessors(blocks_);
  while (!open.empty()) {
    const std::size_t from = open.back();
    open.pop_back();
    for (const int previous : before[from]) {
      const auto to = static_cast<std::size_t>(previous);
      if (ends[to]) continue;
      ends[to] = true;
      open.push_back(to);
    }
  }
  for (std::size_t b = 0; b < all.size(); ++b) {
    if (ends[b]) continue;
    blocks_[b].next = all[b].next;
    blocks_[b].leaves |= last_of(blocks_[b]).operation.semantics == Semantics::exit;
  }
}

/// Which branches part lanes depends on what is in arms of others: none does at first, until nothing changes.
void Uniform::find_parting() const {
  find_ways();
  std::vector<Block> backwards(blocks_.size());
  std::vector<std::vector<int>> before = predecessors(blocks_);
  for (std::size_t b = 0; b < blocks_.size(); ++b) backwards[b].next = std::move(before[b]);
  backwards.front().leaves = true;
  dominators_ = immediate_post_dominators(backwards);
  meeting_ = immediate_post_dominators(blocks_);
  in_arms_.assign(blocks_.size(), false);
  behind_parting_.assign(blocks_.size(), false);
  std::vector<bool> parts(blocks_.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const std::size_t ways = blocks_[b].next.size() + (blocks_[b].leaves ? 1 : 0);
      if (parts[b] || ways < 2 || !parts_lanes(blocks_[b])) continue;
      parts[b] = changed = true;
      part(b);
      answers_.clear();  // they depend on what is behind
    }
  }
}

std::size_t Uniform::block_of(int place) const {
  if (blocks_.empty()) find_parting();
  return static_cast<std::size_t>(std::ranges::upper_bound(blocks_, place, {}, &Block::first) - blocks_.begin()) - 1;
}

bool Uniform::may_be_apart(int place) const {
  if (in_arms_[block_of(place)]) return true;
  const DraftOperation& operation = function_.operations[static_cast<std::size_t>(place)];
  std::set<int> seen;
  return operation.operation.guarded && !is_common(place, operation.guard, seen);
}

/// Whether lanes that come to `reader` together have `value` in common, also where a loop carries it: whatever may have written it was
/// computed of such values. `seen` are operations that are being looked at.
bool Uniform::is_common(int reader, Value value, std::set<int>& seen) const {
  if (is_constant(value) || at(reader, value)) return true;
  const std::vector<int> writers = definitions_.find_all(reader, value);
  return !writers.empty() && std::ranges::all_of(writers, [&](int writer) {
    const DraftOperation& operation = function_.operations[static_cast<std::size_t>(writer)];
    if (!seen.insert(writer).second) return true;
    if (operation.operation.guarded || operation.operation.semantics != Semantics::compute || in_arms_[block_of(writer)] ||
        leaves_loop(function_, writer, reader))
      return false;
    return std::ranges::all_of(operation.sources, [&](Value source) { return is_common(writer, source, seen); });
  });
}

/// Votes, sums of a warp, and shuffles by which all lanes read one, where all lanes come together and as often.
bool Uniform::is_uniform_exchange(int place, int depth) const {
  if (behind_parting_[block_of(place)]) return false;
  const DraftOperation& operation = function_.operations[static_cast<std::size_t>(place)];
  const WarpOperation exchange = draft_.program.of<WarpExchange>(operation.operation).operation;
  if (exchange != WarpOperation::shuffle_index)
    return exchange >= WarpOperation::vote_all && exchange != WarpOperation::match_any && exchange != WarpOperation::match_all;
  const Value clamp = operation.sources[2];
  return is_constant(clamp) && (draft_.constants[clamp].low & 0x1f1f) == warp_size - 1 &&
         is_uniform_source(place, operation.sources[1], depth);
}

bool Uniform::is_uniform_source(int reader, Value value, int depth) const {
  if (is_constant(value)) return true;
  ++depth;
  const std::pair place(reader, value);
  if (const auto known = answers_.find(place); known != answers_.end()) {
    if (depth <= known->second.uniform_up_to) return true;
    if (depth >= known->second.not_from) return false;
  }
  const bool uniform = is_uniform(reader, definitions_.find(reader, value), value, depth);
  Answer& answer = answers_[place];  // is_uniform() may have cleared all
  (uniform ? answer.uniform_up_to : answer.not_from) = depth;
  return uniform;
}

bool Uniform::is_uniform(int reader, int writer, Value value, int depth) const {
  if (is_constant(value)) return true;
  if (writer < 0 || depth > max_depth || leaves_loop(function_, writer, reader)) return false;
  const DraftOperation& operation = function_.operations[static_cast<std::size_t>(writer)];
  switch (operation.operation.semantics) {
    case Semantics::special: return std::ranges::find(common, draft_.program.of<SpecialRegister>(operation.operation)) != common.end();
    case Semantics::exchange: return is_uniform_exchange(writer, depth);
    case Semantics::load:
      if (draft_.program.of<Access>(operation.operation).space == Space::local) return false;
      [[fallthrough]];
    case Semantics::compute:
    case Semantics::select:
    case Semantics::address_space:
      return std::ranges::all_of(operation.sources, [&](Value source) { return is_uniform_source(writer, source, depth); });
    default: return false;
  }
}

void mark_uniform_shuffles(DraftFunction& function, ProgramDraft& draft) {
  const auto shuffles = [&](const DraftOperation& operation) {
    return operation.operation.semantics == Semantics::exchange && is_shuffle(draft.program.of<WarpExchange>(operation.operation));
  };
  if (std::ranges::none_of(function.operations, shuffles)) return;
  const Definitions definitions(function);
  const Uniform uniform(function, draft, definitions);
  for (int i = 0; i < static_cast<int>(function.operations.size()); ++i) {
    DraftOperation& operation = function.operations[static_cast<std::size_t>(i)];
    if (!shuffles(operation) || !uniform.at(i, operation.sources[0])) continue;
    if (operation.results.size() == 2 && is_read(function, definitions, i, operation.results[1])) continue;
    if (uniform.may_be_apart(i)) {
      const Doubt doubt{operation.operation.statement, Doubt::Why::shuffle};
      if (std::ranges::find(draft.program.doubted, doubt) == draft.program.doubted.end()) draft.program.doubted.push_back(doubt);
      continue;
    }
    WarpExchange exchange = draft.program.of<WarpExchange>(operation.operation);  // copies of a loop's round share it
    exchange.left_out = true;
    operation.operation.payload = draft.program.add(exchange);
  }
}

}  // namespace warpmat::code
