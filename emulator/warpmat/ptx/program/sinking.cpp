#include <warpmat/ptx/program/sinking.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <warpmat/ptx/program/arithmetic.h>
#include <warpmat/ptx/program/control_flow.h>
#include <warpmat/ptx/program/rewrite.h>
#include <warpmat/ptx/program/value_uses.h>

namespace warpmat::code {

using catalogue::Name;
using catalogue::Qualifier;
using catalogue::Semantics;

namespace {

constexpr std::array called{Name::div, Name::rem, Name::sqrt, Name::rcp};  // unless .approx or .full
/// How far before a sum an operand must have been written that only the sum needs: the instructions in between, those of memory twice.
constexpr int far_enough = 19;

class Sinking {
 public:
  Sinking(DraftFunction& function, ProgramDraft& draft)
      : function_(function),
        draft_(draft),
        uses_(function, draft),
        sunk_(function.operations.size()),
        computed_(function.operations.size()) {}

  void run() {
    for (branch_ = 0; branch_ < size(); ++branch_)
      if (leads_into_groups()) look_before();
    if (!copied_.empty()) rebuild();
  }

 private:
  int size() const { return static_cast<int>(function_.operations.size()); }
  const DraftOperation& at(int i) const { return function_.operations[static_cast<std::size_t>(i)]; }

  // ---- The loop ---------------------------------------------------------------------------------------------------------------------

  int label_of(int i) const { return at(i).operation.semantics == Semantics::branch ? at(i).label : -1; }
  bool is_in(const std::vector<int>& labels, int label) const { return std::ranges::find(labels, label) != labels.end(); }

  /// Whether operation branch_ is the last one before a loop that ptxas unrolls in groups. If so, end_ is what follows the loop's last
  /// branch.
  bool leads_into_groups() {
    int label = label_of(branch_);
    if (!is_in(function_.unrolled, label) || at_label(label) <= branch_) {
      const auto next = std::ranges::find(function_.grouped, branch_ + 1, [&](int l) { return at_label(l); });
      if (next == function_.grouped.end()) return false;
      label = *next;
    }
    end_ = 0;
    for (int i = 0; i < size(); ++i)
      if (label_of(i) == label) end_ = i + 1;
    return end_ > branch_;
  }
  int at_label(int label) const { return function_.labels[static_cast<std::size_t>(label)]; }

  bool is_written(Value value, int from, int to) const {
    return std::any_of(function_.operations.begin() + from, function_.operations.begin() + to,
                       [&](const DraftOperation& operation) { return writes(operation, value); });
  }
  bool loop_reads(Value value) const {
    bool found = false;
    for (int i = branch_ + 1; i < end_; ++i) for_each_read(at(i), [&](Value read) { found |= read == value; });
    return found;
  }

  // ---- What is behind it ------------------------------------------------------------------------------------------------------------

  void look_before() {
    std::ranges::fill(sunk_, std::nullopt);
    std::ranges::fill(computed_, std::nullopt);
    int last = branch_;
    while (last > 0 && uses_.region(last) < 0) --last;
    const int region = uses_.region(last);
    if (region < 0) return;
    for (const int i : uses_.regions()[static_cast<std::size_t>(region)]) {
      if (i > branch_ || !(is(i, Name::add) || is(i, Name::sub)) || !is_sunk(i)) continue;
      const std::vector<int> first = chain_to_product(i, 0), second = chain_to_product(i, 1);
      if (!first.empty() && !second.empty() && first.back() == second.back()) continue;  // x + x
      note_copies(i, 0, first);
      note_copies(i, 1, second);
    }
  }

  /// An unguarded instruction of floating point of that name.
  bool is(int i, Name name) const {
    const DraftOperation& operation = at(i);
    return is_of(operation, name) && !operation.operation.guarded && operation.results.size() == 1 && has_numbers(*operation.match);
  }

