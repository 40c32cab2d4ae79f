#pragma once

#include <cstdint>

#include <warpmat/ir/code.h>

namespace warpmat::code {

// Generic addresses. Shared, local and parameter memory each have a window; all other addresses are global, constants included. The low 32
// bits of a window's start are zero, as on GPUs: programs use the low half of a generic address as the address within shared memory.

inline constexpr std::uint64_t window_bytes = std::uint64_t{1} << 32;
/// In addresses of shared memory the rank of its block in the cluster begins at this bit.
inline constexpr int rank_at = 24;
inline constexpr std::uint64_t block_window_bytes = std::uint64_t{1} << rank_at;
inline constexpr std::uint32_t block_window_start(int rank) {
  return static_cast<std::uint32_t>(rank) << rank_at;
}
/// The rank of the block that an address of shared memory names; a generic address counts with its low 32 bits.
inline constexpr int rank_in(std::uint64_t address) {
  return static_cast<int>(static_cast<std::uint32_t>(address) >> rank_at);
}
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
