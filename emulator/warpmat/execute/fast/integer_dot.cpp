// D = A · B + C in integers, all rows of a column at a time. Compiled once for each instruction set.

#include <cassert>
#include <cstring>
#include <span>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/numeric/kernels_target.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/execute/fast/integer_dot.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/execute/fast/lane_words-inl.h>
#include <warpmat/execute/fast/vectors-inl.h>
#include <warpmat/numeric/rounding_mode.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

std::size_t integer_dot(const IntegerPlan&, const Form&, const Warps&) {
  return 0;
}

bool integer_chain(const IntegerPlan&, const Form&, std::span<const Warps>) {
  return false;
}

#else

/// Elements of 8 or 4 bits are multiplied as 16-bit numbers, two of a word at a time: a plane holds those at bits n and n + 16. For the
/// bytes of a sparse A a plane holds two neighbours, so that one look-up among 16-bit elements of B finds the elements for both. 1-bit
/// elements are counted a whole word at a time.
template <int bits, bool sparse>
class IntegerDot {
 public:
  IntegerDot(const IntegerPlan& plan, const Warps& warps)
      : plan_(plan), warps_(warps), a_registers_(plan.a_words / quad), b_registers_(plan.b_words / quad), may_keep_(warps.step != 0) {}

  bool run(std::size_t warp) {
    warp_ = {warps_, warp};
    if (sparse && !read_places(plan_.metadata, words(OperandName::e, 0), *words(OperandName::selector, 0), plan_.a_words * 4, places_))
      return false;
    if constexpr (by_neighbours) find_neighbours();
    if (HWY_LIKELY(!may_keep_) || !warps_.keeps_a(warp)) read_a();
    if (HWY_LIKELY(!may_keep_) || !warps_.keeps_b(warp)) read_b();
    multiply_all();
    write();
    return true;
  }

  /// Executes one warp of a chain: its C is the D of `before`, if that is not null; only the last writes D. A is that of the first warp.
  bool run(std::size_t warp, const IntegerDot* before, bool is_last) {
    warp_ = {warps_, warp};
    if (warp == 0) read_a();
    read_b();
    if (before == nullptr)
      multiply_all();
    else
      for (int column = 0; column < columns; ++column)
        for (int row = 0; row < rows; row += vector_rows) multiply(column, row, hn::Load(U32(), before->d_[column] + row));
    if (is_last) write();
    return true;
  }

 private:
  static constexpr bool by_neighbours = sparse && bits == 8;
  static constexpr int planes = bits == 1 ? 1 : 16 / bits;
  static constexpr int block = 16;  // bytes of a column in one register
  static constexpr int max_b_words = (sparse ? 2 : 1) * max_row_words;
  static constexpr std::size_t max_b_registers = max_b_words / quad, max_a_planes = max_row_words * planes;
  static constexpr std::size_t max_b_planes = max_b_words * planes * columns;
  static constexpr std::size_t max_neighbour_places = by_neighbours ? max_a_planes : 1,
                               max_b_elements = by_neighbours ? max_b_words * 4 * columns : 1;
  using D16 = hn::Repartition<std::int16_t, U32>;
  using U16 = hn::Repartition<std::uint16_t, U32>;

  const std::uint32_t* words(OperandName name, int word) const { return warp_.source(name, word); }

  // Products of eight rows are executed as sixteen; the upper eight are a copy.
  int high(int low, int step) const { return plan_.rows == 16 ? low + step : low; }

  /// Bytes 2i and 2i + 1 of each word, twice each.
  HWY_INLINE static Word doubled_neighbours(Word w, int i) {
    HWY_ALIGN static constexpr std::uint8_t of_block[] = {0, 0, 1, 1, 4, 4, 5, 5, 8, 8, 9, 9, 12, 12, 13, 13};
    const hn::Repartition<std::uint8_t, U32> d;
    const auto bytes = hn::Add(hn::LoadDup128(d, of_block), hn::Set(d, static_cast<std::uint8_t>(2 * i)));
    return hn::BitCast(U32(), hn::TableLookupBytes(hn::BitCast(d, w), bytes));
  }

