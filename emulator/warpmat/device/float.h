#pragma once

#include <warpmat/device/product.h>

namespace warpmat::device {

// Products of floating-point elements in a matrix unit: dot.h. In units of 2^(E - fraction_bits), where E is the largest exponent
// of a step, a product is less than 2^(fraction_bits + 2): 16 products fit into 32 bits, and one division by a power of two cuts each.

/// The steps of a product along K. Element i of step s is stored element of_step(s, i) of A.
template <typename P>
struct Steps {
  static constexpr bool split = P::lowering.arithmetic == Arithmetic::split_dot;
  static constexpr int of_unit = P::lowering.step_bytes * 8 / P::fragment_a.element_bits;
  static constexpr int length = split ? P::form.stored_k / 2 : of_unit < P::form.stored_k ? of_unit : P::form.stored_k;
  static constexpr int count = P::form.stored_k / length;
  static_assert(length * count == P::form.stored_k, "steps are equal");

  /// fp8 in two halves: k mod 4 in {0, 1}, then the others.
  WARPMAT_DEVICE_BOTH static constexpr int of_step(int step, int i) { return split ? i / 2 * 4 + i % 2 + 2 * step : step * length + i; }
};

/// One unit's arithmetic: the formats as which it multiplies A and B and adds.
template <typename P>
struct Unit {
  static constexpr bool split = Steps<P>::split;
  static constexpr Format accumulator = P::accumulator;
  static constexpr int fraction_bits = P::lowering.fraction_bits;
  static constexpr int floor = accumulator == Format::f16 ? P::lowering.floor_f16 : P::lowering.floor_f32;
  static constexpr int zero_bits = accumulator == Format::f32 ? 23 - P::lowering.result_fraction_bits : 0;
  static constexpr int product_fraction_bits =
      split ? 2 * RowOf<Format::f16>::row.fraction_bits : RowOf<P::form.a>::row.fraction_bits + RowOf<P::form.b>::row.fraction_bits;
  static constexpr int product_shift = fraction_bits - product_fraction_bits;
  static constexpr int c_shift = fraction_bits - RowOf<accumulator>::row.fraction_bits;
  static constexpr int group = 16;  ///< products whose sum fits into 32 bits

  template <Format format>
  WARPMAT_DEVICE_INLINE static Element multiplicand(u32 bits) {
    if constexpr (split) return decode_as_f16<format>(bits);
    return decode<format>(bits);
  }

  /// The sum of terms of which some are no numbers.
  WARPMAT_DEVICE_INLINE static u32 special(const Element* a, const Element* b, const Element& c, int count, i32 scale) {
    bool nan = c.exponent >= least_nan, positive = false, negative = false;
    if (c.exponent >= least_special && !nan) (c.significand < 0 ? negative : positive) = true;
    WARPMAT_DEVICE_UNROLL
    for (int k = 0; k < count; ++k) {
      const i32 exponent = a[k].exponent + b[k].exponent + scale;
      if (exponent < least_special) continue;
      if (exponent < least_infinity || exponent >= least_nan)
        nan = true;
      else
        ((a[k].significand < 0) != (b[k].significand < 0) ? negative : positive) = true;
    }
    return nan || (positive && negative) ? canonical_nan<accumulator> : infinity<accumulator>(negative);
  }

  /// One step: a · b + c; `scale` is added to the exponent of each product.
  template <int count>
  WARPMAT_DEVICE_INLINE static u32 step(const Element (&a)[count], const Element (&b)[count], u32 c_bits, i32 scale = 0) {
    static_assert(product_shift >= 0 && fraction_bits <= 25, "a product and a sum of 16 fit into 32 bits");
    const Element c = decode<accumulator>(c_bits);
    i32 largest = c.exponent;
    WARPMAT_DEVICE_UNROLL
    for (int k = 0; k < count; ++k) {
      const i32 exponent = a[k].exponent + b[k].exponent + scale;
      largest = exponent > largest ? exponent : largest;
    }
    if (largest >= least_special) return special(a, b, c, count, scale);
    if (floor > -1000 && largest < floor) largest = floor;

    i64 sum = 0;
    WARPMAT_DEVICE_UNROLL
    for (int first = 0; first < count; first += group) {
      u32 of_group = 0;
      WARPMAT_DEVICE_UNROLL
      for (int k = first; k < first + group && k < count; ++k) {
        const i32 product = a[k].significand * b[k].significand, sign = product >> 31;
        const u32 magnitude = static_cast<u32>(product < 0 ? -product : product) << product_shift;
        const u32 term = shifted_right(magnitude, largest - scale - a[k].exponent - b[k].exponent);
        of_group += (term ^ static_cast<u32>(sign)) - static_cast<u32>(sign);
      }
      sum += static_cast<i32>(of_group);
    }
    const u32 c_magnitude = static_cast<u32>(c.significand < 0 ? -c.significand : c.significand) << (c_shift > 0 ? c_shift : 0);
    const i32 c_term = static_cast<i32>(shifted_right(c_magnitude, largest - c.exponent + (c_shift < 0 ? -c_shift : 0)));
    sum += c.significand < 0 ? -c_term : c_term;
    return round_sum<accumulator, zero_bits>(sum, largest - fraction_bits);
  }

