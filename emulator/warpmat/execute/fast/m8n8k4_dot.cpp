// m8n8k4 of f16: four products D = A · B + C, each 8x8x4, all rows of a column at a time. Compiled once for each instruction set.
//
// Two quads of a warp hold each product: lanes 4q to 4q + 3 and 16 + 4q to 16 + 4q + 3 hold product q. The first quad holds rows of A and
// columns of B 0 to 3, the other 4 to 7. A vector is a part of lanes 0 to 15 or of lanes 16 to 31; each of its lanes stands for the row of
// A that it holds. All quads of a vector use the same column number, each of its own product.
//
// In the matrix unit the steps are those of dot.h: products are exact in a float, and their sum, truncated to integers, is exact.
// The CPU rounds toward zero for it, and to nearest where the hardware uses f32 operations.

#include <warpmat/execute/fast/fast.h>
#include <warpmat/numeric/kernels_target.h>
#include <warpmat/numeric/rounding_mode.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/execute/fast/m8n8k4_dot.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/execute/fast/bounds.h>
#include <warpmat/execute/fast/elements-inl.h>
#include <warpmat/execute/fast/vectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

std::size_t m8n8k4_dot(const M8n8k4Plan&, const Form&, const Warps&) {
  return 0;
}

#else

constexpr int k = 4;
constexpr int first_quads = warp_size / 2;  // the lanes of the first quads of all products

using Floats = hn::Vec<F32>;
using Integers = hn::Vec<I32>;

/// Transposes: rows r of four vectors' blocks of 4x4 become columns r.
HWY_INLINE void transpose_quads(Floats* v) {
  const hn::Repartition<std::uint64_t, U32> d64;
  const F32 d;
  const auto low_01 = hn::BitCast(d64, hn::InterleaveLower(d, v[0], v[1])), high_01 = hn::BitCast(d64, hn::InterleaveUpper(d, v[0], v[1]));
  const auto low_23 = hn::BitCast(d64, hn::InterleaveLower(d, v[2], v[3])), high_23 = hn::BitCast(d64, hn::InterleaveUpper(d, v[2], v[3]));
  v[0] = hn::BitCast(d, hn::InterleaveLower(d64, low_01, low_23));
  v[1] = hn::BitCast(d, hn::InterleaveUpper(d64, low_01, low_23));
  v[2] = hn::BitCast(d, hn::InterleaveLower(d64, high_01, high_23));
  v[3] = hn::BitCast(d, hn::InterleaveUpper(d64, high_01, high_23));
}

/// Exchanges lanes 2 and 3 of each quad of `a` with lanes 0 and 1 of `b`.
HWY_INLINE void exchange_pairs(Word& a, Word& b) {
  const hn::Repartition<std::uint64_t, U32> d64;
  const auto a64 = hn::BitCast(d64, a), b64 = hn::BitCast(d64, b);
  a = hn::BitCast(U32(), hn::InterleaveLower(d64, a64, b64));
  b = hn::BitCast(U32(), hn::InterleaveUpper(d64, a64, b64));
}

/// Floats rounded to nearest as f16 in the low halves of words; zeros keep their sign.
HWY_INLINE Word f32_to_signed_f16(Floats v) {
  return hn::OrAnd(f32_to_f16(v), hn::ShiftRight<16>(hn::BitCast(U32(), v)), hn::Set(U32(), 0x8000u));
}

#if HWY_TARGET == HWY_SSE4  // no fused multiply-adds

/// a + b rounded to odd: an inexact sum has a last bit of one, so rounding it again equals one rounding of the exact sum.
HWY_INLINE hn::Vec<F64> odd_sum(hn::Vec<F64> a, hn::Vec<F64> b) {
  const I64 d;
  const auto sum = hn::Add(a, b), rest = hn::Sub(sum, b);
  const auto error = hn::Add(hn::Sub(a, rest), hn::Sub(b, hn::Sub(sum, rest)));  // exact; NaN if the sum is not finite
  const auto bits = hn::BitCast(d, sum), one = hn::Set(d, 1);
  const auto is_even = hn::Eq(hn::And(bits, one), hn::Zero(d));
  const auto is_inexact = hn::RebindMask(d, hn::Gt(hn::Abs(error), hn::Zero(F64())));
  const auto toward_error = hn::Or(hn::BroadcastSignBit(hn::Xor(hn::BitCast(d, error), bits)), one);  // 1 or -1, for the magnitude
  return hn::BitCast(F64(), hn::Add(bits, hn::IfThenElseZero(hn::And(is_even, is_inexact), toward_error)));
}

