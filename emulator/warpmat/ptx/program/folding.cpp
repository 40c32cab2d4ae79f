#include <warpmat/ptx/program/folding.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include <warpmat/numeric/rounding_mode.h>
#include <warpmat/ptx/program/control_flow.h>
#include <warpmat/ptx/program/folding_rules.h>
#include <warpmat/ptx/program/known_values.h>
#include <warpmat/ptx/program/rewrite.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Name;
using catalogue::Qualifier;
using catalogue::Semantics;

namespace {

constexpr std::size_t max_operands = 8;

using Known = KnownValues;
using Values = std::vector<std::uint64_t>;

/// What the machine's function of an operation makes of constants.
class Evaluator {
 public:
  Evaluator(const DraftFunction& function, const ProgramDraft& draft) : function_(function), draft_(draft) {}

  RegisterClass class_of(Value value) const {
    return is_constant(value) ? draft_.constants[value].register_class
                              : function_.registers[static_cast<std::size_t>(value)].register_class;
  }

  /// Nothing where a register is of a class that is not followed.
  std::optional<Values> run(const DraftOperation& operation, const Values& sources) {
    if (operation.results.size() + sources.size() > max_operands) return std::nullopt;
    std::array<void*, max_operands> results{};
    std::array<const void*, max_operands> from{};
    std::size_t next = 0;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const RegisterClass register_class = class_of(operation.sources[i]);
      if (register_class == RegisterClass::quad) return std::nullopt;
      from[i] = fill(next++, register_class, sources[i]);
    }
    for (std::size_t i = 0; i < operation.results.size(); ++i) {
      if (class_of(operation.results[i]) == RegisterClass::quad) return std::nullopt;
      results[i] = lanes_[next++].data();
    }
    if (operation.operation.kernel != nullptr)
      operation.operation.kernel(results.data(), from.data(), draft_.program.of<scalar::Modifiers>(operation.operation));
    else
      operation.operation.function(results.data(), from.data());
    Values values;
    for (std::size_t i = 0; i < operation.results.size(); ++i) values.push_back(first_lane(results[i], class_of(operation.results[i])));
    return values;
  }

 private:
  const void* fill(std::size_t place, RegisterClass register_class, std::uint64_t value) {
    std::array<std::uint64_t, warp_size>& to = lanes_[place];
    if (register_class == RegisterClass::predicate) value = value != 0 ? 0xffffffff : 0;
    if (register_class != RegisterClass::wide) value = (value & 0xffffffff) << 32 | (value & 0xffffffff);
    to.fill(value);
    return to.data();
  }

  static std::uint64_t first_lane(const void* from, RegisterClass register_class) {
    const std::uint64_t both = *static_cast<const std::uint64_t*>(from);
    const auto word = static_cast<std::uint32_t>(std::endian::native == std::endian::little ? both : both >> 32);
    return register_class == RegisterClass::wide ? both : register_class == RegisterClass::word ? word : word & 1;
  }

  const DraftFunction& function_;
  const ProgramDraft& draft_;
  alignas(register_alignment) std::array<std::array<std::uint64_t, warp_size>, max_operands> lanes_{};
};

/// What the only call of each function hands over; nothing of functions that are called at more than one place.
using Handed = std::vector<Known>;

class Folding {
 public:
  Folding(DraftFunction& function, ProgramDraft& draft, Handed& handed, const std::vector<int>& calls,
          const std::vector<ResultInCode>* code)
      : function_(function),
        draft_(draft),
        code_(code),
        handed_(handed),
        calls_(calls),
        evaluator_(function, draft),
        blocks_(find_blocks(function)),
        entry_(blocks_.size()) {}

  /// `start` is what the function's caller hands over.
  void run(const Known& start) {
    find_constants(start);
    rebuild();
  }

 private:
  const DraftOperation& at(int i) const { return function_.operations[static_cast<std::size_t>(i)]; }

