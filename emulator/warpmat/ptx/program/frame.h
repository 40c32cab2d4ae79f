#pragma once

#include <vector>

#include <warpmat/ptx/program/control_flow.h>
#include <warpmat/ptx/program/draft.h>

namespace warpmat::code {

/// Where the registers of a function lie in its frame. Registers that are never needed at once share a place, so that a warp's registers
/// stay in the caches: compilers write each result to a register of its own. What a program reads without having written it is zero.
struct Frame {
  std::vector<Slot> slots;  ///< by register
  std::uint32_t bytes = 0;
};

/// The named registers of a list share no place: its owner sees them.
Frame place_registers(const DraftFunction& function, const std::vector<Block>& blocks, const Liveness& liveness);

}  // namespace warpmat::code
