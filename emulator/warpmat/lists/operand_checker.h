#pragma once

#include <string>
#include <vector>

#include <warpmat/lists/declarations.h>
#include <warpmat/ptx/syntax/module.h>

namespace warpmat::inline v0_1 {

/// The requirements on a register operand of an instruction.
struct Slot {
  std::string what;  ///< for messages: "operand a of mma"
  Accepts accepted;
  const DataType* type;  ///< its width, and the format of immediates
  bool written = false;
  bool may_be_wider = false;  ///< loads and stores: the register may be wider than the type
  bool symbols = false;       ///< mov: also %laneid and the address of a variable
  bool in_braces = false;     ///< {a, b}: only there ptxas accepts _, and %laneid as in mov
  bool may_discard = true;    ///< whether _ may replace a result
  bool in_pair = false;       ///< a|b: there too ptxas accepts _
};

/// Checks operands by ptxas's rules: registers, immediates, shared variables and addresses. In programs without declarations it creates the
/// registers. All functions throw StatementError.
class OperandChecker {
 public:
  OperandChecker(const Program& program, Declarations& declarations) : program_(program), declarations_(declarations) {}

  /// `operand` of a matrix instruction; `what` is its name in messages.
  OperandText matrix_operand(const syntax::Operand& given, const Instruction& instruction, const Operand& operand, const std::string& what);
  /// `count` registers in braces, or one without.
  OperandText group(const syntax::Operand& given, const Slot& place, int count, bool in_braces);
  /// The two operands of a|b.
  OperandText pair(const syntax::Operand& given, Slot first, Slot second);
  /// The predicate of a guard.
  Item guard(const syntax::Operand& given);
  /// [register+offset] or [variable+offset].
  OperandText address(const syntax::Operand& given, const std::string& what);

 private:
  OperandText selector(const syntax::Operand& given, const Operand& operand, const std::string& what);
  OperandText vector(const syntax::Operand& given, Slot place, int count);
  void check_vector(const syntax::Operand& given, const Slot& place, const std::vector<Item>& items) const;
  const DataType& named_type(const Item& item) const;
  int width_of(const Item& item, const Slot& place) const;
  DataType::Class class_of(const Item& item) const;
  Item item(const syntax::Operand& given, const Slot& place);
  Item number_item(const syntax::Operand& given, const Slot& place);
  Item discard_item(const syntax::Operand& given, const Slot& place) const;
  Item laneid_item(const syntax::Operand& given, const Slot& place) const;
  Item variable_item(const syntax::Operand& given, const SharedVariable& variable, const Slot& place) const;
  Item register_item(const syntax::Operand& given, const Slot& place);
  const NamedRegister& undeclared_register(const syntax::Operand& given, const Slot& place);

  const Program& program_;
  Declarations& declarations_;
};

}  // namespace warpmat::inline v0_1
