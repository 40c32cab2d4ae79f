#include <warpmat/ptx/program/inverses.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <warpmat/ptx/program/arithmetic.h>
#include <warpmat/ptx/program/definitions.h>
#include <warpmat/ptx/program/rewrite.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Name;
using catalogue::Qualifier;

namespace {

/// What an operation is to pairs of functions of which one undoes the other.
enum class Part {
  none,
  neg,       ///< of a number, not of .bf16x2
  rcp,       ///< rcp.approx.ftz.f32
  ex2,       ///< ex2.approx.ftz.f32
  div,       ///< div.approx.ftz.f32
  flushing,  ///< cvt.ftz.f64.f32: ptxas flushes by a product with 1, which it makes one with the product before it
  product,   ///< mul.f32
};

bool is_pair_of_bf16(const Match& match) {
  return match.types[0]->format == Format::bf16 && match.types[0]->elements == 2;
}

bool has_f32(const Match& match) {
  return catalogue::is_number(*match.types.back(), Format::f32);
}

/// Of f32, .approx.ftz and nothing else.
bool is_flushing_approximation(const Match& match) {
  return match.has(Qualifier::approx) && match.has(Qualifier::ftz) && has_f32(match);
}

/// cvt.ftz.f64.f32.
bool is_flushing_conversion(const Match& match) {
  return match.qualifiers.size() == 3 && match.has(Qualifier::ftz) && catalogue::is_number(*match.types.front(), Format::f64) &&
         has_f32(match);
}

Part part_of(const DraftOperation& operation) {
  if (operation.match == nullptr) return Part::none;
  const Match& match = *operation.match;
  switch (match.name()) {
    case Name::neg: return has_numbers(match) && match.qualifiers.size() == 1 && !is_pair_of_bf16(match) ? Part::neg : Part::none;
    case Name::rcp: return is_flushing_approximation(match) ? Part::rcp : Part::none;
    case Name::ex2: return is_flushing_approximation(match) ? Part::ex2 : Part::none;
    case Name::div: return is_flushing_approximation(match) ? Part::div : Part::none;
    case Name::cvt: return is_flushing_conversion(match) ? Part::flushing : Part::none;
    case Name::mul: return match.qualifiers.size() == 1 && has_f32(match) ? Part::product : Part::none;
    default: return Part::none;
  }
}

/// Whether the function undoes itself.
bool is_involution(Part part) {
  return part == Part::neg || part == Part::rcp;
}

/// Whether `outer` may be the outer one of a pair: its operand is what the inner one computes.
bool may_undo(const DraftOperation& outer) {
  const Part part = part_of(outer);
  return is_involution(part) || part == Part::div || part == Part::flushing;
}

/// Whether `outer` of `inner` is something else.
bool undoes(const DraftOperation& outer, const DraftOperation& inner) {
  const Part inside = part_of(inner);
  switch (part_of(outer)) {
    case Part::flushing: return inside == Part::product;
    case Part::rcp:
    case Part::div: return inside == Part::rcp || inside == Part::ex2;
    case Part::neg: return outer.match == inner.match;
    default: return false;
  }
}

class Inverses {
 public:
  Inverses(DraftFunction& function, ProgramDraft& draft) : function_(function), draft_(draft), definitions_(function) {}

  void run() {
    for (int i = 0; i < count(); ++i) {
      const int inner = inner_function(i);
      if (inner < 0 || stays(i)) continue;
      if (leaves_loop(function_, inner, i) && (part_of(at(i)) == Part::flushing || is_merged(inner)))
        function_.stay.push_back(at(i).operation.statement);  // also where the loop becomes copies of its rounds
      else
        inner_[i] = inner;
    }
    if (!inner_.empty()) rebuild();
  }

 private:
  int count() const { return static_cast<int>(function_.operations.size()); }
  const DraftOperation& at(int i) const { return function_.operations[static_cast<std::size_t>(i)]; }
  /// The operand of which the outer function is an inverse: a divisor, or the only one.
  Value operand(int i) const { return at(i).sources.back(); }

  /// The function that operation `i` undoes, or -1.
  int inner_function(int i) const {
    if (!may_undo(at(i)) || is_constant(operand(i))) return -1;
    const int inner = definitions_.find_behind_moves(i, operand(i));
    if (inner < 0 || !undoes(at(i), at(inner))) return -1;
    const Part part = part_of(at(inner));
    if (part == Part::ex2 || part == Part::product) return is_only_reader(i, inner) ? inner : -1;
    return is_constant(at(inner).sources[0]) ? -1 : inner;
  }

