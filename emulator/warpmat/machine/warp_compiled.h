#pragma once

#include <cstdint>
#include <span>

#include <warpmat/ir/machine_code.h>
#include <warpmat/machine/observers.h>

namespace warpmat::machine {

class WarpState;

/// Whether observers want to know of nothing that machine code does by itself, exchanges aside.
inline bool observe_nothing(const Observers& observers) {
  return !observers.want(EventKinds::operations | EventKinds::runs | EventKinds::accesses);
}
/// The same of this code.
inline bool observe_nothing(const Observers& observers, const code::MachineCode& code) {
  return observe_nothing(observers) && !(code.exchanges() && observers.want(EventKinds::exchanges | EventKinds::synchronisation));
}

/// What the code reads of the launch and of one of its blocks.
void set_block(code::CodeContext& context, const LaunchState& launch, const Dim3& index, std::span<std::uint8_t> shared,
               std::uint32_t shared_base);

/// CodeContext::plain_bytes where no observer asks for accesses.
const std::uint16_t* all_plain_bytes();
/// Sets CodeContext::plain_bytes, and whether stores enter their bytes there, of any warp.
void set_plain_bytes(code::CodeContext& context, WarpState& warp);

/// CodeContext::known of a launch whose clusters have no order: nothing frees memory while it runs, so the blocks of a thread share it.
code::KnownMemory* known_memory_of(const LaunchState& launch);

/// CodeContext::execute.
code::Helped execute_for_code(code::CodeContext& context, std::uint32_t number, std::uint32_t ahead);

}  // namespace warpmat::machine
