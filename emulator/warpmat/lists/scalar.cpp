#include <warpmat/program.h>

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include <warpmat/ptx/catalogue/catalogue.h>
#include <warpmat/ptx/catalogue/video_selectors.h>

namespace warpmat::inline v0_1 {
namespace {

using catalogue::Match;
using catalogue::OperandPattern;
using catalogue::Semantics;

constexpr std::string_view elsewhere = "'warpmat launch' and Module take whole kernels";

bool exchanges(Semantics semantics) {
  return semantics == Semantics::exchange || semantics == Semantics::active_mask || semantics == Semantics::elect;
}

/// The type of registers and immediates of `type` in a program: itself, or the untyped type of its width if .reg does not know it.
const DataType* declared_type(const DataType& type) {
  return find_data_type(type.name) != nullptr ? &type : &untyped(type.bits);
}

Accepts accepted_at(const Match& match, const OperandPattern& operand) {
  return catalogue::takes_integers_alone(match, operand) ? accepts_integers : accepted_by(match.type_of(operand));
}

bool is_access(const Match& match) {
  return match.pattern->row.semantics == Semantics::load || match.pattern->row.semantics == Semantics::store;
}

/// A load or store whose qualifiers are all .shared, .v2, .v4 or a type, of at most 128 bits.
bool is_plain_access(const Match& match) {
  constexpr int widest_bits = 128, widest_register = 64;
  const DataType& type = *match.types.back();
  const bool plain = std::ranges::all_of(match.qualifiers, [&](std::string_view qualifier) {
    return qualifier.starts_with(".shared") || qualifier == ".v2" || qualifier == ".v4" || qualifier.substr(1) == type.name;
  });
  const bool shared = match.has(catalogue::Qualifier::shared) || match.has(catalogue::Qualifier::shared_cta);
  return plain && shared && find_data_type(type.name) != nullptr && type.bits <= widest_register &&
         type.bits * match.vector() <= widest_bits;
}

bool is_unrounded_sum(const Match& match) {
  const bool sum = match.is(catalogue::Name::add) || match.is(catalogue::Name::sub);
  if (!sum || !match.types.front()->is_floating()) return false;
  using enum catalogue::Qualifier;
  return std::ranges::none_of(std::array{rn, rz, rm, rp}, [&](catalogue::Qualifier rounding) { return match.has(rounding); });
}

bool has_registers(const Match& match, const OperandPattern& operand) {
  const DataType& type = match.type_of(operand);
  return type.is_predicate() || type.bits == 16 || type.bits == 32 || type.bits == 64 || (type.bits == 8 && operand.may_be_wider);
}

/// Why a list of statements does not support the instruction; empty if it does.
std::string refusal(const Match& match, std::string_view opcode) {
  const catalogue::Pattern& pattern = *match.pattern;
  const Semantics semantics = pattern.row.semantics;
  if (semantics == Semantics::branch || semantics == Semantics::branch_table || semantics == Semantics::call ||
      semantics == Semantics::return_ || semantics == Semantics::exit)
    return fmt::format("a list of statements runs from first to last, without {}: {}", pattern.mnemonic, elsewhere);
  if (is_access(match))
    return is_plain_access(match) ? ""
                                  : fmt::format(
                                        "'{}' is not in a list of statements, whose memory is .shared: there are {}.shared and "
                                        "{}.shared.v2 and .v4, of at most 128 bits; {}",
                                        opcode, pattern.mnemonic, pattern.mnemonic, elsewhere);
  if (semantics == Semantics::warp_barrier) return "";
  const auto refused = [](const OperandPattern& operand) { return operand.optional && !operand.paired; };
  const bool on_registers = catalogue::computes(semantics) || exchanges(semantics);
  if (!on_registers || catalogue::is_video(match) || std::ranges::any_of(pattern.operands, refused))
    return fmt::format("'{}' is not in a list of statements, which has registers and shared memory alone, and no selectors: {}", opcode,
                       elsewhere);
  for (const OperandPattern& operand : pattern.operands)
    if (!has_registers(match, operand))
      return fmt::format("'{}' needs registers of {} bits; a list of statements has 16, 32 and 64", opcode, match.type_of(operand).bits);
  if (is_unrounded_sum(match))
    return fmt::format("ptxas may fuse '{}' with a product, but a list executes each statement by itself: write {}.rn{}", opcode,
                       pattern.mnemonic, opcode.substr(pattern.mnemonic.size()));
  return "";
}

std::vector<ScalarArgument> operands_of(const Match& match) {
  if (is_access(match)) {
    const DataType& type = *match.types.back();
    const bool load = match.pattern->row.semantics == Semantics::load;
    const bool may_be_wider = !type.is_floating();
    const ScalarArgument data{declared_type(type), accepted_by(type), load, may_be_wider, match.vector()}, address{};
    return load ? std::vector{data, address} : std::vector{address, data};
  }
  std::vector<ScalarArgument> operands;
  for (const OperandPattern& pattern : match.pattern->operands) {
    if (pattern.implicit) continue;  // the carry
    const DataType& type = match.type_of(pattern);
    operands.push_back({declared_type(type), accepted_at(match, pattern), pattern.result, pattern.may_be_wider, pattern.count,
                        pattern.paired, pattern.optional});
  }
  return operands;
}

ScalarOperation operation_of(Semantics semantics) {
  if (semantics == Semantics::load) return ScalarOperation::load;
  if (semantics == Semantics::store) return ScalarOperation::store;
  return semantics == Semantics::warp_barrier ? ScalarOperation::barrier : ScalarOperation::compute;
}

}  // namespace

std::optional<ScalarInstruction> find_scalar_instruction(std::string_view opcode) {
  std::optional<Match> match = catalogue::find_row(opcode);
  if (!match || !refusal(*match, opcode).empty()) return std::nullopt;
  const catalogue::Row& row = match->pattern->row;
  std::ranges::replace(match->qualifiers, std::string_view(".shared::cta"), std::string_view(".shared"));
  return ScalarInstruction{in_order(*match), operation_of(row.semantics), operands_of(*match), row.requirement};
}

std::string explain_unknown_scalar(std::string_view opcode) {
  const std::optional<Match> match = catalogue::find_row(opcode);
  if (!match) return catalogue::explain_unknown_row(opcode);
  return refusal(*match, opcode);
}

}  // namespace warpmat::inline v0_1
