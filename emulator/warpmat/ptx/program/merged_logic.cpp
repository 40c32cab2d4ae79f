#include <warpmat/ptx/program/merged_logic.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <warpmat/ptx/program/arithmetic.h>
#include <warpmat/ptx/program/definitions.h>

namespace warpmat::code {

using catalogue::Name;
using catalogue::Qualifier;

namespace {

/// The operands of lop3 d|p, a, b, c, table, q that are not the table and q.
std::span<const Value> merged_operands(const DraftOperation& operation) {
  constexpr std::size_t logical = 3;
  const bool with_predicate =
      is_of(operation, Name::lop3) && (operation.match->has(Qualifier::or_) || operation.match->has(Qualifier::and_));
  if (!with_predicate || operation.results.size() != 2 || operation.sources.size() < logical) return {};
  return std::span(operation.sources).first(logical);
}

bool is_logic(const DraftOperation& operation) {
  const catalogue::Match* const match = operation.match;
  return match != nullptr && match->has_trait(catalogue::trait::logic) && match->types[0]->bits == 32;
}

/// Which value an operation reads, behind moves: who wrote it, or -1, and as what.
using Origin = std::pair<int, Value>;

class MergedLogic {
 public:
  explicit MergedLogic(const DraftFunction& function) : function_(function), definitions_(function) {}

  bool has_equal_operands(int place) const {
    const std::span<const Value> in = merged_operands(at(place));
    const auto equal = [&](std::size_t a, std::size_t b) { return in[a] == in[b] || origin(place, in[a]) == origin(place, in[b]); };
    return !in.empty() && (equal(0, 1) || equal(0, 2) || equal(1, 2));
  }

  /// The operations with equal operands whose result `reader` may read together with one of their operands.
  std::vector<int> merged_into(int reader) const {
    std::vector<int> found;
    if (!is_logic(at(reader))) return found;
    for (const Value source : at(reader).sources)
      for (const int inner : possible_writers(reader, source))
        if (std::ranges::find(found, inner) == found.end() && has_equal_operands(inner) && reads_operand_of(inner, reader))
          found.push_back(inner);
    return found;
  }

 private:
  const DraftOperation& at(int place) const { return function_.operations[static_cast<std::size_t>(place)]; }

  Origin origin(int place, Value value) const {
    for (std::size_t steps = 0; !is_constant(value) && steps < function_.operations.size(); ++steps) {
      const int writer = definitions_.find(place, value);
      if (writer < 0 || !is_move(at(writer))) return {writer, value};
      place = writer;
      value = at(writer).sources[0];
    }
    return {-1, value};
  }

  bool reads_operand_of(int inner, int reader) const {
    return std::ranges::any_of(at(reader).sources, [&](Value source) {
      return std::ranges::any_of(merged_operands(at(inner)),
                                 [&](Value in) { return source == in || origin(reader, source) == origin(inner, in); });
    });
  }

  /// The operations whose first result `value` may be, as it is or behind moves.
  std::vector<int> possible_writers(int reader, Value value) const {
    std::vector<int> writers;
    std::vector<Origin> open{{reader, value}};
    std::vector<int> seen;
    while (!open.empty()) {
      const auto [place, read] = open.back();
      open.pop_back();
      for (const int found : definitions_.find_all(place, read)) {
        if (!at(found).results.empty() && read == at(found).results[0]) writers.push_back(found);
        if (!is_move(at(found)) || std::ranges::find(seen, found) != seen.end()) continue;
        seen.push_back(found);
        open.emplace_back(found, at(found).sources[0]);
      }
    }
    return writers;
  }

  const DraftFunction& function_;
  const Definitions definitions_;
};

}  // namespace

void note_merged_logic(const DraftFunction& function, ProgramDraft& draft) {
  if (std::ranges::all_of(function.operations, [](const DraftOperation& operation) { return merged_operands(operation).empty(); })) return;
  const MergedLogic logic(function);
  std::vector<std::pair<int, int>> merged;  // the operation with equal operands, and its reader
  for (int reader = 0; reader < static_cast<int>(function.operations.size()); ++reader)
    for (const int inner : logic.merged_into(reader)) merged.emplace_back(inner, reader);
  std::ranges::sort(merged);
  for (const auto& [inner, reader] : merged)
    draft.program.doubted.push_back({function.operations[static_cast<std::size_t>(reader)].operation.statement, Doubt::Why::merged_logic});
}

}  // namespace warpmat::code
