#pragma once

#include <cstdint>

#include <warpmat/ptx/program/code.h>

namespace warpmat::machine {

/// Calls the row's function.
inline void execute_row(const code::Program& program, const code::Operation& operation, void* const* results, const void* const* sources) {
  if (operation.kernel != nullptr)
    operation.kernel(results, sources, program.of<scalar::Modifiers>(operation));
  else
    operation.function(results, sources);
}

/// The place of a source in the registers or the constants.
inline const void* place_of(code::Slot slot, const std::uint8_t* frame, const std::uint8_t* constants) {
  return slot < 0 ? constants + ~slot : frame + slot;
}

}  // namespace warpmat::machine
