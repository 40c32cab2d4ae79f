// D = A · B + C in f64: fused multiply-adds in the order of k, all rows of a column at a time. Compiled once for each instruction set.
//
// CPU and GPU choose different NaNs, so a warp with a NaN among its results is recomputed by the GPU's rule (f64_nans-inl.h).

#include <optional>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/numeric/kernels_target.h>
#include <warpmat/numeric/rounding_mode.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/execute/fast/f64_dot.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/execute/fast/f64_lanes-inl.h>
#include <warpmat/execute/fast/f64_nans-inl.h>
#include <warpmat/execute/fast/vectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_SSE4  // no fused multiply-adds

std::size_t f64_dot(const F64Plan&, const Form&, const Warps&) {
  return 0;
}

#else

class F64Dot {
 public:
  F64Dot(const F64Plan& plan, const Warps& warps) : plan_(plan), warps_(warps) {}

  void run(std::size_t warp) {
    const WarpWords words(warps_, warp);  // places in lists are found once: a store may change them, as far as the compiler knows
    const Words a = words.source(OperandName::a), b = words.source(OperandName::b), c = words.source(OperandName::c);
    read_b(b);
    bool maybe_nan = false;
    constexpr int most = vector_rows == rows ? 2 : 1;  // vectors of rows at a time: only AVX-512 has registers for the sums of two
    if (plan_.rows >= most * numbers)
      for (int row = 0; row < plan_.rows; row += most * numbers) maybe_nan |= multiply<most>(a, c, row, CpuMultiplyAdd());
    else
      maybe_nan = multiply<1>(a, c, 0, CpuMultiplyAdd());
    if (maybe_nan) correct_nans(a, b, c);
    const RegisterPointers<std::uint32_t> d = words.destination();
    for (int row = 0; row < plan_.rows; row += numbers)
      for (int i = 0; i < 2; ++i) write(d, c_register(row) + i, lane_of(row), d_ + i, row);
  }

 private:
  using U64 = hn::Repartition<std::uint64_t, U32>;
  using Words = RegisterPointers<const std::uint32_t>;
  static constexpr int numbers = vector_rows / 2;  // in a vector

  // The 64-bit register of element (row, k) of A, and of elements (row, 2t) of C and D; the next register holds (row, 2t + 1). A register
  // holds eight rows; lane_of is the first of the four lanes that hold `row`.
  int a_register(int row, int k) const { return k / quad * (plan_.rows / 8) + row / 8; }
  static int c_register(int row) { return row / 8 * 2; }
  static int lane_of(int row) { return row % 8 * quad; }

  /// The 64-bit numbers of a vector of lanes: those of even lanes and those of odd lanes.
  struct Pair {
    hn::Vec<F64> even, odd;
  };

  /// `low` and `high` are the lower and the upper words of the lanes' numbers.
  HWY_INLINE static Pair join(const std::uint32_t* low, const std::uint32_t* high) {
    const U64 d;
    const Word l = hn::LoadU(U32(), low), h = hn::LoadU(U32(), high);
    return {hn::BitCast(F64(), hn::OddEven(hn::BitCast(U32(), hn::ShiftLeft<32>(hn::BitCast(d, h))), l)),
            hn::BitCast(F64(), hn::OddEven(h, hn::BitCast(U32(), hn::ShiftRight<32>(hn::BitCast(d, l)))))};
  }
  HWY_INLINE static void split(const Pair& pair, std::uint32_t* low, std::uint32_t* high) {
    const U64 d;
    const auto even = hn::BitCast(d, pair.even), odd = hn::BitCast(d, pair.odd);
    hn::StoreU(hn::OddEven(hn::BitCast(U32(), hn::ShiftLeft<32>(odd)), hn::BitCast(U32(), even)), U32(), low);
    hn::StoreU(hn::OddEven(hn::BitCast(U32(), odd), hn::BitCast(U32(), hn::ShiftRight<32>(even))), U32(), high);
  }

  /// Reads a 64-bit register of the quads from `lane` on, as many quads as a vector has numbers: to[t] receives the numbers of lane t of
  /// each quad. Each quad holds one row.
  HWY_INLINE static void read(const Words& words, int reg, int lane, hn::Vec<F64>* to) {
    const F64 d;
    const std::uint32_t *low = words[2 * reg] + lane, *high = words[2 * reg + 1] + lane;
    const Pair p = join(low, high), q = join(low + vector_rows, high + vector_rows);
    to[0] = hn::InterleaveLower(d, p.even, q.even);
    to[1] = hn::InterleaveLower(d, p.odd, q.odd);
    to[2] = hn::InterleaveUpper(d, p.even, q.even);
    to[3] = hn::InterleaveUpper(d, p.odd, q.odd);
  }

  /// Writes a 64-bit register of the quads from `lane` on: lane t of each quad receives its number of from[2 * t], beginning at place
  /// `row`.
  HWY_INLINE static void write(const RegisterPointers<std::uint32_t>& to, int reg, int lane, const double (*from)[rows], int row) {
    const F64 d;
    std::uint32_t *low = to[2 * reg] + lane, *high = to[2 * reg + 1] + lane;
    const auto t0 = hn::Load(d, from[0] + row), t1 = hn::Load(d, from[2] + row), t2 = hn::Load(d, from[4] + row),
               t3 = hn::Load(d, from[6] + row);
    split({hn::InterleaveLower(d, t0, t2), hn::InterleaveLower(d, t1, t3)}, low, high);
    split({hn::InterleaveUpper(d, t0, t2), hn::InterleaveUpper(d, t1, t3)}, low + vector_rows, high + vector_rows);
  }