  /// Whether ptxas moves operation `i` behind the loop.
  bool is_sunk(int i) {
    std::optional<bool>& known = sunk_[static_cast<std::size_t>(i)];
    if (known) return *known;
    known = false;
    const DraftOperation& operation = at(i);
    if (!catalogue::computes(operation.operation.semantics) || operation.operation.guarded || operation.results.size() != 1) return false;
    const Value result = operation.results[0];
    if (loop_reads(result) || is_written(result, branch_ + 1, end_)) return false;
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

  /// Whether ptxas lets what operation `i` reads wait until behind the loop: the loop or what follows needs it anyway, it is of another
  /// region or was written long before, or it can be computed of such.
  bool is_there(int i, std::size_t source) {
    const Value value = at(i).sources[source];
    if (is_constant(value)) return true;
    if (!is_written(value, i, end_) && uses_.is_needed_behind(branch_, value)) return true;
    const int writer = uses_.writer(i, static_cast<int>(source));
    if (writer >= 0 && is_computed_again(writer)) return true;
    int written = i - 1;
    while (written >= 0 && !writes(at(written), value)) --written;
    return is_far(written, i);
  }

  bool is_far(int from, int to) const {
    int between = from < 0 ? far_enough : 0;
    for (int i = from + 1; i < to && between < far_enough; ++i)
      if (uses_.region(i) >= 0) between += catalogue::computes(at(i).operation.semantics) ? 1 : 2;
    return between >= far_enough;
  }

  bool is_computed_again(int i) {
    std::optional<bool>& known = computed_[static_cast<std::size_t>(i)];
    if (known) return *known;
    known = false;
    const DraftOperation& operation = at(i);
    if (operation.operation.guarded || operation.results.size() != 1) return false;
    if (operation.operation.semantics == Semantics::load) {
      const Space space = draft_.program.of<Access>(operation.operation).space;
      known = space == Space::param || space == Space::constant;
    } else {
      known = has_instruction(operation) && has_sources(i);
    }
    return *known;
  }

  /// Whether ptxas computes the operation by an instruction of the lane that may be repeated, not by a call.
  static bool has_instruction(const DraftOperation& operation) {
    const bool calls = is_one_of(operation, called) && !operation.match->has(Qualifier::full) && !operation.match->has(Qualifier::approx);
    return catalogue::computes(operation.operation.semantics) && !calls;
  }

  // ---- The copies -------------------------------------------------------------------------------------------------------------------

  /// The product that sum `i` reads, and before it the signs and moves behind which it is; nothing where it is none that ptxas computes
  /// again.
  std::vector<int> chain_to_product(int i, std::size_t source) {
    std::vector<int> chain;
    int reader = i;
    for (int operand = static_cast<int>(source);; operand = 0) {
      const int writer = uses_.writer(reader, operand);
      if (writer < 0 || !is_computed_again(writer)) return {};
      chain.push_back(writer);
      if (is(writer, Name::mul) || is(writer, Name::div)) return chain;
      const bool passes = is(writer, Name::neg) || is(writer, Name::abs) || is_of(at(writer), Name::mov);
      if (!passes || at(writer).sources.size() != 1) return {};
      reader = writer;
    }
  }

  void note_copies(int i, std::size_t source, std::vector<int> chain) {
    const auto is_used_once = [&](int operation) { return uses_.uses(operation).size() == 1; };
    if (!std::ranges::all_of(chain, is_used_once)) copied_.push_back({i, source, std::move(chain)});
  }

  /// Each copy stands in front of its original.
  void rebuild() {
    std::map<int, std::vector<DraftOperation>> before;
    std::map<std::pair<int, std::size_t>, Value> operands;
    for (const Copied& copied : copied_) {
      std::optional<Value> made;
      for (auto i = copied.chain.rbegin(); i != copied.chain.rend(); ++i) {
        DraftOperation operation = at(*i);
        if (made) operation.sources[0] = *made;
        made = new_register_like(function_, operation.results[0]);
        operation.results[0] = *made;
        before[*i].push_back(std::move(operation));
      }
      operands[{copied.sum, copied.source}] = *made;
    }
    Rewrite rewrite(function_);
    for (int i = 0; i < size(); ++i) {
      rewrite.come_to(i);
      if (const auto copies = before.find(i); copies != before.end())
        for (DraftOperation& copy : copies->second) rewrite.out.push_back(std::move(copy));
      DraftOperation operation = at(i);
      for (std::size_t source = 0; source < operation.sources.size(); ++source)
        if (const auto own = operands.find({i, source}); own != operands.end()) operation.sources[source] = own->second;
      rewrite.out.push_back(std::move(operation));
    }
    rewrite.finish();
  }

  struct Copied {
    int sum;
    std::size_t source;
    std::vector<int> chain;  ///< from the sum's operand back to the product
  };

  DraftFunction& function_;
  ProgramDraft& draft_;
  ValueUses uses_;
  int branch_ = 0, end_ = 0;                          ///< of the loop that is looked at
  std::vector<std::optional<bool>> sunk_, computed_;  ///< by operation, for this loop
  std::vector<Copied> copied_;
};

}  // namespace

void separate_sunk_sums(DraftFunction& function, ProgramDraft& draft) {
  if (!function.unrolled.empty() || !function.grouped.empty()) Sinking(function, draft).run();
}

}  // namespace warpmat::code
