#include <warpmat/ptx/syntax/module.h>

#include <algorithm>

namespace warpmat::syntax {

const Directive* Function::find_directive(std::string_view directive) const {
  const auto found = std::ranges::find(directives, directive, &Directive::name);
  return found == directives.end() ? nullptr : &*found;
}

const Function* Module::find_function(std::string_view name) const {
  if (const auto alias = aliases.find(name); alias != aliases.end()) name = alias->second;
  const Function* declared = nullptr;
  for (const Function& function : functions) {
    if (function.name != name) continue;
    if (function.defined) return &function;
    declared = &function;
  }
  return declared;
}

std::uint64_t Module::function_address(const Function& function) const {
  constexpr std::uint64_t first = 0x10000, distance = 16;
  return first + distance * static_cast<std::uint64_t>(find_function(function.name) - functions.data());
}

}  // namespace warpmat::syntax
