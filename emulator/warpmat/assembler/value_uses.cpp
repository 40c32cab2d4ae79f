#include <warpmat/assembler/value_uses.h>

#include <algorithm>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Name;
using catalogue::Semantics;

namespace {

/// Whether nothing but its results tells that the operation was executed.
bool is_removable(const DraftOperation& draft) {
  return catalogue::computes(draft.operation.semantics) && !draft.results.empty();
}

bool is_word_integer(const Match& match) {
  return catalogue::is_integer_of(*match.types[0], 32);
}

/// Statements that ptxas makes calls, which remain where nothing needs their results. Of each statement of
/// tests/vectors/ptxas_13.0_machine.tsv.gz, and of each scalar mnemonic, ptxas 13.0 assembled a kernel for sm_90a with a product, its sum,
/// the statement and another sum: so also begins_new_block().
bool is_call(const Match& match) {
  switch (match.name()) {
    case Name::div: return !match.has(".approx") && !match.has(".full") && !is_word_integer(match);
    case Name::rem: return !is_word_integer(match);
    case Name::rcp:
    case Name::sqrt: return !match.has(".approx");
    case Name::rsqrt: return catalogue::is_number(*match.types[0], Format::f64) && !match.has(".ftz");
    default: return false;
  }
}

/// Other statements behind which ptxas begins a new block, since it makes branches of them, or for no visible reason.
bool begins_new_block(const Match& match) {
  switch (match.name()) {
    case Name::div:
    case Name::rem: return is_word_integer(match) && match.types[0]->is_signed;
    case Name::bfind: return !is_word_integer(match);
    case Name::membar: return !match.has(".proxy");
    case Name::fence: return !match.has(".proxy") && !match.has(".acquire") && !match.has(".release");
    case Name::createpolicy: return match.has(".range");
    case Name::griddepcontrol: return match.has(".launch_dependents");
    case Name::setmaxnreg:
    case Name::pmevent:
    case Name::brkpt: return true;
    default: return false;
  }
}

/// Whether ptxas branches around the guarded operation. Arithmetic it computes in all lanes, and selects; but not what writes a carry.
bool is_branched_around(const DraftOperation& draft, const Match* match) {
  if (!draft.operation.guarded || draft.operation.semantics == Semantics::branch) return false;
  return !catalogue::computes(draft.operation.semantics) || (match != nullptr && match->has(".cc"));
}

bool may_leave(const DraftOperation& draft) {
  return draft.operation.guarded && catalogue::has(draft.operation.semantics, catalogue::fact::leaves);
}

}  // namespace

ValueUses::ValueUses(const DraftFunction& function, const ProgramDraft& draft)
    : function_(function),
      calls_(function.operations.size()),
      ends_(function.operations.size()),
      blocks_(find_blocks(function, &find_ends(draft))),
      live_in_(blocks_.size(), ValueSet(function.registers.size())),
      needed_(function.operations.size()),
      uses_(function.operations.size()),
      last_(function.registers.size(), -1),
      region_(function.operations.size(), -1) {
  std::size_t sources = 0;
  for (const DraftOperation& operation : function.operations) {
    first_source_.push_back(sources);
    sources += operation.sources.size();
  }
  writers_.assign(sources, -1);
  find_needed(false);
  effective_ = needed_;
  needed_.assign(function.operations.size(), false);
  live_in_.assign(blocks_.size(), ValueSet(function.registers.size()));
  find_needed(true);
  drop_empty_blocks();
  join_blocks();
}

/// The operations of calls, and the last operations of statements that end a region. Returns the latter.
const ValueUses::Bits& ValueUses::find_ends(const ProgramDraft& draft) {
  struct Place {
    bool known = false, calls = false, ends = false;
  };
  std::vector<Place> statements(draft.program.statements.size());
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    const DraftOperation& operation = function_.operations[i];
    const std::uint32_t statement = operation.operation.statement;
    const Match* const match = draft.match_of_statement(statement);
    Place& place = statements[statement];
    if (!place.known && match != nullptr) place = {true, is_call(*match), begins_new_block(*match)};
    const bool is_last = i + 1 == ends_.size() || function_.operations[i + 1].operation.statement != statement;
    calls_[i] = place.calls;
    ends_[i] = is_last && (place.calls || place.ends || is_branched_around(operation, match));
  }
  return ends_;
}

int ValueUses::writer(int operation, int operand) const {
  const auto index = static_cast<std::size_t>(operation);
  const std::size_t sources = function_.operations[index].sources.size();
  return operand < static_cast<int>(sources) ? writers_[first_source_[index] + static_cast<std::size_t>(operand)] : -1;
}

/// Marks what stores and the like, and perhaps `branches`, need, directly or not. A value that only a loop's next round of itself needs is
/// not needed.
void ValueUses::find_needed(bool branches) {
  const std::vector<std::vector<int>> before = predecessors(blocks_);
  Bits stale(blocks_.size(), true);  // blocks behind which more is needed than when they were walked
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = blocks_.size(); b-- > 0;) {
      if (!stale[b]) continue;
      stale[b] = false;
      ValueSet live(function_.registers.size());
      for (const int next : blocks_[b].next) live.insert(live_in_[static_cast<std::size_t>(next)]);
      if (!walk_block(b, std::move(live), branches)) continue;
      for (const int previous : before[b]) stale[static_cast<std::size_t>(previous)] = true;
      changed = true;
    }
  }
}

