// The operands of a floating-point product, decoded for the kernels; included once for each instruction set, as vectors-inl.h is.

#if defined(WARPMAT_FAST_FLOAT_OPERANDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_FAST_FLOAT_OPERANDS_INL_H_
#undef WARPMAT_FAST_FLOAT_OPERANDS_INL_H_
#else
#define WARPMAT_FAST_FLOAT_OPERANDS_INL_H_
#endif

#include <algorithm>
#include <functional>
#include <limits>
#include <type_traits>

#include <warpmat/execute/fast/bounds.h>
#include <warpmat/execute/fast/elements-inl.h>
#include <warpmat/execute/fast/lane_words-inl.h>
#include <warpmat/execute/fast/scales-inl.h>
#include <warpmat/execute/fast/vectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR

using I8 = hn::Repartition<std::int8_t, U32>;
using U8 = hn::Repartition<std::uint8_t, U32>;

/// Added to the exponents of B. The sum with an exponent of A, with its sign bit flipped, is then the exponent field of a float.
constexpr int b_exponent_offset = -1;

/// Byte `byte` of each word, four times.
HWY_INLINE Word replicate_byte(Word words, int byte) {
  HWY_ALIGN static constexpr std::uint32_t first[] = {0, 0x04040404, 0x08080808, 0x0c0c0c0c};
  const Word places = hn::Add(hn::LoadDup128(U32(), first), hn::Set(U32(), 0x01010101u * static_cast<std::uint32_t>(byte)));
  return hn::BitCast(U32(), hn::TableLookupBytes(hn::BitCast(U8(), words), hn::BitCast(U8(), places)));
}

template <int n>
constexpr std::integral_constant<int, n> constant{};

/// A slot is a stored element of a row of A, in the order of k.
template <int bits, bool wide, bool sparse>
class FloatOperands {
 public:
  static constexpr int per = 32 / bits;     ///< elements in a word
  static constexpr int block = quad * per;  ///< slots of a row of A in one register, elements of a column of B
  static constexpr std::size_t max_slots = max_row_words * per;
  static constexpr std::size_t max_k = (sparse ? 2 : 1) * max_slots;
  static constexpr std::size_t max_elements_of_b = max_k * columns, register_elements_of_b = columns * block;
  static constexpr int row_vectors = rows / vector_rows, lane_vectors = 32 / vector_rows;

  FloatOperands(const FloatPlan& plan, const Form& form, const Warps& warps)
      : plan_(plan),
        form_(form),
        warps_(warps),
        decode_a_(plan.a, 0),
        decode_b_(plan.b, b_exponent_offset),
        a_registers_(plan.a_words / quad),
        b_registers_(plan.b_words / quad),
        same_a_(has_same_a()),
        may_keep_a_(same_a_ || warps.step != 0),
        may_keep_b_(warps.step != 0),
        a_in_lanes_(!warps.view(OperandName::a).is_list()),
        b_in_lanes_(!warps.view(OperandName::b).is_list()),
        c_in_lanes_(!warps.view(OperandName::c).is_list()) {}

  const FloatPlan& plan() const { return plan_; }
  const WarpWords& warp() const { return warp_; }
  bool split() const { return bits == 8 && plan_.split; }  // float_plan() makes no others
  int slots() const { return plan_.a_words * per; }

  /// Returns false if the kernels decline the warp: nonzero padding bits, or metadata or ids that the ISA does not define. `c`: its C,
  /// as d[column][row], if that is not in registers.
  HWY_INLINE bool read(std::size_t warp, const std::uint32_t (*c)[rows] = nullptr) {
    warp_ = {warps_, warp};
    if (sparse && !read_places()) return false;
    if (bits == 8) padding_ = hn::Zero(U32());
    if (HWY_UNLIKELY(a_in_lanes_ || b_in_lanes_ || c_in_lanes_)) read_lanes();
    if (!a_in_lanes_ && !keeps_a(warp)) range_of_a_ = read_a_of_registers();
    const bool needs_exponents = !wide || range_of_a_.common_case;
    if (!keeps_b(warp, needs_exponents)) range_of_b_ = read_b(needs_exponents);
    a_is_decoded_ = b_is_decoded_ = true;
    if (c != nullptr)
      take_c(c);
    else if (!c_in_lanes_)
      read_c_of_registers();
    finite_ = range_of_a_.finite && range_of_b_.finite;
    common_case_ = range_of_a_.common_case && range_of_b_.common_case;
    if (bits == 8 && !hn::AllTrue(U32(), hn::Eq(padding_, hn::Zero(U32())))) return false;
    return bits != 8 || !plan_.scaled || read_scales();
  }

