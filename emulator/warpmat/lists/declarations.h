#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <warpmat/lists/list_internals.h>
#include <warpmat/ptx/syntax/module.h>
#include <warpmat/ptx/text/token_reader.h>

namespace warpmat::inline v0_1 {

/// The registers and variables that a program declares, during parsing.
class Declarations {
 public:
  Declarations(Program& program, bool declares_registers)
      : program_(program), parts_(ListInternals::parts(program)), declares_registers_(declares_registers) {}

  /// Adds a variable or the registers of a declaration. Throws StatementError.
  void define(const syntax::Variable& variable);

  /// Like Program::find_register, but without its linear search: one declaration can make 65,536 registers.
  const NamedRegister* find_register(std::string_view name) const;
  /// Adds a register. Throws StatementError at `location` if the name is taken.
  const NamedRegister& define_register(Location location, std::string name, const DataType& type);
  /// Whether the program has a .reg: then every register must be declared.
  bool declares_registers() const { return declares_registers_; }

 private:
  void define_registers(const syntax::Variable& variable, const DataType& type);
  void define_variable(const syntax::Variable& declared, const DataType& type);
  void require_new(Location location, const std::string& name) const;

  const Program& program_;
  ProgramParts& parts_;  ///< of the program
  bool declares_registers_;
  std::map<std::string, std::size_t, std::less<>> register_index_;  ///< by name: the position in Program::registers()
};

}  // namespace warpmat::inline v0_1
