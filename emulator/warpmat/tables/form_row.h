#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <warpmat/forms.h>

namespace warpmat {

/// What an Operand of a form is made of. The members are Operand's.
struct OperandRow {
  OperandName name;
  OperandKind kind = OperandKind::fragment;
  bool written = false;
  bool in_braces = true;
  std::optional<Format> format;
  Fragment fragment;
  int choices = 0;

  [[nodiscard]] static OperandRow of(const Operand& operand);
  [[nodiscard]] Operand operand() const { return Operand(*this); }
};

/// What a Form is made of: the table fills in rows, and what takes an instruction apart (gpu) changes some of one. The members are Form's.
struct FormRow {
  Mnemonic mnemonic;
  std::string opcode;
  Requirement requirement;
  std::vector<OperandRow> operands;
  Shape shape;

  int number = 1;
  bool transposed = false;
  int memory_bits = 16;

  OperandName matrix = OperandName::a;
  Space space = Space::generic;
  bool column_major = false;

  Sparsity sparsity = Sparsity::dense;
  Kind kind = Kind::plain;
  int scale_vector = 0;
  bool satfinite = false;
  BitOperation bit_operation = BitOperation::none;
  Rounding rounding = Rounding::nearest_even;

  [[nodiscard]] static FormRow of(const Form& form);
  /// A form that no table has, unless it equals one.
  [[nodiscard]] Form form() && { return Form(std::move(*this)); }
};

/// The forms of `rows`, which are then empty.
[[nodiscard]] std::vector<Form> forms_of(std::vector<FormRow> rows);

}  // namespace warpmat
