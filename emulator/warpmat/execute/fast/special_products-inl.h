// Infinities and NaNs in floating-point products; included once for each instruction set, as vectors-inl.h is.
//
// A result that an infinity or a NaN enters is special whatever the numbers are. So the products of special elements are added as floats,
// and the kernels add the numbers alone: narrow elements that are special become zeros. What was added as floats then replaces the special
// results: of narrow formats after a step, whose special C is zero; of wide ones by the kernels themselves, vector by vector.

#if defined(WARPMAT_FAST_SPECIAL_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_FAST_SPECIAL_PRODUCTS_INL_H_
#undef WARPMAT_FAST_SPECIAL_PRODUCTS_INL_H_
#else
#define WARPMAT_FAST_SPECIAL_PRODUCTS_INL_H_
#endif

#include <functional>
#include <numeric>

#include <warpmat/execute/fast/bounds.h>
#include <warpmat/execute/fast/float_operands-inl.h>
#include <warpmat/numeric/canonical_nan.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR

template <int bits, bool wide, bool sparse>
class SpecialProducts {
 public:
  using Operands = FloatOperands<bits, wide, sparse>;
  explicit SpecialProducts(Operands& operands) : o_(operands) {}

  /// Narrow formats: adds the special products of the warp that `operands` has read, and makes its special elements zeros.
  void take_out() {
    static_assert(!wide);
    look();
    if (nans_decide_) take_out_nans();
    if (!in_products_ || nans_decide_) return;
    if (bits == 8) o_.mark_nans();
    const std::uint32_t slots = special_slots();
    add(slots, o_.a_with_specials(), o_.b_values());
    o_.remove_specials(slots);
  }

  /// Wide formats: adds them. `a` and `b` are the significands of A and B, so no product is subnormal or too large; special elements of B
  /// replace those there.
  void take_out(const float* a, float* b) {
    static_assert(wide);
    look();
    if (!in_products_ || nans_decide_) return;
    const std::uint32_t slots = special_slots();
    if (!o_.b_is_finite()) put_specials(o_.b_values(), o_.b_count(), b);
    add(slots, a, b);
  }

  /// Whether a step of the common case may have special results. `special_c`: its C may. Wide products of the common case are numbers.
  bool any(bool special_c) const { return (!wide && in_products_) || special_c || o_.special_scales(); }

  /// Before a step: keeps what is special, and returns C with zeros in its place, which `d` then holds. `special_c`: C may be special.
  const std::uint32_t (*before(int step, bool special_c, const std::uint32_t (*c)[rows], std::uint32_t (*d)[rows]))[rows] {
    results_ = sums_[step];
    if (!special_c && !o_.special_scales()) return c;
    results_ = with_c_;
    for_each_vector([&](int column, int row) HWY_ATTR {
      const Word bits_of_c = hn::Load(U32(), c[column] + row);
      const auto number = f16_accumulator() ? f16_to_f32(bits_of_c) : hn::BitCast(F32(), bits_of_c);
      const auto finite = hn::RebindMask(U32(), hn::IsFinite(number));
      hn::Store(hn::IfThenElseZero(finite, bits_of_c), U32(), d[column] + row);
      auto result = number;
      if (in_products_) result = hn::Add(result, hn::Load(F32(), sums_[step][column] + row));
      if (bits == 8 && o_.special_scales()) result = hn::Add(result, o_.scale_nan(column, row));
      hn::Store(result, F32(), with_c_[column] + row);
    });
    return d;
  }

  /// After it: replaces the special results.
  void after(std::uint32_t (*d)[rows]) const {
    for_each_vector([&](int column, int row) HWY_ATTR {
      const Word numbers = hn::Load(U32(), d[column] + row);
      hn::Store(replaced(hn::Load(F32(), results_[column] + row), numbers), U32(), d[column] + row);
    });
  }

  /// After all steps of finite products on any C: a special C is the result.
  void replace_by_c(std::uint32_t (*d)[rows]) const {
    const std::uint32_t(*c)[rows] = o_.accumulator();
    for_each_vector([&](int column, int row) HWY_ATTR {
      const Word numbers = hn::Load(U32(), d[column] + row);
      hn::Store(replaced(hn::BitCast(F32(), hn::Load(U32(), c[column] + row)), numbers), U32(), d[column] + row);
    });
  }

