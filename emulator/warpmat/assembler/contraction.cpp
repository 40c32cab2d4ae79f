#include <warpmat/assembler/contraction.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include <warpmat/assembler/contraction_by_code.h>
#include <warpmat/assembler/contraction_rule.h>
#include <warpmat/assembler/quotient.h>
#include <warpmat/assembler/sums.h>
#include <warpmat/lower/rewrite.h>

namespace warpmat::code {

namespace {

/// Writes fused sums as fma, and removes products without readers.
class FmaWriter {
 public:
  FmaWriter(DraftFunction& function, ProgramDraft& draft, const Sums& sums, const FusedSums& fused)
      : function_(function), draft_(draft), sums_(sums), fused_(fused), writers_(function.registers.size()), labels_(function.labels) {
    for (int i = 0; i < sums.size(); ++i)
      for (const Value value : sums.at(i).results) writers_[static_cast<std::size_t>(value)].push_back(i);
    std::ranges::sort(labels_);
  }

  void run() {
    find_copies();
    Rewrite rewrite(function_);
    for (int i = 0; i < sums_.size(); ++i) {
      rewrite.come_to(i);
      for (const Value source : sums_.at(i).sources)
        if (const auto copy = copies_.find({i, source}); copy != copies_.end()) {
          const RegisterClass c = function_.registers[static_cast<std::size_t>(source)].register_class;
          const bool half = function_.registers[static_cast<std::size_t>(source)].bits == 16;
          rewrite.out.push_back(draft_.make(c == RegisterClass::wide ? "mov.b64"
                                            : half                   ? "mov.b16"
                                                                     : "mov.b32",
                                            {copy->second}, {source}, sums_.at(i)));
        }
      const auto replacement = fused_.find(i);
      if (replacement == fused_.end()) {
        rewrite.out.push_back(sums_.at(i));
      } else {
        emit_fused(i, replacement->second, rewrite.out);
      }
    }
    rewrite.finish();
    remove_dead_products();
  }

 private:
  /// Whether a factor may be read at the sum as it was at the product: nothing in between writes it, and no other block can.
  bool unchanged(Value value, int from, int to) const {
    const std::vector<int>& writers = writers_[static_cast<std::size_t>(value)];
    const auto between = [&](const std::vector<int>& places, int first, int end) {
      const auto found = std::ranges::lower_bound(places, first);
      return found != places.end() && *found < end;
    };
    if (between(writers, from, to)) return false;
    return (from < to && !between(labels_, from + 1, to + 1)) || writers.size() <= 1;
  }

  Value register_for(Value value) {
    return is_constant(value) ? code::new_register(function_, {draft_.constants[value].register_class, 0})
                              : new_register_like(function_, value);
  }

  /// a*b + c with the signs from neg and sub.
  void emit_fused(int sum, const FusedProduct& use, std::vector<DraftOperation>& out) {
    const int mul = use.mul;
    const DraftOperation& add = sums_.at(sum);
    const Arithmetic& arithmetic = *sums_.kind(sum);
    const std::string type = "." + std::string(arithmetic.type.number->name);
    std::array<Value, 2> factors{factor_at(mul, 0), factor_at(mul, 1)};
    if (sums_.kind(mul)->kind != Arithmetic::Kind::mul) add_quotient_steps(function_, draft_, *sums_.kind(mul), factors, add, out);
    Value addend = add.sources[1 - use.operand];
    const bool subtracts = arithmetic.kind == Arithmetic::Kind::sub;
    const auto negate = [&](Value& value) {
      const Value negative = register_for(value);
      out.push_back(draft_.make("neg" + type, {negative}, {value}, add));
      value = negative;
    };
    if (use.negated != (subtracts && use.operand == 1)) negate(factors[0]);
    if (subtracts && use.operand == 0) negate(addend);
    const std::string opcode = fmt::format("fma.rn{}{}{}", arithmetic.type.flushes ? ".ftz" : "", arithmetic.saturates ? ".sat" : "", type);
    DraftOperation fused = draft_.make(opcode, add.results, {factors[0], factors[1], addend}, add);
    take_guard(fused, add);
    out.push_back(std::move(fused));
    draft_.program.contracted.push_back(add.operation.statement);
  }

  Value factor_at(int mul, std::size_t source) const {
    const Value factor = sums_.at(mul).sources[source];
    const auto copy = copies_.find({mul, factor});
    return copy == copies_.end() ? factor : copy->second;
  }

  /// Factors that are overwritten between a product and its add need copies.
  void find_copies() {
    for (const auto& [user, replacement] : fused_)
      for (const Value factor : sums_.at(replacement.mul).sources)
        if (!is_constant(factor) && !unchanged(factor, replacement.mul, user) && !copies_.contains({replacement.mul, factor}))
          copies_[{replacement.mul, factor}] = register_for(factor);
  }

  /// Removes products without readers.
  void remove_dead_products() {
    std::vector<int> uses(function_.registers.size());
    for (const DraftOperation& operation : function_.operations)
      for_each_read(operation, [&](Value value) { ++uses[static_cast<std::size_t>(value)]; });
    Rewrite rewrite(function_);
    for (int i = 0; i < static_cast<int>(function_.operations.size()); ++i) {
      rewrite.come_to(i);
      DraftOperation& operation = function_.operations[static_cast<std::size_t>(i)];
      const Arithmetic* const arithmetic = classify_arithmetic(operation, draft_);
      const bool product =
          arithmetic != nullptr && !operation.operation.guarded && !arithmetic->adds() && arithmetic->kind != Arithmetic::Kind::mov;
      if (product && uses[static_cast<std::size_t>(operation.results[0])] == 0) continue;
      rewrite.out.push_back(std::move(operation));
    }
    rewrite.finish();
  }

  DraftFunction& function_;
  ProgramDraft& draft_;
  const Sums& sums_;
  const FusedSums& fused_;
  std::vector<std::vector<int>> writers_;          ///< by register
  std::vector<int> labels_;                        ///< their places, in order
  std::map<std::pair<int, Value>, Value> copies_;  ///< by product and factor
};

/// Whether the function has a product that a sum may take in, or a neg may read: without one there is nothing to fuse and nothing to doubt.
bool may_contract(const DraftFunction& function, ProgramDraft& draft) {
  bool products = false, readers = false;
  for (const DraftOperation& operation : function.operations) {
    const Arithmetic* const arithmetic = classify_arithmetic(operation, draft);
    if (arithmetic == nullptr) continue;
    products |= arithmetic->multiplies();
    readers |= arithmetic->adds() || arithmetic->kind == Arithmetic::Kind::neg;
    if (products && readers) return true;
  }
  return false;
}

}  // namespace

void contract(DraftFunction& function, ProgramDraft& draft, const AssemblerDecisions* decisions) {
  if (!may_contract(function, draft)) return;
  const Sums sums(function, draft);
  FusedSums fused = fused_by_rule(sums, draft);
  if (decisions != nullptr)
    fused = fused_by_code(sums, draft, *decisions, std::move(fused));
  else
    note_doubted_sums(sums, draft);
  if (!fused.empty()) FmaWriter(function, draft, sums, fused).run();
}

}  // namespace warpmat::code
