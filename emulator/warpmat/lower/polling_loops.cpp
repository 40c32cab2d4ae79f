#include <warpmat/lower/polling_loops.h>

#include <algorithm>
#include <vector>

#include <warpmat/lower/context.h>
#include <warpmat/lower/control_flow.h>
#include <warpmat/lower/value_set.h>

namespace warpmat::code {

using catalogue::Semantics;

namespace {

/// Whether the operation leaves memory, barriers of memory and other functions alone, so that a loop may repeat it while it waits.
bool only_looks(Semantics semantics) {
  switch (semantics) {
    case Semantics::select:
    case Semantics::special:
    case Semantics::load:
    case Semantics::branch:
    case Semantics::branch_table:
    case Semantics::return_:
    case Semantics::exit:
    case Semantics::trap:
    case Semantics::barrier:
    case Semantics::warp_barrier:
    case Semantics::exchange:
    case Semantics::active_mask:
    case Semantics::elect:
    case Semantics::fence:
    case Semantics::sleep:
    case Semantics::nothing: return true;
    default: return catalogue::computes(semantics);
  }
}

/// A natural loop: its blocks, which all lead back to `header`.
struct Loop {
  int header;
  std::vector<bool> blocks;
};

class LoopsOf {
 public:
  LoopsOf(Program& program, DraftFunction& function)
      : program_(program), function_(function), blocks_(find_blocks(function)), before_(predecessors(blocks_)) {}

  void mark() {
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      for (const int next : blocks_[b].next)
        if (next <= static_cast<int>(b)) mark(loop_of(static_cast<int>(b), next));
  }

 private:
  /// What leads from `header` back to it by the branch at the end of `last`.
  Loop loop_of(int last, int header) const {
    Loop loop{header, std::vector<bool>(blocks_.size())};
    loop.blocks[static_cast<std::size_t>(header)] = true;
    std::vector<int> open{last};
    while (!open.empty()) {
      const auto block = static_cast<std::size_t>(open.back());
      open.pop_back();
      if (loop.blocks[block]) continue;
      loop.blocks[block] = true;
      open.insert(open.end(), before_[block].begin(), before_[block].end());
    }
    return loop;
  }

  template <typename Visit>
  void for_each_operation(const Loop& loop, Visit visit) {
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      for (int i = blocks_[b].first; loop.blocks[b] && i < blocks_[b].last; ++i) visit(function_.operations[static_cast<std::size_t>(i)]);
  }

  bool may_leave(const Loop& loop, std::size_t block) const {
    return blocks_[block].leaves ||
           std::ranges::any_of(blocks_[block].next, [&](int next) { return !loop.blocks[static_cast<std::size_t>(next)]; });
  }

  /// The registers from which the loop computes whether it ends.
  ValueSet deciding(const Loop& loop) {
    ValueSet found(function_.registers.size());
    const auto add_reads = [&](const DraftOperation& operation) {
      bool any = false;
      for_each_read(operation, [&](Value value) {
        any = any || !found.contains(value);
        found.insert(value);
      });
      return any;
    };
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      if (loop.blocks[b] && may_leave(loop, b)) add_reads(function_.operations[static_cast<std::size_t>(blocks_[b].last) - 1]);
    for (bool changed = true; changed;) {
      changed = false;
      for_each_operation(loop, [&](const DraftOperation& operation) {
        if (std::ranges::any_of(operation.results, [&](Value value) { return found.contains(value); })) changed |= add_reads(operation);
      });
    }
    return found;
  }

  /// Whether one round leaves something to the next that decides whether the loop ends.
  bool counts(const Loop& loop, const ValueSet& deciding) {
    bool any = false;
    for_each_operation(loop, [&](const DraftOperation& operation) {
      for (const Value value : operation.results) any = any || (deciding.contains(value) && live().live_in(loop.header, value));
    });
    return any;
  }

  const Liveness& live() {
    if (live_.empty()) live_.emplace_back(function_, blocks_);
    return live_.front();
  }

  /// A weak load of memory that other blocks, kernels and the host may write.
  bool may_be_poll(const DraftOperation& operation) const {
    if (operation.operation.semantics != Semantics::load) return false;
    const auto& access = program_.of<LoadAccess>(operation.operation);
    return (access.space == Space::global || access.space == Space::generic) && !access.ordered && !access.relative;
  }

  void mark(const Loop& loop) {
    bool looks = true, loads = false;
    for_each_operation(loop, [&](const DraftOperation& operation) {
      looks = looks && only_looks(operation.operation.semantics);
      loads = loads || may_be_poll(operation);
    });
    if (!looks || !loads) return;
    const ValueSet decides = deciding(loop);
    if (counts(loop, decides)) return;
    for_each_operation(loop, [&](DraftOperation& operation) {
      if (!may_be_poll(operation)) return;
      if (std::ranges::none_of(operation.results, [&](Value value) { return decides.contains(value); })) return;
      LoadAccess polled = program_.of<LoadAccess>(operation.operation);
      polled.ordered = polled.polled = true;
      operation.operation.payload = program_.add(polled);
    });
  }

  Program& program_;
  DraftFunction& function_;
  std::vector<Block> blocks_;
  std::vector<std::vector<int>> before_;
  std::vector<Liveness> live_;  ///< made where a loop needs it
};

}  // namespace

void mark_polling_loops(ProgramDraft& draft) {
  for (DraftFunction& function : draft.functions) LoopsOf(draft.program, function).mark();
}

}  // namespace warpmat::code
