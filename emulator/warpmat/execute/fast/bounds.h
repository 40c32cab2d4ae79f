#pragma once

#include <cstdint>

#include <warpmat/dot.h>

// The bounds on which the floating-point kernels rest, and their dependencies. README.md derives them. Exponents are those
// of dot.h: a subnormal has its format's smallest exponent, a product the sum of its factors' exponents.

namespace warpmat::bounds {

// ---- No exponent ------------------------------------------------------------------------------------------------------------------------

/// The "exponent" of zero in 32-bit exponent arithmetic: below every exponent, also after adding another one, and safe from int32 overflow
/// in sums of a few. Kernels only take maxima with it, and bound exponents before they compute powers of two.
inline constexpr int no_exponent = no_floor;

/// The same for exponents in bytes, whose sums saturate.
inline constexpr int no_byte_exponent = -95;

// ---- Formats ----------------------------------------------------------------------------------------------------------------------------

inline constexpr int f32_bias = 127, f32_fraction_bits = 23;
inline constexpr int min_f32_exponent = -126, largest_f32_exponent = 127;
inline constexpr int smallest_f32_bit = min_f32_exponent - f32_fraction_bits;

/// f16 and all formats of 8, 6 and 4 bits: exponents of nonzero numbers, and the exponent of the smallest number's only bit.
inline constexpr int largest_narrow_exponent = 15, min_f16_exponent = -14, min_byte_exponent = -16, min_f16_bit = -24;

/// bf16 and tf32 have f32's exponents; tf32 has the lower last significand bit.
inline constexpr int wide_fraction_bits = 10;

/// ue8m0: exponents of either sign; the factors of a row and of a column are multiplied.
inline constexpr int largest_scale_exponent = 127;

// ---- The unit ---------------------------------------------------------------------------------------------------------------------------

/// Fraction bits of the units that kernels add in 32-bit integers: all units except that for groups of 4-bit products.
inline constexpr int max_fraction_bits = 25, min_fraction_bits = 13;
static_assert(dot_models::hopper.fraction_bits == max_fraction_bits && dot_models::hopper_k4.fraction_bits == max_fraction_bits);
static_assert(dot_models::ampere.fraction_bits <= max_fraction_bits && dot_models::volta.fraction_bits <= max_fraction_bits);
static_assert(dot_models::ada_fp8.fraction_bits == min_fraction_bits);

/// In units of 2^(E - fraction_bits): a C of exponent E is less than 2 · 2^E, a product of exponent E less than 4 · 2^E.
inline constexpr std::int64_t c_limit = std::int64_t{1} << (max_fraction_bits + 1);
inline constexpr std::int64_t product_limit = std::int64_t{1} << (max_fraction_bits + 2);

inline constexpr int max_products = 32;  ///< of one step

// ---- The common case --------------------------------------------------------------------------------------------------------------------

/// Products whose sum with C always fits into an int32.
inline constexpr int common_case_group = 8;
static_assert(c_limit + common_case_group * product_limit < std::int64_t{1} << 31);

/// Upper bound of exponents of bf16 and tf32. If a result has no product of at least 2^(-2 · plain_exponent), also the lower bound.
inline constexpr int plain_exponent = 30;
inline constexpr int min_plain_product = -2 * plain_exponent;
static_assert(2 * min_byte_exponent > min_plain_product && 2 * min_f16_exponent > min_plain_product);
static_assert(largest_narrow_exponent <= plain_exponent);

/// Products with a zero differ from all others. Sums of two exponents, one of them reduced by one, fit into bytes unless one is that of
/// zero.
static_assert(no_byte_exponent + plain_exponent < min_plain_product);
static_assert(2 * plain_exponent <= INT8_MAX && min_plain_product - 1 >= INT8_MIN);

/// The exponent field, as a float's, that replaces the products' exponent if all are zero: 2^-67. A nonzero C is then at least
/// 2^min_plain_product, so its exponent is the largest.
inline constexpr int no_product_field = 60;
static_assert(no_product_field - f32_bias < min_plain_product);
static_assert(no_product_field - max_fraction_bits > 0, "the unit is a normal float");

/// ue8m0 factors: bound of the exponents' magnitude.
inline constexpr int common_case_scale = 30;
inline constexpr int max_common_case_product =
    2 * (plain_exponent > largest_narrow_exponent + common_case_scale ? plain_exponent : largest_narrow_exponent + common_case_scale);
inline constexpr int min_scaled_product = 2 * (min_byte_exponent - common_case_scale);
static_assert(min_scaled_product - max_fraction_bits >= min_f32_exponent, "the unit is a normal float");

/// Any finite C is in the common case. If its exponent is the largest and the sum might leave f32, all products are truncated to zero.
/// Otherwise the sum stays far below f32's limit.
static_assert(max_common_case_product + 2 <= largest_f32_exponent - max_fraction_bits);
static_assert(max_common_case_product + 2 + 6 < largest_f32_exponent && 1 << 6 > max_products);
static_assert(min_fraction_bits - largest_f32_exponent >= min_f32_exponent, "the factor of C is a normal float");

/// Elements in bytes are decoded too small, and their products too small by up to 2^-30. The powers of two that multiply the products
/// compensate for that.
inline constexpr int max_missing_exponent = 30;

/// Lower bound of the power of two that products are multiplied by: it truncates every product to zero, and products remain normal floats.
inline constexpr int min_common_case_factor = -64;
static_assert(2 * plain_exponent + 2 + min_common_case_factor < 0);
static_assert(min_plain_product + min_common_case_factor >= min_f32_exponent);
static_assert(max_fraction_bits + max_missing_exponent + 2 * f32_bias - no_product_field < 256, "and have exponent fields of eight bits");
static_assert(2 * min_f16_bit + min_common_case_factor >= min_f32_exponent);

// ---- The fallback -----------------------------------------------------------------------------------------------------------------------

/// Products whose sum always fits into an int32.
inline constexpr int general_group = 16;
static_assert(general_group * (product_limit - 1) <= INT32_MAX);
static_assert(c_limit + max_products * product_limit < std::int64_t{1} << 53, "a step's sum is exact in a double");

/// Range of the powers of two that multiply narrow products: the least truncates every product to zero; the largest is used only if all
/// products are zero.
inline constexpr int min_narrow_factor = -60, largest_narrow_factor = 90;
static_assert(2 * largest_narrow_exponent + 2 + min_narrow_factor < 0);
static_assert(2 * min_f16_bit + min_narrow_factor >= min_f32_exponent);
static_assert(max_fraction_bits - 2 * min_byte_exponent <= largest_narrow_factor);
static_assert(largest_narrow_factor + max_missing_exponent <= largest_f32_exponent);

/// Exponents of wide terms are stored as their gaps to the largest product's, in the upper nine bits of words. Sums of two gaps of 16 bits
/// saturate only if one is no_gap, that of zero.
inline constexpr int largest_wide_product = 2 * largest_f32_exponent;
inline constexpr std::uint32_t no_gap = 0xffff0000;
static_assert(largest_wide_product - 2 * min_f32_exponent < 512 && largest_f32_exponent <= f32_bias);

/// Gaps are at most this.
inline constexpr int largest_gap = 511;

/// Upper bound of the gap of E. A sum with a larger one is below f32's smallest number, and with this one too.
inline constexpr int max_gap = 440;
static_assert(largest_wide_product - max_gap - max_fraction_bits + 33 < min_f32_exponent - f32_fraction_bits);

/// Terms that are below E by more than this are truncated to zero; so is a term multiplied by 2^-wide_reach.
inline constexpr int wide_reach = 64;
static_assert(max_fraction_bits + 2 - wide_reach < 0 && max_gap + wide_reach < largest_gap);

/// Places of the unit bits of significands. Those of a product and of C are max_fraction_bits - wide_reach. All, and products of subnormal
/// ones, are normal floats.
inline constexpr int wide_unit_bit_a = -20, wide_unit_bit_b = -19, wide_unit_bit_c = wide_unit_bit_a + wide_unit_bit_b;
static_assert(wide_unit_bit_c == max_fraction_bits - wide_reach);
static_assert(wide_unit_bit_c - 2 * wide_fraction_bits >= min_f32_exponent && wide_unit_bit_c - f32_fraction_bits >= min_f32_exponent);

/// If E is at least this, a step cuts subnormal numbers of C to zero, and numbers of their size with a unit bit, whose exponent is one
/// less; and its unit is a normal float.
inline constexpr int min_normal_e = min_f32_exponent + max_fraction_bits;
static_assert(min_f32_exponent <= min_normal_e - max_fraction_bits);
static_assert(largest_wide_product + f32_bias < 512, "gaps of fields from 0 on fit");

/// A unit in units of f32's smallest number is a normal float, wherever a result is below the normal numbers: its sum is at least 1.
static_assert(largest_wide_product - max_gap - max_fraction_bits - smallest_f32_bit >= min_f32_exponent);
static_assert(min_f32_exponent - smallest_f32_bit <= largest_f32_exponent);

/// If E is less than min_normal_e, a result in units of f32's smallest number is a float.
static_assert(min_normal_e + max_fraction_bits + 6 - smallest_f32_bit <= largest_f32_exponent);

/// Upper bound of the exponents of products and of C where results are computed in units of f32's smallest number. They are floats then.
/// A zero has the gap largest_gap, so that it is cut to zero. The unit is a normal float.
inline constexpr int max_small_exponent = min_plain_product;
static_assert(max_small_exponent + 2 + 6 - smallest_f32_bit < largest_f32_exponent && 1 << 6 > max_products);
static_assert(max_small_exponent - min_fraction_bits - smallest_f32_bit <= largest_f32_exponent);

// ---- Groups of 4-bit products -----------------------------------------------------------------------------------------------------------

/// Lower bound of E: neither the factors of a group nor a nonzero C is below it.
inline constexpr int min_group_exponent = -2 * largest_scale_exponent;
static_assert(min_group_exponent < min_f32_exponent);

// ---- Units in doubles -------------------------------------------------------------------------------------------------------------------

/// Lower bound of a result's unit unless the sum is zero; a double represents it.
inline constexpr int min_unit = -400;
static_assert(2 * (min_byte_exponent - largest_scale_exponent) - max_fraction_bits > min_unit);
static_assert(2 * min_f32_exponent - max_fraction_bits > min_unit);

}  // namespace warpmat::bounds
