#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpmat {

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

/// What stands before the first dot: "wmma" of wmma.load.a.
inline std::string_view mnemonic_of(std::string_view opcode) {
  return opcode.substr(0, opcode.find('.'));
}

/// Which table has the opcodes with an instruction's name.
enum class OpcodeTable : std::uint8_t {
  forms,  ///< ldmatrix, stmatrix, movmatrix, mma and wmma: forms()
  wgmma,  ///< wgmma.mma_async, also where its name is out of order: wgmma_forms()
  rows,   ///< all others, also those that no table has: the catalogue
};
OpcodeTable table_of(std::string_view opcode);

/// The mnemonic and the qualifiers, these with their dots.
std::vector<std::string_view> parts_of(std::string_view opcode);

/// The instruction's name in an opcode: the mnemonic, and the qualifiers that are part of the name: "wmma.load.a", "mma".
std::string_view name_of(std::string_view opcode);

/// Whether a qualifier with its dot is part of the names of instructions with the mnemonic.
bool is_part_of_name(std::string_view mnemonic, std::string_view qualifier);

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
  std::size_t name_places = 0;  ///< the first ones, those that have qualifiers of names
};

/// The opcode of a row with `qualifiers`, in the order of its places; types, and others at the same place, keep their order.
std::string in_order(const OpcodeRow& row, std::span<const std::string_view> qualifiers);

/// "the qualifiers of 'mul.u32.lo' are in another order than in mul.lo.u32".
std::string other_order(std::string_view opcode, std::string_view known);

}  // namespace warpmat
