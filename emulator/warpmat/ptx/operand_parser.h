#pragma once

#include <string>
#include <vector>

#include <warpmat/ptx/declarations.h>

namespace warpmat {

/// What an instruction takes at a register's place.
struct Slot {
  std::string what;  ///< for messages: "operand a of mma"
  Accepts accepted;
  const DataType* type;  ///< its width, and how numbers are read
  bool written = false;
  bool may_be_wider = false;  ///< loads and stores: the register may be wider than the type
  bool symbols = false;       ///< mov: also %laneid and the address of a variable
  bool in_braces = false;     ///< {a, b}: only there ptxas takes _, and %laneid as in mov
  bool may_discard = true;    ///< whether _ may stand for a result
};

/// Parses operands: registers, numbers, shared variables and addresses, as ptxas takes them. Registers of a program without declarations
/// are made here. All functions throw StatementError.
class OperandParser {
 public:
  OperandParser(TokenReader& tokens, Program& program, Declarations& declarations)
      : tokens_(tokens), program_(program), declarations_(declarations) {}

  /// `operand` of a matrix instruction; `what` names it in messages.
  OperandText matrix_operand(const Instruction& instruction, const Operand& operand, const std::string& what);
  /// `count` registers in braces, or one without.
  OperandText group(const Slot& place, int count, bool in_braces);
  /// [register+offset] or [variable+offset].
  OperandText address(const std::string& what);

 private:
  OperandText parse_selector(const Operand& operand, const std::string& what);
  OperandText parse_vector(Slot place, int count);
  void check_vector(const Token& open, const Slot& place, const std::vector<Item>& items) const;
  const DataType& named_type(const Item& item) const;
  int width_of(const Item& item, const Slot& place) const;
  DataType::Class class_of(const Item& item) const;
  Item parse_item(const Slot& place);
  Item parse_number_item(const Slot& place, int words);
  Item laneid_item(const Token& token, const Slot& place);
  Item variable_item(const Token& token, const SharedVariable& variable, const Slot& place, int words);
  Item register_item(const Token& token, const Slot& place);
  const NamedRegister& undeclared_register(const Token& token, const Slot& place);
  std::int64_t parse_offsets();

  TokenReader& tokens_;
  Program& program_;
  Declarations& declarations_;
};

}  // namespace warpmat
