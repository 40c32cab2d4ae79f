// NaNs of f64 products: CPU and GPU choose different ones. Included once for each instruction set, as vectors-inl.h is.

#if defined(WARPMAT_FAST_F64_NANS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_FAST_F64_NANS_INL_H_
#undef WARPMAT_FAST_F64_NANS_INL_H_
#else
#define WARPMAT_FAST_F64_NANS_INL_H_
#endif

#include <bit>
#include <cstdint>

#include <warpmat/execute/fast/vectors-inl.h>
#include <warpmat/numeric/ieee.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_SSE4

/// a · b + c, with the CPU's NaNs.
struct CpuMultiplyAdd {
  HWY_INLINE hn::Vec<F64> operator()(hn::Vec<F64> a, hn::Vec<F64> b, hn::Vec<F64> c) const { return hn::MulAdd(a, b, c); }
};

/// The same with the GPU's: NanRule::propagate.
class F64Nans {
 public:
  explicit F64Nans(Rounding rounding) : generated_(generated_nan(rounding)) {}

  /// The NaN of an invalid operation on numbers.
  HWY_INLINE hn::Vec<F64> generated() const { return hn::Set(F64(), generated_); }

  HWY_INLINE hn::Vec<F64> operator()(hn::Vec<F64> a, hn::Vec<F64> b, hn::Vec<F64> c) const {
    const auto computed = hn::MulAdd(a, b, c);
    auto result = hn::IfThenElse(hn::IsNaN(computed), generated(), computed);
    result = hn::IfThenElse(hn::IsNaN(a), quiet(a), result);
    result = hn::IfThenElse(hn::IsNaN(c), quiet(c), result);
    return hn::IfThenElse(hn::IsNaN(b), quiet(b), result);
  }

 private:
  static double generated_nan(Rounding rounding) {
    constexpr std::uint64_t infinity = 0x7ff0000000000000u;
    return std::bit_cast<double>(fused_multiply_add(Format::f64, infinity, 0, 0, rounding, NanRule::propagate));
  }

  HWY_INLINE static hn::Vec<F64> quiet(hn::Vec<F64> nan) {
    const hn::Repartition<std::uint64_t, F64> u;
    return hn::BitCast(F64(), hn::Or(hn::BitCast(u, nan), hn::Set(u, std::uint64_t{1} << 51)));
  }

  const double generated_;
};

#endif

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
