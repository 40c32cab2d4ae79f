#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace warpmat::syntax {

/// Several modules cannot be one: a symbol has two definitions.
class LinkError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The text of one module with all functions and variables of `modules`, as nvlink joins objects (PTX ISA 9.1 section 5.3, .extern,
/// .visible, .weak, .common). What a module keeps to itself gets another name where two modules have that name; of weak and common
/// definitions the first is kept. Throws LinkError.
std::string link_modules(const std::vector<std::string>& modules);

}  // namespace warpmat::syntax
