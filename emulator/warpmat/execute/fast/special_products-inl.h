// Infinities and NaNs in floating-point products; included once for each instruction set, as vectors-inl.h is.
//
// A result that an infinity or a NaN enters is special whatever the numbers are. So the products of special elements are added as floats,
// the elements become zeros, and the kernels add the numbers alone. What was added as floats then replaces the special results.

#if defined(WARPMAT_FAST_SPECIAL_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_FAST_SPECIAL_PRODUCTS_INL_H_
#undef WARPMAT_FAST_SPECIAL_PRODUCTS_INL_H_
#else
#define WARPMAT_FAST_SPECIAL_PRODUCTS_INL_H_
#endif

#include <warpmat/execute/fast/bounds.h>
#include <warpmat/execute/fast/float_operands-inl.h>
#include <warpmat/numeric/canonical_nan.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::inline v0_1::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR

template <int bits, bool wide, bool sparse>
class SpecialProducts {
 public:
  using Operands = FloatOperands<bits, wide, sparse>;
  explicit SpecialProducts(Operands& operands) : o_(operands) {}

  /// Adds the special products of the warp that `operands` has read, and makes its special elements zeros.
  void take_out() {
    in_products_ = !o_.finite();
    if (!in_products_) return;
    if (bits == 8) o_.mark_nans();
    const std::uint32_t slots = o_.special_slots();
    int step = 0;
    o_.for_each_step([&](auto blocks, auto begin, auto end, int first_slot) HWY_ATTR {
      constexpr std::uint32_t of_four = ((1u << end()) - (1u << begin())) * 0x11111111u;
      constexpr int count = blocks() * Operands::block;
      constexpr std::uint32_t of_step = count == 32 ? of_four : of_four & ((1u << count) - 1);
      add(slots & of_step << first_slot, sums_[step++]);
    });
    if (!wide) o_.remove_specials(slots);  // WideFloatDot leaves them out itself
  }

  /// Whether step `step` may have special results. `special_c`: its C may.
  bool any(bool special_c) const { return in_products_ || special_c || o_.special_scales(); }

  /// C for the kernels: zero where it is special.
  HWY_INLINE Word number_of(Word c) const {
    const auto number = value_of(c);
    return hn::IfThenElseZero(hn::RebindMask(U32(), hn::IsFinite(number)), c);
  }

  /// The results of step `step` with C of `c`: `numbers`, those of the kernels, unless special. `special_c`: C may be special.
  HWY_INLINE Word results(int step, bool special_c, int column, int row, Word c, Word numbers) const {
    const U32 u;
    auto v = in_products_ ? hn::Load(F32(), sums_[step][column] + row) : hn::Zero(F32());
    if (special_c) v = hn::Add(v, value_of(c));
    if (bits == 8 && o_.special_scales()) v = hn::Add(v, o_.scale_nan(column, row));
    const Word nan = hn::Set(u, f16_accumulator() ? canonical_half_nan : canonical_f32_nan);
    const auto special = hn::RebindMask(u, hn::Not(hn::IsFinite(v))), is_nan = hn::RebindMask(u, hn::IsNaN(v));
    const Word infinity = f16_accumulator() ? f32_to_f16(v) : hn::BitCast(u, v);
    return hn::IfThenElse(is_nan, nan, hn::IfThenElse(special, infinity, numbers));
  }

 private:
  HWY_INLINE bool f16_accumulator() const {
    if constexpr (wide) return false;  // never for bf16 and tf32
    return o_.plan().f16_accumulator;
  }

  HWY_INLINE hn::Vec<F32> value_of(Word c) const { return f16_accumulator() ? f16_to_f32(c) : hn::BitCast(F32(), c); }

  /// Wide numbers of A become 1 or -1, so that hardly any product is subnormal, which would be slow.
  HWY_INLINE static hn::Vec<F32> of_one_size(hn::Vec<F32> v) {
    if constexpr (!wide) return v;
    const auto is_number = hn::And(hn::IsFinite(v), hn::Ne(v, hn::Zero(F32())));
    return hn::IfThenElse(is_number, hn::CopySign(hn::Set(F32(), 1.0f), v), v);
  }

  /// The sums of the products of `slots`. Numbers' products are among them; they are finite.
  HWY_INLINE void add(std::uint32_t slots, float (*sums)[rows]) const {
    for (int row = 0; row < rows; row += vector_rows) {
      hn::Vec<F32> sum[columns];
      WARPMAT_UNROLL(8)
      for (int column = 0; column < columns; ++column) sum[column] = hn::Zero(F32());
      for (std::uint32_t left = slots; left != 0; left &= left - 1) {
        const int slot = static_cast<int>(hwy::Num0BitsBelowLS1Bit_Nonzero32(left)), in_block = slot % Operands::block;
        const auto a = of_one_size(o_.a(slot, row));
        WARPMAT_UNROLL(8)
        for (int column = 0; column < columns; ++column)
          sum[column] = hn::MulAdd(a, o_.b(slot - in_block, in_block, column, row), sum[column]);
      }
      WARPMAT_UNROLL(8)
      for (int column = 0; column < columns; ++column) hn::Store(sum[column], F32(), sums[column] + row);
    }
  }

  static constexpr int max_steps = 2;
  static_assert(max_row_words / quad <= max_steps);  // FloatOperands::for_each_step: at most a step for each register of a row

  Operands& o_;
  bool in_products_ = false;
  HWY_ALIGN float sums_[max_steps][columns][rows];  ///< if in_products_; kept for another attempt
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace
}  // namespace warpmat::inline v0_1::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