  /// Whether all products and scale factors are in the range of the common case; products of narrow formats may be special.
  bool common_case() const { return (bits == 16 && !wide) || common_case_; }

  /// Whether scale factors are NaNs.
  bool special_scales() const { return bits == 8 && special_scales_; }

  /// Whether A and B have neither infinities nor NaNs.
  bool finite() const { return finite_; }
  bool a_is_finite() const { return range_of_a_.finite; }
  bool b_is_finite() const { return range_of_b_.finite; }

  /// Whether C, where a step adds it, is known to have infinities or NaNs: a C of f16, which read() looks at, and others after
  /// find_special_c.
  bool special_c() const { return special_c_ && !split(); }
  void find_special_c() {
    if (!plan_.f16_accumulator) special_c_ = has_special_c();
  }

  /// Finds the rows of A and the columns of B with a NaN, for nan(). Returns whether they alone make results special: each infinity is in
  /// one of them. Only for a dense A, whose rows multiply all elements of B.
  bool nans_decide() {
    const U32 d;
    const Word nan = hn::BitCast(d, hn::NaN(F32()));
    Word infinite = hn::Zero(d);
    for (int row = 0; row < rows; row += vector_rows) {
      const Word most = hn::Load(d, most_of_rows_ + row), nans = decode_a_.nans(most);
      infinite = hn::Or(infinite, hn::AndNot(nans, decode_a_.specials(most)));
      hn::Store(hn::And(nans, nan), d, nans_of_rows_ + row);
    }
    for (int lane = 0; lane < 32; lane += vector_rows) {
      const Word most = hn::Load(d, most_of_lanes_ + lane), nans = union_of_quad(decode_b_.nans(most));
      infinite = hn::Or(infinite, hn::AndNot(nans, decode_b_.specials(most)));
      hn::Store(hn::And(nans, nan), d, nans_of_lanes_ + lane);
    }
    return hn::AllTrue(d, hn::Eq(infinite, hn::Zero(d)));
  }

  /// After nans_decide: NaN where the row or the column has one, else 0.
  HWY_INLINE hn::Vec<F32> nan(int column, int row) const {
    return hn::BitCast(F32(), hn::Or(hn::Load(U32(), nans_of_rows_ + row), hn::Set(U32(), nans_of_lanes_[column * quad])));
  }

  /// Makes NaNs zeros, after nans_decide. A format's only NaN code has been decoded as a number.
  void remove_nans() {
    if (!plan_.a.has_one_nan) remove_specials_of_a(~0u);
    if (!plan_.b.has_one_nan) remove_specials_of_b();
  }

  /// Makes infinities and NaNs zeros. `slots`: those of A that have some.
  void remove_specials(std::uint32_t slots) {
    remove_specials_of_a(slots);
    remove_specials_of_b();
  }

  /// A as it was before that.
  const float* a_with_specials() const { return a_is_clean_ ? a_with_specials_[0] : a_[0]; }

  /// Changes when A is another.
  unsigned reads_of_a() const { return reads_of_a_; }

  /// Whether all numbers are zero or at least a power of two: 2^element for elements of A and B of wide formats, 2^c for a C of 32 bits.
  bool at_least(int element, int c) const {
    if (wide && !(at_least(a_[0], slots() * rows, element) && at_least(b_, b_count(), element))) return false;
    return plan_.f16_accumulator || at_least(c_[0], columns * rows, c);
  }

  /// Whether all exponents of products and of C, of wide formats, are less than max_small_exponent: results may be subnormal, and none is
  /// large.
  bool has_small_results() const {
    const int products = largest_field(most_of_rows_, row_vectors) + largest_field(most_of_lanes_, lane_vectors) - 2 * bounds::f32_bias;
    if (HWY_LIKELY(products >= bounds::max_small_exponent)) return false;
    const I32 d;
    auto most = hn::Zero(d);
    for (int i = 0; i < columns * rows; i += vector_rows)
      most = hn::Max(most, hn::And(hn::BitCast(d, hn::Load(U32(), c_[0] + i)), hn::Set(d, INT32_MAX)));
    return hn::AllTrue(d, hn::Lt(most, hn::Set(d, (bounds::max_small_exponent + bounds::f32_bias) << bounds::f32_fraction_bits)));
  }

