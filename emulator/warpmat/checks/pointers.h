#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include <warpmat/launch.h>

namespace warpmat::checks {

/// The address that a parameter's bytes are, if it lies in a buffer: these parameters are the kernel's pointers, numbered from 0 on.
inline std::optional<std::uint64_t> pointer_of(std::span<const std::uint8_t> parameter, const DeviceMemory& memory) {
  std::uint64_t address = 0;
  if (parameter.size() != sizeof address) return std::nullopt;
  std::memcpy(&address, parameter.data(), sizeof address);
  return memory.find(address) ? std::optional(address) : std::nullopt;
}

}  // namespace warpmat::checks
