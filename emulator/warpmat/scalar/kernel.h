#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <warpmat/formats.h>

// The scalar instructions of PTX, for the 32 lanes of a warp at a time. This folder knows bits, not spelling; rows of the catalogue
// (ptx/catalogue) map opcodes to kernels. Each kernel is a loop over pure lane functions (integer.h, bits.h, ...), compiled once for each
// instruction set of the CPU.

namespace warpmat::scalar {

/// Comparisons of setp and set: a union of the outcomes that make the result true.
enum Outcome : std::uint8_t { is_less = 1, is_equal = 2, is_greater = 4, is_unordered = 8 };

/// The operation by which setp, set and lop3 combine their outcome with the predicate source.
enum class Combine : std::uint8_t { none, conjunction, disjunction, exclusive };

/// A floating-point format of up to 19 bits, for the kernels that convert to or from it; made by small_float().
struct SmallFloat {
  int stride = 0;  ///< bits from one packed element to the next: 8 of e3m2, 4 of e2m1
  int fraction_bits = 0;
  int min_exponent = 0;        ///< exponent of subnormals and of the smallest normal numbers
  std::uint32_t largest = 0;   ///< the code of the largest finite number
  std::uint32_t overflow = 0;  ///< the code of larger numbers: infinity, or `largest` if the format has none
  std::uint32_t nan = 0;       ///< the canonical NaN, or its substitute
  std::uint32_t sign = 0;      ///< the sign bit; 0 if the format has none
  int unused_low_bits = 0;     ///< bits of the word below the code: 13 for tf32
};

/// The options of the video instructions (PTX ISA 9.1 section 9.7.18).
struct Video {
  enum class Second : std::uint8_t { none, add, min, max };

  std::array<std::uint8_t, 2> first_bit{};                          ///< first bit of the part of a and b that is used
  std::array<std::uint8_t, 2> bits{32, 32};                         ///< width of that part
  std::array<bool, 2> is_signed{};                                  ///< a's and b's type
  bool signed_result = false;                                       ///< d's type; for vset and vmad derived from a's and b's types
  bool merge = false;                                               ///< the result replaces a part of c
  std::uint8_t result_first_bit = 0, result_bits = 32;              ///< that part
  Second second = Second::none;                                     ///< the operation that combines the result with c
  std::array<std::array<std::uint8_t, 4>, 2> select{};              ///< SIMD: the part of {b, a} for each element of a's and b's side
  std::uint8_t mask = 15;                                           ///< SIMD: elements of the result that are written
  bool negate_product = false, negate_c = false, plus_one = false;  ///< vmad
  std::uint8_t scale = 0;                                           ///< vmad: right shift of the result

  /// Of scalar instructions other than vmad, which always has a third source.
  bool needs_third_source() const { return merge || second != Second::none; }
};

/// The qualifiers and immediate operands of a statement, the same for all lanes.
struct Modifiers {
  Rounding rounding = Rounding::nearest_even;  ///< .rna and .rs have kernels of their own
  bool ftz = false;                            ///< subnormal sources and results become zeros
  bool saturate = false;                       ///< .sat: floating-point results are clamped to [+0, 1], NaN becomes +0
  bool finite = false;                         ///< .satfinite: infinities become the largest finite number
  bool integral = false;                       ///< .rni, .rzi, .rmi, .rpi: the result is a whole number
  bool relu = false;                           ///< negative results become +0
  bool nan = false;                            ///< min, max: a NaN source makes the result NaN
  bool absolute = false;                       ///< min, max: .abs
  bool xor_sign = false;                       ///< min, max: .xorsign
  bool out_of_bounds = false;                  ///< fma.oob
  bool carry_in = false;                       ///< addc, subc, madc: the last source is CC.CF
  bool carry_out = false;                      ///< .cc: the second result is CC.CF
  bool wrap = false;                           ///< shf, szext, bmsk, vshl, vshr: .wrap; else .clamp
  std::uint8_t outcomes = 0;                   ///< setp, set: a union of Outcome
  Combine combine = Combine::none;
  std::uint32_t true_value = 0;  ///< set: the value of a true comparison, in one element of the result
  SmallFloat format;             ///< cvt: the small format
  Video video;
};

/// Executes an instruction in all 32 lanes. results[i] and sources[i] are operands in the order of the text, each
///     up to 32 bits   std::uint32_t[32], aligned to 64 bytes: the value in the low bits;
///     64 bits         std::uint64_t[32], aligned to 64 bytes;
///     a predicate     one std::uint32_t, whose bit n is lane n's.
/// Source bits above the type are ignored. Results narrower than 32 bits are zero-extended. A result may be the same array as a source; it
/// never overlaps one partially. The CPU must round to nearest and keep subnormal numbers (numeric/rounding_mode.h). Kernels with another
/// rounding set it and restore it.
using Function = void (*)(void* const* results, const void* const* sources, const Modifiers& modifiers);

struct Kernel {
  std::string_view name;  ///< mnemonic, variant and type, separated by dots: "mul.hi.u32"; .bN if signed and unsigned are the same
  Function function;
};

/// The kernel of that name for the selected instruction set (kernels_target()), or nullptr. An integer type without a kernel of its own
/// selects the .b type of its width: "add.s32" selects "add.b32".
Function find_kernel(std::string_view name);

}  // namespace warpmat::scalar
