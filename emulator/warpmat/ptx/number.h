#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <warpmat/ptx/types.h>

namespace warpmat {

/// An integer constant of PTX: decimal, 0x, 0b, or octal with a leading 0; an optional U at the end (PTX ISA 9.1 section 4.5.1).
/// Nothing if `text` is not one or does not fit 64 bits.
std::optional<std::uint64_t> parse_integer(std::string_view text);

/// The bits of a number as an operand of `type`, `negative` if a minus stands before it; nothing if the type does not take it:
/// integers into integer and untyped operands that hold them signed or unsigned; 0f and 0d patterns, without a minus, into floating and
/// untyped ones of their width; decimal fractions into floating ones of 32 and 64 bits.
std::optional<std::uint64_t> parse_number(std::string_view text, bool negative, const DataType& type);

/// Whether the spelling of a number is that of a floating-point one: 0f3F800000, 1.5.
bool is_floating_number(std::string_view text);

}  // namespace warpmat
