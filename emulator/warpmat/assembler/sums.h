#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <warpmat/assembler/value_uses.h>
#include <warpmat/lower/arithmetic.h>
#include <warpmat/lower/definitions.h>

namespace warpmat::code {

/// What a source of a sum is behind mov, neg and the abs of a square.
struct Root {
  int operation;  ///< that writes it, or -1 where another region does
  Value value;
  bool negated = false;
  bool operator==(const Root& other) const { return operation == other.operation && (operation >= 0 || value == other.value); }
  auto key() const { return std::pair(operation, operation >= 0 ? 0 : value); }
};

/// The product that a sum takes in: the sum becomes an fma of its factors.
struct FusedProduct {
  int mul;
  std::size_t operand;  ///< of the sum, where the product was
  bool negated;
};

/// The sums that take a product in.
using FusedSums = std::map<int, FusedProduct>;

/// The sums and products of a function without a rounding modifier, and what their operands are.
class Sums {
 public:
  using Kind = Arithmetic::Kind;
  using Use = ValueUses::Use;

  Sums(const DraftFunction& function, ProgramDraft& draft);

  int size() const { return static_cast<int>(arithmetic_.size()); }
  const DraftOperation& at(int i) const { return function_.operations[static_cast<std::size_t>(i)]; }
  /// What the operation is to contraction, or nullptr.
  const Arithmetic* kind(int i) const { return arithmetic_[static_cast<std::size_t>(i)]; }
  bool is(int i, Kind wanted) const { return i >= 0 && kind(i) != nullptr && kind(i)->kind == wanted && !at(i).operation.guarded; }
  bool is_sum(int i) const { return kind(i) != nullptr && kind(i)->adds(); }
  bool is_product(int i) const {
    return i >= 0 && kind(i) != nullptr && kind(i)->multiplies() && !kind(i)->saturates && !at(i).operation.guarded;
  }
  const DraftFunction& function() const { return function_; }
  const ValueUses& uses() const { return uses_; }
  const Definitions& definitions() const { return definitions_; }
  /// The operations that read the register, in the order of the text.
  const std::vector<int>& readers(Value value) const { return readers_[static_cast<std::size_t>(value)]; }

  /// x * x of f32, whose abs ptxas leaves out.
  bool is_square(int i) const { return is(i, Kind::mul) && kind(i)->type.is(Format::f32) && operand(i, 0) == operand(i, 1); }
  /// The source of a sum or product of `type`, behind what ptxas has no instruction for: without a type behind moves and squares alone.
  /// neg.ftz is such once, before flushing sums.
  /// `anywhere`: also one of another region, if it is the only one that can be read.
  Root operand(int i, std::size_t source, NumberType type = {}, bool anywhere = false) const;
  /// The uses of what `i` writes; those of a mov's result for the mov.
  std::vector<Use> users(int i) const;
  /// How many statements use the product, those behind a neg included.
  std::size_t count(int i) const;
  bool is_single(const Root& root) const { return is_product(root.operation) && count(root.operation) == 1; }
  /// A sum of two equal products, both positive: ptxas takes one of them twice.
  bool is_double(int i) const;
  /// Whether two sums or products have the same operands, as whatever wrote these.
  bool is_equal(int i, int other) const;

 private:
  const DraftFunction& function_;
  ValueUses uses_;
  Definitions definitions_;
  std::vector<const Arithmetic*> arithmetic_;
  std::vector<std::vector<int>> readers_;  ///< by register
};

}  // namespace warpmat::code
