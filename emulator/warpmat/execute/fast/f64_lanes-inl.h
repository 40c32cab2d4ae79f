// D = A · B + C in f64 on operands that are lane by lane: a row of all columns at a time. Included once for each instruction set, as
// vectors-inl.h is.
//
// A lane holds two neighbouring columns of C and D side by side, so a row of them needs no permutation, and an element of A is one number
// for a whole row. Only B is transposed.

#if defined(WARPMAT_FAST_F64_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_FAST_F64_LANES_INL_H_
#undef WARPMAT_FAST_F64_LANES_INL_H_
#else
#define WARPMAT_FAST_F64_LANES_INL_H_
#endif

#include <cstring>

#include <warpmat/execute/fast/f64_nans-inl.h>
#include <warpmat/execute/fast/fast.h>
#include <warpmat/execute/fast/vectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_SSE4

class F64Lanes {
 public:
  F64Lanes(const F64Plan& plan, const Warps& warps) : plan_(plan), warps_(warps) {}

  void run() {
    read_b();
    auto total = hn::Zero(F64());
    for (int row = 0; row < plan_.rows; row += rows_at_once) total = hn::Add(total, multiply(row, CpuMultiplyAdd()));
    if (HWY_UNLIKELY(!hn::AllFalse(F64(), hn::IsNaN(total)))) multiply_with_nans();
    write();
  }

 private:
  HWY_NOINLINE void multiply_with_nans() {
    const F64Nans nans(plan_.rounding);
    for (int row = 0; row < plan_.rows; row += rows_at_once) multiply(row, nans);
  }

  static constexpr int numbers = vector_rows / 2;                   // in a vector
  static constexpr int vectors = columns / numbers;                 // in a row
  static constexpr int rows_at_once = vector_rows == rows ? 8 : 4;  // as there are registers for their sums
  static constexpr int columns_of_lane = 2;
  using Pair = hn::Full128<double>;

  /// Where an operand is: read once, before a store that might change the view, as far as the compiler knows.
  struct Words {
    explicit Words(const ConstRegisterView& view) : first(view.words()), lane_stride(view.lane_stride()) {}
    const std::uint32_t* first;
    std::ptrdiff_t lane_stride;
  };
  /// Register `reg` of lane `lane`: 64 bits.
  static const std::uint32_t* place(const Words& of, int lane, int reg) { return of.first + lane * of.lane_stride + 2 * reg; }

  HWY_INLINE static hn::Vec<Pair> load_pair(const std::uint32_t* from) {
    return hn::BitCast(Pair(), hn::LoadU(hn::Full128<std::uint32_t>(), from));
  }

  /// The pairs of numbers at `from`, `from` + `step`, …, as many as the vectors of `d` hold.
  template <class D>
  HWY_INLINE static hn::Vec<D> load_pairs(D d, const std::uint32_t* from, std::ptrdiff_t step) {
    if constexpr (hn::MaxLanes(d) == 2) {
      return load_pair(from);
#if HWY_TARGET <= HWY_AVX3
    } else if constexpr (hn::MaxLanes(d) == 8) {  // inserting from memory needs no shuffle
      __m512d all = _mm512_castpd128_pd512(load_pair(from).raw);
      all = _mm512_insertf64x2(all, load_pair(from + step).raw, 1);
      all = _mm512_insertf64x2(all, load_pair(from + 2 * step).raw, 2);
      return hn::Vec<D>{_mm512_insertf64x2(all, load_pair(from + 3 * step).raw, 3)};
#endif
    } else {
      const hn::Half<D> half;
      constexpr auto pairs = static_cast<std::ptrdiff_t>(hn::MaxLanes(half)) / 2;
      return hn::Combine(d, load_pairs(half, from + pairs * step, step), load_pairs(half, from, step));
    }
  }

  HWY_INLINE static double load_number(const std::uint32_t* from) {
    double number;
    std::memcpy(&number, from, sizeof number);
    return number;
  }

  /// Copies B to b_[k][column]. The quad of a column holds its elements of four k in one register.
  HWY_INLINE void read_b() {
    const Words b(warps_.view(OperandName::b));
    const std::ptrdiff_t two_columns = 2 * quad * b.lane_stride;
    for (int t = 0; t < quad; ++t)
      for (int v = 0; v < vectors; ++v) {
        const int column = v * numbers;
        const std::uint32_t *even = place(b, column * quad + t, 0), *odd = place(b, (column + 1) * quad + t, 0);
        if (plan_.k == quad) {
          hn::Store(load_column_pairs(F64(), even, odd, two_columns), F64(), b_[t] + column);
          continue;
        }
        for (int k = t; k < plan_.k; k += 2 * quad, even += 4, odd += 4) {
          const auto e = load_pairs(F64(), even, two_columns), o = load_pairs(F64(), odd, two_columns);
          hn::Store(hn::InterleaveLower(F64(), e, o), F64(), b_[k] + column);
          hn::Store(hn::InterleaveUpper(F64(), e, o), F64(), b_[k + quad] + column);
        }
      }
  }

