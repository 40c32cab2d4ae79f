#pragma once

#include <warpmat/device/product.h>

namespace warpmat::device {

// Products of floating-point elements in a matrix unit: numeric/dot.h. In units of 2^(E - fraction_bits), where E is the largest exponent
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
  WARPMAT_DEVICE_BOTH static constexpr int of_step(int step, int i) {
    return split ? i / 2 * 4 + i % 2 + 2 * step : step * length + i;
  }
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
  static_assert(product_shift >= 0 && fraction_bits <= 25, "a product and a sum of 16 fit into 32 bits");

  template <Format format>
  WARPMAT_DEVICE_INLINE static Element multiplicand(u32 bits) {
    if constexpr (split) return decode_as_f16<format>(bits);
    return decode<format>(bits);
  }

  /// The sum of terms of which some are no numbers.
  WARPMAT_DEVICE_INLINE static u32 special(const Element* a, const Element* b, const Element& c, int count, s32 scale) {
    bool nan = c.exponent >= least_nan, positive = false, negative = false;
    if (c.exponent >= least_special && !nan) (c.significand < 0 ? negative : positive) = true;
    WARPMAT_DEVICE_UNROLL
    for (int k = 0; k < count; ++k) {
      const s32 exponent = a[k].exponent + b[k].exponent + scale;
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
  WARPMAT_DEVICE_INLINE static u32 step(const Element (&a)[count], const Element (&b)[count], u32 c_bits, s32 scale = 0) {
    const Element c = decode<accumulator>(c_bits);
    s32 largest = c.exponent;
    WARPMAT_DEVICE_UNROLL
    for (int k = 0; k < count; ++k) {
      const s32 exponent = a[k].exponent + b[k].exponent + scale;
      largest = exponent > largest ? exponent : largest;
    }
    if (largest >= least_special) return special(a, b, c, count, scale);
    if (floor > -1000 && largest < floor) largest = floor;

    s64 sum = 0;
    WARPMAT_DEVICE_UNROLL
    for (int first = 0; first < count; first += group) {
      u32 of_group = 0;
      WARPMAT_DEVICE_UNROLL
      for (int k = first; k < first + group && k < count; ++k) {
        const s32 product = a[k].significand * b[k].significand, sign = product >> 31;
        const u32 magnitude = static_cast<u32>(product < 0 ? -product : product) << product_shift;
        const u32 term = shifted_right(magnitude, largest - scale - a[k].exponent - b[k].exponent);
        of_group += (term ^ static_cast<u32>(sign)) - static_cast<u32>(sign);
      }
      sum += static_cast<s32>(of_group);
    }
    const u32 c_magnitude = static_cast<u32>(c.significand < 0 ? -c.significand : c.significand) << (c_shift > 0 ? c_shift : 0);
    const s32 c_term = static_cast<s32>(shifted_right(c_magnitude, largest - c.exponent + (c_shift < 0 ? -c_shift : 0)));
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
    const s64 sum = in_units(a) + in_units(b);
    return rounded<Format::f16, true>(static_cast<u64>(sum < 0 ? -sum : sum), -24) | (sum < 0 ? 0x8000u : 0);
  }
  WARPMAT_DEVICE_INLINE static s64 in_units(const Element& e) {
    return e.significand == 0 ? 0 : static_cast<s64>(e.significand) * (s64{1} << (e.exponent + 14));
  }
};

/// A lane's elements, decoded before lanes exchange them.
template <typename P>
struct FloatOperands {
  Element a[P::fragment_a.elements()], b[P::fragment_b.elements()];
  u32 c[P::fragment_c.elements()];

  WARPMAT_DEVICE_INLINE explicit FloatOperands(const Registers<P>& registers) {
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < P::fragment_a.elements(); ++i)
      a[i] = Unit<P>::template multiplicand<P::form.a>(own_element<P::a>(registers.a, i));
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < P::fragment_b.elements(); ++i)
      b[i] = Unit<P>::template multiplicand<P::form.b>(own_element<P::b>(registers.b, i));
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < P::fragment_c.elements(); ++i) c[i] = own_element<P::c>(registers.c, i);
  }
};

/// The elements of D of `lane`: bits[row][column] of P::rows and P::columns. Dense A.
template <typename P, typename Warp>
WARPMAT_DEVICE_INLINE void multiply_floats(const Warp& warp, u32 (&bits)[P::rows.count][P::columns.count]) {
  using S = Steps<P>;
  using U = Unit<P>;
  constexpr auto rows = P::rows, columns = P::columns;
  constexpr Fragment fragment_a = P::fragment_a, fragment_b = P::fragment_b, fragment_c = P::fragment_c;
  constexpr LaneBits a_bits = P::a_bits, b_bits = P::b_bits, c_bits = P::c_bits;
  const u32 a_of_lane = a_bits.of(warp.lane()), b_of_lane = b_bits.of(warp.lane()), c_of_lane = c_bits.of(warp.lane());

  u32 c[rows.count][columns.count];
  WARPMAT_DEVICE_UNROLL
  for (int i = 0; i < rows.count; ++i) {
    WARPMAT_DEVICE_UNROLL
    for (int j = 0; j < columns.count; ++j) {
      c[i][j] = element_at<P::c, c_bits.all()>(fragment_c.place(rows.line[i], columns.line[j]), c_of_lane,
                                               [&](int number, int lane) { return warp.c(number, lane); });
      bits[i][j] = S::split ? 0 : converted<P::form.c, P::accumulator>(c[i][j]);
    }
  }
  WARPMAT_DEVICE_UNROLL
  for (int step = 0; step < S::count; ++step) {
    Element a[rows.count][S::length];
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < rows.count; ++i) {
      WARPMAT_DEVICE_UNROLL
      for (int k = 0; k < S::length; ++k)
        a[i][k] = element_at<P::a, a_bits.all()>(fragment_a.place(rows.line[i], static_cast<u32>(S::of_step(step, k))), a_of_lane,
                                                 [&](int number, int lane) { return warp.a(number, lane); });
    }
    WARPMAT_DEVICE_UNROLL
    for (int j = 0; j < columns.count; ++j) {
      Element b[S::length];
      WARPMAT_DEVICE_UNROLL
      for (int k = 0; k < S::length; ++k)
        b[k] = element_at<P::b, b_bits.all()>(fragment_b.place(static_cast<u32>(S::of_step(step, k)), columns.line[j]), b_of_lane,
                                              [&](int number, int lane) { return warp.b(number, lane); });
      WARPMAT_DEVICE_UNROLL
      for (int i = 0; i < rows.count; ++i) bits[i][j] = U::step(a[i], b, bits[i][j]);
    }
  }
  WARPMAT_DEVICE_UNROLL
  for (int i = 0; i < rows.count; ++i) {
    WARPMAT_DEVICE_UNROLL
    for (int j = 0; j < columns.count; ++j)
      bits[i][j] = S::split ? U::last_addition(bits[i][j], c[i][j]) : converted<P::accumulator, P::form.d>(bits[i][j]);
  }
}

}  // namespace warpmat::device