  HWY_INLINE static Word plane(Word w, int i, bool is_signed) {
    if constexpr (bits == 1) return w;
    if constexpr (by_neighbours) {
      const Word doubled = doubled_neighbours(w, i);
      return is_signed ? hn::BitCast(U32(), hn::ShiftRight<8>(hn::BitCast(D16(), doubled)))
                       : hn::BitCast(U32(), hn::ShiftRight<8>(hn::BitCast(U16(), doubled)));
    }
    const U16 d;
    const D16 ds;
    const auto top = hn::ShiftLeftSame(hn::BitCast(d, w), 16 - bits - i * bits);
    constexpr int down = bits == 1 ? 0 : 16 - bits;
    return is_signed ? hn::BitCast(U32(), hn::ShiftRight<down>(hn::BitCast(ds, top))) : hn::BitCast(U32(), hn::ShiftRight<down>(top));
  }

  HWY_INLINE static void store_planes(Word w, bool is_signed, std::uint32_t (*to)[rows], int row) {
    for (int i = 0; i < planes; ++i) hn::Store(plane(w, i, is_signed), U32(), to[i] + row);
  }

  HWY_INLINE void read_a() {
    if (const ConstRegisterView& lanes = warps_.view(OperandName::a); !lanes.is_list())
      return for_each_row_vector<false>(
          lanes, [&](int b, int t, int row, Word w) HWY_ATTR { store_planes(w, plan_.signed_a, a_ + (b * quad + t) * planes, row); });
    plan_.signed_a ? read_a_list<true>() : read_a_list<false>();
  }

  template <bool is_signed>
  HWY_INLINE void read_a_list() {
    const auto a = warp_.source(OperandName::a);
    const int second = high(0, 1), registers_of_rows = second + 1;
    for (int b = 0; b < a_registers_; ++b) {
      const int low = b * registers_of_rows;
      for_each_row_vector(a[low], a[low + second], [&](int row, const Word* quads) HWY_ATTR {
        for (int t = 0; t < quad; ++t) store_planes(quads[t], is_signed, a_ + (b * quad + t) * planes, row);
      });
    }
  }

  /// Dense: planes of each column's words. Sparse: the words of each column, column by column. By neighbours: a register's elements in
  /// order, in 16 bits each.
  HWY_INLINE void read_b() { plan_.signed_b ? read_b_of<true>() : read_b_of<false>(); }

  template <bool is_signed>
  HWY_INLINE void read_b_of() {
    const ConstRegisterView& view = warps_.view(OperandName::b);
    const bool in_lanes = !view.is_list();
    if (in_lanes) load_registers(view, b_registers_, registers_of_b_);
    const auto registers = in_lanes ? RegisterPointers<const std::uint32_t>{} : warp_.source(OperandName::b);
    for (int reg = 0; reg < b_registers_; ++reg) {
      const std::uint32_t* const words = in_lanes ? registers_of_b_[reg].data() : registers[reg];
      if constexpr (by_neighbours) {
        const auto* from = reinterpret_cast<const std::uint8_t*>(words);
        for (int i = 0; i < block * columns; i += 2 * vector_rows) {
          const hn::Rebind<std::uint8_t, D16> d8;
          const hn::Rebind<std::int8_t, D16> ds8;
          const auto bytes = hn::LoadU(d8, from + i);
          hn::Store(is_signed ? hn::PromoteTo(D16(), hn::BitCast(ds8, bytes)) : hn::PromoteTo(D16(), bytes), D16(),
                    b_elements_ + reg * block * columns + i);
        }
      } else if constexpr (sparse) {
        for (int column = 0; column < columns; ++column)
          std::memcpy(b_ + column * max_b_words + reg * quad, words + column * quad, quad * sizeof *b_);
      } else {
        for (int lane = 0; lane < 32; lane += vector_rows) {
          const Word w = hn::LoadU(U32(), words + lane);
          for (int i = 0; i < planes; ++i) hn::Store(plane(w, i, is_signed), U32(), b_ + (reg * planes + i) * 32 + lane);
        }
      }
    }
  }

