#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <warpmat/lists/list_internals.h>
#include <warpmat/ptx/syntax/module.h>
#include <warpmat/ptx/text/token_reader.h>

namespace warpmat::inline v0_1 {

/// Whether `token` is one of .version, .target, .address_size, .reg and .shared.
bool is_directive(const Token& token);

/// The directives of a program during parsing, and the registers and variables that they declare.
class Declarations {
 public:
  /// If `target` is set, the program's own target is only checked.
  Declarations(TokenReader& tokens, Program& program, const Target* target);

  /// Parses the directive that begins here. Throws StatementError.
  void parse_directive();

  /// Like Program::find_register, but without its linear search: one declaration can make 65,536 registers.
  const NamedRegister* find_register(std::string_view name) const;
  /// Adds a register. Throws StatementError at `location` if the name is taken.
  const NamedRegister& define_register(Location location, std::string name, const DataType& type);
  /// Whether the program has a .reg: then every register must be declared.
  bool declares_registers() const { return declares_registers_; }

 private:
  void parse_version();
  void parse_target();
  void parse_address_size();
  void parse_variables();
  void define(const syntax::Variable& variable);
  void define_registers(const syntax::Variable& variable, const DataType& type);
  void define_variable(const syntax::Variable& declared, const DataType& type);
  void require_new(Location location, const std::string& name) const;

  TokenReader& tokens_;
  const Program& program_;
  ProgramParts& parts_;  ///< of the program
  bool target_is_given_;
  bool declares_registers_;
  std::map<std::string, std::size_t, std::less<>> register_index_;  ///< by name: the position in Program::registers()
};

}  // namespace warpmat::inline v0_1
