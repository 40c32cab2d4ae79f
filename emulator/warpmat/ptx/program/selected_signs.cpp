#include <warpmat/ptx/program/selected_signs.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <warpmat/ptx/program/arithmetic.h>
#include <warpmat/ptx/program/definitions.h>
#include <warpmat/ptx/program/rewrite.h>

namespace warpmat::code {

using catalogue::Name;
using catalogue::Qualifier;

namespace {

bool is_of_f32(const DraftOperation& operation) {
  return operation.match != nullptr && !operation.match->types.empty() && catalogue::is_number(*operation.match->types[0], Format::f32);
}

bool is_sign(const DraftOperation& operation) {
  constexpr std::array signs{Name::neg, Name::abs};
  return is_one_of(operation, signs) && is_of_f32(operation) && !operation.match->has(Qualifier::ftz);
}

bool is_selection(const DraftOperation& operation) {
  constexpr std::array selections{Name::selp, Name::slct};
  return is_one_of(operation, selections) && is_of_f32(operation);
}

/// Instructions of f32 that ptxas makes of several ones or of an integer's: they keep their guard, and no FSEL is made.
bool keeps_its_guard(const catalogue::Match& match) {
  constexpr std::array approximate{Name::div, Name::rcp, Name::sqrt, Name::rsqrt, Name::lg2, Name::ex2};
  if (match.is(Name::set) || match.is(Name::copysign) || (match.is(Name::div) && match.has(Qualifier::full))) return true;
  return match.has(Qualifier::approx) && !match.has(Qualifier::ftz) && std::ranges::find(approximate, match.name()) != approximate.end();
}

/// What is done to the sign of a number.
struct Sign {
  bool cleared = false, turned = false;  ///< in this order
};

class SelectedSigns {
 public:
  SelectedSigns(DraftFunction& function, ProgramDraft& draft) : function_(function), draft_(draft), definitions_(function) {}

  void run() {
    for (int i = 0; i < count(); ++i) find(i);
    if (!selected_.empty()) rebuild();
  }

 private:
  /// A value whose sign is changed: what the first of the functions reads.
  struct Changed {
    int function = 0;  ///< the first neg or abs
    Sign sign;
  };
  struct Selected {
    std::map<std::size_t, Changed> sources;  ///< by operand
    std::optional<Changed> result, before;   ///< of a guarded neg or abs; of a register that the operation overwrites
  };

  int count() const { return static_cast<int>(function_.operations.size()); }
  const DraftOperation& at(int i) const { return function_.operations[static_cast<std::size_t>(i)]; }

  void find(int i) {
    const DraftOperation& operation = at(i);
    Selected selected;
    if (selects(operation))
      for (std::size_t k = 0; k < 2; ++k)
        if (const auto changed = changed_before(i, operation.sources[k])) selected.sources[k] = *changed;
    if (operation.operation.guarded && is_sign(operation)) selected.result = changed_by(i);
    if (operation.operation.guarded && is_computed_number(operation)) selected.before = changed_before(i, operation.results[0]);
    if (is_in_doubt(i, selected)) draft_.program.doubted.push_back({operation.operation.statement, Doubt::Why::sign});
    if (!selected.sources.empty() || selected.result || selected.before) selected_[i] = std::move(selected);
  }

  /// Whether a neg or abs may have written what the operation selects, or what it overwrites and keeps where its guard does not hold, and a
  /// loop's next round brings that or another value.
  bool is_in_doubt(int i, const Selected& selected) const {
    const DraftOperation& operation = at(i);
    if (selects(operation))
      for (std::size_t k = 0; k < 2; ++k)
        if (!selected.sources.contains(k) && may_be_changed_in_loop(i, operation.sources[k])) return true;
    return operation.operation.guarded && is_computed_number(operation) && !selected.before &&
           may_be_changed_in_loop(i, operation.results[0]);
  }

  bool may_be_changed_in_loop(int i, Value value) const {
    std::vector<std::pair<int, Value>> open{{i, value}};
    std::vector<int> seen;
    bool sign = false, carried = false;
    while (!open.empty()) {
      const auto [reader, read] = open.back();
      open.pop_back();
      if (is_constant(read)) continue;
      for (const int writer : definitions_.find_all(reader, read)) {
        if (std::ranges::find(seen, writer) != seen.end()) continue;
        seen.push_back(writer);
        sign |= is_sign(at(writer));
        carried |= writer >= reader;
        if (is_move(at(writer))) open.emplace_back(writer, at(writer).sources[0]);
      }
    }
    return sign && carried;
  }

