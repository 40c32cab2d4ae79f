#include <warpmat/ptx/program/sum_copies.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include <warpmat/ptx/program/arithmetic.h>
#include <warpmat/ptx/program/definitions.h>
#include <warpmat/ptx/program/rewrite.h>

namespace warpmat::code {

namespace {

/// Behind which a sum is looked for: what ptxas makes operands of the reader, as the factors of a product that is fused.
constexpr std::array parts_of_readers{catalogue::Name::mov, catalogue::Name::neg, catalogue::Name::abs, catalogue::Name::mul};

class SumCopies {
 public:
  SumCopies(DraftFunction& function, ProgramDraft& draft, const std::vector<SumInCode>& code)
      : function_(function), draft_(draft), code_(code), definitions_(function) {}

  std::vector<Value> run() {
    for (int i = 0; i < size(); ++i)
      if (const SumInCode* sum = computed_twice(i)) lead_readers(i, *sum);
    if (!copies_.empty()) rebuild();
    return fused_;
  }

 private:
  int size() const { return static_cast<int>(function_.operations.size()); }
  const DraftOperation& at(int i) const { return function_.operations[static_cast<std::size_t>(i)]; }
  std::pair<int, int> place(int i) const {
    const Location location = draft_.program.statements[at(i).operation.statement]->location;
    return {location.line, location.column};
  }

  /// Not copies of rounds, which the rule tells from each other.
  const SumInCode* computed_twice(int i) const {
    const auto same = [&](const DraftOperation& other) { return other.operation.statement == at(i).operation.statement; };
    if (std::ranges::count_if(function_.operations, same) != 1) return nullptr;
    const auto found =
        std::ranges::find_if(code_, [&](const SumInCode& sum) { return sum.is_twice() && std::pair(sum.line, sum.column) == place(i); });
    return found != code_.end() && at(i).results.size() == 1 && at(i).sources.size() == 2 ? &*found : nullptr;
  }

  bool is_part(int i) const { return at(i).results.size() == 1 && is_one_of(at(i), parts_of_readers); }

  /// Whether operation `i` may read what `writer` writes, as its source `value`.
  bool may_read(int i, Value value, int writer) const {
    if (std::ranges::find(at(i).sources, value) == at(i).sources.end()) return false;
    const std::vector<int> found = definitions_.find_all(i, value);
    return std::ranges::find(found, writer) != found.end();
  }

  /// Whether `i` is a statement that reads the fma, or what such a one reads as a part of it.
  bool reads_fma(int i, const SumInCode& sum, int depth = 0) const {
    constexpr int deepest = 4;
    if (std::ranges::find(sum.fused_for, place(i)) != sum.fused_for.end()) return true;
    if (!is_part(i) || depth == deepest) return false;
    for (int reader = 0; reader < size(); ++reader)
      if (may_read(reader, at(i).results[0], i) && reads_fma(reader, sum, depth + 1)) return true;
    return false;
  }

  /// Notes the sources of operations that are the copy.
  void lead_readers(int writer, const SumInCode& sum) {
    const Value value = at(writer).results[0];
    for (int i = 0; i < size(); ++i) {
      if (!may_read(i, value, writer)) continue;
      const bool other = std::ranges::find(sum.fused_for_other, place(i)) != sum.fused_for_other.end() && computed_twice(i) != nullptr;
      if (!other && !reads_fma(i, sum)) continue;
      if (!copies_.contains(value)) copies_[value] = new_register_like(function_, value);
      (other ? led_again_ : led_).emplace_back(i, value);
    }
    if (copies_.contains(value)) copied_.push_back(writer);
  }

  /// The sum again in front of it, and behind each operation that writes a copied register a move to the copy.
  void rebuild() {
    for (const auto& [reader, value] : led_)
      std::ranges::replace(function_.operations[static_cast<std::size_t>(reader)].sources, value, copies_.at(value));
    Rewrite rewrite(function_);
    for (int i = 0; i < size(); ++i) {
      rewrite.come_to(i);
      const DraftOperation operation = at(i);
      std::optional<Value> fused;
      if (std::ranges::find(copied_, i) != copied_.end()) {
        DraftOperation again = operation;
        again.results[0] = *(fused = new_register_like(function_, operation.results[0]));
        for (const auto& [reader, value] : led_again_)
          if (reader == i) std::ranges::replace(again.sources, value, copies_.at(value));
        fused_.push_back(*fused);
        rewrite.out.push_back(std::move(again));
      }
      rewrite.out.push_back(operation);
      for (const Value result : operation.results)
        if (const auto copy = copies_.find(result); copy != copies_.end())
          rewrite.out.push_back(moved(copy->second, fused.value_or(result), operation));
    }
    rewrite.finish();
  }

  DraftOperation moved(Value to, Value from, const DraftOperation& like) {
    const DraftRegister& kind = function_.registers[static_cast<std::size_t>(from)];
    const char* const opcode = kind.register_class == RegisterClass::wide ? "mov.b64" : kind.bits == 16 ? "mov.b16" : "mov.b32";
    DraftOperation move = draft_.make(opcode, {to}, {from}, like);
    take_guard(move, like);
    return move;
  }

  DraftFunction& function_;
  ProgramDraft& draft_;
  const std::vector<SumInCode>& code_;
  Definitions definitions_;
  std::map<Value, Value> copies_;                       ///< by register
  std::vector<int> copied_;                             ///< sums
  std::vector<std::pair<int, Value>> led_, led_again_;  ///< operations, or their copies alone, and their sources that are the copy
  std::vector<Value> fused_;                            ///< what the sums' fma write
};

}  // namespace

std::vector<Value> copy_sums(DraftFunction& function, ProgramDraft& draft, const std::vector<SumInCode>& code) {
  const bool any = std::ranges::any_of(code, [](const SumInCode& sum) { return sum.is_twice(); });
  return any ? SumCopies(function, draft, code).run() : std::vector<Value>{};
}

}  // namespace warpmat::code
