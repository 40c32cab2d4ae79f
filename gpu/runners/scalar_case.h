#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/forms.h>
#include <warpmat/ptx/catalogue/executable.h>

namespace warpmat {

// Scalar instructions as cases to compare with a GPU: one for each spelling of a catalogue row with a kernel.

/// The distribution of an operand's numbers.
enum class ValueKind : std::uint8_t { i8, i16, i32, i64, f16, bf16, f32, f64, predicate };
inline constexpr int value_kinds = 9;

/// The kinds of operands in a class.
enum class ScalarClass : std::uint8_t {
  random,      ///< all bits
  special,     ///< all combinations of a list: zeros, ones, subnormals, limits, infinities, NaNs, neighbours of powers of two
  ordinary,    ///< floating point: exponents close together, last bits that make ties; integers: of random length
  extreme,     ///< floating point: exponents near underflow and overflow; integers: near the limits
  exhaustive,  ///< the first operand of 16 bits takes every value; else like ordinary, with any exponent
};
inline constexpr int scalar_classes = 5;

std::string_view name(ScalarClass operand_class);

/// One operand of a case.
struct ScalarOperand {
  const DataType* type = nullptr;
  ValueKind kind = ValueKind::i32;
  int register_bits = 32;  ///< 1: a predicate
  bool carry = false;      ///< CC.CF, which the text does not write
  bool paired = false;     ///< written after | at the place of the preceding operand
  int vector = 1;          ///< registers in braces

  bool is_predicate() const { return register_bits == 1; }
  bool is_wide() const { return register_bits == 64; }
  /// Of the register: "f32" or "f64" if the instruction wants that, "pred", else untyped.
  std::string register_type() const;
};

/// One spelling of an instruction. `sources` counts each register of a vector.
struct ScalarCase {
  std::string opcode;
  std::string immediate;            ///< an immediate in place of an operand, if any: lop3's table
  std::size_t immediate_place = 0;  ///< among the sources
  std::vector<ScalarOperand> results, sources;
  /// text before and after the operands, results first: vmad's minus, and the video instructions' selectors ".h1"
  std::vector<std::string> before, behind;
  catalogue::Executable executable;

  /// Whether a case's carry is a borrow, the complement of CC.CF: for sub and subc.
  bool borrows() const { return opcode.starts_with("sub"); }

  /// The opcode, and the immediate if there is one: the name in tables and recordings.
  std::string title() const;

  /// Instructions by which a kernel sets the carry to the 0 or 1 of %word, and by which it takes it there.
  std::string_view carry_from_word() const { return borrows() ? "sub.cc.u32 %low, 0, %word;" : "add.cc.u32 %low, %word, 0xffffffff;"; }
  std::string_view word_from_carry() const {
    return borrows() ? "subc.u32 %word, 0, 0;\nand.b32 %word, %word, 1;" : "addc.u32 %word, 0, 0;";
  }

  /// The statement with results %d0, %d1, ... and sources %s0, %s1, ...
  std::string numbered_statement() const;
  /// The statement with these operands, one for each of `results` and `sources`; the carry is not written.
  std::string statement(std::span<const std::string> result_texts, std::span<const std::string> source_texts) const;
};

inline constexpr PtxVersion assembled_version{9, 0};  ///< the newest that CUDA 13.0 assembles

/// All cases of `target`, in the order of the catalogue.
std::vector<ScalarCase> scalar_cases(const Target& target, PtxVersion version);

}  // namespace warpmat