  /// Of one register twice ptxas makes no selection.
  static bool selects(const DraftOperation& operation) { return is_selection(operation) && operation.sources[0] != operation.sources[1]; }

  /// Whether ptxas computes the guarded operation in all lanes and selects its result.
  bool is_computed_number(const DraftOperation& operation) const {
    if (is_selection(operation)) return true;
    if (operation.operation.semantics != catalogue::Semantics::compute || operation.results.size() != 1) return false;
    return is_of_f32(operation) && !keeps_its_guard(*operation.match);
  }

  /// What the neg or abs at `i` does, together with those that it reads.
  Changed changed_by(int i) const {
    Changed changed = changed_before(i, at(i).sources[0]).value_or(Changed{i, {}});
    if (is_of(at(i), Name::abs))
      changed.sign = {true, false};
    else
      changed.sign.turned = !changed.sign.turned;
    return changed;
  }

  /// The same of the function that wrote what operation `i` reads as `value`.
  std::optional<Changed> changed_before(int i, Value value) const {
    const int found = definitions_.find_behind_moves(i, value);
    if (found < 0 || !is_sign(at(found))) return {};
    return changed_by(found);
  }

  void rebuild() {
    for (const auto& [i, selected] : selected_) {
      for (const auto& [k, changed] : selected.sources) keep(changed);
      if (selected.result) keep(*selected.result);
      if (selected.before) keep(*selected.before);
    }
    Rewrite rewrite(function_);
    for (int i = 0; i < count(); ++i) {
      rewrite.come_to(i);
      if (const auto kept = kept_.find(i); kept != kept_.end())
        rewrite.out.push_back(draft_.make("mov.b32", {kept->second}, {at(i).sources[0]}, at(i)));
      const auto selected = selected_.find(i);
      if (selected == selected_.end())
        rewrite.out.push_back(at(i));
      else
        replace(at(i), selected->second, rewrite.out);
    }
    rewrite.finish();
  }

  /// The number before its sign is changed gets a register of its own.
  void keep(const Changed& changed) {
    if (!kept_.contains(changed.function)) kept_[changed.function] = new_word();
  }

  Value new_word() { return new_register(function_, {RegisterClass::word, 32}); }

  void replace(DraftOperation operation, const Selected& selected, std::vector<DraftOperation>& out) {
    for (const auto& [k, changed] : selected.sources) {
      operation.sources[k] = new_word();
      change(changed, operation.sources[k], operation, out);
    }
    if (selected.before) change(*selected.before, operation.results[0], operation, out);
    if (selected.result) {
      const Value result = new_word();
      change(*selected.result, result, operation, out);
      DraftOperation move = draft_.make("mov.b32", {operation.results[0]}, {result}, operation);
      take_guard(move, operation);
      operation = std::move(move);
    }
    draft_.program.folded.push_back({operation.operation.statement, Folded::Kind::selected, 0, true});
    out.push_back(std::move(operation));
  }

  void change(const Changed& changed, Value to, const DraftOperation& like, std::vector<DraftOperation>& out) {
    constexpr std::uint32_t bit = 0x80000000;
    const auto word = [&](std::uint32_t bits) { return draft_.constants.add(RegisterClass::word, bits); };
    const Value from = kept_.at(changed.function);
    const auto& [cleared, turned] = changed.sign;
    if (!cleared)
      out.push_back(turned ? draft_.make("xor.b32", {to}, {from, word(bit)}, like) : draft_.make("mov.b32", {to}, {from}, like));
    else
      out.push_back(turned ? draft_.make("or.b32", {to}, {from, word(bit)}, like) : draft_.make("and.b32", {to}, {from, word(~bit)}, like));
  }

  DraftFunction& function_;
  ProgramDraft& draft_;
  Definitions definitions_;
  std::map<int, Selected> selected_;  ///< by operation
  std::map<int, Value> kept_;         ///< by function
};

}  // namespace

void select_signs(DraftFunction& function, ProgramDraft& draft) {
  if (std::ranges::any_of(function.operations, is_sign)) SelectedSigns(function, draft).run();
}

}  // namespace warpmat::code