/// Goes from the end of the block, where `live` are needed, to its begin. Whether more than before is needed there.
bool ValueUses::walk_block(std::size_t block, ValueSet live, bool branches) {
  for (int i = blocks_[block].last; i-- > blocks_[block].first;) {
    const DraftOperation& draft = function_.operations[static_cast<std::size_t>(i)];
    const bool needed = calls_[static_cast<std::size_t>(i)] || !is_removable(draft) ||
                        std::ranges::any_of(draft.results, [&](Value value) { return live.contains(value); });
    if (!needed || (!branches && draft.operation.semantics == Semantics::branch)) continue;
    needed_[static_cast<std::size_t>(i)] = true;
    if (!draft.operation.guarded)
      for (const Value value : draft.results) live.erase(value);
    for_each_read(draft, [&](Value value) { live.insert(value); });
  }
  if (live == live_in_[block]) return false;
  live_in_[block] = std::move(live);
  return true;
}

bool ValueUses::is_empty(int block) const {
  const Block& range = blocks_[static_cast<std::size_t>(block)];
  for (int i = range.first; i < range.last; ++i)
    if (effective_[static_cast<std::size_t>(i)]) return false;
  return true;
}

/// Leads edges past blocks that do nothing but count rounds and decide branches, and drops loops of a single such block.
void ValueUses::drop_empty_blocks() {
  for (std::size_t round = 0, changed = 1; changed != 0 && round < blocks_.size(); ++round) {
    changed = 0;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const int self = static_cast<int>(b);
      std::vector<int> next;
      for (const int to : blocks_[b].next) {
        if (to == self && blocks_[b].next.size() > 1 && is_empty(self)) continue;
        const std::vector<int>& beyond = blocks_[static_cast<std::size_t>(to)].next;
        const int target = to != self && beyond.size() == 1 && beyond[0] != to && is_empty(to) ? beyond[0] : to;
        if (std::ranges::find(next, target) == next.end()) next.push_back(target);
      }
      std::ranges::sort(next);
      if (next == blocks_[b].next) continue;
      blocks_[b].next = std::move(next);
      changed = 1;
    }
  }
}

void ValueUses::join_blocks() {
  std::vector<int> before(blocks_.size());
  std::vector<bool> reached(blocks_.size());
  std::vector<int> open{0};
  if (!blocks_.empty()) reached[0] = true;
  while (!open.empty() && !blocks_.empty()) {
    const int block = open.back();
    open.pop_back();
    for (const int next : blocks_[static_cast<std::size_t>(block)].next) {
      ++before[static_cast<std::size_t>(next)];
      if (!reached[static_cast<std::size_t>(next)]) open.push_back(next);
      reached[static_cast<std::size_t>(next)] = true;
    }
  }
  const auto follower = [&](int block) {  // the block that always follows, and only this one
    const Block& range = blocks_[static_cast<std::size_t>(block)];
    const int last = range.last - 1;
    const bool leaves = range.last > range.first && (may_leave(function_.operations[static_cast<std::size_t>(last)]) || ends_region(last));
    if (range.next.size() != 1 || leaves || range.next[0] == 0 || before[static_cast<std::size_t>(range.next[0])] != 1) return -1;
    return range.next[0];
  };
  std::vector<bool> follows(blocks_.size());
  for (int b = 0; b < static_cast<int>(blocks_.size()); ++b)
    if (reached[static_cast<std::size_t>(b)] && follower(b) >= 0) follows[static_cast<std::size_t>(follower(b))] = true;
  for (int b = 0; b < static_cast<int>(blocks_.size()); ++b) {
    if (!reached[static_cast<std::size_t>(b)] || follows[static_cast<std::size_t>(b)]) continue;
    std::vector<int> blocks;
    for (int next = b; next >= 0; next = follower(next)) blocks.push_back(next);
    link(blocks);
  }
}

/// Records the writers and readers of the values of a region.
void ValueUses::link(const std::vector<int>& blocks) {
  std::vector<int> operations;
  std::vector<Value> written;
  const auto use = [&](Value value, int operation, int operand) {
    const int writer = is_constant(value) ? -1 : last_[static_cast<std::size_t>(value)];
    if (writer >= 0) uses_[static_cast<std::size_t>(writer)].push_back({operation, operand});
    return writer;
  };
  for (const int block : blocks) {
    for (int i = blocks_[static_cast<std::size_t>(block)].first; i < blocks_[static_cast<std::size_t>(block)].last; ++i) {
      const auto index = static_cast<std::size_t>(i);
      if (!needed_[index]) continue;
      const DraftOperation& draft = function_.operations[index];
      for (std::size_t s = 0; s < draft.sources.size(); ++s)
        writers_[first_source_[index] + s] = use(draft.sources[s], i, static_cast<int>(s));
      for (const Value value : draft.keeps) use(value, i, -1);
      if (draft.operation.guarded)
        for (const Value value : draft.results) use(value, i, -1);
      for (const Value value : draft.results) {
        int& last = last_[static_cast<std::size_t>(value)];
        if (last < 0) written.push_back(value);
        last = i;
      }
      region_[index] = static_cast<int>(regions_.size());
      operations.push_back(i);
    }
  }
  ValueSet behind(function_.registers.size());
  for (const int next : blocks_[static_cast<std::size_t>(blocks.back())].next) behind.insert(live_in_[static_cast<std::size_t>(next)]);
  for (const Value value : written) {
    int& last = last_[static_cast<std::size_t>(value)];
    if (behind.contains(value)) uses_[static_cast<std::size_t>(last)].push_back({-1, -1});
    last = -1;
  }
  regions_.push_back(std::move(operations));
}

}  // namespace warpmat::code
