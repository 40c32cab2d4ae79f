#pragma once

// Shared by the functions of the C interface: errors go into the caller's struct; no exception leaves the library.

#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>
#include <type_traits>

#include <warpmat/c.h>

#include <warpmat/instruction.h>

namespace warpmat::c {

/// Copies an error into the caller's struct, up to that struct's size, unless `to` is null; returns error.status.
warpmat_status report(warpmat_error* to, const warpmat_error& error);

/// An error without lane, operand and address.
warpmat_error plain_error(warpmat_status status, std::string_view message);
warpmat_error trap_error(const Trap& trap);
warpmat_status status_of(Trap::Kind kind);

inline warpmat_status report(warpmat_error* to, warpmat_status status, std::string_view message) {
  return report(to, plain_error(status, message));
}

/// The status for the exception that is being handled; also reports it to `to`.
warpmat_status report_exception(warpmat_error* to);

/// Whether the caller's struct has all members of the first version, the last of which was `last`.
#define WARPMAT_HAS_SIZE(pointer, last) \
  ((pointer)->size >= offsetof(std::remove_cvref_t<decltype(*(pointer))>, last) + sizeof(pointer)->last)

/// The number of an enumerator that a caller gives. C allows every number, which C++ must not load as an enumeration.
template <typename Enum>
int number_of(const Enum& given) {
  std::underlying_type_t<Enum> number = 0;
  std::memcpy(&number, &given, sizeof number);
  return static_cast<int>(number);
}

/// Whether what a caller gives is an enumerator from `first` to `last`.
template <typename Enum>
bool is_enumerator(const Enum& given, Enum first, Enum last) {
  return static_cast<int>(first) <= number_of(given) && number_of(given) <= static_cast<int>(last);
}

/// Copies `from` over the caller's struct except its size, and no byte beyond that size.
template <typename Struct>
void copy_out(const Struct& from, Struct* to) {
  const std::size_t size = to->size;
  const std::size_t bytes = size < sizeof(Struct) ? size : sizeof(Struct);
  const auto* source = reinterpret_cast<const unsigned char*>(&from);
  auto* destination = reinterpret_cast<unsigned char*>(to);
  for (std::size_t i = sizeof to->size; i < bytes; ++i) destination[i] = source[i];
}

}  // namespace warpmat::c
