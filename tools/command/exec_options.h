#pragma once

#include <warpmat/instruction.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/command_line/command.h"

#include "exec_files.h"

namespace warpmat {

// The arrays and numbers of an instruction's operands, for `warpmat exec` and `warpmat explain`.

/// A number operand, the same in all cases: option --`option` sets word `word` of `operand`.
struct NumberRole {
  std::string option;
  OperandName operand;
  std::size_t word;
};

/// The numbers of every form: the selector, the tuples {byte-id, thread-id}, and the optional stride.
const std::vector<NumberRole>& number_roles();

/// An instruction and its operands by option.
struct OperandOptions {
  std::string opcode;
  std::map<std::string, std::string> paths;                     ///< by option; empty where not given
  std::map<std::string, std::optional<std::uint32_t>> numbers;  ///< by option

  const std::string& file(const FileRole& role) const { return paths.at(role.option); }
};

/// Adds OPCODE and an option for each operand that any form has. `options` must outlive the parsing.
void add_operand_options(Command command, OperandOptions& options);

/// The roles of `form`, after checking that exactly their options were given. Written files count only `with_result`.
std::vector<FileRole> checked_roles(const Form& form, const OperandOptions& options, bool with_result);

/// All inputs: files with the same number of cases.
struct Inputs {
  Inputs(const Form& form, const std::vector<FileRole>& roles, const OperandOptions& options);

  std::vector<std::unique_ptr<Input>> files;
  std::unique_ptr<Input> sparse_a;   ///< a dense A instead of a and e, or nullptr
  std::optional<std::size_t> cases;  ///< nothing without files
  std::size_t memory_bytes = 0;      ///< of one case
  std::size_t bytes = 0;             ///< of all files

 private:
  void count(const Input& input);

  const Input* first_ = nullptr;
};

/// The matrix of an operand that the numbers of `options` choose, by selector or ids; else 0.
int selected_matrix(const Form& form, const OperandOptions& options, OperandName operand);

}  // namespace warpmat
