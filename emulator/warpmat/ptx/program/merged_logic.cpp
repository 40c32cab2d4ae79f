#include <warpmat/ptx/program/merged_logic.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <warpmat/ptx/program/definitions.h>

namespace warpmat::inline v0_1::code {

namespace {

/// The operands of lop3 d|p, a, b, c, table, q that are not the table and q.
std::span<const Value> merged_operands(const DraftOperation& operation) {
  constexpr std::size_t logical = 3;
  const bool with_predicate = operation.opcode.starts_with("lop3.or.b32") || operation.opcode.starts_with("lop3.and.b32");
  if (!with_predicate || operation.results.size() != 2 || operation.sources.size() < logical) return {};
  return std::span(operation.sources).first(logical);
}

bool is_logic(std::string_view opcode) {
  constexpr std::array<std::string_view, 4> names{"and.b32", "or.b32", "xor.b32", "lop3."};
  return std::ranges::any_of(names, [&](std::string_view name) { return opcode.starts_with(name); });
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

  /// Whether `reader` may read the result of `inner` together with one of its operands.
  bool may_be_merged(int inner, int reader) const {
    if (!is_logic(at(reader).opcode)) return false;
    const std::vector<Value>& sources = at(reader).sources;
    const auto is_operand = [&](Value source) {
      return std::ranges::any_of(merged_operands(at(inner)),
                                 [&](Value in) { return source == in || origin(reader, source) == origin(inner, in); });
    };
    return std::ranges::any_of(sources, is_operand) &&
           std::ranges::any_of(sources, [&](Value source) { return may_read(reader, source, inner); });
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

  /// Whether `value` may be the first result of `writer`, as it is or behind moves.
  bool may_read(int reader, Value value, int writer) const {
    std::vector<Origin> open{{reader, value}};
    std::vector<int> seen;
    while (!open.empty()) {
      const auto [place, read] = open.back();
      open.pop_back();
      for (const int found : definitions_.find_all(place, read)) {
        if (found == writer && read == at(writer).results[0]) return true;
        if (!is_move(at(found)) || std::ranges::find(seen, found) != seen.end()) continue;
        seen.push_back(found);
        open.emplace_back(found, at(found).sources[0]);
      }
    }
    return false;
  }

  const DraftFunction& function_;
  const Definitions definitions_;
};

}  // namespace

void note_merged_logic(const DraftFunction& function, ProgramDraft& draft) {
  if (std::ranges::all_of(function.operations, [](const DraftOperation& operation) { return merged_operands(operation).empty(); })) return;
  const MergedLogic logic(function);
  const int count = static_cast<int>(function.operations.size());
  for (int i = 0; i < count; ++i) {
    if (!logic.has_equal_operands(i)) continue;
    for (int reader = 0; reader < count; ++reader)
      if (logic.may_be_merged(i, reader))
        draft.program.doubted.push_back(
            {function.operations[static_cast<std::size_t>(reader)].operation.statement, Doubt::Why::merged_logic});
  }
}

}  // namespace warpmat::inline v0_1::code
