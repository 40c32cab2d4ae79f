#pragma once

#include <cstdint>
#include <string_view>

namespace warpmat::catalogue {

/// A type as opcodes and declarations of PTX name it (PTX ISA 9.1 sections 5.2 and 5.3), packed and alternate formats included.
struct ValueType {
  enum class Class : std::uint8_t { bits, unsigned_integer, signed_integer, floating, predicate };

  std::string_view name;  ///< "u32"
  int bits;               ///< of the register's part that holds it: 32 for f16x2; 1 for pred
  Class type_class;

  bool is_signed_integer() const { return type_class == Class::signed_integer; }
  bool is_predicate() const { return type_class == Class::predicate; }
  /// Bytes in memory.
  int bytes() const { return (bits + 7) / 8; }
};

/// Whether a register that is declared .`declared` may stand where a statement says .`type`, whatever their widths. ptxas 13.0: registers
/// without a type and .f16x2 ones take what they are given but for other formats; numbers and integers are not mixed.
bool takes(const ValueType& type, const ValueType& declared);

/// The type of that name without the dot, or nullptr.
const ValueType* find_value_type(std::string_view name);

}  // namespace warpmat::catalogue