  /// Makes the NaNs among the results of wide formats canonical.
  void make_nans_canonical(std::uint32_t (*d)[rows]) const {
    for_each_vector([&](int column, int row) HWY_ATTR {
      const Word result = hn::Load(U32(), d[column] + row);
      const auto is_nan = hn::RebindMask(U32(), hn::IsNaN(hn::BitCast(F32(), result)));
      if (HWY_UNLIKELY(!hn::AllFalse(U32(), is_nan)))
        hn::Store(hn::IfThenElse(is_nan, hn::Set(U32(), canonical_f32_nan), result), U32(), d[column] + row);
    });
  }

  /// Whether products of A and B may be special.
  bool in_products() const { return in_products_; }

  /// If so, a C of wide formats that is special where the result of a step is. NaNs that decide are the C of later steps.
  HWY_INLINE Word with_products(int step, int column, int row, Word c) const {
    if (!nans_decide_) return hn::BitCast(U32(), hn::Add(hn::BitCast(F32(), c), hn::Load(F32(), sums_[step][column] + row)));
    return step == 0 ? hn::Or(c, hn::BitCast(U32(), o_.nan(column, row))) : c;
  }

 private:
  /// The same if NaNs decide. Each step may have them all: the last result has them.
  void take_out_nans() {
    for_each_vector([&](int column, int row) HWY_ATTR {
      for (auto& sums : sums_) hn::Store(o_.nan(column, row), F32(), sums[column] + row);
    });
    o_.remove_nans();
  }

  HWY_INLINE bool f16_accumulator() const {
    if constexpr (wide) return false;  // never for bf16 and tf32
    return o_.plan().f16_accumulator;
  }

  /// `numbers`, or `v` where it is infinite or NaN.
  HWY_INLINE Word replaced(hn::Vec<F32> v, Word numbers) const {
    const U32 u;
    const Word nan = hn::Set(u, f16_accumulator() ? canonical_half_nan : canonical_f32_nan);
    const auto special = hn::RebindMask(u, hn::Not(hn::IsFinite(v))), is_nan = hn::RebindMask(u, hn::IsNaN(v));
    const Word infinity = f16_accumulator() ? f32_to_f16(v) : hn::BitCast(u, v);
    return hn::IfThenElse(is_nan, nan, hn::IfThenElse(special, infinity, numbers));
  }

  template <class Visit>
  HWY_INLINE static void for_each_vector(Visit visit) {
    for (int column = 0; column < columns; ++column)
      for (int row = 0; row < rows; row += vector_rows) visit(column, row);
  }

  void look() {
    in_products_ = !o_.finite();
    nans_decide_ = in_products_ && !sparse && o_.nans_decide();
  }

  /// Copies infinities and NaNs among `count` numbers.
  HWY_INLINE static void put_specials(const float* from, int count, float* to) {
    for (int i = 0; i < count; i += vector_rows) {
      const auto v = hn::Load(F32(), from + i);
      const auto special = hn::RebindMask(F32(), is_special(hn::BitCast(U32(), v)));
      hn::Store(hn::IfThenElse(special, v, hn::Load(F32(), to + i)), F32(), to + i);
    }
  }

  /// A bit for each slot: whether it is, or may be multiplied by, an infinity or NaN.
  std::uint32_t special_slots() {
    if (slots_of_read_ != o_.reads_of_a()) slots_of_a_ = o_.a_is_finite() ? 0 : special_slots_of_a();
    slots_of_read_ = o_.reads_of_a();
    const std::uint32_t found = slots_of_a_;
    const std::uint64_t of_b = o_.b_is_finite() ? 0 : special_elements_of_b();
    if (!sparse) return found | static_cast<std::uint32_t>(of_b);
    std::uint32_t multiplied = 0;
    for (int slot = 0; slot < o_.slots(); slot += 2)
      if ((of_b >> 2 * slot & 0xf) != 0) multiplied |= 3u << slot;
    return found | multiplied;
  }

  std::uint32_t special_slots_of_a() const {
    const U32 d;
    const auto* const a = reinterpret_cast<const std::uint32_t*>(o_.a_with_specials());
    Word found = hn::Zero(d);
    for (int slot = 0, slots = o_.slots(); slot < slots; slot += 4) {
      WARPMAT_UNROLL(4)
      for (int i = 0; i < 4; ++i)
        for (int row = 0; row < rows; row += vector_rows)
          found = hn::Or(found, hn::IfThenElseZero(is_special(hn::Load(d, a + (slot + i) * rows + row)), hn::Set(d, 1u << i << slot)));
    }
    HWY_ALIGN std::uint32_t of_rows[vector_rows];
    hn::Store(found, d, of_rows);
    return std::accumulate(of_rows, of_rows + vector_rows, 0u, std::bit_or<>());
  }