/// a · b + c, rounded once, for a and b in f16: their product is exact in a double.
HWY_INLINE Floats multiply_add(Floats a, Floats b, Floats c) {
  const F64 d;
  const hn::Half<F32> half;
  const auto sum = [&](auto a_half, auto b_half, auto c_half) HWY_ATTR {
    const auto product = hn::Mul(hn::PromoteTo(d, a_half), hn::PromoteTo(d, b_half));
    return hn::DemoteTo(half, odd_sum(product, hn::PromoteTo(d, c_half)));
  };
  return hn::Combine(F32(), sum(hn::UpperHalf(half, a), hn::UpperHalf(half, b), hn::UpperHalf(half, c)),
                     sum(hn::LowerHalf(a), hn::LowerHalf(b), hn::LowerHalf(c)));
}

#else

HWY_INLINE Floats multiply_add(Floats a, Floats b, Floats c) {
  return hn::MulAdd(a, b, c);
}

#endif

/// v · 2^exponent, toward zero, also if the power itself is not a float: it is at most the square of one.
class PowerOfTwo {
 public:
  HWY_INLINE explicit PowerOfTwo(Integers exponent)
      : first_(power_of_two(hn::ShiftRight<1>(exponent))), second_(power_of_two(hn::Sub(exponent, hn::ShiftRight<1>(exponent)))) {}
  HWY_INLINE Floats times(Floats v) const { return hn::Mul(hn::Mul(v, first_), second_); }

 private:
  Floats first_, second_;
};

template <bool fused>
class M8n8k4Dot {
 public:
  M8n8k4Dot(const M8n8k4Plan& plan, const Warps& warps) : plan_(plan), warps_(warps) {}

  void run(std::size_t warp) {
    warp_ = {warps_, warp};
    read(OperandName::a, plan_.a_along_k, a_);
    read(OperandName::b, plan_.b_along_k, b_);
    read_c();
    multiply<0>();
    multiply<1>();
    multiply<2>();
    multiply<3>();
    write();
  }

 private:
  /// Rows of A or columns of B.
  struct Lines {
    HWY_ALIGN float elements[k][warp_size];
    HWY_ALIGN std::int32_t exponents[k][warp_size];  // unless fused
  };

  /// The lines that a vector holds. The constructor is explicit because NEON's vectors have one: g++ would compile an implicit one for its
  /// own instruction set, into which it cannot inline theirs.
  struct Line {
    Line() {}
    Floats elements[k];
    Integers exponents[k];
  };

  template <class Visit>
  HWY_INLINE static void for_each_vector(int end, Visit visit) {
    for (int lane = 0; lane < end; lane += vector_rows) visit(lane);
  }

  // ---- Reading ------------------------------------------------------------------------------------------------------------------------

  HWY_INLINE void read(OperandName name, bool along_k, Lines& to) const {
    const auto registers = warp_.source(name);
    for_each_vector(warp_size, [&](int lane) HWY_ATTR {
      Floats elements[k];
      for (int i = 0; i < k; ++i) {
        const Word word = hn::LoadU(U32(), registers[i / 2] + lane);
        elements[i] = f16_to_f32(i % 2 == 0 ? word : hn::ShiftRight<16>(word));
      }
      if (!along_k) transpose_quads(elements);
      for (int i = 0; i < k; ++i) {
        hn::Store(elements[i], F32(), to.elements[i] + lane);
        if constexpr (!fused) hn::Store(exponents(elements[i], plan_.least_exponent, bounds::no_exponent), I32(), to.exponents[i] + lane);
      }
    });
  }