  /// Converts byte indices below eight into pairs of byte indices below sixteen.
  HWY_INLINE void find_neighbours() {
    const hn::Repartition<std::uint8_t, U32> d;
    for (int word = 0; word < plan_.a_words; ++word)
      for (int row = 0; row < rows; row += vector_rows)
        for (int i = 0; i < planes; ++i) {
          const auto places = hn::BitCast(d, doubled_neighbours(hn::Load(U32(), places_.bytes[word] + row), i));
          const Word first_byte = hn::BitCast(U32(), hn::Add(places, places));
          hn::Store(hn::Or(first_byte, hn::Set(U32(), 0x01000100u)), U32(), neighbour_places_[word * planes + i] + row);
        }
  }

  /// The elements of B that plane `i` of word `t` of the quads in register `b` of A's rows is multiplied by. Fast if `t` and `i` are
  /// constant.
  HWY_INLINE Word b_plane(int b, int t, int i, int column, int row) const {
    [[maybe_unused]] const int word = b * quad + t;
    if constexpr (by_neighbours) {
      const std::int16_t* eight = b_elements_ + (word / 2 * columns + column) * block + word % 2 * 8;
      return look_up_bytes(reinterpret_cast<const std::uint32_t*>(eight), 0, neighbour_places_[word * planes + i] + row);
    } else if constexpr (sparse) {
      const std::uint32_t* four_words = b_ + column * max_b_words + word / 2 * 4;  // for two words of A
      return plane(look_up_bytes(four_words, word % 2 * 8, places_.bytes[word] + row), i, plan_.signed_b);
    } else {
      return hn::Set(U32(), b_[(b * planes + i) * 32 + column * quad + t]);
    }
  }

  HWY_INLINE void multiply_all() {
    if (const ConstRegisterView& lanes = warps_.view(OperandName::c); !lanes.is_list())
      return for_each_row_vector<true>(lanes, [&](int i, int t, int row, Word w) HWY_ATTR { multiply(2 * t + i, row, w); });
    plan_.saturate ? multiply_list<true>() : multiply_list<false>();
  }

  template <bool saturate>
  HWY_INLINE void multiply_list() {
    const auto c = warp_.source(OperandName::c);
    const int second = high(0, 2);
    for (int i = 0; i < 2; ++i)
      for_each_row_vector(c[i], c[i + second], [&](int row, const Word* quads) HWY_ATTR {
        for (int t = 0; t < quad; ++t) hn::Store(result(2 * t + i, row, quads[t], saturate), U32(), d_[2 * t + i] + row);
      });
  }

  HWY_INLINE void multiply(int column, int row, Word c_bits) {
    hn::Store(result(column, row, c_bits, plan_.saturate), U32(), d_[column] + row);
  }

  HWY_INLINE Word result(int column, int row, Word c_bits, bool saturate) const {
    auto sum = hn::Zero(I32());
    for (int b = 0; b < a_registers_; ++b) {
      WARPMAT_UNROLL(4)
      for (int t = 0; t < quad; ++t) {
        WARPMAT_UNROLL(4)
        for (int i = 0; i < planes; ++i)
          sum = add_products(sum, hn::Load(U32(), a_[(b * quad + t) * planes + i] + row), b_plane(b, t, i, column, row));
      }
    }
    const auto c_value = hn::BitCast(I32(), c_bits);
    const auto total = hn::Add(sum, c_value);
    if (!saturate) return hn::BitCast(U32(), total);
    const auto overflow = hn::BroadcastSignBit(overflow_of(sum, c_value, total));
    const auto limit = hn::Xor(hn::BroadcastSignBit(sum), hn::Set(I32(), INT32_MAX));
    return hn::BitCast(U32(), hn::Or(hn::And(overflow, limit), hn::AndNot(overflow, total)));
  }

