// D = A · B + C in f64: fused multiply-adds in the order of k, all rows of a column at a time. Compiled once for each instruction set.
//
// Which NaN survives differs between CPU and GPU, so an element whose chain ends with a NaN is computed once more, with the reference wherever a
// NaN takes part.

#include <bit>
#include <cmath>

#include <warpmat/fast/fast.h>
#include <warpmat/fast/rounding_mode.h>
#include <warpmat/numeric/ieee.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "f64_dot.cpp"
#include <hwy/foreach_target.h>

#include "vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_SSE4  // without fused multiply-adds

std::size_t f64_dot(const F64Plan&, const Form&, const Warps&) { return 0; }

#else

class F64Dot {
 public:
  F64Dot(const F64Plan& plan, const Warps& warps) : plan_(plan), warps_(warps) {}

  void run(std::size_t warp) {
    warp_ = warp;
    const int halves = plan_.rows / 8;  // a 64-bit register holds eight rows
    for (int half = 0; half < halves; ++half) {
      for (int b = 0; b < plan_.k / quad; ++b) read_rows(OperandName::a, b * halves + half, a_ + b * quad, 1, 8 * half);
      for (int i = 0; i < 2; ++i) read_rows(OperandName::c, 2 * half + i, c_ + i, 2, 8 * half);
    }
    read_b();
    if (multiply()) correct_nans();
    for (int half = 0; half < halves; ++half)
      for (int i = 0; i < 2; ++i) write_rows(2 * half + i, d_ + i, 2, 8 * half);
  }

 private:
  using U64 = hn::Repartition<std::uint64_t, U32>;
  using Row = double[rows];
  static constexpr int numbers = vector_rows / 2;  // of a vector

  const std::uint32_t* words(OperandName name, int word) const { return warps_.source(name, word, warp_); }
  std::uint32_t* destination(int word) const { return warps_.destination(word, warp_); }

  /// The numbers whose words `low` and `high` hold: those of even and those of odd lanes.
  struct Pair {
    hn::Vec<F64> even, odd;
  };

  HWY_INLINE static Pair join(Word low, Word high) {
    const U64 d;
    return {hn::BitCast(F64(), hn::OddEven(hn::BitCast(U32(), hn::ShiftLeft<32>(hn::BitCast(d, high))), low)),
            hn::BitCast(F64(), hn::OddEven(high, hn::BitCast(U32(), hn::ShiftRight<32>(hn::BitCast(d, low)))))};
  }
  HWY_INLINE static void split(const Pair& pair, Word& low, Word& high) {
    const U64 d;
    const auto even = hn::BitCast(d, pair.even), odd = hn::BitCast(d, pair.odd);
    low = hn::OddEven(hn::BitCast(U32(), hn::ShiftLeft<32>(odd)), hn::BitCast(U32(), even));
    high = hn::OddEven(hn::BitCast(U32(), odd), hn::BitCast(U32(), hn::ShiftRight<32>(even)));
  }

  /// The numbers of a 64-bit register: those of lane t of each quad to to[t * step] + first. The eight rows come in an order of their own, the
  /// same in A, C and D.
  HWY_INLINE void read_rows(OperandName name, int reg, Row* to, int step, int first) const {
    const F64 d;
    const std::uint32_t *low = words(name, 2 * reg), *high = words(name, 2 * reg + 1);
    for (int lane = 0; lane < 32; lane += 2 * vector_rows) {
      const Pair p = join(hn::LoadU(U32(), low + lane), hn::LoadU(U32(), high + lane));
      const Pair q = join(hn::LoadU(U32(), low + lane + vector_rows), hn::LoadU(U32(), high + lane + vector_rows));
      const int row = first + lane / quad;
      hn::Store(hn::InterleaveLower(d, p.even, q.even), d, to[0] + row);
      hn::Store(hn::InterleaveLower(d, p.odd, q.odd), d, to[step] + row);
      hn::Store(hn::InterleaveUpper(d, p.even, q.even), d, to[2 * step] + row);
      hn::Store(hn::InterleaveUpper(d, p.odd, q.odd), d, to[3 * step] + row);
    }
  }

  /// The inverse.
  HWY_INLINE void write_rows(int reg, const Row* from, int step, int first) const {
    const F64 d;
    std::uint32_t *low = destination(2 * reg), *high = destination(2 * reg + 1);
    for (int lane = 0; lane < 32; lane += 2 * vector_rows) {
      const int row = first + lane / quad;
      const auto t0 = hn::Load(d, from[0] + row), t1 = hn::Load(d, from[step] + row), t2 = hn::Load(d, from[2 * step] + row), t3 = hn::Load(d, from[3 * step] + row);
      const Pair pairs[] = {{hn::InterleaveLower(d, t0, t2), hn::InterleaveLower(d, t1, t3)}, {hn::InterleaveUpper(d, t0, t2), hn::InterleaveUpper(d, t1, t3)}};
      for (int i = 0; i < 2; ++i) {
        Word low_words, high_words;
        split(pairs[i], low_words, high_words);
        hn::StoreU(low_words, U32(), low + lane + i * vector_rows);
        hn::StoreU(high_words, U32(), high + lane + i * vector_rows);
      }
    }
  }

