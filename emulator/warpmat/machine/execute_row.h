#pragma once

#include <cstdint>

#include <warpmat/ir/code.h>
#include <warpmat/warp.h>

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

/// The lanes whose guard is true.
inline LaneMask guarded_lanes(const code::Operation& operation, LaneMask lanes, const std::uint8_t* frame, const std::uint8_t* constants) {
  if (!operation.guarded) return lanes;
  const LaneMask guard = *static_cast<const LaneMask*>(place_of(operation.guard, frame, constants));
  return lanes & (operation.guard_inverted ? ~guard : guard);
}

}  // namespace warpmat::machine
