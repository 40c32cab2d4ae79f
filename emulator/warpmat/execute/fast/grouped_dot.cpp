// D = A · B + C of packed 4-bit elements in groups with scale factors, all sixteen rows of a column at a time. Compiled once for each
// instruction set.
//
// The steps are those of dot.h. Elements are small integers times a unit, so the products of a group are summed as integers. The
// rest uses doubles, which have enough bits for the unit's register: a group with its scale factors is less than 2^11 times the power of
// two that aligns it. The CPU rounds toward zero, so the conversion to f32 rounds as the unit does.

#include <cstring>
#include <limits>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/numeric/canonical_nan.h>
#include <warpmat/numeric/kernels_target.h>
#include <warpmat/numeric/rounding_mode.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/execute/fast/grouped_dot.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/execute/fast/bounds.h>
#include <warpmat/execute/fast/scales-inl.h>
#include <warpmat/execute/fast/vectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

std::size_t grouped_dot(const GroupedPlan&, const Form&, const Warps&) {
  return 0;
}

#else

/// Elements are multiplied as 16-bit numbers, two of a word at a time. A word of eight is split in two steps: into two words of bytes, from
/// the low and the high halves of its bytes, and each of these into two planes of 16-bit numbers.
template <bool sparse>
class GroupedDot {
 public:
  GroupedDot(const GroupedPlan& plan, const Form& form, const Warps& warps) : plan_(plan), form_(form), warps_(warps) {}

  /// Executes one warp, or declines.
  bool run(std::size_t warp) {
    warp_ = {warps_, warp};
    if (sparse && !read_places(plan_.metadata, words(OperandName::e, 0), *words(OperandName::selector, 0), plan_.a_words * 4, places_))
      return false;
    if (!read_factors(plan_.scale_a, OperandName::scale_a, OperandName::ids_a, rows, factors_a_)) return false;
    if (!read_factors(plan_.scale_b, OperandName::scale_b, OperandName::ids_b, columns, factors_b_)) return false;
    read_a();
    read_b();
    read_c();
    for (int column = 0; column < columns; ++column) {
      for (int row = 0; row < rows; row += vector_rows) add_products(column, row);
      for (int row = 0; row < rows; row += vector_rows / 2) add_groups(column, row);
    }
    write();
    return true;
  }

 private:
  static constexpr int halves = 2, planes = 2 * halves;
  static constexpr int group_words = static_cast<int>(group_elements) / 8;
  static constexpr int max_b_words = (sparse ? 2 : 1) * max_row_words;
  static constexpr std::size_t max_b_planes = max_b_words * planes * columns;

  /// For sixteen rows or eight columns, by group.
  struct Factors {
    HWY_ALIGN double values[max_groups][rows];
    HWY_ALIGN std::int32_t exponents[max_groups][rows];
  };

  const std::uint32_t* words(OperandName name, int word) const { return warp_.source(name, word); }
  std::uint32_t* destination(int word) const { return warp_.destination(word); }
  int groups() const { return plan_.a_words / group_words; }

  // ---- Reading ------------------------------------------------------------------------------------------------------------------------

  /// False for ids that are undefined or differ between lanes.
  bool read_factors(const ScalePlan& plan, OperandName name, OperandName ids, int lines, Factors& to) const {
    const int matrix = selected_matrix(form_, ids, words(ids, 0), words(ids, 1));
    if (matrix < 0) return false;
    for (int group = 0; group < groups(); ++group)
      for (int line = 0; line < lines; ++line) {
        const GroupedPlan::Factor& factor = plan_.factors[scale_factor(plan, words(name, 0), matrix, line, group)];
        to.values[group][line] = factor.value;
        to.exponents[group][line] = factor.exponent;
      }
    return true;
  }

  /// The elements in the low (0) or high (1) halves of bytes.
  HWY_INLINE Word half(Word packed, int i) const {
    const hn::Repartition<std::uint8_t, U32> d;
    const Word codes = hn::And(hn::ShiftRightSame(packed, 4 * i), hn::Set(U32(), 0x0f0f0f0fu));
    const auto table = hn::LoadDup128(d, reinterpret_cast<const std::uint8_t*>(plan_.elements.data()));
    return hn::BitCast(U32(), hn::TableLookupBytes(table, hn::BitCast(d, codes)));
  }