  /// The numbers at `even`, `odd`, `even` + `step`, `odd` + `step`, ….
  template <class D>
  HWY_INLINE static hn::Vec<D> load_column_pairs(D d, const std::uint32_t* even, const std::uint32_t* odd, std::ptrdiff_t step) {
#if HWY_TARGET <= HWY_AVX3
    auto all = hn::Set(d, load_number(even));
    WARPMAT_UNROLL(8)
    for (int i = 1; i < numbers; ++i) {
      const std::uint32_t* from = (i % 2 == 0 ? even : odd) + i / 2 * step;
      all = hn::Vec<D>{_mm512_mask_broadcastsd_pd(all.raw, static_cast<__mmask8>(1 << i), _mm_set_sd(load_number(from)))};
    }
    return all;
#else
    HWY_ALIGN double all[numbers];
    for (int i = 0; i < numbers; ++i) all[i] = load_number((i % 2 == 0 ? even : odd) + i / 2 * step);
    return hn::Load(d, all);
#endif
  }

  /// Computes rows `first` to `first` + rows_at_once - 1 of D into d_ by multiply_add(a, b, c). Returns a vector with a NaN if some result
  /// is one.
  template <class MultiplyAdd>
  HWY_INLINE hn::Vec<F64> multiply(int first, MultiplyAdd multiply_add) {
    const F64 d;
    const int half = first / 8, lane = first % 8 * quad;  // a register holds eight rows
    const Words of_a(warps_.view(OperandName::a)), of_c(warps_.view(OperandName::c));
    hn::Vec<F64> sums[rows_at_once][vectors];
    for (int i = 0; i < rows_at_once; ++i)
      for (int v = 0; v < vectors; ++v)
        sums[i][v] = load_pairs(d, place(of_c, lane + i * quad + v * numbers / columns_of_lane, half * columns_of_lane), of_c.lane_stride);
    for (int k = 0; k < plan_.k; k += quad) {
      const std::uint32_t* a = place(of_a, lane, k / quad * (plan_.rows / 8) + half);
      WARPMAT_UNROLL(4)
      for (int t = 0; t < quad; ++t, a += of_a.lane_stride) {
        hn::Vec<F64> b[vectors];
        for (int v = 0; v < vectors; ++v) b[v] = hn::Load(d, b_[k + t] + v * numbers);
        WARPMAT_UNROLL(8)
        for (int i = 0; i < rows_at_once; ++i) {
          const auto element = hn::Set(d, load_number(a + i * quad * of_a.lane_stride));
          for (int v = 0; v < vectors; ++v) sums[i][v] = multiply_add(element, b[v], sums[i][v]);
        }
      }
    }
    hn::Vec<F64> totals[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    for (int i = 0; i < rows_at_once; ++i)
      for (int v = 0; v < vectors; ++v) {
        hn::Store(sums[i][v], d, d_[first + i] + v * numbers);
        totals[i % 4] = hn::Add(totals[i % 4], sums[i][v]);
      }
    return hn::Add(hn::Add(totals[0], totals[1]), hn::Add(totals[2], totals[3]));
  }

  HWY_INLINE void write() const {
    const RegisterView& d = warps_.written;
    const std::ptrdiff_t lane_stride = d.lane_stride();
    const bool two_halves = plan_.rows == 16;
    std::uint32_t* to = d.words();
    for (int lane = 0; lane < warp_size; ++lane, to += lane_stride) {
      const double* const from = d_[lane / quad] + lane % quad * columns_of_lane;
      store_pair(from, to);
      if (two_halves) store_pair(from + 8 * columns, to + 2 * columns_of_lane);
    }
  }

  static void store_pair(const double* pair, std::uint32_t* to) {
    std::memcpy(to, pair, 2 * sizeof *pair);
  }

  const F64Plan& plan_;
  const Warps& warps_;
  HWY_ALIGN double b_[max_f64_k][columns];
  HWY_ALIGN double d_[rows][columns];
};

#endif

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
