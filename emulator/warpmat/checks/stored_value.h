#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <warpmat/machine/warp_state.h>

namespace warpmat::checks {

constexpr std::size_t widest_store = 32;  ///< bytes of a lane

/// Whether it is known what the statement stores: it is a plain store.
inline bool is_plain_store(const code::Operation& operation, const code::Access* access) {
  return operation.semantics == catalogue::Semantics::store && std::size_t{access->bytes} * access->vector <= widest_store;
}

/// What a lane stores by a plain store that has not run yet.
inline void stored_value(const machine::WarpState& warp, const code::Operation& operation, const code::Access& access, int lane,
                         std::uint8_t* value) {
  for (int e = 0; e < access.vector; ++e) {
    const code::Slot slot = warp.source_slot(operation, 1 + e);
    std::uint8_t* const to = value + static_cast<std::size_t>(e) * access.bytes;
    if (access.bytes == 16) {
      std::memcpy(to, warp.at<std::uint64_t>(slot) + lane, 8);
      std::memcpy(to + 8, warp.at<std::uint64_t>(slot) + warp_size + lane, 8);
    } else if (access.register_bits <= 32) {
      std::memcpy(to, warp.at<std::uint32_t>(slot) + lane, access.bytes);
    } else {
      std::memcpy(to, warp.at<std::uint64_t>(slot) + lane, access.bytes);
    }
  }
}

}  // namespace warpmat::checks
