#pragma once

#include <warpmat/device/float.h>

namespace warpmat::device {

// Groups of 16 products of 4-bit elements with scale factors: grouped_dot of dot.h. A group's sum is exact. Times its two factors
// it is one term, which the factors' exponents alone align.

template <typename P>
struct Groups {
  static constexpr int elements = 16, count = P::form.stored_k / elements;
  static constexpr Format accumulator = P::accumulator;
  static constexpr int fraction_bits = P::lowering.fraction_bits;
  static constexpr int scale_fraction_bits = RowOf<P::form.scale>::row.fraction_bits;
  static constexpr int term_fraction_bits = 2 + 2 * scale_fraction_bits;  ///< products are in quarters

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

/// A lane's elements of A and B in halves, as integers.
template <typename P>
struct GroupOperands {
  i32 a[P::fragment_a.elements()], b[P::fragment_b.elements()];
  u32 c[P::fragment_c.elements()];

  WARPMAT_DEVICE_INLINE explicit GroupOperands(const Registers<P>& registers) {
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < P::fragment_a.elements(); ++i) a[i] = in_halves(decode<P::form.a>(own_element<P::a>(registers.a, i)));
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < P::fragment_b.elements(); ++i) b[i] = in_halves(decode<P::form.b>(own_element<P::b>(registers.b, i)));
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < P::fragment_c.elements(); ++i) c[i] = own_element<P::c>(registers.c, i);
  }
  WARPMAT_DEVICE_INLINE static i32 in_halves(const Element& e) { return e.significand == 0 ? 0 : e.significand * (1 << e.exponent); }
};

/// The sums of group `g` of the stored products of a lane's rows and columns, in quarters.
template <typename P>
struct SumsOfGroup {
  i32 of[P::rows.count][P::columns.count];

  template <typename Warp>
  WARPMAT_DEVICE_INLINE SumsOfGroup(const Warp& warp, int g) {
    constexpr int group = P::sparse ? P::form.metadata_group : 1, stored = P::sparse ? group / 2 : 1;  // elements of B, of A
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < P::rows.count; ++i) {
      WARPMAT_DEVICE_UNROLL
      for (int j = 0; j < P::columns.count; ++j) of[i][j] = 0;
    }
    WARPMAT_DEVICE_UNROLL
    for (int k = g * Groups<P>::elements; k < (g + 1) * Groups<P>::elements; k += stored) {
      i32 b[P::columns.count][group];
      WARPMAT_DEVICE_UNROLL
      for (int j = 0; j < P::columns.count; ++j) {
        WARPMAT_DEVICE_UNROLL
        for (int i = 0; i < group; ++i) b[j][i] = element_of_b<P>(warp, k / stored * group + i, j);
      }
      WARPMAT_DEVICE_UNROLL
      for (int i = 0; i < P::rows.count; ++i) {
        u32 code = 0;
        if constexpr (P::sparse) code = code_of<P>(warp, i, k / stored);
        WARPMAT_DEVICE_UNROLL
        for (int s = 0; s < stored; ++s) {
          const i32 a = element_of_a<P>(warp, i, k + s);
          WARPMAT_DEVICE_UNROLL
          for (int j = 0; j < P::columns.count; ++j) {
            if constexpr (P::sparse)
              of[i][j] += a * chosen_of_group<group>(b[j], code, s);
            else
              of[i][j] += a * b[j][0];
          }
        }
      }
    }
  }
};

template <typename P, typename Warp>
WARPMAT_DEVICE_INLINE void multiply_groups(const Warp& warp, Results<P>& d) {
  using G = Groups<P>;
  Results<P> c;
  read_c(warp, c);
  i32 sums[P::rows.count][P::columns.count][G::count];
  Element scales_a[P::rows.count][G::count], scales_b[P::columns.count][G::count];
  WARPMAT_DEVICE_UNROLL
  for (int g = 0; g < G::count; ++g) {
    const SumsOfGroup<P> of_group(warp, g);
    const int factor = g * P::form.scale_vector / G::count;
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < P::rows.count; ++i) scales_a[i][g] = decode<P::form.scale>(scale_of_row<P>(warp, i, factor));
    WARPMAT_DEVICE_UNROLL
    for (int j = 0; j < P::columns.count; ++j) scales_b[j][g] = decode<P::form.scale>(scale_of_column<P>(warp, j, factor));
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < P::rows.count; ++i) {
      WARPMAT_DEVICE_UNROLL
      for (int j = 0; j < P::columns.count; ++j) sums[i][j][g] = of_group.of[i][j];
    }
  }
  WARPMAT_DEVICE_UNROLL
  for (int i = 0; i < P::rows.count; ++i) {
    WARPMAT_DEVICE_UNROLL
    for (int j = 0; j < P::columns.count; ++j) d.bits[i][j] = G::total(sums[i][j], scales_a[i], scales_b[j], c.bits[i][j]);
  }
}

}  // namespace warpmat::device
