#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include <warpmat/launch.h>
#include <warpmat/words/words.h>

namespace warpmat::provenance {

/// The address that an argument is, if it lies in a buffer: these arguments are the kernel's pointers, numbered from 0 on.
inline std::optional<std::uint64_t> pointer_of(const Argument& argument, const DeviceMemory& memory) {
  std::uint64_t address = 0;
  if (argument.bytes().size() != sizeof address) return std::nullopt;
  std::memcpy(&address, argument.bytes().data(), sizeof address);
  return memory.find(address) ? std::optional(address) : std::nullopt;
}

/// By which reports call a pointer parameter whose buffer has no name of its own: "ptr2".
inline std::string pointer_name(std::size_t number) {
  return fmt::format("ptr{}", number);
}

/// The number of the pointer parameter that a user calls "ptr2", or "2".
inline std::optional<std::size_t> pointer_number(std::string_view name) {
  if (name.starts_with("ptr")) name.remove_prefix(3);
  return number_of<std::size_t>(name);
}

}  // namespace warpmat::provenance
