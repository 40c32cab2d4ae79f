#include <warpmat/ptx/program/unrolling.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <warpmat/ptx/program/arithmetic.h>
#include <warpmat/ptx/program/definitions.h>
#include <warpmat/ptx/program/rewrite.h>
#include <warpmat/ptx/program/uniform.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Name;
using catalogue::Qualifier;
using catalogue::Semantics;

namespace {

constexpr int most_operations = 21;         ///< of a block with an unknown number of rounds, the branch among them
constexpr std::uint64_t most_copied = 736;  ///< operations of a known number of rounds

/// A loop of one block, from `first` to the branch at `branch`.
struct Loop {
  int first = 0, branch = 0;
  Value counter = 0, bound = 0;
  bool counts_down = false;
  const Match* comparison = nullptr;  ///< setp of the counter and the bound, by which it goes on: of u32 or s32
  std::optional<std::uint64_t> rounds;
  bool matters = false;  ///< whether its copies may be folded or fused otherwise than it

  bool until_equal() const { return comparison->has(Qualifier::ne); }
};

class Unrolling {
 public:
  Unrolling(DraftFunction& function, ProgramDraft& draft)
      : function_(function), draft_(draft), definitions_(function), rewrite_(function) {}

  void run() {
    const std::vector<Block> blocks = find_blocks(function_);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      auto loop = find_loop(blocks, static_cast<int>(b));
      if (!loop) continue;
      if (loop->matters)
        loops_.push_back(std::move(*loop));
      else
        function_.grouped.push_back(at(loop->branch).label);
    }
    if (!loops_.empty()) rebuild();
  }

 private:
  const DraftOperation& at(int i) const { return function_.operations[static_cast<std::size_t>(i)]; }
  int label_at(int label) const { return function_.labels[static_cast<std::size_t>(label)]; }

  // ---- Which loops ------------------------------------------------------------------------------------------------------------------

  std::optional<Loop> find_loop(const std::vector<Block>& blocks, int block) const {
    const Block& own = blocks[static_cast<std::size_t>(block)];
    const int branch = own.last - 1;
    if (block == 0 || at(branch).operation.semantics != Semantics::branch || !at(branch).operation.guarded) return std::nullopt;
    if (is_constant(at(branch).guard) || label_at(at(branch).label) != own.first || !is_entered_once(blocks, block)) return std::nullopt;
    Loop loop;
    loop.first = own.first;
    loop.branch = branch;
    if (!find_counter(loop)) return std::nullopt;
    loop.rounds = known_rounds(loop);
    if (!may_be_unrolled(loop)) return std::nullopt;
    loop.matters = matters(loop);
    const int operations = branch + 1 - own.first;
    if (loop.rounds && !loop.matters) return std::nullopt;
    if (loop.rounds ? *loop.rounds * static_cast<std::uint64_t>(operations) > most_copied : operations > most_operations)
      return std::nullopt;
    return loop;
  }

  /// Whether the block before falls through into the loop, and nothing else but the loop comes there.
  bool is_entered_once(const std::vector<Block>& blocks, int block) const {
    for (int other = 0; other < static_cast<int>(blocks.size()); ++other) {
      const std::vector<int>& next = blocks[static_cast<std::size_t>(other)].next;
      if (other != block && other != block - 1 && std::ranges::find(next, block) != next.end()) return false;
    }
    const DraftOperation& before = at(blocks[static_cast<std::size_t>(block)].first - 1);
    return before.operation.semantics != Semantics::branch || label_at(before.label) != blocks[static_cast<std::size_t>(block)].first;
  }

  /// The operation of the block that writes `value`; nothing where there are several, or it has a guard.
  std::optional<int> only_writer(const Loop& loop, Value value) const {
    std::optional<int> writer;
    for (int i = loop.first; i < loop.branch; ++i) {
      if (std::ranges::find(at(i).results, value) == at(i).results.end()) continue;
      if (writer || at(i).operation.guarded) return std::nullopt;
      writer = i;
    }
    return writer;
  }

  bool is_written(const Loop& loop, Value value) const {
    for (int i = loop.first; i < loop.branch; ++i)
      if (std::ranges::find(at(i).results, value) != at(i).results.end()) return true;
    return false;
  }

  std::optional<std::uint64_t> number(Value value) const {
    if (!is_constant(value)) return std::nullopt;
    const Constants::Constant& constant = draft_.constants[value];
    if (constant.symbol.kind != Symbol::Kind::none || constant.register_class != RegisterClass::word) return std::nullopt;
    return constant.low;
  }

