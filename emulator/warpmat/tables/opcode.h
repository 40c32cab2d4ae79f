#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpmat::inline v0_1 {

// The grammar of opcodes, of matrix forms and of the catalogue's rows alike.
//
// An opcode is a mnemonic and its qualifiers: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32. A row spells opcodes: it has places for
// qualifiers, each with alternatives, "fma(.rn|.rz)(.ftz)?.f32"; a form's opcode is a row that spells one. ptxas 13.0 takes the qualifiers
// in any order, but for two things (all 5,040 orders of ldmatrix, stmatrix and mma were tried, all 120 of movmatrix, and each qualifier of
// every row of the catalogue in other places):
//   - The name of an instruction may have qualifiers, "mul.lo", "cp.async.bulk": they stand first, in their order.
//   - Types keep their order among themselves, and so do layouts, state spaces and others: QualifierOrder.

/// Qualifiers of one order, but `any`, stand in the order of the row's places for them.
enum class QualifierOrder : std::uint8_t {
  any,
  types,         ///< also the formats of elements
  layouts,       ///< .row and .col
  spaces,        ///< of copies: to, from
  reductions,    ///< .and.popc
  load_formats,  ///< .b8x16.b4x16_p64
};
inline constexpr std::size_t qualifier_orders = 6;

/// Of a qualifier, with its dot or without.
QualifierOrder order_of(std::string_view qualifier);

/// Removes the mnemonic or a qualifier, which begins with its dot, from the front of an opcode that is not empty.
std::string_view take_part(std::string_view& opcode);

/// The mnemonic and the qualifiers, these with their dots.
std::vector<std::string_view> parts_of(std::string_view opcode);

/// The instruction's name in an opcode: the mnemonic, and the qualifiers that are part of the name: "wmma.load.a", "mma".
std::string_view name_of(std::string_view opcode);

/// Where a row has a qualifier.
struct OpcodePlace {
  std::vector<std::string> alternatives;  ///< with their dots
  bool optional = false;
};

/// A row, taken apart: "(.a|.b)" is one of several, "?" makes a qualifier or a group optional.
struct OpcodeRow {
  static constexpr std::size_t most_places = 64;  ///< a bit each where opcodes are matched

  /// Throws std::logic_error for a row with more places.
  explicit OpcodeRow(std::string_view row);

  std::string mnemonic;
  std::vector<OpcodePlace> places;
  std::size_t name_places = 0;  ///< the first ones, those of the name
};

/// The opcode of a row with `qualifiers`, in the order of its places; types, and others at the same place, keep their order.
std::string in_order(const OpcodeRow& row, std::span<const std::string_view> qualifiers);

/// What has to be right in an opcode beside its qualifiers.
enum class OrderRule : std::uint8_t {
  ptxas,       ///< every order that ptxas asks for
  types_alone  ///< that of types: for messages about the others
};

/// Rows by their mnemonics. Rows have numbers: those of their addition.
class OpcodeIndex {
 public:
  void add(const OpcodeRow& pattern);

  /// The first row from number `from` on that spells the opcode of `parts`.
  std::optional<std::size_t> find(std::span<const std::string_view> parts, std::size_t from = 0, OrderRule rule = OrderRule::ptxas) const;
  std::optional<std::size_t> find(std::string_view opcode) const { return find(parts_of(opcode)); }

  /// The rows of a mnemonic in order.
  std::span<const std::size_t> rows_of(std::string_view mnemonic) const;

 private:
  using WordNumber = std::uint16_t;

  /// A qualifier of some rows.
  struct Word {
    QualifierOrder order;
    std::vector<std::uint64_t> rows;  ///< a bit for each row that has it
  };
  struct Place {
    std::uint32_t first, last;  ///< among the alternatives of all places
  };
  struct Row {
    std::uint32_t first_place;
    std::uint8_t places, name_places;
    std::uint64_t required;  ///< a bit for each place that is not optional
  };

  /// The rows of one mnemonic.
  class Family {
   public:
    void add(const OpcodeRow& pattern, std::size_t number);
    std::optional<std::size_t> find(std::span<const std::string_view> qualifiers, std::size_t from, OrderRule rule) const;

    std::vector<std::size_t> numbers;  ///< of the rows

   private:
    WordNumber word(const std::string& qualifier);
    bool spells(const Row& row, std::span<const WordNumber> qualifiers, OrderRule rule) const;
    /// The first place of `row` from `from` on that has the qualifier and is not filled; row.places if there is none.
    std::size_t find_place(const Row& row, WordNumber qualifier, std::size_t from, std::uint64_t filled) const;

    std::map<std::string, WordNumber, std::less<>> numbers_of_words_;
    std::vector<Word> words_;
    std::vector<Row> rows_;
    std::vector<Place> places_;
    std::vector<WordNumber> alternatives_;
  };

  std::map<std::string, Family, std::less<>> families_;
  std::size_t rows_ = 0;
};

/// "the qualifiers of 'mul.u32.lo' are in another order than in mul.lo.u32".
std::string other_order(std::string_view opcode, std::string_view known);

}  // namespace warpmat::inline v0_1
