#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace warpmat::catalogue {

/// The instructions that something tells from others, by their mnemonics: names.inc. All others are `other`.
enum class Name : std::uint8_t {
  other,
#define WARPMAT_INSTRUCTION(name, mnemonic, traits) name,
#define WARPMAT_QUALIFIER(name, text)
#include <warpmat/ptx/catalogue/names.inc>
#undef WARPMAT_INSTRUCTION
#undef WARPMAT_QUALIFIER
};

/// The qualifiers for which something asks once the row is found: names.inc.
enum class Qualifier : std::uint8_t {
#define WARPMAT_INSTRUCTION(name, mnemonic, traits)
#define WARPMAT_QUALIFIER(name, text) name,
#include <warpmat/ptx/catalogue/names.inc>
#undef WARPMAT_INSTRUCTION
#undef WARPMAT_QUALIFIER
};
inline constexpr std::size_t qualifier_count = 0
#define WARPMAT_INSTRUCTION(name, mnemonic, traits)
#define WARPMAT_QUALIFIER(name, text) +1
#include <warpmat/ptx/catalogue/names.inc>
#undef WARPMAT_INSTRUCTION
#undef WARPMAT_QUALIFIER
    ;

/// What passes and checks ask of an instruction as a whole: a set of bits.
using Traits = std::uint8_t;
namespace trait {
inline constexpr Traits none = 0;
inline constexpr Traits places_bytes = 1;     ///< where bytes come from depends on values: masks, amounts, selectors
inline constexpr Traits adds = 2;             ///< the result is a sum
inline constexpr Traits carries = 4;          ///< reads the carry that .cc left
inline constexpr Traits takes_addresses = 8;  ///< a variable as an operand means its address
}  // namespace trait

struct NameRow {
  Name name = Name::other;
  std::string_view mnemonic{};
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