  HWY_INLINE hn::Vec<I32> add_products(hn::Vec<I32> sum, Word a, Word b) const {
    if constexpr (bits == 1) return hn::Add(sum, hn::BitCast(I32(), hn::PopulationCount(plan_.bit_xor ? hn::Xor(a, b) : hn::And(a, b))));
    return add_pair_products(I32(), sum, hn::BitCast(I32(), a), hn::BitCast(I32(), b));
  }

  void write() const {
    if (!warps_.written.is_list()) return store_result(d_, warps_.written);
    const auto registers = warp_.destination();
    const bool all_rows = plan_.rows == 16;
    for (int i = 0; i < 2; ++i) {
      HWY_ALIGN std::uint32_t copy[32];
      store_row_vectors(registers[i], all_rows ? registers[2 + i] : copy, [&](int row, Word* quads) HWY_ATTR {
        for (int t = 0; t < quad; ++t) quads[t] = hn::Load(U32(), d_[2 * t + i] + row);
      });
    }
  }

  const IntegerPlan& plan_;
  const Warps& warps_;
  WarpWords warp_{warps_, 0};
  const int a_registers_, b_registers_;       ///< of a row of A, of a column of B
  const bool may_keep_;                       ///< A or B of the warp before
  Register registers_of_b_[max_b_registers];  ///< if B is lane by lane
  HWY_ALIGN std::uint32_t a_[max_a_planes][rows];
  HWY_ALIGN std::uint32_t b_[max_b_planes];
  HWY_ALIGN std::uint32_t d_[columns][rows];
  // For a sparse A.
  Places places_;
  HWY_ALIGN std::int16_t b_elements_[max_b_elements];
  HWY_ALIGN std::uint32_t neighbour_places_[max_neighbour_places][rows];
};

template <int bits, bool sparse>
HWY_NOINLINE std::size_t run_integer_dot(const IntegerPlan& plan, const Warps& warps) {
  IntegerDot<bits, sparse> product(plan, warps);
  return execute_each(warps, [&](std::size_t warp) { return product.run(warp); });
}

template <int bits>
HWY_NOINLINE bool run_integer_chain(const IntegerPlan& plan, std::span<const Warps> chain) {
  with_products(
      chain, [&](const Warps& warps) HWY_ATTR { return IntegerDot<bits, false>(plan, warps); },
      [&](auto products) HWY_ATTR {
        [[maybe_unused]] const std::size_t executed = execute_products(products, chain.front().count);
        assert(executed == chain.front().count);  // none declines
      });
  return true;
}

template <int bits>
std::size_t run_sparse_integer_dot(const IntegerPlan& plan, const Warps& warps) {
#if HWY_TARGET == HWY_SSE4  // Highway shifts metadata by products of floats, which raise exceptions
  const RoundingMode mode(RoundingMode::toward_zero);
#endif
  return run_integer_dot<bits, true>(plan, warps);
}

std::size_t integer_dot(const IntegerPlan& plan, const Form&, const Warps& warps) {
  switch (plan.element_bits) {
    case 8: return plan.sparse ? run_sparse_integer_dot<8>(plan, warps) : run_integer_dot<8, false>(plan, warps);
    case 4: return plan.sparse ? run_sparse_integer_dot<4>(plan, warps) : run_integer_dot<4, false>(plan, warps);
    case 1: return run_integer_dot<1, false>(plan, warps);
  }
  return 0;
}

bool integer_chain(const IntegerPlan& plan, const Form&, std::span<const Warps> chain) {
  if (plan.sparse) return false;
  switch (plan.element_bits) {  // those of wgmma
    case 8: return run_integer_chain<8>(plan, chain);
    case 1: return run_integer_chain<1>(plan, chain);
  }
  return false;
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat {

HWY_EXPORT(integer_dot);
HWY_EXPORT(integer_chain);

std::size_t fast_integer_dot(const IntegerPlan& plan, const Form& form, const Warps& warps) {
  return WARPMAT_KERNEL(integer_dot)(plan, form, warps);
}

bool fast_integer_chain(const IntegerPlan& plan, const Form& form, std::span<const Warps> chain) {
  return WARPMAT_KERNEL(integer_chain)(plan, form, chain);
}

}  // namespace warpmat
#endif