  /// Replaces decoded NaN codes by quiet NaNs, before remove_specials.
  void mark_nans() {
    if (!a_is_finite() && !a_is_clean_) decode_a_.mark_nans(a_[0], slots() * rows);
    if (!b_is_finite()) decode_b_.mark_nans(b_, b_count());
  }

  /// The binary logarithm, 0 to 30, of the factor by which decoded products are too small.
  int missing_exponent() const { return bits == 8 ? 30 - plan_.a.bias - plan_.b.bias : 0; }

  HWY_INLINE hn::Vec<F32> a(int slot, int row) const { return hn::Load(F32(), a_[slot] + row); }
  const std::uint32_t (*c() const)[rows] { return c_; }

  /// The first step's addend: C, unless C is added at the end.
  const std::uint32_t (*accumulator() const)[rows] {
    HWY_ALIGN static constexpr std::uint32_t zeros[columns][rows] = {};
    return split() ? zeros : c_;
  }

  /// Numbers `from` in the order of b_values(), of one column: [i] are those that multiply slot `first` + i in some rows. Fast if i is
  /// constant.
  template <class D>
  class Factors {
   public:
    using T = hn::TFromD<D>;
    HWY_INLINE Factors(const T* from, const std::uint32_t* places) : from_(from), places_(places) {}
    HWY_INLINE hn::Vec<D> operator[](int i) const {
      if constexpr (sparse) {
        const auto places = hn::IndicesFromVec(D(), hn::BitCast(I32(), hn::Load(U32(), places_ + i * rows)));
        return hn::TableLookupLanes(hn::LoadDup128(D(), from_ + b_index(i / 2 * 4, 0)), places);
      } else {
        return hn::Set(D(), from_[b_index(i, 0)]);
      }
    }

   private:
    const T* from_;
    const std::uint32_t* places_;
  };

  /// Those of column `column` that multiply the slots from `first` on, which is even, to the end of its block, in the rows from `row` on.
  template <class D>
  HWY_INLINE Factors<D> factors(D, const hn::TFromD<D>* all, int first, int column, int row) const {
    return {all + b_index((sparse ? 2 : 1) * first, column), places_[sparse ? first : 0] + row};
  }

  /// The elements of column `column` of B that multiply slot `first` + `i`, for each row.
  HWY_INLINE hn::Vec<F32> b(int first, int i, int column, int row) const { return factors(F32(), b_, first, column, row)[i]; }

  /// The decoded elements: a_values()[slot * rows + row], and those of B, b_count() numbers.
  const float* a_values() const { return a_[0]; }
  const float* b_values() const { return b_; }
  int b_count() const { return plan_.b_words * per * columns; }

  /// Writes the largest exponent of the products of one step, as the exponent field of a float, to fields[column][row]. If all products are
  /// zero, it is below those of nonzero products. The step takes elements `begin` to `end` - 1 of each four slots of `blocks` blocks, from
  /// `first_slot` on. Precondition: exponents are in the range of the common case. In some bytes of the result it returns the minimum over
  /// columns.
  template <int blocks, int begin, int end>
  HWY_INLINE hn::Vec<U8> largest_exponents(int first_slot, std::uint32_t (*fields)[rows]) const {
    const I8 d;
    const Word mask = hn::Set(U32(), 0x7f800000u);
    auto smallest = hn::Set(U8(), std::uint8_t{255});
    for (int row = 0; row < rows; row += vector_rows)
      for (int column = 0; column < columns; column += 4) {
        auto largest = hn::Set(d, std::int8_t{bounds::no_product_field - 128});
        WARPMAT_UNROLL(32)
        for (int i = 0; i < blocks * block; ++i) {
          if (i % 4 < begin || i % 4 >= end) continue;
          const auto a = hn::BitCast(d, hn::Load(U32(), a_exponents_[first_slot + i] + row));
          largest = hn::Max(largest, hn::SaturatedAdd(a, b_exponents(first_slot + i, column, row)));
        }
        const Word four = hn::Xor(hn::BitCast(U32(), largest), hn::Set(U32(), 0x80808080u));
        smallest = hn::Min(smallest, hn::BitCast(U8(), four));
        hn::Store(hn::And(hn::ShiftLeft<23>(four), mask), U32(), fields[column] + row);
        hn::Store(hn::And(hn::ShiftLeft<15>(four), mask), U32(), fields[column + 1] + row);
        hn::Store(hn::And(hn::ShiftLeft<7>(four), mask), U32(), fields[column + 2] + row);
        hn::Store(hn::And(hn::ShiftRight<1>(four), mask), U32(), fields[column + 3] + row);
      }
    return smallest;
  }

