#pragma once

#include <optional>
#include <span>
#include <vector>

#include <warpmat/ir/special_register.h>
#include <warpmat/lower/context.h>
#include <warpmat/lower/operand_rules.h>
#include <warpmat/program.h>

namespace warpmat::code {

/// What the text of an operand means at its seat.
struct Meaning {
  enum class Kind : std::uint8_t { register_, number, special, warp_size, variable, discard };
  // Of a register without the rest of its Named: copying what has just been written field by field stalls.
  Value value = 0;  ///< of a register
  Kind kind = Kind::register_;
  std::optional<Named> variable{};
  std::optional<SpecialRegisterName> special{};  ///< of a special register
};

/// A place in memory: the value that holds the address, and an offset.
struct Place {
  Value base = 0;
  std::int64_t offset = 0;
  std::optional<Space> space{};  ///< of a variable
  bool parameter = false;        ///< a .param variable, which is in local memory
  bool number = false;           ///< the text has a number, no register or variable
};

Seat seat_of(const Context& in, const DataType& type, bool written, bool may_be_wider = false);
/// What the text of an operand means at its seat, where it may stand.
Meaning meaning(Context& in, const syntax::Operand& given, const Seat& seat);
[[noreturn]] void refuse(const Context& in, const Objection& objection, const Seat& seat, const syntax::Operand& given);
/// Throws if there is an objection.
inline void check(const Context& in, const std::optional<Objection>& objection, const Seat& seat, const syntax::Operand& given) {
  if (objection) refuse(in, *objection, seat, given);
}
/// Of a matrix instruction's operand: the width of its registers, and the format of numbers.
const DataType& register_type(const warpmat::Operand& operand);
/// Whether a variable, meaning its address, is allowed as a source register.
bool takes_addresses(const Context& in);
/// The space of the variable that the operand names.
std::optional<Space> variable_space(const Context& in, const syntax::Operand& operand);

Value source(Context& in, const syntax::Operand& operand, const DataType& type, bool may_be_wider = false);
Value source(Context& in, const syntax::Operand& operand, const DataType& type, const Seat& seat);
Value source_of(Context& in, const Meaning& found, const syntax::Operand& operand, const DataType& type, const Seat& seat);
/// The register of a result. If it is wider than the type, a temporary that an extension widens afterwards.
Value result(Context& in, const syntax::Operand& operand, const DataType& type, bool may_be_wider = false);
Value named_register(const Context& in, const syntax::Operand& operand);
/// Whether the register is allowed for an operand of .`type`.
void check_type(const Context& in, const syntax::Operand& operand, Value value, const DataType& type);
Value special_register(Context& in, const syntax::Operand& operand, const SpecialRegisterName& special, const DataType& type);
std::uint64_t immediate(const Context& in, const syntax::Operand& operand);
/// Whether registers that a vector lists are declared with several types, which ptxas then does not compare with the statement's.
bool has_several_types(const Context& in, std::span<const syntax::Operand> items);
/// The address of a variable as a constant of that class.
Value address_of(Context& in, const syntax::Operand& operand, const Named& named, RegisterClass register_class);
std::vector<Value> group(Context& in, const syntax::Operand& operand, const DataType& type, bool is_result, std::size_t count);
/// `in_braces`: the operand must be; else one of one register may be.
std::vector<Value> group(Context& in, const syntax::Operand& operand, const DataType& type, Seat seat, std::size_t count, bool in_braces);

/// The operands in braces, or the one without them.
inline std::span<const syntax::Operand> items_of(const syntax::Operand& operand) {
  return operand.kind == syntax::Operand::Kind::vector ? std::span(operand.items) : std::span(&operand, 1);
}

Place place(Context& in, const syntax::Operand& operand);
Place place(Context& in, const syntax::Operand& operand, const Seat& seat);
/// The place that an access of `space` means, where ptxas takes it.
Place place_in(Context& in, const syntax::Operand& operand, Space space);

/// Reads the operands of the row.
void read_operands(Context& in, const catalogue::Match& match, DraftOperation& operation, scalar::Video* video = nullptr);

}  // namespace warpmat::code
