#pragma once

#include <warpmat/device/product.h>
#if !defined(__CUDACC__)
#include <cfenv>
#include <cmath>
#endif

namespace warpmat::device {

// Products without a matrix unit of their own rules: f64, and m8n8k4 of f16 on the ordinary f32 cores. Both are chains of fused
// multiply-adds. They are PTX here, for a compiler's flags would change CUDA's functions.

/// a · b + c rounded to nearest even; a NaN is the canonical one.
WARPMAT_DEVICE_INLINE u32 fused_f32(u32 a, u32 b, u32 c) {
  u32 result;
#if defined(__CUDA_ARCH__)
  asm("{ .reg .f32 x, y, z; mov.b32 x, %1; mov.b32 y, %2; mov.b32 z, %3; fma.rn.f32 x, x, y, z; mov.b32 %0, x; }"
      : "=r"(result)
      : "r"(a), "r"(b), "r"(c));
#else
  float x, y, z;
  __builtin_memcpy(&x, &a, sizeof x);
  __builtin_memcpy(&y, &b, sizeof y);
  __builtin_memcpy(&z, &c, sizeof z);
  x = __builtin_fmaf(x, y, z);
  __builtin_memcpy(&result, &x, sizeof x);
  if ((result & 0x7fffffffu) > 0x7f800000u) result = canonical_nan<Format::f32>;
#endif
  return result;
}

/// a · b + c of numbers, infinities among them.
template <Rounding rounding>
WARPMAT_DEVICE_INLINE u64 fused_numbers(u64 a, u64 b, u64 c) {
  u64 result;
#if defined(__CUDA_ARCH__)
#define WARPMAT_DEVICE_FMA(mode)                                                                                        \
  asm("{ .reg .f64 x, y, z; mov.b64 x, %1; mov.b64 y, %2; mov.b64 z, %3; fma." mode ".f64 x, x, y, z; mov.b64 %0, x; }" \
      : "=l"(result)                                                                                                    \
      : "l"(a), "l"(b), "l"(c))
  if constexpr (rounding == Rounding::nearest_even) WARPMAT_DEVICE_FMA("rn");
  if constexpr (rounding == Rounding::toward_zero) WARPMAT_DEVICE_FMA("rz");
  if constexpr (rounding == Rounding::down) WARPMAT_DEVICE_FMA("rm");
  if constexpr (rounding == Rounding::up) WARPMAT_DEVICE_FMA("rp");
#undef WARPMAT_DEVICE_FMA
#elif defined(__CUDACC__)
  result = a + b + c;  // no caller: nvcc compiles this for a host that never calls it
#else
  constexpr int mode = rounding == Rounding::nearest_even  ? FE_TONEAREST
                       : rounding == Rounding::toward_zero ? FE_TOWARDZERO
                       : rounding == Rounding::down        ? FE_DOWNWARD
                                                           : FE_UPWARD;
  // Volatile: the operation stays between the changes of the mode.
  volatile double x, y, z;
  double number;
  __builtin_memcpy(&number, &a, sizeof number);
  x = number;
  __builtin_memcpy(&number, &b, sizeof number);
  y = number;
  __builtin_memcpy(&number, &c, sizeof number);
  z = number;
  const int before = std::fegetround();
  std::fesetround(mode);
  x = std::fma(x, y, z);
  std::fesetround(before);
  number = x;
  __builtin_memcpy(&result, &number, sizeof result);
#endif
  return result;
}

/// a · b + c of f64: the NaN of b has precedence over that of c, that of c over that of a; an invalid operation gives a negative NaN.
template <Rounding rounding>
WARPMAT_DEVICE_INLINE u64 fused_f64(u64 a, u64 b, u64 c) {
  constexpr u64 infinite = 0x7ff0000000000000ull, quiet = 0x0008000000000000ull;
  const auto is_nan = [](u64 x) { return (x & ~(u64{1} << 63)) > infinite; };
  if (is_nan(b)) return b | quiet;
  if (is_nan(c)) return c | quiet;
  if (is_nan(a)) return a | quiet;
  const u64 result = fused_numbers<rounding>(a, b, c);
  return is_nan(result) ? 0xfff8000000000000ull : result;
}

/// A lane's elements of f64, or of f16 and C's.
template <typename P>
struct FusedOperands {
  using A = typename BitsOf<P::form.a>::Type;
  using C = typename BitsOf<P::form.c>::Type;
  A a[P::fragment_a.elements()], b[P::fragment_b.elements()];
  C c[P::fragment_c.elements()];

