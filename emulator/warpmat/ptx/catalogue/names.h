#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace warpmat::catalogue {

/// The instructions that something tells from others, by their mnemonics: names.inc. All others are `other`.
enum class Name : std::uint8_t {
  other,
#define WARPMAT_INSTRUCTION(name, mnemonic, traits) name,
#include <warpmat/ptx/catalogue/names.inc>
#undef WARPMAT_INSTRUCTION
};

/// A qualifier that something asks for once the row is found, by its text with the dot: it stands for a number of the text. A test compares
/// those of the sources with the rows, and the numbers of the rows' qualifiers with each other.
class Qualifier {
 public:
  constexpr Qualifier() = default;
  consteval Qualifier(const char* text) : number_(of(text).number_) {}  // NOLINT: has(".ftz")
  static constexpr Qualifier of(std::string_view text) {
    Qualifier qualifier;
    qualifier.number_ = 0x811c9dc5;
    for (const char c : text) qualifier.number_ = (qualifier.number_ ^ static_cast<std::uint8_t>(c)) * 0x01000193;
    return qualifier;
  }
  constexpr std::uint32_t number() const { return number_; }
  friend constexpr auto operator<=>(const Qualifier&, const Qualifier&) = default;

 private:
  std::uint32_t number_ = 0;
};

/// The qualifiers of an opcode.
class Qualifiers {
 public:
  static constexpr std::size_t most = 16;

  void add(Qualifier qualifier) {
    assert(count_ < most);
    all_[count_++] = qualifier;
    some_ |= bit(qualifier);
  }
  bool has(Qualifier qualifier) const {
    if ((some_ & bit(qualifier)) == 0) return false;  // most often
    return std::find(all_.begin(), all_.begin() + count_, qualifier) != all_.begin() + count_;
  }
  bool has_any(std::initializer_list<Qualifier> some) const {
    return std::ranges::any_of(some, [&](Qualifier each) { return has(each); });
  }

 private:
  static constexpr std::uint64_t bit(Qualifier qualifier) { return std::uint64_t{1} << qualifier.number() % 64; }

  std::uint64_t some_ = 0;  ///< a bit for each, which others may share
  std::array<Qualifier, most> all_{};
  std::uint32_t count_ = 0;
};

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

/// What something asks for of an opcode: its instruction and its qualifiers.
struct Spelling {
  Name name = Name::other;
  Qualifiers qualifiers{};
};

/// Its row of names.inc; a row without traits for `other`.
const NameRow& row_of(Name name);

}  // namespace warpmat::catalogue
