#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <warpmat/launch.h>
#include <warpmat/observer.h>

namespace warpmat::inline v0_1 {

/// What public classes keep from their users and warpmat's own files use.
struct Internals {
  using PlacedModules = std::map<std::shared_ptr<const void>, std::vector<std::uint64_t>>;

  static const std::shared_ptr<const syntax::Module>& syntax(const Module& module) { return module.syntax_; }
  static const code::Program& program(const Kernel& kernel) { return *kernel.program_; }
  /// The addresses of each module's variables once they are placed. The map keeps the module alive, so that no other module gets its
  /// address.
  static PlacedModules& modules(DeviceMemory& memory) { return memory.modules_; }
  static const code::Program& program(const machine::Event& event) { return event.program(); }
  static const code::Operation& operation(const machine::Event& event) { return *event.operation_; }
  static const machine::WarpState& warp(const machine::Event& event) { return *event.warp_; }
};

/// The text of a module as a tree.
inline const syntax::Module& syntax_of(const Module& module) {
  return *Internals::syntax(module);
}

/// What a kernel executes.
inline const code::Program& program_of(const Kernel& kernel) {
  return Internals::program(kernel);
}

// A warp at a statement.
inline const code::Program& program_of(const machine::Event& event) {
  return Internals::program(event);
}
inline const code::Operation& operation_of(const machine::Event& event) {
  return Internals::operation(event);
}
inline const machine::WarpState& warp_of(const machine::Event& event) {
  return Internals::warp(event);
}

}  // namespace warpmat::inline v0_1