  /// Calls visit(blocks, begin, end, first_slot) for the steps of one result; all but the last argument are compile-time constants.
  /// `constant_slots`: the last is one, too. The code of a step is then there for each register of a row.
  template <bool constant_slots = false, class Visit>
  HWY_INLINE void for_each_step(Visit visit) const {
    const bool two = plan_.a_words > quad;
    if constexpr (bits == 8)
      if (plan_.split) {
        two ? visit(constant<2>, constant<0>, constant<2>, constant<0>) : visit(constant<1>, constant<0>, constant<2>, constant<0>);
        two ? visit(constant<2>, constant<2>, constant<4>, constant<0>) : visit(constant<1>, constant<2>, constant<4>, constant<0>);
        return;
      }
    if (two && plan_.step_words > quad) return visit(constant<2>, constant<0>, constant<4>, constant<0>);
    if constexpr (constant_slots) {
      visit(constant<1>, constant<0>, constant<4>, constant<0>);
      if (two) visit(constant<1>, constant<0>, constant<4>, constant<block>);
    } else {
      for (int slot = 0; slot < slots(); slot += block) visit(constant<1>, constant<0>, constant<4>, slot);
    }
  }

  // Scale factors: exponents, and NaN or 0.
  HWY_INLINE hn::Vec<I32> scale_exponent(int column, int row) const {
    return hn::Add(hn::Load(I32(), scale_a_ + row), hn::Set(I32(), scale_b_[column]));
  }
  HWY_INLINE hn::Vec<F32> scale_nan(int column, int row) const {
    return hn::Add(hn::Load(F32(), nan_a_ + row), hn::Set(F32(), nan_b_[column]));
  }

 private:
  /// Whether all warps have the same A, as the tiles of a wgmma do, in registers that no result overwrites.
  bool has_same_a() const {
    if (warps_.count == 1 || warps_.step != 0 || warps_.view(OperandName::a).warp_stride() != 0) return false;
    const std::less<const std::uint32_t*> before;
    const std::uint32_t *first = warps_.destination(0, 0), *last = first;
    for (int i = 0; i < static_cast<int>(warps_.written.list_size()); ++i) {
      for (const std::size_t warp : {std::size_t{0}, warps_.count - 1}) {  // the stride may be negative
        first = std::min<const std::uint32_t*>(first, warps_.destination(i, warp), before);
        last = std::max<const std::uint32_t*>(last, warps_.destination(i, warp), before);
      }
    }
    for (int i = 0; i < plan_.a_words; ++i)
      if (before(warps_.source(OperandName::a, i, 0), last + 32) && before(first, warps_.source(OperandName::a, i, 0) + 32)) return false;
    return true;
  }

  const std::uint32_t* words(OperandName name, int word) const { return warp_.source(name, word); }

  bool keeps_a(std::size_t warp) const { return HWY_UNLIKELY(may_keep_a_) && a_is_decoded_ && (same_a_ || warps_.keeps_a(warp)); }
  bool keeps_b(std::size_t warp, bool needs_exponents) const {
    return HWY_UNLIKELY(may_keep_b_) && b_is_decoded_ && warps_.keeps_b(warp) && (!needs_exponents || b_has_exponents_);
  }

  /// The index of element k of a column of B in b_: the elements of a register's quad are adjacent.
  static constexpr std::size_t b_index(int k, int column) {
    const auto element = static_cast<unsigned>(k);
    return std::size_t{element / block * columns * block + element % block} + static_cast<std::size_t>(column) * block;
  }

  /// Of the elements of A or of B.
  struct Range {
    bool finite, common_case;
  };