  /// Bytes 0 and 2 of each word (0), or 1 and 3 (1).
  HWY_INLINE static Word plane(Word bytes, int i) {
    const hn::Repartition<std::int16_t, U32> d;
    const auto pairs = hn::BitCast(d, bytes);
    return hn::BitCast(U32(), hn::ShiftRight<8>(i == 0 ? hn::ShiftLeft<8>(pairs) : pairs));
  }

  HWY_INLINE void read_a() {
    for (int b = 0; b < plan_.a_words / quad; ++b)
      for_each_row_vector(words(OperandName::a, 2 * b), words(OperandName::a, 2 * b + 1), [&](int row, const Word* quads) HWY_ATTR {
        for (int t = 0; t < quad; ++t)
          for (int i = 0; i < planes; ++i) hn::Store(plane(half(quads[t], i / 2), i % 2), U32(), a_[(b * quad + t) * planes + i] + row);
      });
  }

  /// Dense: planes of each column's words. Sparse: the halves of each column's words, column by column.
  HWY_INLINE void read_b() {
    for (int reg = 0; reg < plan_.b_words / quad; ++reg) {
      HWY_ALIGN std::uint32_t elements[halves][32];
      for (int lane = 0; lane < 32; lane += vector_rows)
        for (int i = 0; i < halves; ++i) {
          const Word bytes = half(hn::LoadU(U32(), words(OperandName::b, reg) + lane), i);
          if constexpr (sparse) hn::Store(bytes, U32(), elements[i] + lane);
          if constexpr (!sparse)
            for (int j = 0; j < 2; ++j) hn::Store(plane(bytes, j), U32(), b_ + (reg * planes + 2 * i + j) * 32 + lane);
        }
      if constexpr (sparse)
        for (int i = 0; i < halves; ++i)
          for (int column = 0; column < columns; ++column)
            std::memcpy(b_ + (i * columns + column) * max_b_words + reg * quad, elements[i] + column * quad, quad * sizeof *b_);
    }
  }

  HWY_INLINE void read_c() {
    for (int i = 0; i < 2; ++i)
      for_each_row_vector(words(OperandName::c, i), words(OperandName::c, 2 + i), [&](int row, const Word* quads) HWY_ATTR {
        for (int t = 0; t < quad; ++t) hn::Store(hn::BitCast(F32(), quads[t]), F32(), d_[2 * t + i] + row);
      });
  }

  // ---- Arithmetic ---------------------------------------------------------------------------------------------------------------------

  /// The sums of each group's products, and the exponent E of the unit. A group whose sum is zero is not a term.
  HWY_INLINE void add_products(int column, int row) {
    const I32 d;
    const auto of_c = exponents(hn::Load(F32(), d_[column] + row), bounds::min_f32_exponent, bounds::no_exponent);
    auto largest = hn::Max(of_c, hn::Set(d, bounds::min_group_exponent));
    for (int group = 0; group < groups(); ++group) {
      const auto sum = sum_of_products(group, column, row);
      const auto exponent = hn::Add(hn::Load(d, factors_a_.exponents[group] + row), hn::Set(d, factors_b_.exponents[group][column]));
      largest = hn::Max(largest, hn::IfThenElse(hn::Eq(sum, hn::Zero(d)), hn::Set(d, bounds::no_exponent), exponent));
      hn::Store(sum, d, sums_[group] + row);
    }
    hn::Store(largest, d, exponents_ + row);
  }

  HWY_INLINE hn::Vec<I32> sum_of_products(int group, int column, int row) const {
    const I32 d;
    auto sum = hn::Zero(d);
    WARPMAT_UNROLL(2)
    for (int word = group * group_words; word < (group + 1) * group_words; ++word) {
      WARPMAT_UNROLL(4)
      for (int i = 0; i < planes; ++i) {
        const Word a = hn::Load(U32(), a_[word * planes + i] + row);
        sum = add_pair_products(d, sum, hn::BitCast(d, a), hn::BitCast(d, b_plane(word, i, column, row)));
      }
    }
    return sum;
  }

