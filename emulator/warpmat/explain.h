#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/instruction.h>

namespace warpmat::inline v0_1 {

// One element of a result, step by step, as the reference computes it; `warpmat explain` shows it. This is not a second arithmetic: the
// reference executes, and its steps are recorded (ReferenceArithmetic in execute/reference/arithmetic.h).

/// A number that enters a product, with its origin.
struct Factor {
  OperandName operand;  ///< a, b, scale_a or scale_b
  Element element;      ///< of a sparse A the stored column
  Place place;
  std::uint64_t bits;  ///< of the operand's format
  Value value;         ///< as it is multiplied
};

/// An addend of a step: a product; the sum of a group of products, times its scale factors; or, without products, C.
struct Term {
  struct Product {
    Factor a, b;
  };
  std::vector<Product> products{};
  std::vector<Factor> scales{};
  Value value{};          ///< exact; of unit_sum and integer_sum
  std::int64_t kept = 0;  ///< the part that is added, in units of 2^unit_exponent; for integer_sum all of it
};

/// An operation on bits of `format`: `result` of the terms and `addend`.
struct ExplainedStep {
  enum class Kind : std::uint8_t {
    unit_sum,      ///< a step of a matrix unit; the last term is the addend (dot.h)
    fused,         ///< an IEEE multiply-add of one product
    addition,      ///< an IEEE addition: `other` + addend
    integer_sum,   ///< all products and the addend exactly, then modulo 2^32 or clamped
    conversion,    ///< of the addend, which has the format `from`
    nan_of_scale,  ///< a scale factor is NaN, so the result is NaN
  };

  Kind kind;
  Format format;
  std::uint64_t addend = 0;
  std::uint64_t other = 0;
  std::uint64_t result = 0;
  Format from = Format::f32;
  Rounding rounding = Rounding::toward_zero;
  std::vector<Term> terms{};
  bool special = false;      ///< unit_sum: a term is NaN or infinite, so nothing is aligned
  int largest_exponent = 0;  ///< unit_sum: of the nonzero terms; unused if all are zero
  int unit_exponent = 0;     ///< unit_sum: of the register's lowest bit
  std::int64_t sum = 0;      ///< unit_sum: in units; integer_sum: itself
};

/// Data movement of one element between registers of a warp, or between registers and memory.
struct ExplainedMove {
  struct Memory {
    int lane;               ///< the lane that holds the address
    std::uint64_t address;  ///< of the row, or of the matrix of wmma.load and wmma.store
    std::uint64_t bit;      ///< of the element's lowest bit, counted from there
    int bits;               ///< of the element in memory
  };
  std::optional<Place> from_register, to_register;
  std::optional<Memory> memory;  ///< set if one of the two is memory
  bool store = false;
};

struct Explanation {
  const Form* form;
  const Target* target;
  const Lowering* lowering;
  std::string as;              ///< the target's name, or "f32 on a CPU"
  std::string_view tile_of{};  ///< the opcode of the wgmma of which this is a tile; else empty
  bool plain_f32 = false;      ///< true for explain_as_f32, which no target does
  std::string machine;         ///< the machine instructions: "2 HMMA.1688"
  OperandName operand;         ///< the operand of this element: d, or r of ldmatrix, stmatrix, wmma.load and wmma.store
  Element element;
  Place place;
  std::uint64_t result = 0;
  std::vector<ExplainedStep> steps{};   ///< of forms that multiply
  std::optional<ExplainedMove> move{};  ///< of others
};

/// How `instruction` computes element `element` of its result from `arguments`. Their registers and memory are restored afterwards. Throws
/// what execute() throws, and std::invalid_argument for an element that the result lacks.
[[nodiscard]] WARPMAT_API Explanation explain(const Instruction& instruction, const Arguments& arguments, const Element& element,
                                              const ExecutionOptions& options = {});

/// The same for `form` executed by `lowering`, which need not be a row of the table: it may be that of a wgmma for its tile, or have
/// another model. `lowering` and its model must outlive the explanation; the explanation names `target`.
[[nodiscard]] WARPMAT_API Explanation explain(const Form& form, const Target& target, const Lowering& lowering, const Arguments& arguments,
                                              const Element& element, const ExecutionOptions& options = {});

/// The same element computed by a loop in f32, for comparison: fused multiply-adds from C on, K ascending, each rounded to nearest. Throws
/// std::invalid_argument for scale factors and for elements that are not floating point of at most 32 bits.
[[nodiscard]] WARPMAT_API Explanation explain_as_f32(const Form& form, const Target& target, const Lowering& lowering,
                                                     const Arguments& arguments, const Element& element,
                                                     const ExecutionOptions& options = {});

/// The first step of each, from 0, after which the two disagree about the sum of the same products. Nothing if all common sums have the
/// same bits, or if their formats differ.
struct Parting {
  std::size_t first, second;
};
[[nodiscard]] WARPMAT_API std::optional<Parting> parting(const Explanation& first, const Explanation& second);

}  // namespace warpmat::inline v0_1
