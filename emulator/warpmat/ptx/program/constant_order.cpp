#include <warpmat/ptx/program/constant_order.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <warpmat/ptx/program/folding_rules.h>
#include <warpmat/ptx/program/rewrite.h>
#include <warpmat/text.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Name;
using catalogue::Qualifier;

namespace {

/// Puts the constants of f64 instructions where ptxas has them.
class Ordering {
 public:
  explicit Ordering(ProgramDraft& draft) : draft_(draft) {}

  void run(DraftFunction& function) {
    if (std::ranges::none_of(function.operations, [&](const DraftOperation& operation) { return is_f64(operation); })) return;
    function_ = &function;
    Rewrite rewrite(function);
    for (int i = 0; i < static_cast<int>(function.operations.size()); ++i) {
      rewrite.come_to(i);
      DraftOperation& operation = function.operations[static_cast<std::size_t>(i)];
      if (is_f64(operation)) order(operation, rewrite.out);
      rewrite.out.push_back(std::move(operation));
    }
    rewrite.finish();
  }

 private:
  std::uint64_t bits(Value value) const { return draft_.constants[value].low; }
  Value negative(Value value) { return draft_.constants.add(RegisterClass::wide, bits(value) ^ f64_sign); }

  static bool is_f64(const DraftOperation& operation) {
    if (operation.match == nullptr || operation.sources.size() < 2) return false;
    const auto& types = operation.match->types;
    return types.size() == 1 && catalogue::is_number(*types[0], Format::f64);
  }

  void set_opcode(DraftOperation& operation, const std::string& opcode) { draft_.set_function(*draft_.find_match(opcode), operation); }

  void order(DraftOperation& operation, std::vector<DraftOperation>& out) {
    match_ = operation.match;
    Value &first = operation.sources[0], &second = operation.sources[1];
    if (match_->is(Name::sub)) return subtract(operation, out);
    if (!match_->has_trait(catalogue::trait::commutes)) return;
    const bool nearest = !match_->has(Qualifier::rz) && !match_->has(Qualifier::rm) && !match_->has(Qualifier::rp);
    const bool product = match_->is(Name::mul);
    if (product && nearest) take_sign(first, second);
    if (changes_places(first, second)) std::swap(first, second);
    if (product && !nearest && is_constant(second) && low_word(second) != 0) take_sign(first, second);
  }

  /// Of two constants whose second one is negative both signs turn.
  void take_sign(Value& first, Value& second) {
    if (!is_constant(first) || !is_constant(second) || (bits(second) & f64_sign) == 0) return;
    first = negative(first);
    second = negative(second);
  }

  std::uint32_t low_word(Value value) const { return static_cast<std::uint32_t>(bits(value)); }
  /// A zero is a register and comes first; what has no low bits fits the instruction, in its second place.
  int rank(Value value) const { return bits(value) == 0 ? 0 : low_word(value) == 0 ? 2 : 1; }

  bool changes_places(Value first, Value second) const {
    if (!is_constant(first)) return is_constant(second) && rank(second) == 0;
    if (!is_constant(second)) return rank(first) != 0;
    return std::pair(rank(first), bits(first)) > std::pair(rank(second), bits(second));
  }

  /// A difference is the sum with the negative, which turns a constant NaN's sign too, and no other's.
  void subtract(DraftOperation& operation, std::vector<DraftOperation>& out) {
    Value &first = operation.sources[0], &second = operation.sources[1];
    if (!is_constant(second) && (!is_constant(first) || rank(first) == 0)) return;
    set_opcode(operation, "add" + joined(match_->qualifiers, ""));
    if (is_constant(second)) {
      second = negative(second);
      if (changes_places(first, second)) std::swap(first, second);
      return;
    }
    DraftOperation turned;
    set_opcode(turned, "neg.f64");
    turned.operation.statement = operation.operation.statement;
    turned.results = {new_register(*function_, {RegisterClass::wide, 64})};
    turned.sources = {second};
    second = first;
    first = turned.results[0];
    out.push_back(std::move(turned));
  }

  ProgramDraft& draft_;
  DraftFunction* function_ = nullptr;
  const Match* match_ = nullptr;
};

}  // namespace

void order_constants(DraftFunction& function, ProgramDraft& draft) {
  Ordering(draft).run(function);
}

}  // namespace warpmat::code