  std::optional<std::uint64_t> value_of(Value value, const Known& known) const {
    if (is_constant(value)) {
      const Constants::Constant& constant = draft_.constants[value];
      if (constant.symbol.kind != Symbol::Kind::none || constant.register_class == RegisterClass::quad) return std::nullopt;
      return constant.register_class == RegisterClass::predicate ? std::uint64_t{constant.low != 0} : constant.low;
    }
    return known.find(value);
  }

  /// Whether an operation executes: yes, no, or unknown.
  std::optional<bool> executes(const DraftOperation& draft, const Known& known) const {
    if (!draft.operation.guarded) return true;
    const auto guard = value_of(draft.guard, known);
    return guard ? std::optional((*guard != 0) != draft.operation.guard_inverted) : std::nullopt;
  }

  /// What machine code shows of the statement's result, or null.
  const ResultInCode* in_code(const DraftOperation& draft) const {
    if (code_ == nullptr || draft.results.size() != 1 || evaluator_.class_of(draft.results[0]) != RegisterClass::word) return nullptr;
    const syntax::Statement& statement = *draft_.program.statements[draft.operation.statement];
    if (draft.match != draft_.match_of_statement(draft.operation.statement)) return nullptr;  // one of several operations
    const auto found = std::ranges::find_if(*code_, [&](const ResultInCode& result) {
      return result.line == statement.location.line && result.column == statement.location.column;
    });
    return found == code_->end() ? nullptr : &*found;
  }

  /// The results that ptxas knows.
  std::optional<Values> results_of(const DraftOperation& draft, const Known& known) {
    const auto by_rule = results_by_rule(draft, known);
    const ResultInCode* const said = in_code(draft);
    if (said == nullptr || !catalogue::computes(draft.operation.semantics)) return by_rule;
    return said->immediate ? std::optional(Values{said->bits}) : std::nullopt;
  }

  std::optional<Values> results_by_rule(const DraftOperation& draft, const Known& known) {
    const Match* match = draft.match;
    if (match == nullptr || !catalogue::computes(draft.operation.semantics)) return std::nullopt;
    if (!std::ranges::all_of(draft.sources, [&](Value source) { return value_of(source, known).has_value(); })) return std::nullopt;
    Values sources;
    for (const Value source : draft.sources) sources.push_back(*value_of(source, known));
    auto results = evaluator_.run(draft, sources);
    if (!results || results->empty()) return std::nullopt;
    const auto folded = folded_result(*match, sources, results->front());
    if (!folded) return std::nullopt;
    results->front() = *folded;
    return results;
  }

  /// What an operation leaves known.
  void step(const DraftOperation& draft, Known& known) {
    const auto runs = executes(draft, known);
    if (runs == false) return;
    if (draft.operation.semantics == Semantics::store) return store(draft, known);
    if (draft.operation.semantics == Semantics::load && load(draft, runs == true, known)) return;
    if (draft.operation.semantics == Semantics::call) forget_returned(draft, known);
    const auto results = results_of(draft, known);
    for (std::size_t i = 0; i < draft.results.size(); ++i) {
      if (results && (runs == true || value_of(draft.results[i], known) == (*results)[i]))
        known.set(draft.results[i], (*results)[i]);
      else
        known.erase(draft.results[i]);
    }
  }

  /// Where an access to local memory begins, if that is known.
  std::optional<std::int64_t> local_offset(const DraftOperation& draft) const {
    const Access& access = draft_.program.of<Access>(draft.operation);
    if (access.space != Space::local || !access.relative || !is_constant(draft.sources[0])) return std::nullopt;
    return static_cast<std::int64_t>(draft_.constants[draft.sources[0]].low) + access.offset;
  }

  void store(const DraftOperation& draft, Known& known) const {
    const Access& access = draft_.program.of<Access>(draft.operation);
    const auto offset = local_offset(draft);
    if (!offset) {
      constexpr std::int64_t everything = std::int64_t{1} << 40;
      if (access.space == Space::local || access.space == Space::generic) known.forget(0, everything);
      return;
    }
    known.forget(*offset, *offset + std::int64_t{access.bytes} * access.vector);
    if (draft.operation.guarded || access.bytes > sizeof(std::uint64_t)) return;
    for (std::size_t i = 0; i < access.vector; ++i) {
      const LocalPlace place(*offset + static_cast<std::int64_t>(i) * access.bytes, access.bytes);
      const auto value = value_of(draft.sources[1 + i], known);
      if (value && place.has_key())
        known.set(place.key(), access.bytes == 8 ? *value : *value & ((std::uint64_t{1} << access.bytes * 8) - 1));
    }
  }

