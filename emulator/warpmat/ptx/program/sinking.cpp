#include <warpmat/ptx/program/sinking.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include <warpmat/ptx/program/control_flow.h>
#include <warpmat/ptx/program/rewrite.h>
#include <warpmat/ptx/program/value_uses.h>

namespace warpmat::code {

using catalogue::Semantics;

namespace {

constexpr std::array number_types{".f32", ".f64", ".f16", ".f16x2", ".bf16", ".bf16x2"};

class Sinking {
 public:
  Sinking(DraftFunction& function, ProgramDraft& draft)
      : function_(function), draft_(draft), uses_(function), sunk_(function.operations.size()), computed_(function.operations.size()) {}

  void run() {
    for (branch_ = 0; branch_ < size(); ++branch_)
      if (leads_into_groups()) look_before();
    if (!copied_.empty()) rebuild();
  }

 private:
  int size() const { return static_cast<int>(function_.operations.size()); }
  const DraftOperation& at(int i) const { return function_.operations[static_cast<std::size_t>(i)]; }

  // ---- The loop ---------------------------------------------------------------------------------------------------------------------

  /// Whether the branch at branch_ is the first one of a loop in groups. If so, end_ is what follows the loop's last branch.
  bool leads_into_groups() {
    const auto into = [&](int i) { return at(i).operation.semantics == Semantics::branch ? at(i).label : -1; };
    const int label = into(branch_);
    if (std::ranges::find(function_.unrolled, label) == function_.unrolled.end()) return false;
    if (function_.labels[static_cast<std::size_t>(label)] <= branch_) return false;
    end_ = 0;
    for (int i = 0; i < size(); ++i)
      if (into(i) == label) end_ = i + 1;
    return true;
  }

  bool is_written(Value value, int from, int to) const {
    return std::any_of(function_.operations.begin() + from, function_.operations.begin() + to,
                       [&](const DraftOperation& operation) { return writes(operation, value); });
  }
  bool loop_reads(Value value) const {
    bool found = false;
    for (int i = branch_; i < end_; ++i) for_each_read(at(i), [&](Value read) { found |= read == value; });
    return found;
  }

  // ---- What is behind it ------------------------------------------------------------------------------------------------------------

  void look_before() {
    std::ranges::fill(sunk_, std::nullopt);
    std::ranges::fill(computed_, std::nullopt);
    const int region = uses_.region(branch_);
    if (region < 0) return;
    for (const int i : uses_.regions()[static_cast<std::size_t>(region)]) {
      if (i >= branch_ || !is(i, "add.") || !is_sunk(i)) continue;
      for (std::size_t source = 0; source < 2; ++source) copy_product(i, source);
    }
  }

  /// An unguarded sum or product ("add.", which includes sub; "mul.", div) of floating point.
  bool is(int i, std::string_view mnemonic) const {
    const DraftOperation& operation = at(i);
    const auto begins = [&](std::string_view name) { return operation.opcode.starts_with(name); };
    const bool wanted = mnemonic == "add." ? begins("add.") || begins("sub.") : begins(mnemonic);
    return wanted && !operation.operation.guarded && operation.results.size() == 1 &&
           std::ranges::any_of(number_types, [&](std::string_view type) { return operation.opcode.ends_with(type); });
  }

  /// Whether ptxas moves operation `i` behind the loop.
  bool is_sunk(int i) {
    std::optional<bool>& known = sunk_[static_cast<std::size_t>(i)];
    if (known) return *known;
    known = false;
    const DraftOperation& operation = at(i);
    if (!catalogue::computes(operation.operation.semantics) || operation.operation.guarded || operation.results.size() != 1) return false;
    const Value result = operation.results[0];
    if (loop_reads(result) || is_written(result, branch_, end_)) return false;
    const auto may_wait = [&](const ValueUses::Use& use) { return use.operation < 0 || (use.operand >= 0 && is_sunk(use.operation)); };
    if (!std::ranges::all_of(uses_.uses(i), may_wait)) return false;
    known = has_sources(i);
    return *known;
  }