  // Registers of C and D. With 16-bit elements register r holds columns 2r and 2r + 1. With 32-bit elements columns j and j + 2 share
  // registers j and j + 2 (j is 0, 1, 4 or 5): the first holds rows 0 and 1 of each four, the second rows 2 and 3.

  HWY_INLINE void read_c() {
    const auto registers = warp_.source(OperandName::c);
    for_each_vector(warp_size, [&](int lane) HWY_ATTR {
      Word c[columns];
      if (plan_.f16_c) {
        for (int i = 0; i < columns; ++i) {
          const Word word = hn::LoadU(U32(), registers[i / 2] + lane);
          c[i] = hn::BitCast(U32(), f16_to_f32(i % 2 == 0 ? word : hn::ShiftRight<16>(word)));
        }
      } else {
        for (int i = 0; i < columns; ++i) c[i] = hn::LoadU(U32(), registers[i] + lane);
        for (const int i : {0, 1, 4, 5}) exchange_pairs(c[i], c[i + 2]);
      }
      for (int i = 0; i < columns; ++i) hn::Store(c[i], U32(), d_[i] + lane);
    });
  }

  // ---- Arithmetic ---------------------------------------------------------------------------------------------------------------------

  /// Columns `column` and `column` + 4.
  template <int column>
  HWY_INLINE void multiply() {
    for_each_vector(first_quads, [&](int quads) HWY_ATTR {
      for (int upper = 0; upper < 2; ++upper) {
        Line b = load(b_, upper * first_quads + quads);
        for (int i = 0; i < k; ++i) {
          b.elements[i] = hn::Broadcast<column>(b.elements[i]);
          if constexpr (!fused) b.exponents[i] = hn::Broadcast<column>(b.exponents[i]);
        }
        for (const int lane : {quads, first_quads + quads}) {
          std::uint32_t* d = d_[column + 4 * upper] + lane;
          const Floats c = hn::BitCast(F32(), hn::Load(U32(), d));
          if constexpr (fused) hn::Store(f32_chain(load(a_, lane), b, c), U32(), d);
          if constexpr (!fused) hn::Store(unit_step(load(a_, lane), b, c), U32(), d);
        }
      }
    });
  }

  HWY_INLINE static Line load(const Lines& lines, int lane) {
    Line line;
    for (int i = 0; i < k; ++i) {
      line.elements[i] = hn::Load(F32(), lines.elements[i] + lane);
      if constexpr (!fused) line.exponents[i] = hn::Load(I32(), lines.exponents[i] + lane);
    }
    return line;
  }

  /// Computes execute_m8n8k4_fma.
  HWY_INLINE Word f32_chain(const Line& a, const Line& b, Floats c) const {
    const auto fma = [&](int i, Floats sum) HWY_ATTR { return multiply_add(a.elements[i], b.elements[i], sum); };
    if (!plan_.f16_d) return with_canonical_nan(hn::Add(c, fma(3, fma(2, fma(1, fma(0, hn::Zero(F32())))))));
    const auto negative_zero = hn::Set(F32(), -0.0f);
    const auto low = fma(1, fma(0, negative_zero)), high = fma(3, fma(2, negative_zero));
    const auto sum = hn::Add(hn::Add(c, low), high);
    return with_canonical_nan(sum, f32_to_signed_f16(sum));
  }