  /// False where what is loaded is not known.
  bool load(const DraftOperation& draft, bool runs, Known& known) const {
    const Access& access = draft_.program.of<Access>(draft.operation);
    const auto offset = local_offset(draft);
    if (!offset || !runs || access.register_bits != access.bytes * 8) return false;
    for (std::size_t i = 0; i < draft.results.size(); ++i) {
      const LocalPlace place(*offset + static_cast<std::int64_t>(i) * access.bytes, access.bytes);
      const auto found = place.has_key() ? known.find(place.key()) : std::nullopt;
      if (found)
        known.set(draft.results[i], *found);
      else
        known.erase(draft.results[i]);
    }
    return true;
  }

  /// What a function returns ptxas does not follow.
  void forget_returned(const DraftOperation& draft, Known& known) const {
    for (const ArgumentCopy& copy : draft_.program.of<Call>(draft.operation).returns) known.forget(copy.caller, copy.caller + copy.bytes);
  }

  /// Parameters of a function that is called nowhere else.
  void hand_over(const DraftOperation& draft, const Known& known) {
    const Call& call = draft_.program.of<Call>(draft.operation);
    if (call.target != Call::Target::function || calls_[static_cast<std::size_t>(call.function)] != 1) return;
    Known& to = handed_[static_cast<std::size_t>(call.function)];
    for (const auto& [key, bits] : known.items())
      for (const ArgumentCopy& copy : call.arguments)
        if (LocalPlace::is_key(key) && LocalPlace(key).lies_in(copy.caller, copy.caller + copy.bytes))
          to.set(LocalPlace(key).moved(copy.callee - copy.caller).key(), bits);
    std::size_t next = 0;
    for (const Value formal : draft_.functions[static_cast<std::size_t>(call.function)].parameter_registers) {
      if (is_constant(formal)) continue;
      if (const auto value = value_of(draft.sources[next++], known)) to.set(formal, *value);
    }
  }

  /// Blocks that may follow, where the last operation's guard is known only those that do.
  std::vector<int> followers(const Block& block, const Known& known) const {
    const DraftOperation& last = at(block.last - 1);
    const auto runs = executes(last, known);
    if (!last.operation.guarded || !runs || last.operation.semantics != Semantics::branch) return block.next;
    const int taken = *runs ? function_.labels[static_cast<std::size_t>(last.label)] : block.last;
    const auto found = std::ranges::find(blocks_, taken, &Block::first);
    return found == blocks_.end() ? std::vector<int>{} : std::vector<int>{static_cast<int>(found - blocks_.begin())};
  }

  /// Keeps what holds on both paths to a block; true where that changed something.
  static bool meet(std::optional<Known>& entry, const Known& other) {
    if (!entry) {
      entry = other;
      return true;
    }
    return entry->keep_common(other);
  }

  void find_constants(const Known& start) {
    std::vector<int> waiting{0};
    if (blocks_.empty()) return;
    entry_[0] = start;
    while (!waiting.empty()) {
      const Block& block = blocks_[static_cast<std::size_t>(waiting.back())];
      Known known = *entry_[static_cast<std::size_t>(waiting.back())];
      waiting.pop_back();
      for (int i = block.first; i < block.last; ++i) step(at(i), known);
      for (const int next : followers(block, known))
        if (meet(entry_[static_cast<std::size_t>(next)], known) && std::ranges::find(waiting, next) == waiting.end())
          waiting.push_back(next);
    }
  }

  Value constant(RegisterClass register_class, std::uint64_t bits) {
    if (register_class == RegisterClass::predicate) bits = bits != 0 ? 0xffffffff : 0;
    return draft_.constants.add(register_class, bits);
  }

