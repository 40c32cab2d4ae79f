#pragma once

#include <optional>
#include <span>

#include <warpmat/ptx/catalogue/catalogue.h>

namespace warpmat::code {

struct DraftOperation;
struct ProgramDraft;

/// What must be equal for a product and a sum to be fused.
struct NumberType {
  const DataType* number = nullptr;  ///< f32, f16x2, ...; null of mov
  bool flushes = false;              ///< .ftz

  bool operator==(const NumberType&) const = default;
  bool is(Format format) const { return number != nullptr && catalogue::is_number(*number, format); }
};

/// A statement that contraction knows: mul, add, sub, neg, abs without a rounding modifier, mov, and div.approx and div.full of f32, which
/// end with such a mul: of the dividend and the divisor's reciprocal.
struct Arithmetic {
  enum class Kind { mul, div_approx, div_full, add, sub, neg, abs, mov };
  Kind kind;
  NumberType type;
  bool saturates;

  bool multiplies() const { return kind == Kind::mul || kind == Kind::div_approx || kind == Kind::div_full; }
  bool adds() const { return kind == Kind::add || kind == Kind::sub; }
  /// Of neg: whether ptxas has a sign of the operand for it. Of .bf16x2 it has a product with -1, of flushed halves a sum with -0.
  bool is_sign() const {
    const bool brain_pair = type.number->format == Format::bf16 && type.number->elements == 2;
    return !brain_pair && (!type.flushes || type.is(Format::f32));
  }
  /// Of a sum: whether ptxas takes one of two equal products twice in it: not of pairs and flushed halves.
  bool may_be_doubled() const { return type.number->elements == 1 && (!type.flushes || type.is(Format::f32)); }
};

/// Whether the operation is of a row with that name; false where the machine executes it.
bool is_of(const DraftOperation& operation, catalogue::Name name);
/// The same of one of several.
bool is_one_of(const DraftOperation& operation, std::span<const catalogue::Name> names);

/// What an operation of that row is to contraction; nothing where it is something else.
std::optional<Arithmetic> arithmetic_of(const catalogue::Match& match);

/// The same of the operation; nullptr, too, where it is a part of a longer sequence for its statement.
const Arithmetic* classify_arithmetic(const DraftOperation& draft, ProgramDraft& program);

}  // namespace warpmat::code
