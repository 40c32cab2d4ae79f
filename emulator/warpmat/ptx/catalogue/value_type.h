#pragma once

#include <cstdint>
#include <string_view>

namespace warpmat::inline v0_1::catalogue {

/// A type that PTX's opcodes and declarations name (PTX ISA 9.1 sections 5.2 and 5.3), packed and alternate formats included.
struct ValueType {
  enum class Class : std::uint8_t { bits, unsigned_integer, signed_integer, floating, predicate };

  std::string_view name;  ///< "u32"
  int bits;               ///< in the register: 32 for f16x2; 1 for pred
  Class type_class;

  bool is_signed_integer() const { return type_class == Class::signed_integer; }
  bool is_predicate() const { return type_class == Class::predicate; }
  /// Bytes in memory.
  int bytes() const { return (bits + 7) / 8; }
};

/// Whether a register declared .`declared` is allowed for an operand of .`type`, whatever their widths. ptxas 13.0: registers
/// without a type and .f16x2 ones take what they are given but for other formats; numbers and integers are not mixed.
bool takes(const ValueType& type, const ValueType& declared);

/// The type `name`, without the dot, or nullptr.
const ValueType* find_value_type(std::string_view name);

}  // namespace warpmat::inline v0_1::catalogue