  /// Under the guard of `like`.
  DraftOperation make(const std::string& opcode, Value result, std::vector<Value> sources, const DraftOperation& like) {
    DraftOperation made = draft_.make(opcode, {result}, std::move(sources), like);
    take_guard(made, like);
    return made;
  }

  DraftOperation move(Value result, Value source, const DraftOperation& like) {
    const RegisterClass register_class = evaluator_.class_of(result);
    return make(register_class == RegisterClass::predicate ? "mov.pred"
                : register_class == RegisterClass::wide    ? "mov.b64"
                                                           : "mov.b32",
                result, {source}, like);
  }

  Value temporary(Value like) { return new_register_like(function_, like); }

  void note(const DraftOperation& draft, Folded::Kind kind, std::uint64_t bits, bool own_bits) {
    draft_.program.folded.push_back({draft.operation.statement, kind, bits, own_bits});
  }

  /// A result that ptxas stores. Rewritten where its bits are not the machine's, or contraction would take it for a product or a sum.
  bool fold_result(const DraftOperation& draft, const Known& known, std::vector<DraftOperation>& out) {
    const auto results = results_of(draft, known);
    if (in_code(draft) != nullptr && results != results_by_rule(draft, known))
      draft_.program.folding_differs.push_back(draft.operation.statement);
    if (!results || draft.results.size() != 1) return false;
    Values sources;
    for (const Value source : draft.sources)
      if (const auto value = value_of(source, known)) sources.push_back(*value);
    const bool known_sources = sources.size() == draft.sources.size();  // machine code may know more
    const bool own_bits = !known_sources || evaluator_.run(draft, sources)->front() != results->front();
    const Match& match = *draft.match;
    const bool floating = !match.types.empty() && match.types[0]->is_floating();
    if (!match.is(Name::mov) && !match.pattern->hidden) note(draft, Folded::Kind::constant, results->front(), own_bits);
    if (!own_bits && !floating) return false;
    out.push_back(move(draft.results[0], constant(evaluator_.class_of(draft.results[0]), results->front()), draft));
    return true;
  }

  bool simplify(const DraftOperation& draft, const Known& known, std::vector<DraftOperation>& out) {
    const Match* match = draft.match;
    if (match == nullptr || draft.operation.semantics != Semantics::compute || draft.results.empty()) return false;
    if (!has_simplification(*match)) return false;
    std::vector<std::optional<std::uint64_t>> sources;
    for (const Value source : draft.sources) sources.push_back(value_of(source, known));
    if (match->is(Name::div) && sources.size() == 2 && sources[1] && *sources[1] != std::bit_cast<std::uint32_t>(1.0F))
      return divide(draft, *match, *sources[1], out);
    const bool same = sources.size() == 2 && draft.sources[0] == draft.sources[1];
    const auto rule = simplified(*match, sources, same);
    if (!rule) return false;
    const bool product = match->is(Name::mul);  // which differs in NaNs alone
    note(draft, same ? Folded::Kind::copied : Folded::Kind::simplified, rule->bits, !product);
    const Value result = draft.results[0];
    switch (rule->kind) {
      case Simplified::Kind::constant: out.push_back(move(result, constant(evaluator_.class_of(result), rule->bits), draft)); return true;
      case Simplified::Kind::source: replace_first_result(draft, draft.sources[rule->source], out); return true;
      case Simplified::Kind::negated:
        out.push_back(make(fmt::format("neg.{}", match->types[0]->name), result, {draft.sources[rule->source]}, draft));
        return true;
      case Simplified::Kind::masked: {
        const Value kept = temporary(result);
        out.push_back(make("and.b32", kept, {draft.sources[rule->source], constant(RegisterClass::word, ~rule->mask & 0xffffffff)}, draft));
        out.push_back(make("or.b32", result, {kept, constant(RegisterClass::word, rule->bits)}, draft));
        return true;
      }
    }
    return false;
  }

