#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// The scalar instructions of PTX, for the 32 lanes of a warp at a time. This room knows bits, not spelling: rows of the catalogue
// (ptx/catalogue) say which opcode is which kernel. Each kernel is a loop over pure lane functions (integer.h, bits.h, ...), compiled once
// for each instruction set of the CPU.

namespace warpmat::scalar {

/// Comparisons of setp and set: a union of the outcomes that make the result true.
enum Outcome : std::uint8_t { is_less = 1, is_equal = 2, is_greater = 4, is_unordered = 8 };

/// How setp, set and lop3 combine what they find with the predicate source.
enum class Combine : std::uint8_t { none, conjunction, disjunction, exclusive };

/// How a result is rounded. `nearest_away` (.rna) and `stochastic` (.rs) are for conversions only.
enum class Rounding : std::uint8_t { nearest_even, toward_zero, down, up, nearest_away, stochastic };

/// Codes of a floating-point format of up to 19 bits, for the kernels that convert to or from it; small_float() fills it.
struct SmallFloat {
  int stride = 0;  ///< bits from one packed element to the next: 8 of e3m2, 4 of e2m1
  int fraction_bits = 0;
  int min_exponent = 0;        ///< of subnormal numbers and of the smallest normal ones
  std::uint32_t largest = 0;   ///< the code of the largest finite number
  std::uint32_t overflow = 0;  ///< the code of what is larger: infinity; `largest` where the format has none
  std::uint32_t nan = 0;       ///< the canonical NaN, or what stands for it
  std::uint32_t sign = 0;      ///< the sign's bit; 0 where there is none
  int unused_low_bits = 0;     ///< of the word below the code: 13 of tf32
};

/// The video instructions' choices (PTX ISA 9.1 section 9.7.18).
struct Video {
  enum class Second : std::uint8_t { none, add, min, max };

  std::array<std::uint8_t, 2> first_bit{};                          ///< of the part of a and of b that is used
  std::array<std::uint8_t, 2> bits{32, 32};                         ///< its width
  std::array<bool, 2> is_signed{};                                  ///< a's and b's type
  bool signed_result = false;                                       ///< d's type, or for vset and vmad what follows from a's and b's
  bool merge = false;                                               ///< the result replaces a part of c
  std::uint8_t result_first_bit = 0, result_bits = 32;              ///< that part
  Second second = Second::none;                                     ///< what the result is combined with c by
  std::array<std::array<std::uint8_t, 4>, 2> select{};              ///< SIMD: which part of {b, a} each element of a's and b's side is
  std::uint8_t mask = 15;                                           ///< SIMD: which elements of the result are written
  bool negate_product = false, negate_c = false, plus_one = false;  ///< vmad
  std::uint8_t scale = 0;                                           ///< vmad: the result is shifted to the right
};

/// What the qualifiers of an opcode and its immediate operands say: the same for all lanes.
struct Modifiers {
  Rounding rounding = Rounding::nearest_even;
  bool ftz = false;            ///< subnormal sources and results become zeros
  bool saturate = false;       ///< .sat: floating-point results are clamped to [+0, 1], NaN becomes +0
  bool finite = false;         ///< .satfinite: infinities become the largest finite number
  bool integral = false;       ///< .rni, .rzi, .rmi, .rpi: the result is a whole number
  bool relu = false;           ///< negative results become +0
  bool nan = false;            ///< min, max: a NaN source makes the result NaN
  bool absolute = false;       ///< min, max: .abs
  bool xor_sign = false;       ///< min, max: .xorsign
  bool out_of_bounds = false;  ///< fma.oob
  bool carry_in = false;       ///< addc, subc, madc: the last source is CC.CF
  bool carry_out = false;      ///< .cc: the second result is CC.CF
  bool wrap = false;           ///< shf, szext, bmsk, vshl, vshr: .wrap; else .clamp
  std::uint8_t outcomes = 0;   ///< setp, set: a union of Outcome
  Combine combine = Combine::none;
  std::uint32_t true_value = 0;  ///< set: what a comparison that holds gives, in one element of the result
  SmallFloat format;             ///< cvt: the small format
  Video video;
};

/// Executes an instruction in all 32 lanes. results[i] and sources[i] are operands in the order of the text, each
///     up to 32 bits   std::uint32_t[32], aligned to 64 bytes: the value in the low bits;
///     64 bits         std::uint64_t[32], aligned to 64 bytes;
///     a predicate     one std::uint32_t, whose bit n is lane n's.
/// Of sources the bits above the type are ignored; of results narrower than 32 bits the function writes them as 0. A result may be the very
/// array of a source; it never overlaps one in part. The CPU must round to nearest and keep subnormal numbers (numeric/rounding_mode.h);
/// kernels of other roundings set those themselves and restore.
using Function = void (*)(void* const* results, const void* const* sources, const Modifiers& modifiers);

struct Kernel {
  std::string_view name;  ///< mnemonic, variant and type, joined by dots: "mul.hi.u32"; .bN where signed and unsigned are the same
  Function function;
};

/// The kernel of that name for the instruction set in use (kernels_target()), or nullptr. An integer type whose name is not listed finds
/// the .b type of its width: "add.s32" is "add.b32".
Function find_kernel(std::string_view name);

}  // namespace warpmat::scalar
