// D = A · B + C in floating point, all sixteen rows of a column at a time; included once for each instruction set, as vectors-inl.h is.
//
// The steps are those of dot.h. common_case_float_dot-inl.h (the common case), general_float_dot-inl.h and wide_float_dot-inl.h (the
// fallback of narrow and of wide formats) align and add products of numbers; special_products-inl.h has the others.

#if defined(WARPMAT_FAST_FLOAT_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_FAST_FLOAT_DOT_INL_H_
#undef WARPMAT_FAST_FLOAT_DOT_INL_H_
#else
#define WARPMAT_FAST_FLOAT_DOT_INL_H_
#endif

#include <cassert>
#include <span>

#include <warpmat/execute/fast/common_case_float_dot-inl.h>
#include <warpmat/execute/fast/float_operands-inl.h>
#include <warpmat/execute/fast/general_float_dot-inl.h>
#include <warpmat/execute/fast/special_products-inl.h>
#include <warpmat/execute/fast/wide_float_dot-inl.h>
#include <warpmat/numeric/canonical_nan.h>
#include <warpmat/numeric/rounding_mode.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR

template <int bits, bool wide, bool sparse>
class FloatDot {
 public:
  /// On x86-64 subnormal floats count as zeros here, because arithmetic on them takes many CPUs a hundred times as long. Where they
  /// matter, kernels compute with integers, or in another mode.
  static constexpr bool flushes = true;

  FloatDot(const FloatPlan& plan, const Form& form, const Warps& warps)
      : plan_(plan),
        warps_(warps),
        d_in_lanes_(!warps.written.is_list()),
        operands_(plan, form, warps),
        specials_(operands_),
        common_case_(operands_, specials_),
        fallback_(operands_, specials_) {}

  /// Executes one warp, or declines. Of a chain (fast_float_chain): its C is the D of `before`, if that is not null; only the last writes
  /// D.
  HWY_INLINE bool run(std::size_t warp, const FloatDot* before, bool is_last) {
    if (operands_.split() && c_overlaps_d(warp)) return false;
    if (!operands_.read(warp, before == nullptr ? nullptr : before->d_)) return false;
    if constexpr (!wide) specials_.take_out();  // of wide formats the fallback does it: the common case has none
    if (!operands_.common_case() || !common_case_.multiply(d_)) multiply_by_fallback();
    if (operands_.split()) add_c();
    if (is_last) write();
    return true;
  }

 private:
  void multiply_by_fallback() {
    if constexpr (wide) return fallback_.multiply(d_);
    operands_.find_special_c();
    const InnerRoundingMode mode(RoundingMode::toward_zero, RoundingMode::toward_zero, flushes);
    fallback_.multiply(d_);
  }

  /// Whether a register of C shares a word with an earlier one of D: additions register by register would then read the new value
  /// (execute_split_dot).
  bool c_overlaps_d(std::size_t warp) const {
    if (d_in_lanes_ || !warps_.view(OperandName::c).is_list()) return false;  // their caller has asked
    const WarpWords words(warps_, warp);
    const int registers = static_cast<int>(warps_.written.list_size());
    for (int i = 1; i < registers; ++i)
      for (int j = 0; j < i; ++j)
        if (overlap(words.source(OperandName::c, i), words.destination(j))) return true;
    return false;
  }

  /// D = D + C, IEEE addition to nearest even. From f32 to f16 the sum is rounded twice, but f32 has enough bits for the same result.
  void add_c() {
    const U32 d;
    HWY_ALIGN float sums[columns][rows], c[columns][rows];
    const auto widen = [&](Word w) HWY_ATTR { return plan_.f16_accumulator ? f16_to_f32(w) : hn::BitCast(F32(), w); };
    for_each_vector([&](int column, int row) HWY_ATTR {
      hn::Store(widen(hn::Load(d, d_[column] + row)), F32(), sums[column] + row);
      hn::Store(widen(hn::Load(d, operands_.c()[column] + row)), F32(), c[column] + row);
    });
    {
      const InnerRoundingMode mode(RoundingMode::nearest, RoundingMode::toward_zero, flushes);
      add_arrays(sums[0], c[0]);
    }
    const Word nan = hn::Set(d, plan_.f16_accumulator ? canonical_half_nan : canonical_f32_nan);
    for_each_vector([&](int column, int row) HWY_ATTR {
      const auto sum = hn::Load(F32(), sums[column] + row);
      const Word bits32 = plan_.f16_accumulator ? f32_to_f16(sum) : hn::BitCast(d, sum);
      const auto is_nan = hn::Gt(hn::And(hn::BitCast(d, sum), hn::Set(d, 0x7fffffffu)), hn::Set(d, 0x7f800000u));
      hn::Store(hn::IfThenElse(is_nan, nan, bits32), d, d_[column] + row);
    });
  }