  /// The elements of B that plane `i` of word `word` of A's rows is multiplied by.
  HWY_INLINE Word b_plane(int word, int i, int column, int row) const {
    if constexpr (sparse) {
      const std::uint32_t* four_words = b_ + (i / 2 * columns + column) * max_b_words + word / 2 * 4;  // for two words of A
      return plane(look_up_bytes(four_words, word % 2 * 8, places_.bytes[word] + row), i % 2);
    } else {
      return hn::Set(U32(), b_[(word / quad * planes + i) * 32 + column * quad + word % quad]);
    }
  }

  /// Adds C and the groups. An infinity or NaN among them becomes the sum.
  HWY_INLINE void add_groups(int column, int row) {
    const F64 d;
    const hn::Rebind<std::int32_t, F64> d_int;
    const hn::Rebind<float, F64> d_float;
    const auto exponent = hn::PromoteTo(I64(), hn::Load(d_int, exponents_ + row)), fraction_bits = hn::Set(I64(), plan_.fraction_bits);
    const auto to_units = power_of_two(hn::Sub(fraction_bits, exponent)), unit = power_of_two(hn::Sub(exponent, fraction_bits));
    auto sum = hn::Trunc(hn::Mul(hn::PromoteTo(d, hn::Load(d_float, d_[column] + row)), to_units));
    for (int group = 0; group < groups(); ++group) {
      const auto factor = hn::Mul(hn::Load(d, factors_a_.values[group] + row), hn::Set(d, factors_b_.values[group][column]));
      const auto term = hn::Mul(hn::PromoteTo(d, hn::Load(d_int, sums_[group] + row)), factor);
      sum = hn::Add(sum, hn::Trunc(hn::Mul(term, to_units)));
    }
    // Rounding toward zero would stop the conversion at the largest number.
    const auto exact = hn::Mul(sum, unit), infinity = hn::Set(d, std::numeric_limits<double>::infinity());
    const auto result = hn::IfThenElse(hn::Ge(hn::Abs(exact), hn::Set(d, 0x1p128)), hn::CopySign(infinity, exact), exact);
    hn::Store(hn::DemoteTo(d_float, result), d_float, d_[column] + row);
  }

  // ---- Writing ------------------------------------------------------------------------------------------------------------------------

  HWY_INLINE static Word bits(hn::Vec<F32> result) {
    const auto without_negative_zero = hn::Add(result, hn::Zero(F32()));
    return hn::IfThenElse(hn::RebindMask(U32(), hn::IsNaN(result)), hn::Set(U32(), canonical_f32_nan),
                          hn::BitCast(U32(), without_negative_zero));
  }

  HWY_INLINE void write() const {
    for (int i = 0; i < 2; ++i)
      store_row_vectors(destination(i), destination(2 + i), [&](int row, Word* quads) HWY_ATTR {
        for (int t = 0; t < quad; ++t) quads[t] = bits(hn::Load(F32(), d_[2 * t + i] + row));
      });
  }

  const GroupedPlan& plan_;
  const Form& form_;
  const Warps& warps_;
  WarpWords warp_{warps_, 0};
  HWY_ALIGN std::uint32_t a_[max_row_words * planes][rows];
  HWY_ALIGN std::uint32_t b_[max_b_planes];
  Factors factors_a_, factors_b_;
  HWY_ALIGN std::int32_t sums_[max_groups][rows];  // of one column, in units of elements
  HWY_ALIGN std::int32_t exponents_[rows];
  HWY_ALIGN float d_[columns][rows];  // C, then D
  Places places_;
};

/// A function of its own, so that the compiler moves no operation to where the CPU has another rounding mode.
template <bool sparse>
HWY_NOINLINE std::size_t run_grouped_dot(const GroupedPlan& plan, const Form& form, const Warps& warps) {
  GroupedDot<sparse> product(plan, form, warps);
  return execute_each(warps, [&](std::size_t warp) { return product.run(warp); });
}

std::size_t grouped_dot(const GroupedPlan& plan, const Form& form, const Warps& warps) {
  const RoundingMode mode(RoundingMode::toward_zero);
  return plan.sparse ? run_grouped_dot<true>(plan, form, warps) : run_grouped_dot<false>(plan, form, warps);
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat {

HWY_EXPORT(grouped_dot);

std::size_t fast_grouped_dot(const GroupedPlan& plan, const Form& form, const Warps& warps) {
  return WARPMAT_KERNEL(grouped_dot)(plan, form, warps);
}

}  // namespace warpmat
#endif
