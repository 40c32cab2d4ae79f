#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <warpmat/tables/opcode.h>

namespace warpmat {

/// What has to be right in an opcode beside its qualifiers.
enum class OrderRule : std::uint8_t {
  ptxas,       ///< every order that ptxas asks for
  types_alone  ///< that of types: for messages about the others
};

/// Rows by their mnemonics. Rows have numbers: those of their addition.
class OpcodeIndex {
 public:
  OpcodeIndex() = default;
  OpcodeIndex(OpcodeIndex&&) = default;  // and no copy: qualifiers_ points into numbers_
  OpcodeIndex& operator=(OpcodeIndex&&) = default;

  void add(const OpcodeRow& row);

  /// The first row from number `from` on that spells the opcode of `parts`.
  std::optional<std::size_t> find(std::span<const std::string_view> parts, std::size_t from = 0, OrderRule rule = OrderRule::ptxas) const;
  std::optional<std::size_t> find(std::string_view opcode) const { return find(parts_of(opcode)); }

  /// Calls visit(qualifier) for each qualifier of the rows, once; the texts last as long as the index.
  template <typename Visit>
  void for_each_qualifier(Visit visit) const {
    for (const auto& [qualifier, number] : numbers_) visit(std::string_view(qualifier));
  }

  /// The rows of a mnemonic in order.
  std::span<const std::size_t> rows_of(std::string_view mnemonic) const;

 private:
  using Number = std::uint16_t;  ///< of a qualifier
  static constexpr Number unknown = 0xffff;

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  template <typename T>
  using ByText = std::unordered_map<std::string, T, Hash, std::equal_to<>>;

  struct Place {
    std::uint32_t first, last;  ///< among the alternatives of all places
  };
  struct Row {
    std::uint32_t first_place;
    std::uint8_t places;
    std::uint64_t required;  ///< a bit for each place that is not optional
  };
  /// The rows of one mnemonic.
  struct Family {
    std::vector<Row> rows;
    std::vector<Place> places;
    std::vector<Number> alternatives;
    std::vector<bool> of_name;         ///< whether each of these is part of names, and stands among the row's name_places
    std::vector<std::size_t> numbers;  ///< of the rows
    /// By a qualifier's number its own number here, if some row has it; and for each 64 rows by that number the bits of those that have it.
    std::vector<Number> own_numbers;
    Number own_count = 0;
    std::vector<std::vector<std::uint64_t>> having;
  };

  Number number_of(const std::string& qualifier);
  /// The place `i` of the family's last row, if it has these alternatives, none of them of a name; or nullptr.
  const Place* same_as_last(const Family& family, std::size_t i, const std::vector<std::string>& alternatives) const;
  static void add_having(Family& family, Number qualifier, std::size_t row);
  bool spells(const Family& family, const Row& row, std::span<const Number> qualifiers, OrderRule rule) const;

  ByText<Number> numbers_;
  std::vector<QualifierOrder> orders_;          ///< by number
  std::vector<const std::string*> qualifiers_;  ///< by number
  ByText<Family> families_;
  std::size_t rows_ = 0;
};

}  // namespace warpmat
