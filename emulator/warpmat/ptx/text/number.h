#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <warpmat/forms.h>

namespace warpmat {

/// An integer constant of PTX: decimal, 0x, 0b, or octal with a leading 0; an optional U at the end (PTX ISA 9.1 section 4.5.1). Nothing if
/// `text` is not one or does not fit 64 bits.
std::optional<std::uint64_t> parse_integer(std::string_view text);

/// The bits of a number as an operand of `type`, with a minus if `negative`; nothing if the type does not accept it. Integer and untyped
/// operands accept integers that fit signed or unsigned. Floating and untyped operands accept 0f and 0d patterns of their width, without a
/// minus. Floating operands of 32 and 64 bits accept decimal fractions.
std::optional<std::uint64_t> parse_number(std::string_view text, bool negative, const DataType& type);

/// Whether a number is spelled as a floating-point one: 0f3F800000, 1.5.
bool is_floating_number(std::string_view text);

}  // namespace warpmat
