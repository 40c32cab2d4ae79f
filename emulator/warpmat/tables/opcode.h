#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpmat {

// An opcode is a mnemonic and its qualifiers: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32. ptxas 13.0 takes the qualifiers in every
// order (all 5,040 orders of ldmatrix, stmatrix and mma, and all 120 of movmatrix, were tried), as long as the types keep their order
// among themselves, and .row and .col theirs.

/// The mnemonic ("mma", "wmma.load.a") and the qualifiers in an order that does not depend on the spelling: two spellings of one opcode
/// have equal keys.
using OpcodeKey = std::vector<std::string>;

OpcodeKey opcode_key(std::string_view opcode);

/// One part of an opcode, and what of it counts when opcodes are compared. "m16n8k32" is the letters "m n k " and the numbers 16, 8, 32.
struct OpcodePart {
  explicit OpcodePart(std::string_view spelling);

  std::string text;
  std::string letters;
  std::vector<double> numbers;
  double weight;  ///< what it costs to leave the part out, or to add it
  bool is_type;
};

/// An opcode that exists, with its parts sorted by their text for comparisons.
struct KnownOpcode {
  explicit KnownOpcode(std::string_view spelling);

  std::string opcode;
  std::string mnemonic;  ///< "mma", "wmma.load.a"
  std::vector<OpcodePart> sorted;
};

/// Why `opcode` is none of `known`, and which of them is nearest: one sentence. Qualifiers that differ only in numbers are nearer the
/// closer these are (m16n8k15 is m16n8k16 rather than m8n8k4), types of one width nearer than other types. At least one of `known` has the
/// mnemonic of `opcode`, or its first part.
std::string explain_unknown(std::string_view opcode, std::span<const KnownOpcode> known);

}  // namespace warpmat
