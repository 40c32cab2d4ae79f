#pragma once

#include <warpmat/formats.h>

#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <vector>

/// What the random operands of a floating-point dot product look like.
enum class DotClass : std::uint8_t {
  random_bits,       ///< any code
  narrow_exponents,  ///< numbers about 1
  wide_exponents,    ///< every finite exponent alike
  subnormals,        ///< subnormal numbers, against numbers of any size
  cancelling,        ///< sums that come near zero, or reach it
  specials,          ///< zeros, infinities, NaNs and the ends of the range among other numbers
  powers,            ///< powers of two and zeros, none above a power that is any; C mostly zero
};

inline constexpr DotClass dot_classes[] = {DotClass::random_bits, DotClass::narrow_exponents, DotClass::wide_exponents,
                                           DotClass::subnormals,  DotClass::cancelling,       DotClass::specials,
                                           DotClass::powers};

std::string_view name(DotClass operand_class);

/// A row of A, a column of B and an element of C.
struct DotOperands {
  std::vector<std::uint64_t> a, b;
  std::uint64_t c = 0;
};

/// Operands of `length` products. Formats are floating-point formats that the oracle knows.
DotOperands draw_operands(DotClass operand_class, warpmat::Format a, warpmat::Format b, warpmat::Format accumulator, std::size_t length,
                          std::mt19937_64& random);

/// One code of `format`; `cancelling` gives a number about 1, since cancelling is a matter of several.
std::uint64_t draw_code(DotClass operand_class, warpmat::Format format, std::mt19937_64& random);

/// An element of C that cancels the sum of the products of `a` and `b` as far as `accumulator` can hold it.
std::uint64_t opposite_of_sum(warpmat::Format a_format, warpmat::Format b_format, warpmat::Format accumulator,
                              std::span<const std::uint64_t> a, std::span<const std::uint64_t> b);
