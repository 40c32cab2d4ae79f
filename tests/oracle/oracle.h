// The test oracle: what one result of a warp matrix instruction must be, and where every matrix element lies, worked out a second time
// and in another way than the code under test: exact numbers of any width (wide.h), rounding by a search through the codes of a format,
// layouts from the piecewise formulas of the PTX ISA. It includes nothing but the C++ standard library.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>

#include "wide.h"

namespace oracle {

// A binary floating-point format: a sign, a biased exponent, a fraction, then low bits that are ignored.
struct FloatFormat {
  int bits;  // of the whole code, dropped bits included; bits above it are ignored
  int exponent_bits;
  int fraction_bits;
  int dropped_low_bits;  // ignored when read, zero when written
  bool has_infinity;     // then the highest exponent holds infinity and NaN only, as in IEEE 754
  bool has_nan;          // without infinity: one NaN, the code of all ones, and its negative
};

inline constexpr FloatFormat f64{64, 11, 52, 0, true, true};
inline constexpr FloatFormat f32{32, 8, 23, 0, true, true};
inline constexpr FloatFormat tf32{32, 8, 10, 13, true, true};
inline constexpr FloatFormat bf16{16, 8, 7, 0, true, true};
inline constexpr FloatFormat f16{16, 5, 10, 0, true, true};
inline constexpr FloatFormat e5m2{8, 5, 2, 0, true, true};
inline constexpr FloatFormat e4m3{8, 4, 3, 0, false, true};
inline constexpr FloatFormat e3m2{6, 3, 2, 0, false, false};
inline constexpr FloatFormat e2m3{6, 2, 3, 0, false, false};
inline constexpr FloatFormat e2m1{4, 2, 1, 0, false, false};

bool is_nan(FloatFormat format, std::uint64_t bits);
bool is_inf(FloatFormat format, std::uint64_t bits);
bool is_negative(FloatFormat format, std::uint64_t bits);

// The value of a finite code; that of infinity is the power of two which the next binade would begin with.
Dyadic value(FloatFormat format, std::uint64_t bits);

// The nearest code, a tie to the even one. Too large numbers become infinity from the middle between the largest finite value and the
// next power of two on, as in IEEE 754; a format without infinity stays at its largest value. A negative number that rounds to zero
// gives -0, and zero gives +0.
std::uint64_t nearest(FloatFormat format, const Dyadic& number);

// The next code on the side of zero, but infinity from the power of two above the largest finite value on, which is the tensor cores'
// rule (measured) and not that of IEEE 754. Signs of zero as in nearest().
std::uint64_t toward_zero(FloatFormat format, const Dyadic& number);

// The largest code that is not above the number, and the smallest that is not below it, as in IEEE 754: an infinity only on the side of the
// number's own sign that the direction points to; where there is none, the largest finite value of that sign. Signs of zero as above.
std::uint64_t down(FloatFormat format, const Dyadic& number);
std::uint64_t up(FloatFormat format, const Dyadic& number);

// How a tensor core adds (measured).
struct Unit {
  int step_elements;         // products added in one step
  int fraction_bits;         // kept below the largest exponent of the step
  int result_fraction_bits;  // of an f32 result: 23, or 13 for fp8 on sm_89
  // The largest exponent counts as this one where it is less, for results of f32 and of f16; nothing where it may be as small as it likes.
  std::optional<int> lowest_f32 = std::nullopt;
  std::optional<int> lowest_f16 = std::nullopt;

  friend auto operator<=>(const Unit&, const Unit&) = default;
};

// The units of sm_70 (no limit for f32: V100), sm_80 to sm_89 for 16- and 19-bit formats (A100, A30, A2, L40S), sm_89 for fp8, and from
// sm_90 on (measured on an H200). The limits of the first two were published with MATLAB-tensor-core v0.5; -133 and -21 were measured.
constexpr Unit volta_unit(int step_elements) {
  return {step_elements, 23, 23, std::nullopt, -19};
}
constexpr Unit ampere_unit(int step_elements) {
  return {step_elements, 24, 23, -132, -20};
}
constexpr Unit ada_fp8_unit(int step_elements) {
  return {step_elements, 13, 13, std::nullopt, std::nullopt};
}
constexpr Unit hopper_unit(int step_elements) {
  return {step_elements, 25, 23, -133, -21};
}

// One element of D = A * B + C for floating-point types: a row of A, a column of B, and an element of C whose format, f32 or f16, is also
// that of the result. The last step may be a short one.
std::uint64_t float_dot(const Unit& unit, FloatFormat a, FloatFormat b, FloatFormat accumulator, std::span<const std::uint64_t> a_bits,
                        std::span<const std::uint64_t> b_bits, std::uint64_t c_bits);

// The scale factors of blocks: ue8m0 is 2^(code - 127), its code 255 NaN; ue4m3 is e4m3 without its sign, bit 7 of a code ignored.
enum class ScaleFormat { ue8m0, ue4m3 };

// The same with a scale factor of ue8m0 for the row of A and one for the column of B, whose exponents each product gets; C and the result
// are f32 (arXiv 2511.10909).
std::uint64_t scaled_dot(const Unit& unit, FloatFormat a, FloatFormat b, std::span<const std::uint64_t> a_bits,
                         std::span<const std::uint64_t> b_bits, std::uint64_t a_scale, std::uint64_t b_scale, std::uint64_t c_bits);

// The same for e2m1 in one step: 16 products at a time are added exactly and multiplied by their two scale factors; those terms and C are
// aligned, by the exponents of the scale factors alone, to 35 bits below the largest (arXiv 2511.10909). A row has as many scale factors as
// there are blocks, each of one or more groups of 16.
std::uint64_t grouped_dot(ScaleFormat scale, std::span<const std::uint64_t> a_bits, std::span<const std::uint64_t> b_bits,
                          std::span<const std::uint64_t> a_scales, std::span<const std::uint64_t> b_scales, std::uint64_t c_bits);

// The same for integers of 1 to 8 bits, read from the low bits of every element; and.popc has 1 bit, unsigned.
std::uint32_t integer_dot(int bits, bool a_signed, bool b_signed, bool satfinite, std::span<const std::uint64_t> a_bits,
                          std::span<const std::uint64_t> b_bits, std::uint32_t c_bits);

// The same for single bits with xor.popc.
std::uint32_t xor_popc_dot(std::span<const std::uint64_t> a_bits, std::span<const std::uint64_t> b_bits, std::uint32_t c_bits);

struct Position {
  int row;
  int column;
  friend bool operator==(const Position&, const Position&) = default;
};

// Where element i of a lane's fragment lies in its matrix, for the dense shapes of PTX ISA 9.1, sections 9.7.14.5.2 to 9.7.14.5.13, and
// for B of the sparse shapes of four registers, 9.7.14.6.2.6 and 9.7.14.6.2.8.
// Elements count from low to high: the one numbered i is in register i * bits / 32 at bit i * bits % 32; of 64 bits, in register i.
// A is m x k, B is k x n, C and D are m x n with n = 8. Other shapes, lanes and elements throw std::invalid_argument.
Position a_position(int m, int k, int element_bits, int lane, int i);
Position b_position(int k, int n, int element_bits, int lane, int i);
Position c_position(int m, int lane, int i);

}  // namespace oracle
