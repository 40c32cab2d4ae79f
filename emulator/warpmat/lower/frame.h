#pragma once

#include <vector>

#include <warpmat/lower/control_flow.h>
#include <warpmat/lower/draft.h>

namespace warpmat::code {

/// The places of a function's registers in its frame. Registers that are never live at once share a place, to keep a warp's registers in
/// the caches: compilers write each result to a new register. A move that is the last read of a register keeps its place. A register that
/// is read without a write is zero.
struct Frame {
  std::vector<Slot> slots;  ///< by register
  std::uint32_t bytes = 0;
  bool reads_unwritten = false;  ///< an operation may read a register that none has written
};

/// The named registers of a list never share places, because the list's owner accesses them. With `keep` no register does.
Frame place_registers(const DraftFunction& function, const std::vector<Block>& blocks, const Liveness& liveness, bool keep);

}  // namespace warpmat::code
