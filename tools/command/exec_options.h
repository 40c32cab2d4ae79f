#pragma once

#include <warpmat/execute/instruction.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "exec_files.h"

namespace warpmat {

// The arrays and numbers of an instruction's operands, as `warpmat exec` and `warpmat explain` take them.

/// An operand that is a number, the same in all cases: option --`option` sets word `word` of `operand`.
struct NumberRole {
  std::string option;
  OperandName operand;
  std::size_t word;
};

/// The numbers of every form: the selector, the tuples {byte-id, thread-id}, and the stride, which may be left out.
const std::vector<NumberRole>& number_roles();

/// An instruction and its operands, as options name them.
struct OperandOptions {
  std::string opcode;
  std::map<std::string, std::string> paths;                     ///< by option; empty where not given
  std::map<std::string, std::optional<std::uint32_t>> numbers;  ///< by option

  const std::string& file(const FileRole& role) const { return paths.at(role.option); }
};

/// Adds OPCODE and an option for each operand that any form has. `options` outlives the parsing.
void add_operand_options(CLI::App& command, OperandOptions& options);

/// The roles of `form`, after a check that just their options were given; those that are written only `with_result`.
std::vector<FileRole> checked_roles(const Form& form, const OperandOptions& options, bool with_result);

/// All that is read: files that hold the same number of cases.
struct Inputs {
  Inputs(const Form& form, const std::vector<FileRole>& roles, const OperandOptions& options);

  std::vector<std::unique_ptr<Input>> files;
  std::unique_ptr<Input> sparse_a;   ///< a dense A in place of a and e; nullptr where none is given
  std::optional<std::size_t> cases;  ///< nothing without files
  std::size_t memory_bytes = 0;      ///< of one case
  std::size_t bytes = 0;             ///< of all files

 private:
  void count(const Input& input);

  const Input* first_ = nullptr;
};

/// Which matrix of an operand the numbers of `options` choose: by selector or ids; else 0.
int selected_matrix(const Form& form, const OperandOptions& options, OperandName operand);

}  // namespace warpmat
