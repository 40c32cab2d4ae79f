#pragma once

#include <vector>

#include <warpmat/lower/list_draft.h>
#include <warpmat/lower/operands.h>

namespace warpmat::code {

// What statements of lists have beside those of a function's body.

void list_element(Context& in, const syntax::Element& element);
void refuse_labels_of_names(const Context& in, std::vector<Diagnostic>& errors);
/// What stands before the operands of a statement: guard and opcode; then their number.
void begin_list_statement(Context& in, const syntax::Statement& statement);
void check_list_count(const Context& in);
/// The seat of the scalar instruction's current operand.
Seat list_seat(const Context& in);
/// Begins the current operand, which may be two in a pair.
void begin_list_operand(Context& in, const syntax::Operand& given);
void note_group(Context& in, OperandText::Kind kind);
/// Keeps the item for the list's users.
void note(Context& in, const Meaning& found, const syntax::Operand& given, const Seat& seat);
std::vector<Meaning> list_group(Context& in, const syntax::Operand& operand, Seat seat, int count, bool in_braces);
/// The registers of a load or a store.
std::vector<Meaning> list_data(Context& in, std::size_t index, int count);
/// [register+offset] or [variable+offset].
Place list_place(Context& in, const syntax::Operand& operand, Seat seat);
/// A register of a list without declarations comes into being where it is first named, as wide as there.
Named undeclared(Context& in, const syntax::Operand& given, const Seat& seat);

}  // namespace warpmat::code