  /// Of each vector of lanes first the even ones, then the odd ones.
  HWY_INLINE void read_b() {
    for (int reg = 0; reg < plan_.k / quad; ++reg)
      for (int lane = 0; lane < 32; lane += vector_rows) {
        const Pair p = join(hn::LoadU(U32(), words(OperandName::b, 2 * reg) + lane), hn::LoadU(U32(), words(OperandName::b, 2 * reg + 1) + lane));
        hn::Store(p.even, F64(), b_[reg] + lane);
        hn::Store(p.odd, F64(), b_[reg] + lane + numbers);
      }
  }

  const double* b(int k, int column) const {
    const int lane = column * quad + k % quad;
    return b_[k / quad] + lane / vector_rows * vector_rows + lane % 2 * numbers + lane % vector_rows / 2;
  }

  /// Whether some chain may have ended with a NaN.
  HWY_INLINE bool multiply() {
    auto sum = hn::Zero(F64());
    if (plan_.rows >= 2 * numbers)
      for (int row = 0; row < plan_.rows; row += 2 * numbers) sum = hn::Add(sum, multiply<2>(row));
    else
      sum = multiply<1>(0);
    return !hn::AllFalse(F64(), hn::IsNaN(sum));
  }

  /// Some rows of D; returns a sum that is a NaN if one of them is.
  template <int vectors>
  HWY_INLINE hn::Vec<F64> multiply(int row) {
    const F64 d;
    constexpr int group = vector_rows == rows ? 8 : 4;  // of columns, as many as there are registers for: chains hide how long one addition takes
    auto sum = hn::Zero(d);
    for (int column = 0; column < columns; column += group) {
      hn::Vec<F64> d_values[group][vectors];
      for (int i = 0; i < group; ++i)
        for (int v = 0; v < vectors; ++v) d_values[i][v] = hn::Load(d, c_[column + i] + row + v * numbers);
      for (int four = 0; four < plan_.k; four += quad)
        HWY_UNROLL(4)
        for (int t = 0; t < quad; ++t) {
          hn::Vec<F64> a[vectors];
          for (int v = 0; v < vectors; ++v) a[v] = hn::Load(d, a_[four + t] + row + v * numbers);
          for (int i = 0; i < group; ++i) {
            const auto other = hn::Set(d, *b(four + t, column + i));
            for (int v = 0; v < vectors; ++v) d_values[i][v] = hn::MulAdd(a[v], other, d_values[i][v]);
          }
        }
      for (int i = 0; i < group; ++i)
        for (int v = 0; v < vectors; ++v) {
          hn::Store(d_values[i][v], d, d_[column + i] + row + v * numbers);
          sum = hn::Add(sum, d_values[i][v]);
        }
    }
    return sum;
  }

  void correct_nans() {
    for (int column = 0; column < columns; ++column)
      for (int place = 0; place < plan_.rows; ++place)
        if (std::isnan(d_[column][place])) d_[column][place] = chain(place, column);
  }

  double chain(int place, int column) const {
    double sum = c_[column][place];
    for (int k = 0; k < plan_.k; ++k) {
      const double a = a_[k][place], other = *b(k, column);
      const double next = std::isnan(sum) ? sum : std::fma(a, other, sum);
      if (!std::isnan(next) && !std::isnan(other)) {
        sum = next;
        continue;
      }
      const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
      sum = std::bit_cast<double>(fused_multiply_add(Format::f64, bits(a), bits(other), bits(sum), plan_.rounding, NanRule::propagate));
    }
    return sum;
  }

  const F64Plan& plan_;
  const Warps& warps_;
  std::size_t warp_ = 0;
  HWY_ALIGN double a_[max_f64_k][rows];
  HWY_ALIGN double b_[max_f64_k / quad][32];
  HWY_ALIGN double c_[columns][rows];
  HWY_ALIGN double d_[columns][rows];
};

RoundingMode::Mode mode_of(Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest_even: return RoundingMode::nearest;
    case Rounding::toward_zero: return RoundingMode::toward_zero;
    case Rounding::down: return RoundingMode::down;
    case Rounding::up: return RoundingMode::up;
  }
  return RoundingMode::nearest;
}

HWY_NOINLINE std::size_t run_f64_dot(const F64Plan& plan, const Warps& warps) {
  F64Dot product(plan, warps);
  for (std::size_t warp = 0; warp < warps.count; ++warp) product.run(warp);
  return warps.count;
}

std::size_t f64_dot(const F64Plan& plan, const Form&, const Warps& warps) {
  const RoundingMode mode(mode_of(plan.rounding));
  return run_f64_dot(plan, warps);
}

#endif

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat {

HWY_EXPORT(f64_dot);

std::size_t fast_f64(const F64Plan& plan, const Form& form, const Warps& warps) { return HWY_DYNAMIC_DISPATCH(f64_dot)(plan, form, warps); }

}  // namespace warpmat
#endif
