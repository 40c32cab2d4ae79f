#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <warpmat/export.h>
#include <warpmat/ptx/program.h>

namespace warpmat {

// Names of a program's matrix instructions and their operands:
//
//     2             the third matrix instruction of the program
//     mma.0         its first mma (wmma.load.1: the second wmma.load)
//     mma.0.a       operand a of one
//     product       the one with that label: "product: mma.sync..."; product.a is its operand a
//
// All functions throw std::invalid_argument, listing what exists.

/// The number of the matrix instruction `name`, as in Program::matrix_statements.
[[nodiscard]] WARPMAT_API std::size_t find_statement(const Program& program, std::string_view name);

/// An operand of a matrix instruction.
struct OperandPlace {
  std::size_t statement;
  OperandName operand;
  friend bool operator==(const OperandPlace&, const OperandPlace&) = default;
};

/// The operand `name`, "mma.0.a".
[[nodiscard]] WARPMAT_API OperandPlace find_operand_place(const Program& program, std::string_view name);

/// The name of matrix instruction number `statement`: its label, or else "mma.0".
[[nodiscard]] WARPMAT_API std::string statement_name(const Program& program, std::size_t statement);

/// The matrix instructions that have a matrix operand `operand`, for messages: "1 (mma.0) and 3 (mma.1) have it"; "no matrix instruction of
/// the program has it".
[[nodiscard]] WARPMAT_API std::string statements_with(const Program& program, OperandName operand);

}  // namespace warpmat
