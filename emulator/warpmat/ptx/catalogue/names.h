#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace warpmat::catalogue {

/// The instructions that something tells from others, by their mnemonics: names.inc. All others are `other`.
enum class Name : std::uint8_t {
  other,
#define WARPMAT_INSTRUCTION(name, mnemonic, folds, traits) name,
#define WARPMAT_QUALIFIER(name, text)
#include <warpmat/ptx/catalogue/names.inc>
#undef WARPMAT_INSTRUCTION
#undef WARPMAT_QUALIFIER
};

/// The qualifiers for which something asks once the row is found: names.inc.
enum class Qualifier : std::uint8_t {
#define WARPMAT_INSTRUCTION(name, mnemonic, folds, traits)
#define WARPMAT_QUALIFIER(name, text) name,
#include <warpmat/ptx/catalogue/names.inc>
#undef WARPMAT_INSTRUCTION
#undef WARPMAT_QUALIFIER
};
inline constexpr std::size_t qualifier_count = 0
#define WARPMAT_INSTRUCTION(name, mnemonic, folds, traits)
#define WARPMAT_QUALIFIER(name, text) +1
#include <warpmat/ptx/catalogue/names.inc>
#undef WARPMAT_INSTRUCTION
#undef WARPMAT_QUALIFIER
    ;

/// When ptxas 13.0 computes an instruction all of whose operands it knows; read from its machine code (docs/assembler.md).
enum class Folds : std::uint8_t {
  never,
  always,
  arithmetic,   ///< sums and products, by type and rounding
  conversion,   ///< cvt, by its two types
  extremum,     ///< min and max, by type and qualifiers
  plain_types,  ///< where no type is a half
  sign,         ///< abs and neg: NaNs keep their payload
  whole_mad,    ///< mad of integers, without .cc and .sat
};

/// What passes and checks ask of an instruction as a whole: a set of bits.
using Traits = std::uint16_t;
namespace trait {
inline constexpr Traits none = 0;
inline constexpr Traits single = 1;             ///< ptxas has one machine instruction for it: its limits of unrolling are known
inline constexpr Traits commutes = 2;           ///< ptxas exchanges the first two operands where that suits a constant
inline constexpr Traits logic = 4;              ///< of bits: ptxas merges two of them to one
inline constexpr Traits writes_bits = 8;        ///< ptxas takes a result of floating point for bits: its last step is logic or a mask
inline constexpr Traits places_bytes = 16;      ///< where bytes come from depends on values: masks, amounts, selectors
inline constexpr Traits adds = 32;              ///< the result is a sum
inline constexpr Traits carries = 64;           ///< reads the carry that .cc left
inline constexpr Traits takes_addresses = 128;  ///< a variable as an operand means its address
}  // namespace trait

struct NameRow {
  Name name = Name::other;
  std::string_view mnemonic{};
  Folds folds = Folds::never;
  Traits traits = trait::none;

  bool has(Traits wanted) const { return (traits & wanted) != 0; }
};

/// The name with that mnemonic, or `other`.
Name find_name(std::string_view mnemonic);

/// Its row of names.inc; a row without traits for `other`.
const NameRow& row_of(Name name);

/// With its dot.
std::optional<Qualifier> find_qualifier(std::string_view text);

}  // namespace warpmat::catalogue