  /// Copies B to b_. For each vector of lanes the numbers of even lanes come first, then those of odd lanes.
  HWY_INLINE void read_b(const Words& b) {
    for (int reg = 0; reg < plan_.k / quad; ++reg)
      for (int lane = 0; lane < 32; lane += vector_rows) {
        const Pair p = join(b[2 * reg] + lane, b[2 * reg + 1] + lane);
        hn::Store(p.even, F64(), b_[reg] + lane);
        hn::Store(p.odd, F64(), b_[reg] + lane + numbers);
      }
  }

  /// The index, within one register's 32 numbers, at which read_b stores the number of lane t of column `column`'s quad.
  static constexpr int b_place(int t, int column) {
    const int lane = column * quad + t;
    return lane / vector_rows * vector_rows + lane % 2 * numbers + lane % vector_rows / 2;
  }

  /// Computes rows `row` to `row` + vectors * numbers - 1 of D into d_ by multiply_add(a, b, c). Returns whether some result may be a NaN.
  template <int vectors, class MultiplyAdd>
  HWY_INLINE bool multiply(const Words& of_a, const Words& of_c, int row, MultiplyAdd multiply_add) {
    const F64 d;
    constexpr std::size_t all_vectors = vectors;  // a bound of arrays, which GCC 14 wants unsigned
    hn::Vec<F64> sums[all_vectors][2][quad];      // of columns 2t + i: [i][t]
    for (int v = 0; v < vectors; ++v)
      for (int i = 0; i < 2; ++i) read(of_c, c_register(row + v * numbers) + i, lane_of(row + v * numbers), sums[v][i]);
    for (int k = 0; k < plan_.k; k += quad) {
      hn::Vec<F64> a[all_vectors][quad];
      for (int v = 0; v < vectors; ++v) read(of_a, a_register(row + v * numbers, k), lane_of(row + v * numbers), a[v]);
      WARPMAT_UNROLL(4)
      for (int t = 0; t < quad; ++t) {
        WARPMAT_UNROLL(8)
        for (int column = 0; column < columns; ++column) {
          const auto b = hn::Set(d, b_[k / quad][b_place(t, column)]);
          for (int v = 0; v < vectors; ++v) sums[v][column % 2][column / 2] = multiply_add(a[v][t], b, sums[v][column % 2][column / 2]);
        }
      }
    }
    auto total = hn::Zero(d);
    for (int v = 0; v < vectors; ++v)
      for (int i = 0; i < 2; ++i)
        for (int t = 0; t < quad; ++t) {
          hn::Store(sums[v][i][t], d, d_[2 * t + i] + row + v * numbers);
          total = hn::Add(total, sums[v][i][t]);
        }
    return !hn::AllFalse(d, hn::IsNaN(total));
  }

  /// Replaces NaN results by the GPU's. If no operand holds a NaN, infinities have generated them, and that NaN is always the same.
  HWY_NOINLINE void correct_nans(const Words& a, const Words& b, const Words& c) {
    if (!nans_) nans_.emplace(plan_.rounding);
    if (has_nan(a, OperandName::a) || has_nan(b, OperandName::b) || has_nan(c, OperandName::c)) {
      for (int row = 0; row < plan_.rows; row += numbers) multiply<1>(a, c, row, *nans_);
      return;
    }
    for (int column = 0; column < columns; ++column)
      for (int row = 0; row < plan_.rows; row += numbers) {
        const auto v = hn::Load(F64(), d_[column] + row);
        hn::Store(hn::IfThenElse(hn::IsNaN(v), nans_->generated(), v), F64(), d_[column] + row);
      }
  }

  /// Whether an operand may hold a NaN: its upper words tell, but for NaNs that look like infinities there.
  bool has_nan(const Words& words, OperandName name) const {
    const I32 d;
    auto most = hn::Zero(d), nan_if_low = hn::Zero(d);
    const int registers = static_cast<int>(warps_.view(name).list_size()) / 2;
    for (int reg = 0; reg < registers; ++reg)
      for (int lane = 0; lane < 32; lane += vector_rows) {
        const auto low = hn::BitCast(d, hn::LoadU(U32(), words[2 * reg] + lane));
        const auto high = hn::And(hn::BitCast(d, hn::LoadU(U32(), words[2 * reg + 1] + lane)), hn::Set(d, INT32_MAX));
        most = hn::Max(most, high);
        nan_if_low = hn::Or(nan_if_low, hn::IfThenElseZero(hn::Eq(high, hn::Set(d, 0x7ff00000)), low));
      }
    return !hn::AllTrue(d, hn::And(hn::Lt(most, hn::Set(d, 0x7ff00001)), hn::Eq(nan_if_low, hn::Zero(d))));
  }

  const F64Plan& plan_;
  const Warps& warps_;
  std::optional<F64Nans> nans_;  ///< from its first use on
  HWY_ALIGN double b_[max_f64_k / quad][32];
  HWY_ALIGN double d_[columns][rows];
};

HWY_NOINLINE std::size_t run_f64_lanes(const F64Plan& plan, const Warps& warps) {
  F64Lanes(plan, warps).run();
  return 1;
}

HWY_NOINLINE std::size_t run_f64_dot(const F64Plan& plan, const Warps& warps) {
  F64Dot product(plan, warps);
  for (std::size_t warp = 0; warp < warps.count; ++warp) product.run(warp);
  return warps.count;
}

std::size_t f64_dot(const F64Plan& plan, const Form&, const Warps& warps) {
  const RoundingMode mode(mode_of(plan.rounding));
  return warps.written.is_list() ? run_f64_dot(plan, warps) : run_f64_lanes(plan, warps);
}

#endif

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat {

HWY_EXPORT(f64_dot);

std::size_t fast_f64(const F64Plan& plan, const Form& form, const Warps& warps) {
  return WARPMAT_KERNEL(f64_dot)(plan, form, warps);
}

}  // namespace warpmat
#endif
