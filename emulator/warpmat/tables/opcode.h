#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpmat::inline v0_1 {

// An opcode is a mnemonic and its qualifiers: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32. ptxas 13.0 accepts the qualifiers in any
// order, as long as types keep their order among themselves, and so do .row and .col. All 5,040 orders of ldmatrix, stmatrix and mma, and
// all 120 of movmatrix, were tried.

/// The mnemonic ("mma", "wmma.load.a") and the qualifiers in an order that does not depend on the spelling: two spellings of one opcode
/// have equal keys.
using OpcodeKey = std::vector<std::string>;

OpcodeKey opcode_key(std::string_view opcode);

/// What a text has beside an opcode, for messages: "a predicate", "blanks", "operands", "a semicolon", "capitals".
struct OpcodeText {
  std::string opcode;               ///< in the letters that it is written in, as far as blanks, a semicolon or operands
  std::vector<std::string> beside;  ///< in the text's order
  std::string listed() const;       ///< of these, at least one: "blanks and a semicolon"
};
OpcodeText opcode_in(std::string_view text);
/// The same of a name of SASS, which has capitals: "small letters".
OpcodeText machine_name_in(std::string_view text);
/// Whether `name` begins as SASS's name of a warpgroup's product: HGMMA, QGMMA and others. wgmma.cpp.
bool is_wgmma_sass(std::string_view name);

/// One part of an opcode, split for comparisons. "m16n8k32" is the letters "m n k " and the numbers 16, 8, 32.
struct OpcodePart {
  explicit OpcodePart(std::string_view spelling);

  std::string text;
  std::string letters;
  std::vector<double> numbers;
  double weight;  ///< the cost of leaving the part out, or of adding it
  bool is_type;
};

/// A known opcode, with its parts sorted by their text for comparisons.
struct KnownOpcode {
  explicit KnownOpcode(std::string_view spelling);

  std::string opcode;
  std::string mnemonic;  ///< "mma", "wmma.load.a"
  std::vector<OpcodePart> sorted;
};

/// How far one opcode is from another: 0 if they have the same parts. Qualifiers that differ only in numbers are nearer the closer the
/// numbers are (m16n8k15 to m16n8k16 rather than m8n8k4). Types of one width are nearer than other types.
double distance(const KnownOpcode& a, const KnownOpcode& b);

/// The one of `choices` that is nearest to one of `given`; the first if nothing is given. Precondition: there are choices.
const std::string& nearest_part(std::span<const std::string> choices, std::span<const std::string_view> given);

/// "the qualifiers of 'mul.u32.lo' are in another order than in mul.lo.u32".
std::string other_order(std::string_view opcode, std::string_view known);

/// Why `opcode` is none of `known`, and the nearest of them by distance() that has its mnemonic, or else the mnemonic's first part: one
/// sentence.
std::string explain_unknown(std::string_view opcode, std::span<const KnownOpcode> known);

}  // namespace warpmat::inline v0_1