  template <class Visit>
  HWY_INLINE static void for_each_vector(Visit visit) {
    for (int column = 0; column < columns; ++column)
      for (int row = 0; row < rows; row += vector_rows) visit(column, row);
  }

  /// A function of its own, so that the compiler moves no addition to where the CPU has another rounding mode.
  static HWY_NOINLINE void add_arrays(float* sums, const float* other) {
    for (int i = 0; i < columns * rows; i += vector_rows)
      hn::Store(hn::Add(hn::Load(F32(), sums + i), hn::Load(F32(), other + i)), F32(), sums + i);
  }

  HWY_INLINE void write() const {
    if (d_in_lanes_) return store_result(d_, warps_.written);
    const auto registers = operands_.warp().destination();
    if (!wide && plan_.f16_accumulator) {
      store_row_vectors(registers[0], registers[1], [&](int row, Word* quads) HWY_ATTR {
        for (int t = 0; t < quad; ++t)
          quads[t] = hn::Or(hn::Load(U32(), d_[2 * t] + row), hn::ShiftLeft<16>(hn::Load(U32(), d_[2 * t + 1] + row)));
      });
      return;
    }
    for (int i = 0; i < 2; ++i)
      store_row_vectors(registers[i], registers[2 + i], [&](int row, Word* quads) HWY_ATTR {
        for (int t = 0; t < quad; ++t) quads[t] = hn::Load(U32(), d_[2 * t + i] + row);
      });
  }

  const FloatPlan& plan_;
  const Warps& warps_;
  const bool d_in_lanes_;  ///< it is lane by lane
  FloatOperands<bits, wide, sparse> operands_;
  SpecialProducts<bits, wide, sparse> specials_;
  CommonCaseFloatDot<bits, wide, sparse> common_case_;
  std::conditional_t<wide, WideFloatDot<bits, sparse>, GeneralFloatDot<bits, sparse>> fallback_;
  HWY_ALIGN std::uint32_t d_[columns][rows];
};

/// Executes `warps` warps of the products of a chain until one is declined; returns how many were executed. A function of its own, so that
/// the compiler moves no operation to where the CPU has another rounding mode; of all chains, because it is large.
template <class Product>
HWY_NOINLINE std::size_t execute_rounding_toward_zero(std::span<Product* const> chain, std::size_t warps) {
  return execute_products(chain, warps);
}

#endif  // HWY_TARGET != HWY_SCALAR

/// Precondition: the plan declines nothing.
template <int bits, bool wide>
bool run_float_chain([[maybe_unused]] const FloatPlan& plan, [[maybe_unused]] const Form& form,
                     [[maybe_unused]] std::span<const Warps> chain) {
#if HWY_TARGET == HWY_SCALAR
  return false;
#else
  with_products(
      chain, [&](const Warps& warps) HWY_ATTR { return FloatDot<bits, wide, false>(plan, form, warps); },
      [&](auto products) HWY_ATTR {
        const RoundingMode mode(RoundingMode::toward_zero, FloatDot<bits, wide, false>::flushes);
        [[maybe_unused]] const std::size_t executed = execute_rounding_toward_zero(products, chain.front().count);
        assert(executed == chain.front().count);  // fast_float_chain has asked
      });
  return true;
#endif
}

/// Executes warps until one is declined; returns how many were executed.
template <int bits, bool wide, bool sparse>
std::size_t run_float_dot([[maybe_unused]] const FloatPlan& plan, [[maybe_unused]] const Form& form, [[maybe_unused]] const Warps& warps) {
#if HWY_TARGET == HWY_SCALAR
  return 0;
#else
  using Product = FloatDot<bits, wide, sparse>;
  Product product(plan, form, warps);
  Product* const only = &product;
  const RoundingMode mode(RoundingMode::toward_zero, Product::flushes);
  return execute_rounding_toward_zero(std::span<Product* const>(&only, 1), warps.count);
#endif
}

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