  /// A bit for each element k of a column: whether it is special in some column.
  std::uint64_t special_elements_of_b() const {
    constexpr int block = Operands::block, together = HWY_MAX(block, vector_rows);  // a vector may hold elements of several columns
    constexpr std::uint32_t of_vector = (1u << HWY_MIN(block, vector_rows)) - 1;
    std::uint64_t all = 0;
    for (int reg = 0; reg * block * columns < o_.b_count(); ++reg)
      for (int k = 0; k < block; k += vector_rows) {
        Word special = hn::Zero(U32());
        for (int i = k; i < block * columns; i += together)
          special = hn::Or(
              special, hn::VecFromMask(U32(), is_special(hn::BitCast(U32(), hn::Load(F32(), o_.b_values() + reg * block * columns + i)))));
        std::uint8_t bytes[8] = {};  // as many as Highway may write
        hn::StoreMaskBits(U32(), hn::Ne(special, hn::Zero(U32())), bytes);
        std::uint32_t found = (bytes[0] | static_cast<std::uint32_t>(bytes[1]) << 8) & ((1u << vector_rows) - 1);
        for (int columns_of_vector = vector_rows / block; columns_of_vector > 1; columns_of_vector /= 2)
          found |= found >> columns_of_vector / 2 * block;
        all |= static_cast<std::uint64_t>(found & of_vector) << (reg * block + k);
      }
    return all;
  }

  /// The sums of each step's products of `slots`. Numbers' products are among them; they are finite. `a`: A; of wide formats, its numbers.
  void add(std::uint32_t slots, const float* a, const float* b) {
    int step = 0;
    o_.for_each_step([&](auto blocks, auto begin, auto end, int first_slot) HWY_ATTR {
      constexpr std::uint32_t of_four = ((1u << end()) - (1u << begin())) * 0x11111111u;
      constexpr int count = blocks() * Operands::block;
      constexpr std::uint32_t of_step = count == 32 ? of_four : of_four & ((1u << count) - 1);
      add_step(slots & of_step << first_slot, a, b, sums_[step++]);
    });
  }

  HWY_INLINE void add_step(std::uint32_t slots, const float* a, const float* b, float (*sums)[rows]) const {
    for (int row = 0; row < rows; row += vector_rows) {
      hn::Vec<F32> sum[columns];
      WARPMAT_UNROLL(8)
      for (int column = 0; column < columns; ++column) sum[column] = hn::Zero(F32());
      for (std::uint32_t left = slots; left != 0; left &= left - 1) {
        const int slot = static_cast<int>(hwy::Num0BitsBelowLS1Bit_Nonzero32(left)), even = slot & ~1;
        auto of_a = hn::Load(F32(), a + slot * rows + row);
        if (wide) {
          const auto element = o_.a(slot, row);
          of_a = hn::IfThenElse(hn::RebindMask(F32(), is_special(hn::BitCast(U32(), element))), element, of_a);
        }
        WARPMAT_UNROLL(8)
        for (int column = 0; column < columns; ++column)
          sum[column] = hn::MulAdd(of_a, o_.factors(F32(), b, even, column, row)[slot & 1], sum[column]);
      }
      WARPMAT_UNROLL(8)
      for (int column = 0; column < columns; ++column) hn::Store(sum[column], F32(), sums[column] + row);
    }
  }

  static constexpr int max_steps = 2;
  static_assert(max_row_words / quad <= max_steps);  // FloatOperands::for_each_step: at most a step for each register of a row

  Operands& o_;
  bool in_products_ = false, nans_decide_ = false;  ///< A or B have specials; NaNs alone make results special
  std::uint32_t slots_of_a_ = 0;                    ///< special_slots_of_a(), if A has specials
  unsigned slots_of_read_ = 0;                      ///< of which A
  HWY_ALIGN float sums_[max_steps][columns][rows];  ///< if in_products_; kept for another attempt
  HWY_ALIGN float with_c_[columns][rows];           ///< of a step: with its C and the scales
  const float (*results_)[rows] = nullptr;          ///< of a step: special, or any number
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