  /// The largest exponent field of wide elements with the magnitudes `most`, a subnormal's counting as 1.
  HWY_INLINE static int largest_field(const std::uint32_t* most, int vectors) {
    const U32 d;
    Word all = hn::Load(d, most);
    for (int i = 1; i < vectors; ++i) all = Decoder<bits, wide>::larger(all, hn::Load(d, most + i * vector_rows));
    if (bits == 16) all = hn::Max(hn::ShiftRight<16>(all), hn::And(all, hn::Set(d, 0xffffu)));
    const auto field = static_cast<int>(hn::GetLane(hn::MaxOfLanes(d, all)) >> (bits - 9));
    return HWY_MAX(field, 1);
  }

  /// Whether `count` floats are zero or at least 2^exponent. As integers, because the CPU may take subnormal floats for zeros.
  static bool at_least(const void* floats, int count, int exponent) {
    const I32 d;
    const auto least = hn::Set(d, (exponent + bounds::f32_bias) << bounds::f32_fraction_bits);
    for (int i = 0; i < count; i += vector_rows) {
      const auto v = hn::And(hn::Load(d, static_cast<const std::int32_t*>(floats) + i), hn::Set(d, INT32_MAX));
      if (!hn::AllFalse(d, hn::And(hn::Gt(v, hn::Zero(d)), hn::Lt(v, least)))) return false;
    }
    return true;
  }

  /// A warp that keeps A needs the special ones, too.
  void remove_specials_of_a(std::uint32_t slots) {
    if (a_is_clean_ || a_is_finite()) return;
    if (may_keep_a_) std::copy_n(a_[0], this->slots() * rows, a_with_specials_[0]);
    a_is_clean_ = may_keep_a_;
    for (int slot = 0; slot < this->slots(); ++slot)
      if ((slots >> slot & 1) != 0) remove_specials(a_[slot], rows);
  }

  void remove_specials_of_b() {
    if (b_is_finite()) return;
    b_is_decoded_ = false;
    remove_specials(b_, b_count());
  }

  HWY_INLINE static void remove_specials(float* values, int count) {
    for (int i = 0; i < count; i += vector_rows) {
      const auto v = hn::Load(F32(), values + i);
      hn::Store(hn::IfThenElseZero(hn::IsFinite(v), v), F32(), values + i);
    }
  }

  /// Reads the operands that are lane by lane; of B into registers. A function of its own: without them, less is to be done.
  HWY_NOINLINE void read_lanes() {
    if (a_in_lanes_)
      range_of_a_ = read_a([&](auto visit) HWY_ATTR {
        for_each_row_vector<false>(warps_.view(OperandName::a),
                                   [&](int pair, int t, int row, Word w) HWY_ATTR { visit(pair * quad + t, row, w); });
      });
    if (b_in_lanes_) {
      load_registers(warps_.view(OperandName::b), b_registers_, registers_of_b_);
      for (int reg = 0; reg < b_registers_; ++reg) list_of_b_[reg] = registers_of_b_[reg].data();
    }
    if (c_in_lanes_) read_c([&](auto take) HWY_ATTR { for_each_row_vector<true>(warps_.view(OperandName::c), take); });
  }

  HWY_INLINE Range read_a_of_registers() {
    const auto a = warp_.source(OperandName::a);
    return read_a([&](auto visit) HWY_ATTR {
      for (int reg = 0; reg < a_registers_; ++reg)
        for_each_row_vector(a[2 * reg], a[2 * reg + 1], [&](int row, const Word* quads) HWY_ATTR {
          WARPMAT_UNROLL(4)
          for (int t = 0; t < quad; ++t) visit(reg * quad + t, row, quads[t]);
        });
    });
  }

  /// `for_each_word` calls its argument with each number of a word in a row of A, the first of some rows, and the words of these rows.
  template <class ForEachWord>
  HWY_INLINE Range read_a(ForEachWord for_each_word) {
    Word most_of_rows[row_vectors];
    for (Word& most : most_of_rows) most = hn::Zero(U32());
    ++reads_of_a_;
    a_is_clean_ = false;
    bool needs_exponents = true;
    for_each_word([&](int word, int row, Word w) HWY_ATTR {
      const int slot = word * per;
      Word& most = most_of_rows[row / vector_rows];
      check_padding(w, plan_.padding_a);
      // Only the common case needs exponents. Narrow formats hardly ever leave it, and the first words of wide ones tell.
      if (wide && word == quad && row == 0) needs_exponents = decode_a_.common_case(most);
      const Word magnitudes = decode_a_.magnitudes(w, most);
      if (needs_exponents) {
        const Word exponents = decode_a_.exponents(magnitudes);
        for (int i = 0; i < per; ++i) hn::Store(replicate_byte(exponents, i * bits / 8), U32(), a_exponents_[slot + i] + row);
      }
      decode_a_.each_value(w, [&](int i, hn::Vec<F32> v) HWY_ATTR { hn::Store(v, F32(), a_[slot + i] + row); });
    });
    Range all = range(decode_a_, most_of_rows, row_vectors, most_of_rows_);
    all.common_case = all.common_case && needs_exponents;
    return all;
  }

