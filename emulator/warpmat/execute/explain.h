#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/execute/instruction.h>

namespace warpmat {

// One element of a result, step by step, as the reference computes it: what `warpmat explain` shows. Nothing here is a second arithmetic:
// the reference tells its steps while it executes (numeric/observer.h).

/// A number that goes into a product, and where it comes from.
struct Factor {
  OperandName operand;  ///< a, b, scale_a or scale_b
  Element element;      ///< of a sparse A the stored column
  Place place;
  std::uint64_t bits;  ///< of the operand's format
  Value value;         ///< as it is multiplied
};

/// What a step adds: a product; the sum of a group of products, times its scale factors; or, without products, C.
struct Term {
  struct Product {
    Factor a, b;
  };
  std::vector<Product> products{};
  std::vector<Factor> scales{};
  Value value{};          ///< exact; of unit_sum and integer_sum
  std::int64_t kept = 0;  ///< what of it is added, in units of 2^unit_exponent; of integer_sum all of it
};

/// An operation on bits of `format`: `result` of the terms and `addend`.
struct ExplainedStep {
  enum class Kind : std::uint8_t {
    unit_sum,      ///< a step of a matrix unit; the last term is the addend (numeric/dot.h)
    fused,         ///< an IEEE multiply-add of one product
    addition,      ///< an IEEE addition: `other` + addend
    integer_sum,   ///< all products and the addend exactly, then modulo 2^32 or clamped
    conversion,    ///< of the addend, which has the format `from`
    nan_of_scale,  ///< a scale factor is NaN, and so the result
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
  int largest_exponent = 0;  ///< unit_sum: of the terms that are not zero; unused where all are
  int unit_exponent = 0;     ///< unit_sum: of the register's lowest bit
  std::int64_t sum = 0;      ///< unit_sum: in units; integer_sum: itself
};

/// An element that data movement takes from one place to another: registers of a warp, or memory.
struct ExplainedMove {
  struct Memory {
    int lane;               ///< that gives the address
    std::uint64_t address;  ///< of the row, or of the matrix of wmma.load and wmma.store
    std::uint64_t bit;      ///< of the element's lowest bit, counted from there
    int bits;               ///< of the element in memory
  };
  std::optional<Place> from_register, to_register;
  std::optional<Memory> memory;  ///< where one of the two is not a register
  bool store = false;
};

struct Explanation {
  const Form* form;
  const Target* target;
  const Lowering* lowering;
  std::string as;              ///< who computes: the target's name, or "f32 on a CPU"
  std::string_view tile_of{};  ///< the opcode of the wgmma of which this is a tile, where the caller says so; else empty
  bool plain_f32 = false;      ///< not what the target does: explain_as_f32
  std::string machine;         ///< the machine instructions: "2 HMMA.1688"
  OperandName operand;         ///< whose element this is: d, or r of ldmatrix, stmatrix, wmma.load and wmma.store
  Element element;
  Place place;
  std::uint64_t result = 0;
  std::vector<ExplainedStep> steps{};   ///< of forms that multiply
  std::optional<ExplainedMove> move{};  ///< of others
};

/// How `instruction` gets element `element` of its result from `arguments`, whose registers and memory are as before afterwards. Throws
/// what execute() throws, and std::invalid_argument for an element that the result does not have.
[[nodiscard]] WARPMAT_API Explanation explain(const Instruction& instruction, const Arguments& arguments, const Element& element,
                                              const ExecutionOptions& options = {});

/// The same of `form` as `lowering` executes it, which need not be a row of the table: that of a wgmma for its tile, or one with a model of
/// one's own. `lowering` and its model must last as long as the explanation is used; `target` is what the explanation names.
[[nodiscard]] WARPMAT_API Explanation explain(const Form& form, const Target& target, const Lowering& lowering, const Arguments& arguments,
                                              const Element& element, const ExecutionOptions& options = {});

/// The same element as a loop in f32 computes it, for comparison: fused multiply-adds from C on, K ascending, each rounded to nearest.
/// Throws std::invalid_argument for forms of other elements than floating-point ones of at most 32 bits, and with scale factors.
[[nodiscard]] WARPMAT_API Explanation explain_as_f32(const Form& form, const Target& target, const Lowering& lowering,
                                                     const Arguments& arguments, const Element& element,
                                                     const ExecutionOptions& options = {});

/// The first step of each, counted from 0, after which the two no longer agree about the sum of the same products; nothing where every sum
/// that both have is the same bits, or where they have different formats.
struct Parting {
  std::size_t first, second;
};
[[nodiscard]] WARPMAT_API std::optional<Parting> parting(const Explanation& first, const Explanation& second);

}  // namespace warpmat
