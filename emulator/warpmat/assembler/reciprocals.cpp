#include <warpmat/assembler/reciprocals.h>

#include <algorithm>
#include <map>
#include <vector>

#include <warpmat/assembler/readers.h>
#include <warpmat/lower/arithmetic.h>
#include <warpmat/lower/definitions.h>
#include <warpmat/lower/rewrite.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Name;

namespace {

/// Whether it is that function with .approx.ftz.f32.
bool is_flushing(const DraftOperation& operation, Name name) {
  return is_of(operation, name) && operation.match->has(".approx") && operation.match->has(".ftz") &&
         catalogue::is_number(*operation.match->types.back(), Format::f32);
}

class Reciprocals {
 public:
  Reciprocals(DraftFunction& function, ProgramDraft& draft)
      : function_(function), draft_(draft), definitions_(function), readers_(function, definitions_) {}

  void run() {
    for (int i = 0; i < count(); ++i)
      if (const int inner = inner_of(i); inner >= 0) inner_[i] = inner;
    if (!inner_.empty()) rebuild();
  }

 private:
  int count() const { return static_cast<int>(function_.operations.size()); }
  const DraftOperation& at(int i) const { return function_.operations[static_cast<std::size_t>(i)]; }

  /// The rcp or ex2 that operation `i` undoes, or -1.
  int inner_of(int i) const {
    if (!may_undo(at(i)) || is_constant(at(i).sources.back())) return -1;
    const int inner = definitions_.find_behind_moves(i, at(i).sources.back());
    if (inner < 0) return -1;
    if (!may_be_undone(at(inner)) || is_constant(at(inner).sources[0])) return -1;
    if (is_flushing(at(inner), Name::ex2) && !readers_.is_only_reader(i, inner)) return -1;
    return leaves_loop(function_, inner, i) && is_merged(inner) ? -1 : inner;
  }

  /// Whether an operation reads the result of `written` or another value, whichever is there.
  bool is_merged(int written) const {
    const Value value = at(written).results[0];
    for (int i = 0; i < count(); ++i) {
      bool found = false;
      for_each_read(at(i), [&](Value read) { found |= read == value && definitions_.find(i, value) < 0; });
      if (found) return true;
    }
    return false;
  }

  void rebuild() {
    std::map<int, Value> kept;  // by inner function: a register with what is left of both
    for (const auto& [outer, inner] : inner_)
      if (!kept.contains(inner)) kept[inner] = new_register_like(function_, at(inner).results[0]);
    Rewrite rewrite(function_);
    for (int i = 0; i < count(); ++i) {
      rewrite.come_to(i);
      if (const auto copy = kept.find(i); copy != kept.end()) keep(copy->second, at(i), rewrite.out);
      const auto inner = inner_.find(i);
      rewrite.out.push_back(inner == inner_.end() ? at(i) : replaced(at(i), kept.at(inner->second)));
    }
    rewrite.finish();
  }

  /// Before the inner function: its operand, or the power of the negative.
  void keep(Value to, const DraftOperation& inner, std::vector<DraftOperation>& out) {
    const bool of_power = is_flushing(inner, Name::ex2);
    out.push_back(draft_.make(of_power ? "neg.f32" : "mov.f32", {to}, {inner.sources[0]}, inner));
    if (of_power) out.push_back(draft_.make("ex2.approx.ftz.f32", {to}, {to}, inner));
  }

  /// What stands in place of the outer function.
  DraftOperation replaced(const DraftOperation& outer, Value kept) {
    const bool divides = outer.match->is(Name::div);
    DraftOperation operation = divides ? draft_.make("mul.ftz.f32", outer.results, {outer.sources[0], kept}, outer)
                                       : draft_.make("mov.f32", outer.results, {kept}, outer);
    take_guard(operation, outer);
    draft_.program.folded.push_back({outer.operation.statement, Folded::Kind::inverted, 0});
    return operation;
  }

  DraftFunction& function_;
  ProgramDraft& draft_;
  Definitions definitions_;
  Readers readers_;
  std::map<int, int> inner_;  ///< by outer function
};

}  // namespace

bool may_undo(const DraftOperation& operation) {
  return is_flushing(operation, Name::rcp) || is_flushing(operation, Name::div);
}

bool may_be_undone(const DraftOperation& operation) {
  return is_flushing(operation, Name::rcp) || is_flushing(operation, Name::ex2);
}

void remove_reciprocals(DraftFunction& function, ProgramDraft& draft) {
  if (std::ranges::any_of(function.operations, may_undo)) Reciprocals(function, draft).run();
}

}  // namespace warpmat::code
