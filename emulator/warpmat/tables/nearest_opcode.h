#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/tables/opcode.h>

namespace warpmat {

/// One part of an opcode, split for comparisons. "m16n8k32" is the letters "m n k " and the numbers 16, 8, 32.
struct OpcodePart {
  explicit OpcodePart(std::string_view spelling);  ///< a qualifier with or without its dot, the same for all that are compared

  std::string text;
  std::string letters;
  std::vector<double> numbers;
  double weight;  ///< the cost of leaving the part out, or of adding it
  bool is_type;
};

/// The opcode with the qualifiers that are parts of its name behind the mnemonic: wmma.load.a.sync for wmma.sync.load.a.
std::string name_first(std::string_view opcode);

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

/// Why `opcode` is none of `known`, and the nearest of them by distance() that has its mnemonic, or else the mnemonic's first part: one
/// sentence.
std::string explain_unknown(std::string_view opcode, std::span<const KnownOpcode> known);

/// Why `opcode` is none of forms(), and the nearest form: one sentence. Precondition: find_form(opcode) is nullptr. form.cpp.
std::string explain_unknown_form(std::string_view opcode);

/// The same of wgmma_forms(), and of SASS's names for them, and find_wgmma(). wgmma.cpp.
std::string explain_unknown_wgmma(std::string_view opcode);

/// What the one of `rows` spells that has the most of the opcode's qualifiers, and of those the nearest by distance(); at places without
/// any of them all alternatives: "mov(.b16|.u16|.s16)". Precondition: there are rows.
std::string nearest_spelling(std::string_view opcode, std::span<const OpcodeRow* const> rows);

}  // namespace warpmat