  /// The first result becomes `source`; the others stay what the operation makes them.
  void replace_first_result(const DraftOperation& draft, Value source, std::vector<DraftOperation>& out) {
    if (draft.results.size() == 1) return out.push_back(move(draft.results[0], source, draft));
    const Value kept = temporary(draft.results[0]);
    out.push_back(move(kept, source, draft));
    out.push_back(draft);
    out.push_back(move(draft.results[0], kept, draft));
  }

  bool divide(const DraftOperation& draft, const Match& match, std::uint64_t divisor, std::vector<DraftOperation>& out) {
    const auto by = constant_divisor(match, static_cast<std::uint32_t>(divisor));
    if (!by) return false;
    note(draft, Folded::Kind::simplified, by->reciprocal, true);
    const std::string ftz = match.has(Qualifier::ftz) ? ".ftz" : "";
    Value dividend = draft.sources[0];
    if (by->scale != std::bit_cast<std::uint32_t>(1.0F)) {
      const Value scaled = temporary(draft.results[0]);
      out.push_back(make("mul.rn" + ftz + ".f32", scaled, {dividend, constant(RegisterClass::word, by->scale)}, draft));
      dividend = scaled;
    }
    // A product that sums may contract to an fma, as with ptxas.
    out.push_back(make("mul" + ftz + ".f32", draft.results[0], {dividend, constant(RegisterClass::word, by->reciprocal)}, draft));
    return true;
  }

  /// Sources of f64 arithmetic that are known become constants, for order_constants().
  void insert_constants(DraftOperation& draft, const Known& known) {
    const Match* match = draft.match;
    if (match == nullptr || match->types.size() != 1 || !catalogue::is_number(*match->types[0], Format::f64)) return;
    for (Value& source : draft.sources)
      if (const auto value = value_of(source, known); value && !is_constant(source) && evaluator_.class_of(source) == RegisterClass::wide)
        source = constant(RegisterClass::wide, *value);
  }

  void rebuild() {
    Rewrite rewrite(function_);
    std::vector<DraftOperation>& out = rewrite.out;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      Known known = entry_[b].value_or(Known(function_.registers.size()));
      for (int i = blocks_[b].first; i < blocks_[b].last; ++i) {
        rewrite.come_to(i);
        DraftOperation& draft = function_.operations[static_cast<std::size_t>(i)];
        const bool reached = entry_[b].has_value() && executes(draft, known) != false;
        const bool replaced = reached && (fold_result(draft, known, out) || simplify(draft, known, out));
        if (reached && !replaced) {
          insert_constants(draft, known);
          if (draft.operation.semantics == Semantics::call) hand_over(draft, known);
        }
        step(draft, known);
        if (!replaced) out.push_back(std::move(draft));
      }
    }
    rewrite.finish();
  }

  DraftFunction& function_;
  ProgramDraft& draft_;
  const std::vector<ResultInCode>* code_;  ///< or null: by the rule
  Handed& handed_;
  const std::vector<int>& calls_;  ///< how many there are of each function
  Evaluator evaluator_;
  std::vector<Block> blocks_;
  std::vector<std::optional<Known>> entry_;  ///< of blocks that are reached
};

}  // namespace

void fold(ProgramDraft& draft, const std::vector<ResultInCode>* code) {
  const OuterRoundingMode mode(RoundingMode::nearest);  // required by the scalar kernels
  std::vector<int> calls(draft.functions.size());
  for (const DraftFunction& function : draft.functions)
    for (const DraftOperation& operation : function.operations) {
      if (operation.operation.semantics != Semantics::call) continue;
      const Call& call = draft.program.of<Call>(operation.operation);
      if (call.target == Call::Target::function) ++calls[static_cast<std::size_t>(call.function)];
    }
  // A function stands behind the first one that calls it.
  Handed handed;
  for (const DraftFunction& function : draft.functions) handed.emplace_back(function.registers.size());
  for (std::size_t i = 0; i < draft.functions.size(); ++i) {
    const Known start = handed[i];
    Folding(draft.functions[i], draft, handed, calls, code).run(start);
  }
}

}  // namespace warpmat::code
