#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <warpmat/ptx/catalogue/catalogue.h>

namespace warpmat::inline v0_1::code {

struct DraftOperation;
struct ProgramDraft;

/// A statement that contraction knows: mul, add, sub, neg, abs without a rounding modifier, mov, and div.approx and div.full of f32, which
/// end with such a mul: of the dividend and the divisor's reciprocal.
struct Arithmetic {
  enum class Kind { mul, div_approx, div_full, add, sub, neg, abs, mov };
  Kind kind;
  std::string type;  ///< ".ftz.f32": what must be equal; of mov ".b32"
  bool saturates;

  bool multiplies() const { return kind == Kind::mul || kind == Kind::div_approx || kind == Kind::div_full; }
  bool adds() const { return kind == Kind::add || kind == Kind::sub; }
  bool flushes() const { return type.starts_with(".ftz"); }
  std::string_view number() const { return std::string_view(type).substr(type.rfind('.')); }
  /// Of neg: whether ptxas has a sign of the operand for it. Of .bf16x2 it has a product with -1, of flushed halves a sum with -0.
  bool is_sign() const { return number() != ".bf16x2" && (!flushes() || number() == ".f32"); }
  /// Of a sum: whether ptxas takes one of two equal products twice in it: not of pairs and flushed halves.
  bool may_be_doubled() const { return !number().ends_with("x2") && (!flushes() || number() == ".f32"); }
};

/// Whether the opcode ends with a type of numbers that contraction knows: .f32, .bf16x2, ...
bool ends_with_number(std::string_view opcode);

/// What an operation of that row is to contraction; nothing where it is something else.
std::optional<Arithmetic> arithmetic_of(const catalogue::Match& match);

/// The same of the operation; nullptr, too, where it is a part of a longer sequence for its statement.
const Arithmetic* classify_arithmetic(const DraftOperation& draft, ProgramDraft& program);

}  // namespace warpmat::inline v0_1::code