  /// The counter: of 32 bits, changed by one before the comparison of its new value with what the loop does not change.
  bool find_counter(Loop& loop) const {
    const auto test = only_writer(loop, at(loop.branch).guard);
    if (!test || at(loop.branch).operation.guard_inverted || at(*test).sources.size() != 2) return false;
    if (at(*test).results[0] != at(loop.branch).guard) return false;  // but the second, its negation
    if (!is_of(at(*test), Name::setp)) return false;
    const Match& comparison = *at(*test).match;
    if (comparison.qualifiers.size() != 2 || !catalogue::is_integer_of(*comparison.types[0], 32)) return false;
    loop.comparison = &comparison;
    loop.counter = at(*test).sources[0];
    loop.bound = at(*test).sources[1];
    if (is_constant(loop.counter) || (!is_constant(loop.bound) && is_written(loop, loop.bound))) return false;
    const auto step = only_writer(loop, loop.counter);
    if (!step || *step > *test || !find_step(loop, at(*step))) return false;
    const bool less = comparison.has(Qualifier::lt) || comparison.has(Qualifier::lo);
    const bool greater = comparison.has(Qualifier::gt) || comparison.has(Qualifier::hi);
    return loop.until_equal() || (loop.counts_down ? greater : less);
  }

  /// add or sub of 1 or -1.
  bool find_step(Loop& loop, const DraftOperation& step) const {
    const bool adds = is_of(step, Name::add), subtracts = is_of(step, Name::sub);
    if ((!adds && !subtracts) || step.sources.size() != 2) return false;
    if (step.match->qualifiers.size() != 1 || !catalogue::is_integer_of(*step.match->types[0], 32)) return false;
    const bool turned = adds && step.sources[1] == loop.counter;
    const auto by = number(step.sources[turned ? 0 : 1]);
    if (step.sources[turned ? 1 : 0] != loop.counter || !by || (*by != 1 && *by != 0xffffffff)) return false;
    loop.counts_down = subtracts == (*by == 1);
    return true;
  }

  bool may_be_unrolled(const Loop& loop) const {
    for (int i = loop.first; i < loop.branch; ++i) {
      const DraftOperation& operation = at(i);
      const syntax::Statement& statement = *draft_.program.statements[operation.operation.statement];
      if (statement.not_unrolled) return false;
      const Name name = draft_.program.names[operation.operation.statement];
      if (!loop.rounds && !catalogue::row_of(name).has(catalogue::trait::single)) return false;
      const Semantics semantics = operation.operation.semantics;
      if (semantics == Semantics::exchange && !is_uniform(loop)) return false;
      const bool plain = catalogue::computes(semantics) || semantics == Semantics::load || semantics == Semantics::store ||
                         semantics == Semantics::exchange;
      if (!plain) return false;
    }
    return true;
  }

  bool matters(const Loop& loop) const {
    const auto first = function_.operations.begin() + loop.first, last = function_.operations.begin() + loop.branch;
    return std::any_of(first, last, [&](const DraftOperation& operation) {
      return is_arithmetic(operation) || (loop.rounds && is_approximate(operation));
    });
  }

  static bool is_arithmetic(const DraftOperation& operation) {
    constexpr std::array arithmetic{Name::add, Name::sub, Name::mul, Name::neg};
    return is_one_of(operation, arithmetic) && has_numbers(*operation.match);
  }

  static bool is_approximate(const DraftOperation& operation) {
    return operation.match != nullptr && (operation.match->has(Qualifier::approx) || operation.match->has(Qualifier::full));
  }

  // ---- How many rounds --------------------------------------------------------------------------------------------------------------

  bool is_uniform(const Loop& loop) const {
    const Uniform uniform(function_, draft_, definitions_);
    return uniform.behind(loop.first - 1, loop.counter) && uniform.behind(loop.first - 1, loop.bound);
  }

  /// The number that `value` holds behind operation `place`, if moves show it.
  std::optional<std::uint64_t> known(int place, Value value) const {
    if (is_constant(value)) return number(value);
    const int writer = definitions_.find_behind(place, value);
    const bool moves = writer >= 0 && is_of(at(writer), Name::mov) && at(writer).sources.size() == 1;
    return moves ? number(at(writer).sources[0]) : std::nullopt;
  }

  std::optional<std::uint64_t> known_rounds(const Loop& loop) const {
    const auto start = known(loop.first - 1, loop.counter), bound = known(loop.first - 1, loop.bound);
    if (!start || !bound) return std::nullopt;
    const auto rounds = static_cast<std::uint32_t>(loop.counts_down ? *start - *bound : *bound - *start);
    const bool forward = loop.until_equal() ? rounds != 0 : is_before(loop, *start, *bound);
    return forward ? std::uint64_t{rounds} : std::optional<std::uint64_t>{};
  }

  static bool is_before(const Loop& loop, std::uint64_t start, std::uint64_t bound) {
    if (loop.counts_down) std::swap(start, bound);
    return loop.comparison->types[0]->is_signed ? static_cast<std::int32_t>(start) < static_cast<std::int32_t>(bound) : start < bound;
  }