  HWY_INLINE Range read_b(bool needs_exponents) {
    Word most_of_lanes[lane_vectors];
    for (Word& most : most_of_lanes) most = hn::Zero(U32());
    b_has_exponents_ = needs_exponents;
    const auto b = b_in_lanes_ ? RegisterPointers<const std::uint32_t>{list_of_b_, 0} : warp_.source(OperandName::b);
    for (int reg = 0; reg < b_registers_; ++reg) {
      HWY_ALIGN std::uint8_t exponents[register_elements_of_b];
      const std::uint32_t* from = b[reg];
      for (int lane = 0; lane < 32; lane += vector_rows) {
        const Word w = hn::LoadU(U32(), from + lane);
        check_padding(w, plan_.padding_b);
        decode_b_.store_values(from + lane, b_ + (reg * 32 + lane) * per);
        const Word magnitudes = decode_b_.magnitudes(w, most_of_lanes[lane / vector_rows]);
        if (needs_exponents) store_bytes(decode_b_.exponents(magnitudes), exponents + lane * per);
      }
      if (!needs_exponents) continue;
      for (int column = 0; column < columns; column += 4) turn_columns(exponents + column * block, b_exponents_[column / 4] + reg * block);
    }
    return range(decode_b_, most_of_lanes, lane_vectors, most_of_lanes_);
  }

  /// The range of elements with the largest magnitudes `most`, vectors that it writes to `to`.
  HWY_INLINE static Range range(const Decoder<bits, wide>& decoder, const Word* most, int vectors, std::uint32_t* to) {
    Word of_all = most[0];
    for (int i = 0; i < vectors; ++i) {
      of_all = decoder.larger(of_all, most[i]);
      hn::Store(most[i], U32(), to + i * vector_rows);
    }
    const bool common_case = decoder.common_case(of_all);
    return {(wide && common_case) || decoder.finite(of_all), common_case};  // wide numbers of the common case are finite
  }

  /// A quad's four words, each the union of all four.
  HWY_INLINE static Word union_of_quad(Word words) {
    const Word two = hn::Or(words, hn::Shuffle2301(words));
    return hn::Or(two, hn::Shuffle1032(two));
  }

