#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>

#include <warpmat/machine/warp_state.h>

namespace warpmat::machine {

/// What a lane passes as parameter `i` to a function that the machine provides, which its signature gives the size of Value
/// (lower/system_functions.h).
template <typename Value>
Value argument(WarpState& warp, const code::Call& call, int lane, std::size_t i) {
  const code::ArgumentCopy& given = call.arguments.at(i);
  if (given.bytes != sizeof(Value)) throw std::logic_error("a function of the machine reads another type than its signature says");
  Value value;
  std::memcpy(&value, warp.local_memory(lane) + given.caller, sizeof value);
  return value;
}

/// The result of such a function.
inline void give_result(WarpState& warp, const code::Call& call, int lane, std::uint64_t value) {
  for (const code::ArgumentCopy& result : call.returns)
    std::memcpy(warp.local_memory(lane) + result.caller, &value, std::min(static_cast<std::size_t>(result.bytes), sizeof value));
}

}  // namespace warpmat::machine
