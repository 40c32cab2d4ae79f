#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <warpmat/ir/payloads.h>
#include <warpmat/ptx/syntax/module.h>

namespace warpmat::code {

/// A function that the machine provides: a module declares it as .extern .func, and defines none of that name. Its parameters and its
/// result are .param.
struct SystemFunction {
  std::string_view name;
  Call::Target target;
  std::uint8_t result = 0;                      ///< bytes; 0: there is none
  std::array<std::uint8_t, 5> parameters = {};  ///< bytes of each; 0: there are no more
};

/// nullptr where the machine has none of that name.
const SystemFunction* find_system_function(std::string_view name);

/// Throws StatementError with the right declaration for one that differs in the number, the space or the size of a parameter or result.
void check_declaration(const SystemFunction& known, const syntax::Function& declared);

}  // namespace warpmat::code
