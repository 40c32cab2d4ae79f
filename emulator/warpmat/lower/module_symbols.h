#pragma once

#include <map>
#include <string_view>
#include <vector>

#include <warpmat/lower/names.h>
#include <warpmat/ptx/syntax/variable.h>

namespace warpmat::code {

/// The variables of a module, and the shared variables of its functions, during resolution.
class ModuleSymbols {
 public:
  struct Shared {
    const syntax::Variable* variable;
    bool used;
  };

  explicit ModuleSymbols(const syntax::Module& module);

  std::optional<Named> find(std::string_view name) const;
  /// Adds a shared variable that a function declares.
  int add_shared(const syntax::Variable& variable);
  /// The number of a .global or .const variable declared in a function's body. Like the module's own variables, it exists once.
  int index_in_body(const syntax::Variable& variable) const { return in_bodies_.at(&variable); }
  /// The memory of Named::Kind::module. A list of statements has no module's variables: its own are in shared memory.
  Space space(int index) const {
    const auto at = static_cast<std::size_t>(index);
    if (at >= variables_.size()) return Space::shared;
    return variables_[at]->space == Space::constant ? Space::constant : Space::global;
  }
  /// The numbers of the .const variables, and their bytes.
  std::vector<std::pair<int, std::uint64_t>> constants() const;
  void use_shared(int index) { shared_[static_cast<std::size_t>(index)].used = true; }

  /// Places the used shared variables as ptxas does: in the order of their declaration, each at its declared alignment, with .extern arrays
  /// after all others (measured, ptxas 13.0). Sets the program's shared memory and shared variables, and returns the addresses.
  std::vector<std::uint64_t> place_shared(Program& program) const;
  /// Lists the module's .global and .const variables and writes their initial contents.
  void place_module(Program& program) const;

 private:
  const syntax::Module& module_;
  std::vector<Shared> shared_;
  std::vector<const syntax::Variable*> variables_;    ///< .global and .const
  std::map<const syntax::Variable*, int> in_bodies_;  ///< indices of variables_
  std::map<std::string_view, Named> names_;
};

/// Adds a variable behind the `used` bytes of a function's local memory, and returns its offset. Throws StatementError with a reason where
/// that has no room for it.
std::int32_t place_local(std::uint32_t& used, std::int64_t bytes, std::int64_t alignment, const syntax::Function& function);

/// Sets the entry's parameters: each at its natural or declared alignment, in order.
void place_parameters(const syntax::Function& entry, Program& program);

}  // namespace warpmat::code
