#pragma once

#include <warpmat/device/float.h>

namespace warpmat::device {

// Groups of 16 products of 4-bit elements with scale factors: grouped_dot of numeric/dot.h. A group's sum is exact. Times its two factors
// it is one term, which the factors' exponents alone align.

template <typename P>
struct Groups {
  static constexpr int elements = 16, count = P::form.stored_k / elements;
  static constexpr Format accumulator = P::accumulator;
  static constexpr int fraction_bits = P::lowering.fraction_bits;
  static constexpr int scale_fraction_bits = RowOf<P::form.scale>::row.fraction_bits;
  static constexpr int term_fraction_bits = 2 + 2 * scale_fraction_bits;  ///< products are in quarters

  /// An e2m1 in halves.
  WARPMAT_DEVICE_INLINE static i32 in_halves(const Element& e) { return e.significand == 0 ? 0 : e.significand * (1 << e.exponent); }

  /// The sum of the terms and C. sums[g] are in quarters.
  WARPMAT_DEVICE_INLINE static u32 total(const i32 (&sums)[count], const Element (&scales_a)[count], const Element (&scales_b)[count],
                                         u32 c_bits) {
    const Element c = decode<accumulator>(c_bits);
    i32 largest = c.exponent;
    bool nan = c.exponent >= least_nan;
    WARPMAT_DEVICE_UNROLL
    for (int g = 0; g < count; ++g) {
      const i32 exponent = scales_a[g].exponent + scales_b[g].exponent;
      nan = nan || exponent >= least_special;
      const bool zero = sums[g] == 0 || scales_a[g].significand == 0 || scales_b[g].significand == 0;
      largest = !zero && exponent > largest ? exponent : largest;
    }
    if (nan) return canonical_nan<accumulator>;
    if (c.exponent >= least_special) return infinity<accumulator>(c.significand < 0);
    i64 sum = 0;
    WARPMAT_DEVICE_UNROLL
    for (int g = 0; g < count; ++g) {
      const i64 exact = static_cast<i64>(sums[g]) * scales_a[g].significand * scales_b[g].significand;
      const u64 magnitude = static_cast<u64>(exact < 0 ? -exact : exact) << (fraction_bits - term_fraction_bits);
      const i64 term = static_cast<i64>(shifted_right(magnitude, largest - scales_a[g].exponent - scales_b[g].exponent));
      sum += exact < 0 ? -term : term;
    }
    constexpr int c_shift = fraction_bits - RowOf<accumulator>::row.fraction_bits;
    const u64 magnitude = static_cast<u64>(c.significand < 0 ? -c.significand : c.significand) << c_shift;
    const i64 term = static_cast<i64>(shifted_right(magnitude, largest - c.exponent));
    sum += c.significand < 0 ? -term : term;
    return round_sum<accumulator, 0>(sum, largest - fraction_bits);
  }
};

/// The sum of group `g` of the stored products of a row and a column, in quarters.
template <typename P, typename Warp>
WARPMAT_DEVICE_INLINE i32 sum_of_group(const Warp& warp, u32 row, u32 column, int g) {
  using G = Groups<P>;
  constexpr int group = P::sparse ? P::form.metadata_group : 1, stored = P::sparse ? group / 2 : 1;
  i32 sum = 0;
  WARPMAT_DEVICE_UNROLL
  for (int k = g * G::elements; k < (g + 1) * G::elements; k += stored) {
    Element of_group[group];
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < group; ++i) of_group[i] = element_of_b<P>(warp, k / stored * group + i, column);
    u32 code = 0;
    if constexpr (P::sparse) code = code_of<P>(warp, row, k / stored);
    WARPMAT_DEVICE_UNROLL
    for (int s = 0; s < stored; ++s) {
      Element b = of_group[0];
      if constexpr (P::sparse) b = chosen_of_group<group>(of_group, code, s);
      sum += G::in_halves(element_of_a<P>(warp, row, k + s)) * G::in_halves(b);
    }
  }
  return sum;
}

template <typename P, typename Warp>
WARPMAT_DEVICE_INLINE void multiply_groups(const Warp& warp, Results<P>& d) {
  using G = Groups<P>;
  constexpr Lines rows = P::rows, columns = P::columns;
  Results<P> c;
  read_c(warp, c);
  WARPMAT_DEVICE_UNROLL
  for (int i = 0; i < rows.count; ++i) {
    WARPMAT_DEVICE_UNROLL
    for (int j = 0; j < columns.count; ++j) {
      i32 sums[G::count];
      Element scales_a[G::count], scales_b[G::count];
      WARPMAT_DEVICE_UNROLL
      for (int g = 0; g < G::count; ++g) {
        sums[g] = sum_of_group<P>(warp, rows.line[i], columns.line[j], g);
        const int factor = g * P::form.scale_vector / G::count;
        scales_a[g] = decode<P::form.scale>(scale_of<P, false>(warp, rows.line[i], factor));
        scales_b[g] = decode<P::form.scale>(scale_of<P, true>(warp, columns.line[j], factor));
      }
      d.bits[i][j] = G::total(sums, scales_a, scales_b, c.bits[i][j]);
    }
  }
}

}  // namespace warpmat::device
