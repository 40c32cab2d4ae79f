#pragma once

// What the functions of the C interface share: an error in the caller's struct, no exception beyond this point.

#include <cstddef>
#include <exception>
#include <new>
#include <string_view>

#include <warpmat/c.h>

#include <warpmat/execute/operand_trap.h>

namespace warpmat::c {

/// Writes an error into the caller's struct, as far as its size reaches, unless it is null; returns error.status.
warpmat_status report(warpmat_error* to, const warpmat_error& error);

/// An error without lane, operand and address.
warpmat_error plain_error(warpmat_status status, std::string_view message);
warpmat_error trap_error(const OperandTrap& trap);

inline warpmat_status report(warpmat_error* to, warpmat_status status, std::string_view message) {
  return report(to, plain_error(status, message));
}

/// What an entry point returns for the exception that is being handled.
warpmat_status report_exception(warpmat_error* to);

/// Whether the caller's struct has all members that it had in the first version, whose last was `last`.
#define WARPMAT_HAS_SIZE(pointer, last) \
  ((pointer)->size >= offsetof(std::remove_cvref_t<decltype(*(pointer))>, last) + sizeof(pointer)->last)

/// Copies `from` over the caller's struct but for its size, and no byte behind that.
template <typename Struct>
void copy_out(const Struct& from, Struct* to) {
  const std::size_t size = to->size;
  const std::size_t bytes = size < sizeof(Struct) ? size : sizeof(Struct);
  const auto* source = reinterpret_cast<const unsigned char*>(&from);
  auto* destination = reinterpret_cast<unsigned char*>(to);
  for (std::size_t i = sizeof to->size; i < bytes; ++i) destination[i] = source[i];
}

}  // namespace warpmat::c