  /// Whether no operation but `reader`, and moves, may read what `written` computes.
  bool is_only_reader(int reader, int written) const {
    for (int i = 0; i < count(); ++i) {
      if (i == reader || is_move(at(i))) continue;
      const auto may_read = [&](Value value) {
        const int found = is_constant(value) ? -1 : definitions_.find_behind_moves(i, value);
        return found == written || (found < 0 && value == at(written).results[0]);
      };
      if (std::ranges::any_of(at(i).sources, may_read) || std::ranges::any_of(at(i).keeps, may_read)) return false;
    }
    return std::ranges::find(function_.return_registers, at(written).results[0]) == function_.return_registers.end();
  }

  bool stays(int i) const { return std::ranges::find(function_.stay, at(i).operation.statement) != function_.stay.end(); }

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
      rewrite.out.push_back(inner == inner_.end() ? at(i) : replaced(i, inner->second, kept.at(inner->second)));
    }
    rewrite.finish();
  }

  /// Before the inner function: its operand, for ex2 the power of the negative, for mul the product of flushed factors.
  void keep(Value to, const DraftOperation& inner, std::vector<DraftOperation>& out) {
    const Part part = part_of(inner);
    if (part == Part::product) return out.push_back(draft_.make("mul.ftz.f32", {to}, inner.sources, inner));
    if (part != Part::ex2) return out.push_back(move(to, inner.sources[0], inner));
    out.push_back(draft_.make("neg.f32", {to}, {inner.sources[0]}, inner));
    out.push_back(draft_.make("ex2.approx.ftz.f32", {to}, {to}, inner));
  }

  /// What stands in place of the outer function.
  DraftOperation replaced(int outer, int inner, Value kept) {
    const DraftOperation& old = at(outer);
    const Part part = part_of(old);
    DraftOperation operation = part == Part::div        ? draft_.make("mul.ftz.f32", {old.results[0]}, {old.sources[0], kept}, old)
                               : part == Part::flushing ? draft_.make("cvt.ftz.f64.f32", {old.results[0]}, {kept}, old)
                                                        : move(old.results[0], kept, old);
    take_guard(operation, old);
    const Folded::Kind kind = part == Part::flushing            ? Folded::Kind::flushed
                              : part_of(at(inner)) == Part::neg ? Folded::Kind::copied
                                                                : Folded::Kind::inverted;
    draft_.program.folded.push_back({old.operation.statement, kind, 0, true});
    return operation;
  }

  DraftOperation move(Value to, Value from, const DraftOperation& like) {
    const bool wide = function_.registers[static_cast<std::size_t>(from)].register_class == RegisterClass::wide;
    return draft_.make(wide ? "mov.b64" : has_f32(*like.match) ? "mov.f32" : "mov.b32", {to}, {from}, like);
  }

  DraftFunction& function_;
  ProgramDraft& draft_;
  Definitions definitions_;
  std::map<int, int> inner_;  ///< by outer function
};

/// Whether no branch leads from behind operation `from` to `to`, which comes later, and none leaves between them.
bool is_straight(const DraftFunction& function, int from, int to) {
  if (from >= to || std::ranges::any_of(function.labels, [&](int label) { return label > from && label <= to; })) return false;
  return std::none_of(function.operations.begin() + from, function.operations.begin() + to,
                      [](const DraftOperation& operation) { return operation.operation.semantics == catalogue::Semantics::branch; });
}

/// Whether a neg as `i` is may have written what `i` reads, in another block or a loop's round before.
bool may_be_paired(const DraftFunction& function, const Definitions& definitions, int i) {
  const auto at = [&](int place) -> const DraftOperation& { return function.operations[static_cast<std::size_t>(place)]; };
  std::vector<std::pair<int, Value>> open{{i, at(i).sources[0]}};
  std::vector<int> seen;
  while (!open.empty()) {
    const auto [reader, value] = open.back();
    open.pop_back();
    if (is_constant(value)) continue;
    for (const int writer : definitions.find_all(reader, value)) {
      if (at(writer).match == at(i).match && !is_straight(function, writer, i)) return true;
      if (!is_move(at(writer)) || std::ranges::find(seen, writer) != seen.end()) continue;
      seen.push_back(writer);
      open.emplace_back(writer, at(writer).sources[0]);
    }
  }
  return false;
}

}  // namespace

void note_neg_pairs(const DraftFunction& function, ProgramDraft& draft) {
  const auto is_neg = [](const DraftOperation& operation) { return part_of(operation) == Part::neg; };
  if (std::ranges::none_of(function.operations, is_neg)) return;
  const Definitions definitions(function);
  for (int i = 0; i < static_cast<int>(function.operations.size()); ++i) {
    const DraftOperation& operation = function.operations[static_cast<std::size_t>(i)];
    if (is_neg(operation) && may_be_paired(function, definitions, i))
      draft.program.doubted.push_back({operation.operation.statement, Doubt::Why::sign});
  }
}

void remove_inverses(DraftFunction& function, ProgramDraft& draft) {
  if (std::ranges::any_of(function.operations, may_undo)) Inverses(function, draft).run();
}

}  // namespace warpmat::code
