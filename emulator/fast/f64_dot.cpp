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
    const int row_registers = plan_.rows / 8;
    for (int b = 0; b < plan_.k / quad; ++b) read_rows(OperandName::a, b * row_registers, high(b * row_registers, 1), a_ + b * quad, 1);
    for (int i = 0; i < 2; ++i) read_rows(OperandName::c, i, high(i, 2), d_ + i, 2);
    read_b();
    multiply();
    for (int i = 0; i < 2; ++i) write_rows(i);
  }

 private:
  using Row = double[rows];

  const std::uint32_t* words(OperandName name, int word) const { return warps_.source(name, word, warp_); }
  std::uint32_t* destination(int word) const { return warps_.destination(word, warp_); }
  // Products of eight rows are executed as sixteen, of which the upper are a copy.
  int high(int low, int step) const { return plan_.rows == 16 ? low + step : low; }

  /// The numbers of 64-bit registers `low` (rows 0 to 7) and `high`: those of lane t of each quad to to[t * step].
  HWY_INLINE void read_rows(OperandName name, int low, int high, Row* to, int step) const {
    constexpr U32 d;
    constexpr F64 d64;
    for (int row = 0; row < rows; row += vector_rows / 2) {
      const int reg = 2 * (row < 8 ? low : high), lane = row % 8 * quad;
      const std::uint32_t *lower = words(name, reg) + lane, *upper = words(name, reg + 1) + lane;
      const Word low_a = hn::LoadU(d, lower), low_b = hn::LoadU(d, lower + vector_rows);
      const Word high_a = hn::LoadU(d, upper), high_b = hn::LoadU(d, upper + vector_rows);
      // Lanes 0 and 1 of each quad, then 2 and 3.
      const auto first_a = hn::BitCast(d64, hn::InterleaveLower(low_a, high_a)), first_b = hn::BitCast(d64, hn::InterleaveLower(low_b, high_b));
      const auto last_a = hn::BitCast(d64, hn::InterleaveUpper(d, low_a, high_a)), last_b = hn::BitCast(d64, hn::InterleaveUpper(d, low_b, high_b));
      hn::Store(hn::ConcatEven(d64, first_b, first_a), d64, to[0] + row);
      hn::Store(hn::ConcatOdd(d64, first_b, first_a), d64, to[step] + row);
      hn::Store(hn::ConcatEven(d64, last_b, last_a), d64, to[2 * step] + row);
      hn::Store(hn::ConcatOdd(d64, last_b, last_a), d64, to[3 * step] + row);
    }
  }

  HWY_INLINE void read_b() {
    constexpr U32 d;
    for (int reg = 0; reg < plan_.k / quad; ++reg)
      for (int lane = 0; lane < 32; lane += vector_rows)
        hn::StoreInterleaved2(hn::LoadU(d, words(OperandName::b, 2 * reg) + lane), hn::LoadU(d, words(OperandName::b, 2 * reg + 1) + lane), d,
                              reinterpret_cast<std::uint32_t*>(b_ + 32 * reg + lane));
  }

  HWY_INLINE void multiply() {
    const F64 d;
    for (int column = 0; column < columns; ++column)
      for (int row = 0; row < rows; row += vector_rows) {
        double* to = d_[column] + row;
        const auto c_lower = hn::Load(d, to), c_upper = hn::Load(d, to + vector_rows / 2);
        auto lower = c_lower, upper = c_upper;
        for (int k = 0; k < plan_.k; ++k) {
          const auto b = hn::Set(d, b_[k / quad * 32 + column * quad + k % quad]);
          lower = hn::MulAdd(hn::Load(d, a_[k] + row), b, lower);
          upper = hn::MulAdd(hn::Load(d, a_[k] + row + vector_rows / 2), b, upper);
        }
        if (HWY_LIKELY(hn::AllFalse(d, hn::Or(hn::IsNaN(lower), hn::IsNaN(upper))))) {
          hn::Store(lower, d, to);
          hn::Store(upper, d, to + vector_rows / 2);
          continue;
        }
        HWY_ALIGN double results[rows];
        hn::Store(lower, d, results);
        hn::Store(upper, d, results + vector_rows / 2);
        for (int i = 0; i < vector_rows; ++i) to[i] = std::isnan(results[i]) ? chain(row + i, column, to[i]) : results[i];
      }
  }

  double chain(int row, int column, double sum) const {
    for (int k = 0; k < plan_.k; ++k) {
      const double a = a_[k][row], b = b_[k / quad * 32 + column * quad + k % quad];
      const double next = std::isnan(sum) ? sum : std::fma(a, b, sum);
      if (!std::isnan(next) && !std::isnan(b)) {
        sum = next;
        continue;
      }
      const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
      sum = std::bit_cast<double>(fused_multiply_add(Format::f64, bits(a), bits(b), bits(sum), plan_.rounding, NanRule::propagate));
    }
    return sum;
  }

  HWY_INLINE void write_rows(int i) const {
    HWY_ALIGN std::uint32_t halves[2][quad][rows];
    const hn::Repartition<std::uint64_t, U32> d;
    const hn::Half<U32> half;
    for (int t = 0; t < quad; ++t)
      for (int row = 0; row < rows; row += vector_rows / 2) {
        const auto v = hn::BitCast(d, hn::Load(F64(), d_[2 * t + i] + row));
        hn::StoreU(hn::TruncateTo(half, v), half, halves[0][t] + row);
        hn::StoreU(hn::TruncateTo(half, hn::ShiftRight<32>(v)), half, halves[1][t] + row);
      }
    for (int h = 0; h < 2; ++h) {
      HWY_ALIGN std::uint32_t copy[32];
      store_row_vectors(destination(2 * i + h), plan_.rows == 16 ? destination(2 * (2 + i) + h) : copy, [&](int row, Word* quads) HWY_ATTR {
        for (int t = 0; t < quad; ++t) quads[t] = hn::Load(U32(), halves[h][t] + row);
      });
    }
  }

  const F64Plan& plan_;
  const Warps& warps_;
  std::size_t warp_ = 0;
  HWY_ALIGN double a_[max_f64_k][rows];
  HWY_ALIGN double b_[max_f64_k * columns];
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