  // ---- The copies -------------------------------------------------------------------------------------------------------------------

  void rebuild() {
    auto loop = loops_.begin();
    for (int i = 0; i <= static_cast<int>(function_.operations.size()); ++i) {
      while (loop != loops_.end() && i == loop->first) {
        for (int inside = loop->first; inside <= loop->branch; ++inside) rewrite_.come_to(inside);
        if (loop->rounds)
          copy_rounds(*loop, *loop->rounds);
        else
          copy_groups(*loop);
        i = loop->branch + 1;
        ++loop;
      }
      rewrite_.come_to(i);
      if (i < static_cast<int>(function_.operations.size())) rewrite_.out.push_back(at(i));
    }
    rewrite_.finish();
    for (const auto& [label, place] : new_labels_) function_.labels[static_cast<std::size_t>(label)] = place;
  }

  int new_label() {
    function_.labels.push_back(0);
    return static_cast<int>(function_.labels.size()) - 1;
  }
  void place(int label) { new_labels_.emplace_back(label, rewrite_.end()); }

  void copy_rounds(const Loop& loop, std::uint64_t rounds) {
    for (std::uint64_t round = 0; round < rounds; ++round)
      for (int i = loop.first; i < loop.branch; ++i) rewrite_.out.push_back(at(i));
  }

  /// Branches to `label` where more rounds than `number` are left, or, `inverted`, where they are not.
  void add_test(std::uint32_t number, int label, const DraftOperation& like, bool inverted) {
    rewrite_.out.push_back(draft_.make("setp.gt.s32", {test_}, {left_, constant(number)}, like));
    add_branch(label, like, inverted);
  }

  void add_branch(int label, const DraftOperation& like, bool inverted) {
    DraftOperation branch = like;
    branch.label = label;
    branch.guard = test_;
    branch.operation.guard_inverted = inverted;
    rewrite_.out.push_back(std::move(branch));
  }

  Value constant(std::uint32_t bits) { return draft_.constants.add(RegisterClass::word, bits); }

  Value new_register(RegisterClass register_class) { return code::new_register(function_, {register_class, 32}); }

  void copy_groups(const Loop& loop) {
    DraftOperation like = at(loop.branch);
    like.operation.prepares = true;  // ptxas takes the branch away: none of what stands in its place counts as one
    left_ = new_register(RegisterClass::word);
    test_ = new_register(RegisterClass::predicate);
    const int fours = new_label(), twos = new_label(), ones = new_label(), single_rounds = new_label(), end = new_label();
    function_.unrolled.push_back(fours);
    function_.unrolled.push_back(single_rounds);
    if (!loop.until_equal()) {
      rewrite_.out.push_back(draft_.make(loop.comparison->opcode, {test_}, {loop.counter, loop.bound}, like));
      add_branch(single_rounds, like, true);
    }
    const Value from = loop.counts_down ? loop.counter : loop.bound, to = loop.counts_down ? loop.bound : loop.counter;
    rewrite_.out.push_back(draft_.make("sub.u32", {left_}, {from, to}, like));
    // On each path there is a copy: what the rounds overwrite is not needed behind them.
    add_test(0, single_rounds, like, true);
    add_test(3, fours, like, false);
    add_test(1, twos, like, false);
    rewrite_.out.push_back(like);
    rewrite_.out.back().label = single_rounds;
    rewrite_.out.back().operation.guarded = false;
    place(fours);
    copy_group(loop, 4, like);
    add_test(3, fours, like, false);
    add_test(1, ones, like, true);
    place(twos);
    copy_group(loop, 2, like);
    place(ones);
    add_test(0, end, like, true);
    place(single_rounds);
    copy_rounds(loop, 1);
    rewrite_.out.push_back(like);
    rewrite_.out.back().label = single_rounds;
    place(end);
  }

  void copy_group(const Loop& loop, std::uint32_t rounds, const DraftOperation& like) {
    copy_rounds(loop, rounds);
    rewrite_.out.push_back(draft_.make("sub.u32", {left_}, {left_, constant(rounds)}, like));
  }

  DraftFunction& function_;
  ProgramDraft& draft_;
  Definitions definitions_;
  std::vector<Loop> loops_;
  Rewrite rewrite_;
  std::vector<std::pair<int, int>> new_labels_;
  Value left_ = 0, test_ = 0;  ///< how many rounds are left, and whether that is enough for a group
};

}  // namespace

void unroll(DraftFunction& function, ProgramDraft& draft) {
  const auto goes_back = [&](const DraftOperation& operation) {
    return operation.operation.semantics == Semantics::branch && operation.operation.guarded &&
           function.labels[static_cast<std::size_t>(operation.label)] <= &operation - function.operations.data();
  };
  if (std::ranges::any_of(function.operations, goes_back)) Unrolling(function, draft).run();
}

}  // namespace warpmat::code
