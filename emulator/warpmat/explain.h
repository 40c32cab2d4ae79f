#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/version.h>
#include <warpmat/warp.h>

namespace warpmat {

// ---- One element of a result ----

// One element of a result, step by step, as the reference computes it; `warpmat explain` shows it. This is not a second arithmetic: the
// reference (Path::reference) executes, and its steps are recorded.

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

/// How `instruction` computes element `element` of its result from the first warp of `call`, whose registers and memory are restored
/// afterwards. Throws what execute() throws, and std::invalid_argument for an element that the result lacks, and for memory that is not
/// bytes from an address below 2^32 on (CallMemory::shared): behind callbacks nothing can be restored.
[[nodiscard]] WARPMAT_API Explanation explain(const Instruction& instruction, const Call& call, const Element& element,
                                              const ExecutionOptions& options = {});

/// The same for `form` executed by `lowering`, which need not be a row of the table: it may be that of a wgmma for its tile, or have
/// another model; the call's operands are those of `form`. `lowering` and its model must outlive the explanation; the explanation names
/// `target`.
[[nodiscard]] WARPMAT_API Explanation explain(const Form& form, const Target& target, const Lowering& lowering, const Call& call,
                                              const Element& element, const ExecutionOptions& options = {});

/// The same element computed by a loop in f32, for comparison: fused multiply-adds from C on, K ascending, each rounded to nearest. Throws
/// std::invalid_argument for scale factors and for elements that are not floating point of at most 32 bits.
[[nodiscard]] WARPMAT_API Explanation explain_as_f32(const Form& form, const Target& target, const Lowering& lowering, const Call& call,
                                                     const Element& element, const ExecutionOptions& options = {});

/// The first step of each, from 0, after which the two disagree about the sum of the same products. Nothing if all common sums have the
/// same bits, or if their formats differ.
struct Parting {
  std::size_t first, second;
};
[[nodiscard]] WARPMAT_API std::optional<Parting> parting(const Explanation& first, const Explanation& second);

/// `explanation` in lines of text, as `warpmat explain` prints it; then, unless `other` is nullptr, that one, and where the two part.
[[nodiscard]] WARPMAT_API std::string explanation_text(const Explanation& explanation, const Explanation* other = nullptr);
/// Where the two part, or that they agree, in a sentence or two.
[[nodiscard]] WARPMAT_API std::string parting_text(const Explanation& first, const Explanation& second);

}  // namespace warpmat

// ---- Bank conflicts ----

namespace warpmat::checks {

// Bank conflicts of shared memory. Word w, of four bytes, is in bank w mod 32. A wavefront reads one word from each bank. A warp's access
// is a sequence of phases, each of consecutive lanes. A phase takes as many wavefronts as its fullest bank has different words.
//
//   ld, st of 1, 2 or 4 bytes    one phase of 32 lanes
//   of 8 bytes                   two phases of 16 lanes
//   of 16 bytes                  four phases of 8 lanes
//   ld of 8 and 16 bytes         phases of twice as many lanes, if every lane i reads what i ^ 1 reads, or every one what i ^ 2 reads
//   ldmatrix, stmatrix           a phase for each matrix, of the 8 lanes that address its rows
//   cp.async of 16 bytes         four phases of 8 lanes; lanes do not share writes, even of the same word
//
// Measured on an H200: the cycles of 1,000 random and 100 structured address patterns (tests/vectors/banks) all agree with this rule.
// cp.async of 4 and 8 bytes also depends on the global side. It is assumed to be like st without sharing between lanes; so are accesses
// with inactive lanes.

/// ld; st; ldmatrix and stmatrix; cp.async.
enum class BankAccess : std::uint8_t { load, store, matrix, copy };

/// A word that a phase accesses.
struct BankWord {
  int bank = 0;
  std::uint64_t word = 0;  ///< its address / 4
  LaneMask lanes = 0;      ///< that access it
};

/// Lanes whose accesses share wavefronts.
struct BankPhase {
  LaneMask lanes = 0;           ///< the participating lanes of the phase
  int wavefronts = 0;           ///< 1 without conflicts
  std::vector<BankWord> words;  ///< by bank, then by address
  LaneMask colliding = 0;       ///< the lanes that access a bank with the most wavefronts, if there is more than one
};

WARPMAT_LOCAL inline constexpr int banks = 32;

/// The phases of a warp's access to shared memory, in order. `bytes` is the size for each lane: 1, 2, 4, 8 or 16 (ldmatrix and stmatrix:
/// 16). `addresses` holds the byte address of each of the 32 lanes; those outside `lanes` are not read. `lanes` are the participating lanes
/// (for ldmatrix and stmatrix those that address rows); if empty, there is no phase. Throws std::invalid_argument for another `bytes` or
/// number of addresses.
[[nodiscard]] WARPMAT_API std::vector<BankPhase> bank_phases(BankAccess access, std::uint32_t bytes,
                                                             std::span<const std::uint64_t> addresses, LaneMask lanes);

/// The wavefronts of all phases. The minimum is one for each phase.
[[nodiscard]] WARPMAT_API int wavefronts(std::span<const BankPhase> phases);

/// The evidence for the wavefronts of an access: measured on an H200, or assumed (see above).
[[nodiscard]] WARPMAT_API Evidence bank_evidence(Hardware hardware, BankAccess access, std::uint32_t bytes, LaneMask lanes);

/// The global memory traffic of a warp's access: sectors of 32 bytes, lines of 128 bytes. Computed, not measured. Arguments as above, for
/// any number of bytes from 1 on.
struct GlobalRequest {
  int sectors = 0, lines = 0;
  int min_sectors = 0;  ///< sectors that the same number of distinct bytes would fill
};
[[nodiscard]] WARPMAT_API GlobalRequest global_request(std::uint32_t bytes, std::span<const std::uint64_t> addresses, LaneMask lanes);

}  // namespace warpmat::checks