  /// What is added to C last, in a split product, to nearest even.
  WARPMAT_DEVICE_INLINE static u32 last_addition(u32 sum, u32 c) {
    if constexpr (accumulator == Format::f16) return sum_of_f16(sum, c);
    return sum_of_f32(sum, c);
  }

  WARPMAT_DEVICE_INLINE static u32 sum_of_f32(u32 x, u32 y) {
#if defined(__CUDA_ARCH__)
    u32 result;
    asm("{ .reg .f32 x, y; mov.b32 x, %1; mov.b32 y, %2; add.rn.f32 x, x, y; mov.b32 %0, x; }" : "=r"(result) : "r"(x), "r"(y));
    return result;
#else
    float a, b;
    __builtin_memcpy(&a, &x, sizeof a);
    __builtin_memcpy(&b, &y, sizeof b);
    a += b;
    u32 result;
    __builtin_memcpy(&result, &a, sizeof a);
    return (result & 0x7fffffffu) > 0x7f800000u ? canonical_nan<Format::f32> : result;
#endif
  }

  WARPMAT_DEVICE_INLINE static u32 sum_of_f16(u32 x, u32 y) {
    const Element a = decode<Format::f16>(x), b = decode<Format::f16>(y);
    if (a.exponent >= least_special || b.exponent >= least_special) {
      const Element one[1] = {{1, 0}}, other[1] = {a};
      return special(one, other, b, 1, 0);
    }
    if (a.significand == 0 && b.significand == 0) return x & y & 0x8000u;
    // In units of the smallest number, 2^-24, f16 has at most 40 bits.
    const i64 sum = in_units(a) + in_units(b);
    return rounded<Format::f16, true>(static_cast<u64>(sum < 0 ? -sum : sum), -24) | (sum < 0 ? 0x8000u : 0);
  }
  WARPMAT_DEVICE_INLINE static i64 in_units(const Element& e) {
    return e.significand == 0 ? 0 : static_cast<i64>(e.significand) * (i64{1} << (e.exponent + 14));
  }
};

/// A lane's elements, decoded before lanes exchange them.
template <typename P>
struct FloatOperands {
  Element a[P::fragment_a.elements()], b[P::fragment_b.elements()];
  u32 c[P::fragment_c.elements()];

  WARPMAT_DEVICE_INLINE explicit FloatOperands(const Registers<P>& registers) {
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < P::fragment_a.elements(); ++i) a[i] = Unit<P>::template multiplicand<P::form.a>(own_element<P::a>(registers.a, i));
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < P::fragment_b.elements(); ++i) b[i] = Unit<P>::template multiplicand<P::form.b>(own_element<P::b>(registers.b, i));
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < P::fragment_c.elements(); ++i) c[i] = own_element<P::c>(registers.c, i);
  }
};

WARPMAT_DEVICE_INLINE Element either(bool second, const Element& x, const Element& y) {
  return {second ? y.significand : x.significand, second ? y.exponent : x.exponent};
}
WARPMAT_DEVICE_INLINE i32 either(bool second, i32 x, i32 y) {
  return second ? y : x;
}

/// The element of B, of a group's, that stored element `s` of the group of A multiplies.
template <int group, typename T>
WARPMAT_DEVICE_INLINE T chosen_of_group(const T* of_group, u32 code, int s) {
  if constexpr (group == 2) {
    return either(code == 0xe, of_group[0], of_group[1]);
  } else {
    constexpr int unit = group / 4;  // elements that one half of the code places
    const u32 place = s < unit ? code : code >> 2;
    const T* const first = of_group + s % unit;
    const bool odd = (place & 1) != 0;
    return either((place & 2) != 0, either(odd, first[0], first[unit]), either(odd, first[2 * unit], first[3 * unit]));
  }
}

/// The elements of B that the stored elements of A multiply. Dense: those with the same k. Sparse: in each group of elements along K the
/// code of metadata of a row of A chooses half of them (forms.h).
template <typename P>
struct Choices {
  using S = Steps<P>;
  static constexpr bool sparse = P::sparse;
  static constexpr int group = sparse ? P::form.metadata_group : 1, stored = sparse ? group / 2 : 1;  ///< elements of B and of A in a group
  static constexpr int per_stored = sparse ? 2 : 1;                                                   ///< elements of B for each of A
  static constexpr int groups = S::length / stored;                                                   ///< in a step

