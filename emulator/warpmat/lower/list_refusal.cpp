#include <warpmat/lower/list_refusal.h>

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include <warpmat/execute/scalar_form.h>
#include <warpmat/ptx/catalogue/video_selectors.h>

namespace warpmat::code {
namespace {

using catalogue::Match;
using catalogue::OperandPattern;
using catalogue::Semantics;

constexpr std::string_view elsewhere = "'warpmat launch' and Module take whole kernels";

bool is_unrounded_sum(const Match& match) {
  const bool sum = match.is(catalogue::Name::add) || match.is(catalogue::Name::sub);
  return sum && match.types.front()->is_floating() && !match.has_any({".rn", ".rz", ".rm", ".rp"});
}

bool has_registers(const Match& match, const OperandPattern& operand) {
  const DataType& type = match.type_of(operand);
  return type.is_predicate() || type.bits == 16 || type.bits == 32 || type.bits == 64 || (type.bits == 8 && operand.may_be_wider);
}

}  // namespace

std::string list_refusal(const Match& match) {
  const catalogue::Pattern& pattern = *match.pattern;
  const Semantics semantics = pattern.row.semantics;
  const std::optional<InstructionKind> kind = instruction_kind(match);
  if (semantics == Semantics::branch || semantics == Semantics::branch_table || semantics == Semantics::call ||
      semantics == Semantics::return_ || semantics == Semantics::exit)
    return fmt::format("a list of statements runs from first to last, without {}: {}", pattern.mnemonic, elsewhere);
  if (kind == InstructionKind::load || kind == InstructionKind::store || semantics == Semantics::warp_barrier) return "";
  if (semantics == Semantics::load || semantics == Semantics::store)
    return fmt::format(
        "'{}' is not in a list of statements, whose memory is .shared: there are {}.shared and {}.shared.v2 and .v4, of at most 128 bits; "
        "{}",
        match.opcode, pattern.mnemonic, pattern.mnemonic, elsewhere);
  if (semantics == Semantics::move_vector)
    return fmt::format("'{}' is not in a list of statements: write one mov for each element; {}", match.opcode, elsewhere);
  const auto refused = [](const OperandPattern& operand) { return operand.optional && !operand.paired; };
  if (!kind || catalogue::is_video(match) || std::ranges::any_of(pattern.operands, refused))
    return fmt::format("'{}' is not in a list of statements, which has registers and shared memory alone, and no selectors: {}",
                       match.opcode, elsewhere);
  for (const OperandPattern& operand : pattern.operands)
    if (!has_registers(match, operand))
      return fmt::format("'{}' needs registers of {} bits; a list of statements has 16, 32 and 64", match.opcode,
                         match.type_of(operand).bits);
  if (is_unrounded_sum(match))
    return fmt::format("ptxas may fuse '{}' with a product, but a list executes each statement by itself: write {}.rn{}", match.opcode,
                       pattern.mnemonic, match.opcode.substr(pattern.mnemonic.size()));
  return "";
}

}  // namespace warpmat::code
