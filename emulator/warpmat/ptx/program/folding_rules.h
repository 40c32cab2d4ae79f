#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <warpmat/ptx/catalogue/catalogue.h>

namespace warpmat::code {

// What ptxas 13.0 makes of instructions with constant operands. Read from its machine code and held against an H100: docs/assembler.md.
// Values are registers' bits, those of narrow types in the low bits; a predicate is 0 or 1.

inline constexpr std::uint64_t f64_sign = std::uint64_t{1} << 63;

/// The result that ptxas stores for an instruction all of whose operands it knows; nothing where it leaves that to the machine, which
/// computes `computed`.
std::optional<std::uint64_t> folded_result(const catalogue::Match& match, std::span<const std::uint64_t> sources, std::uint64_t computed);

/// Whether the instruction has one of the rounding modifiers of floating point.
bool has_rounding(const catalogue::Match& match);

/// What replaces an instruction some of whose operands are constants, or one register twice.
struct Simplified {
  enum class Kind : std::uint8_t {
    constant,  ///< `bits`
    source,    ///< that source, bit for bit
    negated,   ///< neg of that source, of the instruction's type
    masked,    ///< `bits` where `mask` is 1, else that source's
  };
  Kind kind = Kind::constant;
  std::size_t source = 0;
  std::uint64_t bits = 0, mask = 0;
};

/// Whether simplified() or constant_divisor() may have something for instructions of that mnemonic.
bool has_simplification(const catalogue::Match& match);

/// Nothing if the machine executes the instruction unchanged. `sources` with a value are those that ptxas knows; `same`: the first two
/// are one register.
std::optional<Simplified> simplified(const catalogue::Match& match, std::span<const std::optional<std::uint64_t>> sources,
                                     bool same = false);

/// A quotient by a constant: the dividend times `scale`, times `reciprocal`; f32 bits.
struct ConstantDivisor {
  std::uint32_t scale = 0x3f800000, reciprocal = 0;
};

/// How div.approx and div.full divide by `divisor`; nothing of other instructions, and where it is a NaN.
std::optional<ConstantDivisor> constant_divisor(const catalogue::Match& match, std::uint32_t divisor);

}  // namespace warpmat::code
