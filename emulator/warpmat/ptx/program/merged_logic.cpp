#include <warpmat/ptx/program/merged_logic.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
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

}  // namespace

void note_merged_logic(const DraftFunction& function, ProgramDraft& draft) {
  const auto has_equal_operands = [](const DraftOperation& operation) {
    const std::span<const Value> in = merged_operands(operation);
    return !in.empty() && (in[0] == in[1] || in[0] == in[2] || in[1] == in[2]);
  };
  if (std::ranges::none_of(function.operations, has_equal_operands)) return;
  const Definitions definitions(function);
  const auto may_read = [&](int reader, Value value, int writer) {
    const std::vector<int> found = definitions.find_all(reader, value);
    return std::ranges::find(found, writer) != found.end();
  };
  const int count = static_cast<int>(function.operations.size());
  for (int i = 0; i < count; ++i) {
    const DraftOperation& inner = function.operations[static_cast<std::size_t>(i)];
    if (!has_equal_operands(inner)) continue;
    for (int reader = 0; reader < count; ++reader) {
      const DraftOperation& outer = function.operations[static_cast<std::size_t>(reader)];
      const auto reads = [&](Value value) { return std::ranges::find(outer.sources, value) != outer.sources.end(); };
      if (!is_logic(outer.opcode) || !reads(inner.results[0]) || std::ranges::none_of(merged_operands(inner), reads)) continue;
      if (may_read(reader, inner.results[0], i)) draft.program.doubted.push_back({outer.operation.statement, Doubt::Why::merged_logic});
    }
  }
}

}  // namespace warpmat::inline v0_1::code