  bool has_sources(int i) {
    for (std::size_t source = 0; source < at(i).sources.size(); ++source)
      if (!is_there(i, source)) return false;
    return true;
  }

  /// Whether what operation `i` reads is there behind the loop: the loop or what follows needs it, or it can be computed of what is there.
  bool is_there(int i, std::size_t source) {
    const Value value = at(i).sources[source];
    if (is_constant(value)) return true;
    if (!is_written(value, i, end_) && uses_.is_needed_behind(branch_, value)) return true;
    const int writer = uses_.writer(i, static_cast<int>(source));
    return writer >= 0 && is_computed_again(writer);
  }

  bool is_computed_again(int i) {
    std::optional<bool>& known = computed_[static_cast<std::size_t>(i)];
    if (known) return *known;
    known = false;
    const DraftOperation& operation = at(i);
    if (operation.operation.guarded || operation.results.size() != 1) return false;
    if (operation.operation.semantics == Semantics::load) {
      const Space space = draft_.program.accesses[operation.operation.detail].space;
      known = space == Space::param || space == Space::constant;
    } else {
      const bool computes = catalogue::computes(operation.operation.semantics) || operation.operation.semantics == Semantics::special;
      known = computes && has_sources(i);
    }
    return *known;
  }

  // ---- The copies -------------------------------------------------------------------------------------------------------------------

  /// Notes the product, and the signs and moves behind which it is, that sum `i` reads, if other statements use them too.
  void copy_product(int i, std::size_t source) {
    std::vector<int> chain;
    int reader = i;
    for (int operand = static_cast<int>(source);; operand = 0) {
      const int writer = uses_.writer(reader, operand);
      if (writer < 0 || !is_computed_again(writer)) return;
      chain.push_back(writer);
      if (is(writer, "mul.") || is(writer, "div.")) break;
      const bool name = is(writer, "neg.") || is(writer, "abs.") || at(writer).opcode.starts_with("mov.");
      if (!name || at(writer).sources.size() != 1) return;
      reader = writer;
    }
    const auto is_used_once = [&](int operation) { return uses_.uses(operation).size() == 1; };
    if (std::ranges::all_of(chain, is_used_once)) return;
    for (const Value factor : at(chain.back()).sources)
      if (!is_constant(factor) && is_written(factor, chain.back(), i)) return;
    copied_[i].push_back({source, std::move(chain)});
  }

  void rebuild() {
    Rewrite rewrite(function_);
    for (int i = 0; i < size(); ++i) {
      rewrite.come_to(i);
      DraftOperation operation = at(i);
      if (const auto found = copied_.find(i); found != copied_.end())
        for (const auto& [source, chain] : found->second) operation.sources[source] = copy(chain, rewrite.out);
      rewrite.out.push_back(std::move(operation));
    }
    rewrite.finish();
  }

  /// The register that a copy of the chain, whose last operation comes first, writes.
  Value copy(const std::vector<int>& chain, std::vector<DraftOperation>& out) {
    std::optional<Value> made;
    for (auto i = chain.rbegin(); i != chain.rend(); ++i) {
      DraftOperation operation = at(*i);
      if (made) operation.sources[0] = *made;
      function_.registers.push_back(function_.registers[static_cast<std::size_t>(operation.results[0])]);
      made = static_cast<Value>(function_.registers.size() - 1);
      operation.results[0] = *made;
      out.push_back(std::move(operation));
    }
    return *made;
  }

  struct Copied {
    std::size_t source;
    std::vector<int> chain;  ///< from the sum's operand back to the product
  };

  DraftFunction& function_;
  ProgramDraft& draft_;
  ValueUses uses_;
  int branch_ = 0, end_ = 0;                          ///< of the loop that is looked at
  std::vector<std::optional<bool>> sunk_, computed_;  ///< by operation, for this loop
  std::map<int, std::vector<Copied>> copied_;         ///< by sum
};

}  // namespace

void separate_sunk_sums(DraftFunction& function, ProgramDraft& draft) {
  if (!function.unrolled.empty()) Sinking(function, draft).run();
}

}  // namespace warpmat::code
