#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <warpmat/lists/declarations.h>
#include <warpmat/ptx/program/operand_rules.h>
#include <warpmat/ptx/syntax/module.h>

namespace warpmat::inline v0_1 {

using code::Objection;
using code::Seat;
using code::SeatedItem;

/// Reads operands by the rules of operand_rules.h: registers, immediates, shared variables and addresses. In programs without declarations
/// it creates the registers. All functions throw StatementError.
class OperandChecker {
 public:
  OperandChecker(const Program& program, Declarations& declarations) : program_(program), declarations_(declarations) {}

  /// `operand` of a matrix instruction; `mnemonic` is its name in messages.
  OperandText matrix_operand(const syntax::Operand& given, const Instruction& instruction, const Operand& operand,
                             std::string_view mnemonic);
  /// `count` registers in braces, or one without.
  OperandText group(const syntax::Operand& given, const Seat& seat, int count, bool in_braces);
  /// The two operands of a|b.
  OperandText pair(const syntax::Operand& given, Seat first, Seat second);
  /// The predicate of a guard.
  Item guard(const syntax::Operand& given);
  /// [register+offset] or [variable+offset].
  OperandText address(const syntax::Operand& given, Seat seat);

 private:
  OperandText selector(const syntax::Operand& given, const Operand& operand, Seat seat);
  OperandText vector(const syntax::Operand& given, Seat seat, int count);
  std::vector<SeatedItem> seated(const OperandText& text) const;
  [[noreturn]] void refuse(const Objection& objection, const Seat& seat, const syntax::Operand& given) const;
  /// Throws if there is an objection.
  void check(const std::optional<Objection>& objection, const Seat& seat, const syntax::Operand& given) const {
    if (objection) refuse(*objection, seat, given);
  }
  Item item(const syntax::Operand& given, const Seat& seat);
  Item number_item(const syntax::Operand& given, const Seat& seat);
  Item discard_item(const syntax::Operand& given, const Seat& seat) const;
  Item laneid_item(const syntax::Operand& given, const Seat& seat) const;
  Item variable_item(const syntax::Operand& given, const SharedVariable& variable, const Seat& seat) const;
  Item register_item(const syntax::Operand& given, const Seat& seat);
  const NamedRegister& undeclared_register(const syntax::Operand& given, const Seat& seat);

  const Program& program_;
  Declarations& declarations_;
};

}  // namespace warpmat::inline v0_1
