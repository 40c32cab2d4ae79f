#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/isa/target.h>
#include <warpmat/layout/fragment.h>
#include <warpmat/numeric/format.h>

namespace warpmat {

/// The warp matrix instructions, as PTX names them (PTX ISA 9.1 section 9.7.14.5).
enum class Mnemonic : std::uint8_t { ldmatrix, stmatrix, movmatrix, mma };

std::string_view name(Mnemonic mnemonic);

/// Where a form exists: on `baseline` and every later target, from PTX version `ptx` on.
struct Requirement {
  int baseline;
  PtxVersion ptx;
};

/// The operands of the matrix instructions, as PTX's syntax descriptions name them.
enum class OperandName : std::uint8_t { d, a, b, c, r, p };
inline constexpr std::size_t operand_names = 6;

std::string_view name(OperandName name);
std::optional<OperandName> find_operand_name(std::string_view name);

/// What PTX writes at an operand's place.
enum class OperandKind : std::uint8_t {
  fragment,  ///< registers that hold a matrix
  address,   ///< a row address for each lane: [register], [variable+offset]
};

/// One operand of a form, in the order in which PTX writes them.
struct Operand {
  OperandName name;
  OperandKind kind = OperandKind::fragment;
  bool written = false;
  bool in_braces = true;         ///< how PTX writes the registers: {d0, d1}, or for movmatrix d
  std::optional<Format> format;  ///< what mma reads or writes; none where bits only move
  Fragment fragment;             ///< which element each register holds; for ldmatrix of the matrix in memory, for movmatrix of its source

  /// Registers that PTX writes for the operand, each of fragment.register_bits bits.
  int registers() const { return kind == OperandKind::fragment ? fragment.registers() : 1; }
  /// The same in 32-bit words a lane: a 64-bit register is two.
  int words() const { return kind == OperandKind::fragment ? registers() * fragment.register_bits / 32 : 1; }
};

/// One instruction with all its qualifiers: the expansion of a row of the form table (form.cpp). Forms are made there and nowhere else,
/// so whatever holds a Form holds something that the library can execute on some target.
struct Form {
  Mnemonic mnemonic;
  std::string opcode;  ///< canonical spelling: "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
  Requirement requirement;
  std::vector<Operand> operands;  ///< in PTX's order

  Shape shape;              ///< mma: the product; else m8n8
  int number = 1;           ///< ldmatrix, stmatrix: matrices (.x1, .x2, .x4)
  bool transposed = false;  ///< .trans
  bool satfinite = false;

  /// The operand of that name, or nullptr.
  const Operand* find_operand(OperandName name) const;
  /// The operand of that name, which must exist.
  const Operand& operand(OperandName name) const;
};

/// Every form, in the table's order.
std::span<const Form> forms();

/// The form that `opcode` spells, its qualifiers in any order that ptxas takes (opcode.h), or nullptr.
const Form* find_form(std::string_view opcode);

/// Why `opcode` is not a form, and the nearest that is: one sentence. Only for opcodes that find_form does not know.
std::string explain_unknown_opcode(std::string_view opcode);

/// Nothing if `form` exists for `target` and PTX `version`; else the rule that forbids it:
/// "mma.…m16n8k16… needs sm_80 or later; the target is sm_75".
std::optional<std::string> unavailable(const Form& form, const Target& target, PtxVersion version = newest_ptx);

/// Whether `mnemonic` ("mma") starts the opcode of any form.
bool is_matrix_mnemonic(std::string_view mnemonic);

}  // namespace warpmat
