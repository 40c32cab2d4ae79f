#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/ptx/catalogue/names.h>
#include <warpmat/ptx/catalogue/qualifier_meaning.h>
#include <warpmat/ptx/catalogue/row.h>
#include <warpmat/tables/opcode.h>
#include <warpmat/tables/types.h>

namespace warpmat::catalogue {

/// Whether the type is that of one number of `format`, or of one integer of `bits`, signed or not.
constexpr bool is_number(const DataType& type, Format format) {
  return type.type_class == DataType::Class::floating && type.format == format;
}
constexpr bool is_integer_of(const DataType& type, int bits) {
  return type.type_class == DataType::Class::integer && type.bits == bits;
}

/// One operand of a row, parsed from Row::operands.
struct OperandPattern {
  enum class Role : std::uint8_t {
    data,
    address,  ///< in brackets
    number,   ///< an immediate
    carry,    ///< not written in the text
  };

  std::string name;
  Role role = Role::data;
  bool result = false;
  const DataType* type = nullptr;  ///< nullptr: type number `type_index` of the statement
  int type_index = 0;              ///< 0 for T, 1 for U
  int count = 1;
  bool may_be_wider = false;  ///< T+
  bool paired = false;        ///< follows the preceding operand after |
  bool optional = false;

  bool implicit() const { return role == Role::carry; }
};

/// A row with its parsed patterns.
struct Pattern : OpcodeRow {
  explicit Pattern(Row row);

  Row row;
  Name name;    ///< of the mnemonic
  bool hidden;  ///< no statement spells it: only resolution uses it
  std::vector<OperandPattern> operands;
  std::size_t most_operands = 0;  ///< in the text, where d|p is one
};

/// An opcode that a row spells.
struct Match {
  const Pattern* pattern = nullptr;
  std::vector<std::string_view> qualifiers;  ///< with their dots, in the statement's order; they point into find_row's opcode
  std::vector<const DataType*> types{};      ///< the qualifiers that are types, in order
  std::string_view opcode{};                 ///< find_row's
  Spelling spelling{};
  std::uint32_t number = 0;                         ///< of the spelling in a program: code::Program::spellings
  std::vector<const QualifierMeaning*> meanings{};  ///< of the qualifiers, in their order

  bool has(Qualifier qualifier) const { return spelling.qualifiers.has(qualifier); }
  bool has_any(std::initializer_list<Qualifier> some) const { return spelling.qualifiers.has_any(some); }
  Name name() const { return pattern->name; }
  bool has_trait(Traits wanted) const { return row_of(name()).has(wanted); }
  bool is(Name name) const { return this->name() == name; }
  /// Elements of a vector: what .v2, .v4 or .v8 says, else 1.
  int vector() const;
  const DataType& type_of(const OperandPattern& operand) const;
};

/// Whether ptxas 13.0 takes no .f16x2 register for the operand: for most of those with an integer type of their own, such as the number of
/// a shift or a mask of lanes, and for those of redux with integers.
bool takes_integers_alone(const Match& match, const OperandPattern& operand);

/// Every row, with functions for the instruction set that Highway has selected. Made on first use, never destroyed.
std::span<const Pattern> patterns();

/// The opcode with its qualifiers in the order of the row's places.
std::string in_order(const Match& match);

/// The first row that spells `opcode`, by the grammar of tables/opcode.h. Where that takes fewer than `operands`, the first that takes so
/// many, if there is one: max.f32 d, a, b{, c}.
std::optional<Match> find_row(std::string_view opcode, std::size_t operands = 0);

/// Why the machine does not have an opcode whose row is Semantics::absent.
std::string_view why_absent(std::string_view opcode);

/// Why find_row finds nothing, as one sentence. Precondition: it finds nothing.
std::string explain_unknown_row(std::string_view opcode);

}  // namespace warpmat::catalogue
