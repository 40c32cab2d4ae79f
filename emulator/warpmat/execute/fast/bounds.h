#pragma once

#include <cstdint>

#include <warpmat/numeric/dot.h>

// The bounds on which the floating-point kernels rest, and how they depend on each other. docs/fast-path.md derives them. An exponent is
// that of numeric/dot.h: a subnormal counts with its format's smallest, and a product with the sum of its factors'.

namespace warpmat::bounds {

// ---- No exponent ------------------------------------------------------------------------------------------------------------------------

/// What stands for the exponent of a zero, where exponents are 32-bit integers: below every exponent, also when another one is added, and
/// far enough from the limits of an int32 to add some of them. Kernels only take maxima with it; what is made a power of two is bounded
/// before.
inline constexpr int no_exponent = no_floor;

/// The same where exponents are bytes, whose sums saturate.
inline constexpr int no_byte_exponent = -95;

// ---- Formats ----------------------------------------------------------------------------------------------------------------------------

inline constexpr int f32_bias = 127, f32_fraction_bits = 23;
inline constexpr int least_f32_exponent = -126, largest_f32_exponent = 127;

/// f16 and all formats of 8, 6 and 4 bits: exponents of numbers other than zero, and the exponent of the smallest one's only bit.
inline constexpr int largest_narrow_exponent = 15, least_f16_exponent = -14, least_byte_exponent = -16, least_f16_bit = -24;

/// bf16 and tf32: those of f32; of a significand's last bit tf32 has the lower one.
inline constexpr int wide_fraction_bits = 10;

/// ue8m0: either sign; the factors of a row and of a column are multiplied.
inline constexpr int largest_scale_exponent = 127;

// ---- The unit ---------------------------------------------------------------------------------------------------------------------------

/// Fraction bits of the units that add in 32-bit integers here: all but that of groups of 4-bit products.
inline constexpr int most_fraction_bits = 25, least_fraction_bits = 13;
static_assert(dot_models::hopper.fraction_bits == most_fraction_bits && dot_models::hopper_k4.fraction_bits == most_fraction_bits);
static_assert(dot_models::ampere.fraction_bits <= most_fraction_bits && dot_models::volta.fraction_bits <= most_fraction_bits);
static_assert(dot_models::ada_fp8.fraction_bits == least_fraction_bits);

/// In units of 2^(E - fraction_bits): a term of exponent E is less than twice 2^E if it is C, and less than four times if it is a product.
inline constexpr std::int64_t c_limit = std::int64_t{1} << (most_fraction_bits + 1);
inline constexpr std::int64_t product_limit = std::int64_t{1} << (most_fraction_bits + 2);

inline constexpr int most_products = 32;  ///< of one step

// ---- The usual case ---------------------------------------------------------------------------------------------------------------------

/// Products that surely fit into an int32 beside C.
inline constexpr int usual_group = 8;
static_assert(c_limit + usual_group * product_limit < std::int64_t{1} << 31);

/// Exponents of bf16 and tf32 are at most this; if a result has no product of at least 2^(-2 · plain_exponent), the negative ones go as
/// far.
inline constexpr int plain_exponent = 30;
inline constexpr int least_plain_product = -2 * plain_exponent;
static_assert(2 * least_byte_exponent > least_plain_product && 2 * least_f16_exponent > least_plain_product);
static_assert(largest_narrow_exponent <= plain_exponent);

/// A product with a zero is told from others, and sums of two exponents, one of them less by one, are bytes if they are not those of zeros.
static_assert(no_byte_exponent + plain_exponent < least_plain_product);
static_assert(2 * plain_exponent <= INT8_MAX && least_plain_product - 1 >= INT8_MIN);

/// Stands for the exponent of the products if all are zero, as the exponent field of a float: 2^-67. If C is not zero, it is at least
/// 2^least_plain_product then, so its exponent is the largest.
inline constexpr int no_product_field = 60;
static_assert(no_product_field - f32_bias < least_plain_product);
static_assert(no_product_field - most_fraction_bits > 0, "the unit is a normal float");

/// ue8m0 factors: the exponents of both signs.
inline constexpr int usual_scale = 30;
inline constexpr int largest_usual_product =
    2 * (plain_exponent > largest_narrow_exponent + usual_scale ? plain_exponent : largest_narrow_exponent + usual_scale);
inline constexpr int least_scaled_product = 2 * (least_byte_exponent - usual_scale);
static_assert(least_scaled_product - most_fraction_bits >= least_f32_exponent, "the unit is a normal float");

/// Any finite C is usual: where its exponent is the largest and the sum might leave f32, nothing is left of the products; and where it is
/// not, the sum stays far below.
static_assert(largest_usual_product + 2 <= largest_f32_exponent - most_fraction_bits);
static_assert(largest_usual_product + 2 + 6 < largest_f32_exponent && 1 << 6 > most_products);
static_assert(least_fraction_bits - largest_f32_exponent >= least_f32_exponent, "the factor of C is a normal float");

/// Elements in bytes are read too small, their products by up to 2^-30, which the powers of two that they are multiplied by make up for.
inline constexpr int most_missing_exponent = 30;

/// Products are multiplied by no less than this power of two, with which nothing of them is left either; they stay normal floats.
inline constexpr int least_usual_factor = -64;
static_assert(2 * plain_exponent + 2 + least_usual_factor < 0);
static_assert(least_plain_product + least_usual_factor >= least_f32_exponent);
static_assert(most_fraction_bits + most_missing_exponent + 2 * f32_bias - no_product_field < 256, "and have exponent fields of eight bits");
static_assert(2 * least_f16_bit + least_usual_factor >= least_f32_exponent);

// ---- The general case -------------------------------------------------------------------------------------------------------------------

/// Products whose sum surely is an int32.
inline constexpr int general_group = 16;
static_assert(general_group * (product_limit - 1) <= INT32_MAX);
static_assert(c_limit + most_products * product_limit < std::int64_t{1} << 53, "a step's sum is exact in a double");

/// Powers of two that narrow products are multiplied by lie between these: with the least nothing of a product is left, and with the
/// largest all products are zeros.
inline constexpr int least_narrow_factor = -60, largest_narrow_factor = 90;
static_assert(2 * largest_narrow_exponent + 2 + least_narrow_factor < 0);
static_assert(2 * least_f16_bit + least_narrow_factor >= least_f32_exponent);
static_assert(most_fraction_bits - 2 * least_byte_exponent <= largest_narrow_factor);
static_assert(largest_narrow_factor + most_missing_exponent <= largest_f32_exponent);

/// The same of products of wide significands, which are less than 2^2, and multiples of 2^(-2 · wide_fraction_bits).
inline constexpr int least_wide_factor = -64;
static_assert(2 + least_wide_factor < 0 && most_fraction_bits <= largest_f32_exponent);
static_assert(least_wide_factor - 2 * wide_fraction_bits >= least_f32_exponent);

// ---- Groups of 4-bit products -----------------------------------------------------------------------------------------------------------

/// E is no less: the factors of a group are not below this, and so is a C that is not zero.
inline constexpr int least_group_exponent = -2 * largest_scale_exponent;
static_assert(least_group_exponent < least_f32_exponent);

// ---- Units in doubles -------------------------------------------------------------------------------------------------------------------

/// A double is a result's unit: none is less, but where the sum is zero.
inline constexpr int least_unit = -400;
static_assert(2 * (least_byte_exponent - largest_scale_exponent) - most_fraction_bits > least_unit);
static_assert(2 * least_f32_exponent - most_fraction_bits > least_unit);

/// Two floats are a result's unit: where it is less, a sum that is an int32 is less than f32's smallest number, with this unit too.
inline constexpr int least_split_unit = 2 * least_f32_exponent;
static_assert(least_split_unit + 31 < least_f32_exponent - f32_fraction_bits);

}  // namespace warpmat::bounds