  /// One step of the matrix unit. C is of D's format, as a float.
  HWY_INLINE Word unit_step(const Line& a, const Line& b, Floats c) const {
    const I32 d;
    Floats products[k];
    auto special = c;  // infinite or NaN if the sum is; finite numbers do not overflow while the CPU rounds toward zero
    auto exponent =
        hn::Max(exponents(c, plan_.min_c_exponent, bounds::no_exponent), hn::Set(d, HWY_MAX(plan_.floor, bounds::min_f32_exponent)));
    for (int i = 0; i < k; ++i) {
      products[i] = hn::Mul(a.elements[i], b.elements[i]);
      special = hn::Add(special, products[i]);
      exponent = hn::Max(exponent, hn::Add(a.exponents[i], b.exponents[i]));
    }
    const auto to_units = hn::Sub(hn::Set(d, plan_.fraction_bits), exponent);
    auto sum = truncate(PowerOfTwo(to_units).times(c));
    const auto products_to_units =
        power_of_two(hn::Min(hn::Max(to_units, hn::Set(d, bounds::min_narrow_factor)), hn::Set(d, bounds::largest_narrow_factor)));
    for (int i = 0; i < k; ++i) sum = hn::Add(sum, truncate(hn::Mul(products[i], products_to_units)));
    auto truncated = hn::ConvertTo(F32(), sum);
    if (plan_.f16_d) {
      // The last bit is sticky, so rounding the result again equals one rounding of the exact sum.
      const auto inexact = hn::VecFromMask(d, hn::Ne(truncate(truncated), sum));
      truncated = hn::BitCast(F32(), hn::OrAnd(hn::BitCast(d, truncated), inexact, hn::Set(d, 1)));
    }
    // f32 does not overflow: if C is near its limit, products are too small to count.
    const auto result = hn::IfThenElse(hn::IsFinite(special), PowerOfTwo(hn::Neg(to_units)).times(truncated), special);
    return plan_.f16_d ? with_canonical_nan(result, f32_to_f16(result)) : with_canonical_nan(result);
  }

  HWY_INLINE Word with_canonical_nan(Floats result, Word bits) const {
    return hn::IfThenElse(hn::RebindMask(U32(), hn::IsNaN(result)), hn::Set(U32(), plan_.nan), bits);
  }
  HWY_INLINE Word with_canonical_nan(Floats result) const { return with_canonical_nan(result, hn::BitCast(U32(), result)); }

  // ---- Writing ------------------------------------------------------------------------------------------------------------------------

  HWY_INLINE void write() const {
    const auto registers = warp_.destination();
    for_each_vector(warp_size, [&](int lane) HWY_ATTR {
      Word d[columns];
      for (int i = 0; i < columns; ++i) d[i] = hn::Load(U32(), d_[i] + lane);
      if (plan_.f16_d) {
        for (int i = 0; i < columns; i += 2) hn::StoreU(hn::Or(d[i], hn::ShiftLeft<16>(d[i + 1])), U32(), registers[i / 2] + lane);
      } else {
        for (const int i : {0, 1, 4, 5}) exchange_pairs(d[i], d[i + 2]);
        for (int i = 0; i < columns; ++i) hn::StoreU(d[i], U32(), registers[i] + lane);
      }
    });
  }

  const M8n8k4Plan& plan_;
  const Warps& warps_;
  WarpWords warp_{warps_, 0};
  Lines a_, b_;
  HWY_ALIGN std::uint32_t d_[columns][warp_size];  // each column: C as floats, then D as words of f32, or of f16 in their low halves
};

/// A function of its own, so that the compiler moves no operation to where the CPU has another rounding mode.
template <bool fused>
HWY_NOINLINE std::size_t run_m8n8k4_dot(const M8n8k4Plan& plan, const Warps& warps) {
  M8n8k4Dot<fused> product(plan, warps);
  for (std::size_t warp = 0; warp < warps.count; ++warp) product.run(warp);
  return warps.count;
}

std::size_t m8n8k4_dot(const M8n8k4Plan& plan, const Form&, const Warps& warps) {
  const RoundingMode mode(plan.fused ? RoundingMode::nearest : RoundingMode::toward_zero);
  return plan.fused ? run_m8n8k4_dot<true>(plan, warps) : run_m8n8k4_dot<false>(plan, warps);
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat {

HWY_EXPORT(m8n8k4_dot);

std::size_t fast_m8n8k4_dot(const M8n8k4Plan& plan, const Form& form, const Warps& warps) {
  return WARPMAT_KERNEL(m8n8k4_dot)(plan, form, warps);
}

}  // namespace warpmat
#endif
