#pragma once

#include <cstdint>

#include <warpmat/ir/code.h>

namespace warpmat::code {

// Generic addresses. Shared, local and parameter memory each have a window; all other addresses are global, constants included. The low 32
// bits of a window's start are zero, as on GPUs: programs use the low half of a generic address as the address within shared memory.

inline constexpr std::uint64_t window_bytes = std::uint64_t{1} << 32;
/// The part of the shared window for the block itself; other blocks of a cluster follow.
inline constexpr std::uint64_t block_window_bytes = std::uint64_t{1} << 24;
inline constexpr std::uint64_t shared_window = 0x00007e00'00000000;
inline constexpr std::uint64_t local_window = shared_window + window_bytes;
inline constexpr std::uint64_t param_window = local_window + window_bytes;

inline constexpr std::uint64_t window_start(Space space) {
  switch (space) {
    case Space::shared: return shared_window;
    case Space::local: return local_window;
    case Space::param: return param_window;
    case Space::generic:
    case Space::global:
    case Space::constant: return param_window + window_bytes;
  }
  return 0;
}

}  // namespace warpmat::code
