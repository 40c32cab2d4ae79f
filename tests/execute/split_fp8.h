#pragma once

#include <span>
#include <vector>

#include "numeric/oracle_format.h"

/// The bits of x + y in `format`, rounded to nearest even once; NaN as the tensor cores write it.
inline std::uint64_t oracle_sum(oracle::FloatFormat format, std::uint64_t x, std::uint64_t y) {
  const std::uint64_t nan = (std::uint64_t{1} << (format.bits - 1)) - 1;
  if (is_nan(format, x) || is_nan(format, y)) return nan;
  if (is_inf(format, x) && is_inf(format, y)) return x == y ? x : nan;
  if (is_inf(format, x)) return x;
  if (is_inf(format, y)) return y;
  const std::uint64_t negative_zero = std::uint64_t{1} << (format.bits - 1);
  if (x == negative_zero && y == negative_zero) return negative_zero;
  return nearest(format, value(format, x) + value(format, y));
}

/// The f16 code of an fp8 code, which f16 holds exactly.
inline std::uint64_t oracle_f16_of_fp8(oracle::FloatFormat format, std::uint64_t bits) {
  bits &= 0xFF;
  if (is_nan(format, bits)) return 0x7FFF;
  if (is_inf(format, bits)) return bits == 0x7C ? 0x7C00 : 0xFC00;
  return bits == 0x80 ? 0x8000 : nearest(oracle::f16, value(format, bits));
}

/// A dot product of fp8 as sm_90 does it: everything as f16, the products whose k mod 4 is 0 or 1 from zero, the others from their sum, and
/// C added at the end.
inline std::uint64_t oracle_split_fp8_dot(oracle::FloatFormat a, oracle::FloatFormat b, oracle::FloatFormat accumulator,
                                          std::span<const std::uint64_t> a_bits, std::span<const std::uint64_t> b_bits, std::uint64_t c) {
  std::uint64_t sum = 0;
  for (const std::size_t half : {0u, 1u}) {
    std::vector<std::uint64_t> x, y;
    for (std::size_t k = 0; k < a_bits.size(); ++k) {
      if (k % 4 / 2 != half) continue;
      x.push_back(oracle_f16_of_fp8(a, a_bits[k]));
      y.push_back(oracle_f16_of_fp8(b, b_bits[k]));
    }
    sum = oracle::float_dot(oracle::hopper_unit(16), oracle::f16, oracle::f16, accumulator, x, y, sum);
  }
  return oracle_sum(accumulator, sum, c);
}
