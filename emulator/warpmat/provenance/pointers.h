#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

#include <warpmat/launch.h>

namespace warpmat::checks {

/// The address that a parameter's bytes are, if it lies in a buffer: these parameters are the kernel's pointers, numbered from 0 on.
inline std::optional<std::uint64_t> pointer_of(std::span<const std::uint8_t> parameter, const DeviceMemory& memory) {
  std::uint64_t address = 0;
  if (parameter.size() != sizeof address) return std::nullopt;
  std::memcpy(&address, parameter.data(), sizeof address);
  return memory.find(address) ? std::optional(address) : std::nullopt;
}

/// By which reports call a pointer parameter whose buffer has no name of its own: "ptr2".
inline std::string pointer_name(std::size_t number) {
  return fmt::format("ptr{}", number);
}

/// The number of the pointer parameter that a user calls "ptr2", or "2".
inline std::optional<std::size_t> pointer_number(std::string_view name) {
  if (name.starts_with("ptr")) name.remove_prefix(3);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? std::optional(number) : std::nullopt;
}

}  // namespace warpmat::checks
