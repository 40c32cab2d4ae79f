#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <warpmat/forms.h>

namespace warpmat {

/// Properties of an operand that execution needs, computed once from its fragment.
struct OperandWords {
  OperandName name;
  OperandKind kind;
  bool written;
  std::uint8_t words;  ///< Operand::words
};

/// The words of an operand in a call: an address has two where the call's have 64 bits. OperandKind, or InstructionOperand::Kind.
template <typename Kind>
constexpr std::size_t words_in_call(Kind kind, std::size_t words, bool wide_addresses) {
  return kind == Kind::address && wide_addresses ? 2 : words;
}

/// The operands of `form`, a form of the table itself, in PTX's order. They last until the process ends.
std::span<const OperandWords> operand_words(const Form& form);

}  // namespace warpmat