  u32 codes[P::rows.count][groups];

  /// The k of element `i` of B in step `step`.
  WARPMAT_DEVICE_BOTH static constexpr int expanded(int step, int i) {
    return sparse ? S::of_step(step, i / group * stored) / stored * group + i % group : S::of_step(step, i);
  }

  template <typename Warp>
  WARPMAT_DEVICE_INLINE void read(const Warp& warp, int row, int step) {
    if constexpr (sparse) {
      WARPMAT_DEVICE_UNROLL
      for (int i = 0; i < groups; ++i) codes[row][i] = code_of<P>(warp, row, S::of_step(step, i * stored) / stored);
    }
  }

  WARPMAT_DEVICE_INLINE void select(int row, const Element (&column)[S::length * per_stored], Element (&b)[S::length]) const {
    WARPMAT_DEVICE_UNROLL
    for (int k = 0; k < S::length; ++k) {
      if constexpr (sparse)
        b[k] = chosen_of_group<group>(column + k / stored * group, codes[row][k / stored], k % stored);
      else
        b[k] = column[k];
    }
  }
};

/// The exponents of block scales, which are powers of two, one for each row of A and column of B. A NaN among them makes the sum no number.
template <typename P>
struct ExponentsOfScales {
  i32 a[P::rows.count], b[P::columns.count];

  template <typename Warp>
  WARPMAT_DEVICE_INLINE explicit ExponentsOfScales(const Warp& warp) {
    if constexpr (P::scaled) {
      constexpr Lines rows = P::rows, columns = P::columns;
      WARPMAT_DEVICE_UNROLL
      for (int i = 0; i < rows.count; ++i) a[i] = decode<P::form.scale>(scale_of_row<P>(warp, i, 0)).exponent;
      WARPMAT_DEVICE_UNROLL
      for (int j = 0; j < columns.count; ++j) b[j] = decode<P::form.scale>(scale_of_column<P>(warp, j, 0)).exponent;
    }
  }
  WARPMAT_DEVICE_INLINE i32 of(int i, int j) const {
    if constexpr (P::scaled) return a[i] + b[j];
    return 0;
  }
};

/// A lane's elements of D.
template <typename P, typename Warp>
WARPMAT_DEVICE_INLINE void multiply_floats(const Warp& warp, Results<P>& d) {
  using S = Steps<P>;
  using U = Unit<P>;
  constexpr Lines rows = P::rows, columns = P::columns;
  Results<P> c;
  read_c(warp, c);
  ExponentsOfScales<P> scales(warp);
  WARPMAT_DEVICE_UNROLL
  for (int i = 0; i < rows.count; ++i) {
    WARPMAT_DEVICE_UNROLL
    for (int j = 0; j < columns.count; ++j) d.bits[i][j] = S::split ? 0 : converted<P::form.c, P::accumulator>(c.bits[i][j]);
  }
  WARPMAT_DEVICE_UNROLL
  for (int step = 0; step < S::count; ++step) {
    Element a[rows.count][S::length];
    Choices<P> choices;
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < rows.count; ++i) {
      WARPMAT_DEVICE_UNROLL
      for (int k = 0; k < S::length; ++k) a[i][k] = element_of_a<P>(warp, i, S::of_step(step, k));
      choices.read(warp, i, step);
    }
    WARPMAT_DEVICE_UNROLL
    for (int j = 0; j < columns.count; ++j) {
      Element column[S::length * Choices<P>::per_stored];
      WARPMAT_DEVICE_UNROLL
      for (int k = 0; k < S::length * Choices<P>::per_stored; ++k) column[k] = element_of_b<P>(warp, Choices<P>::expanded(step, k), j);
      WARPMAT_DEVICE_UNROLL
      for (int i = 0; i < rows.count; ++i) {
        Element b[S::length];
        choices.select(i, column, b);
        d.bits[i][j] = U::step(a[i], b, d.bits[i][j], scales.of(i, j));
      }
    }
  }
  WARPMAT_DEVICE_UNROLL
  for (int i = 0; i < rows.count; ++i) {
    WARPMAT_DEVICE_UNROLL
    for (int j = 0; j < columns.count; ++j) {
      d.bits[i][j] = S::split ? U::last_addition(d.bits[i][j], c.bits[i][j]) : converted<P::accumulator, P::form.d>(d.bits[i][j]);
      if (P::scaled && scales.of(i, j) >= least_special) d.bits[i][j] = canonical_nan<P::form.d>;
    }
  }
}

}  // namespace warpmat::device