  /// Interleaves the bytes of four consecutive columns.
  HWY_INLINE static void turn_columns(const std::uint8_t* from, std::uint32_t* to) {
    constexpr std::size_t count = block;
    const hn::CappedTag<std::uint32_t, count> d;
    const hn::Repartition<std::uint8_t, decltype(d)> d8;
    if constexpr (hn::MaxLanes(d) == count) {
      HWY_ALIGN std::int32_t words_of_columns[count];
      for (int i = 0; i < block; ++i) words_of_columns[i] = i % 4 * (block / 4) + i / 4;
      HWY_ALIGN static constexpr std::uint8_t bytes_of_columns[] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
      const auto turned = hn::TableLookupLanes(hn::BitCast(d, hn::Load(d8, from)), hn::SetTableIndices(d, words_of_columns));
      hn::Store(hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(d8, turned), hn::LoadDup128(d8, bytes_of_columns))), d, to);
    } else {
      const hn::CappedTag<std::uint8_t, count> column;
      hn::StoreInterleaved4(hn::Load(column, from), hn::Load(column, from + block), hn::Load(column, from + 2 * block),
                            hn::Load(column, from + 3 * block), column, reinterpret_cast<std::uint8_t*>(to));
    }
  }

  HWY_INLINE void check_padding(Word w, std::uint32_t padding) {
    if constexpr (bits == 8) padding_ = hn::OrAnd(padding_, w, hn::Set(U32(), padding));
  }

  /// The low bytes of the elements of one vector.
  HWY_INLINE static void store_bytes(Word elements, std::uint8_t* to) {
    if constexpr (bits == 8) {
      hn::StoreU(hn::BitCast(U8(), elements), U8(), to);
    } else {
      const hn::Repartition<std::conditional_t<bits == 16, std::uint16_t, std::uint32_t>, U32> d;
      const hn::Rebind<std::uint8_t, decltype(d)> d8;
      hn::StoreU(hn::TruncateTo(d8, hn::BitCast(d, elements)), d8, to);
    }
  }

  /// The exponents of four columns' elements that multiply `slot`.
  HWY_INLINE hn::Vec<I8> b_exponents(int slot, int column, int row) const {
    const std::uint32_t* k = b_exponents_[column / 4];
    if constexpr (sparse)
      return hn::TableLookupBytes(hn::LoadDup128(I8(), reinterpret_cast<const std::int8_t*>(k + slot / 2 * 4)),
                                  hn::BitCast(I8(), hn::Load(U32(), exponent_places_[slot] + row)));
    else
      return hn::BitCast(I8(), hn::Set(U32(), k[slot]));
  }

  HWY_INLINE void read_c_of_registers() {
    const auto c = warp_.source(OperandName::c);
    if (!wide && plan_.f16_accumulator) return read_f16_c(c[0], c[1]);
    read_c([&](auto take) HWY_ATTR {
      for (int i = 0; i < 2; ++i)
        for_each_row_vector(c[i], c[2 + i], [&](int row, const Word* quads) HWY_ATTR {
          for (int t = 0; t < quad; ++t) take(i, t, row, quads[t]);
        });
    });
  }

  /// `for_each_word` calls its argument with words of column 2 t + i: i, t, the first of some rows, and the words of these rows.
  template <class ForEachWord>
  HWY_INLINE void read_c(ForEachWord for_each_word) {
    for_each_word([&](int i, int t, int row, Word w) HWY_ATTR { hn::Store(w, U32(), c_[2 * t + i] + row); });
    special_c_ = false;
  }

  /// C is the result of a product, d[column][row].
  HWY_INLINE void take_c(const std::uint32_t (*c)[rows]) {
    for (int i = 0; i < columns * rows; i += vector_rows) hn::Store(hn::Load(U32(), c[0] + i), U32(), c_[0] + i);
    special_c_ = plan_.f16_accumulator && has_special_c();
  }

  /// Whether C has an infinity or a NaN.
  bool has_special_c() const {
    const I32 d;
    const auto magnitude = hn::Set(d, plan_.f16_accumulator ? INT16_MAX : INT32_MAX);
    const auto largest = hn::Set(d, plan_.f16_accumulator ? 0x7bff : 0x7f7fffff);
    auto most = hn::Zero(d);
    for (int i = 0; i < columns * rows; i += vector_rows)
      most = hn::Max(most, hn::And(hn::BitCast(d, hn::Load(U32(), c_[0] + i)), magnitude));
    return !hn::AllFalse(d, hn::Gt(most, largest));
  }

  HWY_INLINE void read_f16_c(const std::uint32_t* low, const std::uint32_t* high) {
    const hn::Repartition<std::int16_t, U32> d;
    auto most = hn::Zero(d);
    for_each_row_vector(low, high, [&](int row, const Word* quads) HWY_ATTR {
      for (int t = 0; t < quad; ++t) {
        most = hn::Max(most, hn::And(hn::BitCast(d, quads[t]), hn::Set(d, std::int16_t{INT16_MAX})));
        hn::Store(hn::And(quads[t], hn::Set(U32(), 0xffffu)), U32(), c_[2 * t] + row);
        hn::Store(hn::ShiftRight<16>(quads[t]), U32(), c_[2 * t + 1] + row);
      }
    });
    special_c_ = !hn::AllFalse(d, hn::Gt(most, hn::Set(d, std::int16_t{0x7bff})));
  }

  /// Finds the element of B that multiplies each slot: its index among the four from 4 · (slot / 2) on.
  bool read_places() {
    Places bytes;
    if (!HWY_NAMESPACE::read_places(plan_.metadata, words(OperandName::e, 0), *words(OperandName::selector, 0), slots(), bytes))
      return false;
    const U32 d;
    for (int slot = 0; slot < slots(); slot += 4)
      for (int row = 0; row < rows; row += vector_rows) {
        const Word four = hn::Load(d, bytes.bytes[slot / 4] + row);
        WARPMAT_UNROLL(4)
        for (int i = 0; i < 4; ++i) {
          const Word place = hn::And(replicate_byte(four, i), hn::Set(d, 0x03030303u));
          hn::Store(hn::And(place, hn::Set(d, 3u)), d, places_[slot + i] + row);
          hn::Store(hn::Or(hn::ShiftLeft<2>(place), hn::Set(d, 0x03020100u)), d, exponent_places_[slot + i] + row);
        }
      }
    return true;
  }

  /// False for ids that are undefined or differ between lanes.
  bool read_scales() {
    special_scales_ = false;
    const auto matrix = [&](OperandName ids) { return selected_matrix(form_, ids, words(ids, 0), words(ids, 1)); };
    const int matrix_a = matrix(OperandName::ids_a), matrix_b = matrix(OperandName::ids_b);
    if (matrix_a < 0 || matrix_b < 0) return false;
    const auto read = [&](const ScalePlan& plan, OperandName name, int which, int count, std::int32_t* exponents, float* nans) {
      for (int i = 0; i < count; ++i) {
        const std::uint32_t factor = scale_factor(plan, words(name, 0), which, i, 0);
        exponents[i] = static_cast<std::int32_t>(factor) - bounds::largest_scale_exponent;
        nans[i] = factor == 0xff ? std::numeric_limits<float>::quiet_NaN() : 0;
        special_scales_ = special_scales_ || factor == 0xff;
        common_case_ = common_case_ && exponents[i] >= -bounds::common_case_scale && exponents[i] <= bounds::common_case_scale;
      }
    };
    read(plan_.scale_a, OperandName::scale_a, matrix_a, rows, scale_a_, nan_a_);
    read(plan_.scale_b, OperandName::scale_b, matrix_b, columns, scale_b_, nan_b_);
    return true;
  }

  const FloatPlan& plan_;
  const Form& form_;
  const Warps& warps_;
  const Decoder<bits, wide> decode_a_, decode_b_;
  const int a_registers_, b_registers_;              ///< of a row of A, of a column of B
  const bool same_a_, may_keep_a_, may_keep_b_;      ///< the others ask for each warp
  const bool a_in_lanes_, b_in_lanes_, c_in_lanes_;  ///< they are lane by lane
  WarpWords warp_{warps_, 0};
  bool a_is_decoded_ = false, b_is_decoded_ = false;  ///< they are those of the warp before, special elements among them
  bool a_is_clean_ = false;                           ///< those of A are in a_with_specials_ alone
  unsigned reads_of_a_ = 0;
  bool b_has_exponents_ = false;  ///< those of the B that was read last
  bool finite_ = false, common_case_ = false, special_c_ = false, special_scales_ = false;
  Range range_of_a_{}, range_of_b_{};
  HWY_ALIGN std::uint32_t most_of_rows_[rows];  ///< A's largest magnitudes: in each part of a word, of the elements there
  HWY_ALIGN std::uint32_t most_of_lanes_[32];   ///< B's, by lane of its registers; a column is a quad
  HWY_ALIGN std::uint32_t nans_of_rows_[rows], nans_of_lanes_[32];
  Word padding_ = hn::Zero(U32());  ///< of containers of 8 bits
  static constexpr std::size_t max_b_registers = (sparse ? 2 : 1) * max_row_words / quad;
  Register registers_of_b_[max_b_registers];         ///< if b_in_lanes_
  const std::uint32_t* list_of_b_[max_b_registers];  ///< pointers to them
  HWY_ALIGN float a_[max_slots][rows];
  HWY_ALIGN float a_with_specials_[max_slots][rows];      ///< if A may be kept
  HWY_ALIGN std::uint32_t a_exponents_[max_slots][rows];  // four times each
  HWY_ALIGN float b_[max_elements_of_b];
  HWY_ALIGN std::uint32_t b_exponents_[columns / 4][max_k];  // of four columns
  HWY_ALIGN std::uint32_t c_[columns][rows];
  // For a sparse A: places, and the index of the four columns' exponents at that place.
  HWY_ALIGN std::uint32_t places_[sparse ? max_slots : 1][rows];
  HWY_ALIGN std::uint32_t exponent_places_[sparse ? max_slots : 1][rows];
  // With scale factors.
  HWY_ALIGN std::int32_t scale_a_[rows], scale_b_[columns];
  HWY_ALIGN float nan_a_[rows], nan_b_[columns];
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