  WARPMAT_DEVICE_INLINE explicit FusedOperands(const Registers<P>& registers) {
    read<P::a>(registers.a, a);
    read<P::b>(registers.b, b);
    read<P::c>(registers.c, c);
  }

 private:
  template <int fragment, int count>
  WARPMAT_DEVICE_INLINE static void read(const u32* words, u64 (&elements)[count]) {
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < count; ++i) elements[i] = static_cast<u64>(words[2 * i + 1]) << 32 | words[2 * i];
  }
  template <int fragment, int count>
  WARPMAT_DEVICE_INLINE static void read(const u32* words, u32 (&elements)[count]) {
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < count; ++i) elements[i] = own_element<fragment>(words, i);
  }
};

/// f64: d = fma(a[k], b[k], d) from d = C, k ascending.
template <typename P, typename Warp>
WARPMAT_DEVICE_INLINE void multiply_f64(const Warp& warp, Results<P>& d) {
  constexpr Lines rows = P::rows, columns = P::columns;
  read_c(warp, d);
  WARPMAT_DEVICE_UNROLL
  for (int k = 0; k < P::form.k; ++k) {
    u64 b[columns.count];
    WARPMAT_DEVICE_UNROLL
    for (int j = 0; j < columns.count; ++j) b[j] = element_of_b<P>(warp, k, j);
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < rows.count; ++i) {
      const u64 a = element_of_a<P>(warp, i, k);
      WARPMAT_DEVICE_UNROLL
      for (int j = 0; j < columns.count; ++j) d.bits[i][j] = fused_f64<P::form.rounding>(a, b[j], d.bits[i][j]);
    }
  }
}

/// m8n8k4 from sm_80 on. D in f32: C + fma(a3, b3, fma(a2, b2, fma(a1, b1, fma(a0, b0, +0)))). D in f16:
/// (C + fma(a1, b1, a0 · b0)) + fma(a3, b3, a2 · b2), rounded to f16 last.
template <typename P, typename Warp>
WARPMAT_DEVICE_INLINE void multiply_quads(const Warp& warp, Results<P>& d) {
  constexpr Lines rows = P::rows, columns = P::columns;
  constexpr u32 one = 0x3f800000u, negative_zero = 0x80000000u;  // x * y + -0 is x * y alone
  Results<P> c;
  read_c(warp, c);
  WARPMAT_DEVICE_UNROLL
  for (int i = 0; i < rows.count; ++i) {
    u32 a[4];
    WARPMAT_DEVICE_UNROLL
    for (int k = 0; k < 4; ++k) a[k] = widened(element_of_a<P>(warp, i, k));
    WARPMAT_DEVICE_UNROLL
    for (int j = 0; j < columns.count; ++j) {
      u32 b[4];
      WARPMAT_DEVICE_UNROLL
      for (int k = 0; k < 4; ++k) b[k] = widened(element_of_b<P>(warp, k, j));
      const u32 addend = converted<P::form.c, Format::f32>(c.bits[i][j]);
      if constexpr (P::form.d == Format::f16) {
        const u32 low = fused_f32(a[1], b[1], fused_f32(a[0], b[0], negative_zero));
        const u32 high = fused_f32(a[3], b[3], fused_f32(a[2], b[2], negative_zero));
        d.bits[i][j] = narrowed(fused_f32(fused_f32(addend, one, low), one, high));
      } else {
        const u32 product = fused_f32(a[3], b[3], fused_f32(a[2], b[2], fused_f32(a[1], b[1], fused_f32(a[0], b[0], 0))));
        d.bits[i][j] = fused_f32(addend, one, product);
      }
    }
  }
}

}  // namespace warpmat::device
