// D = A · B + C in floating point, all sixteen rows of a column at a time. Compiled once for each instruction set.
//
// The steps are those of numeric/dot.h. Products are exact in a float, or where bf16 and tf32 leave its range in a double; times
// 2^(fraction_bits − E) they are truncated to integers, whose sum is exact. The CPU rounds toward zero meanwhile, so that the last
// conversion rounds as the unit does.

#include <cstring>
#include <limits>

#include <warpmat/fast/fast.h>
#include <warpmat/fast/rounding_mode.h>
#include <warpmat/isa/scales.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "float_dot.cpp"
#include <hwy/foreach_target.h>

#include "elements-inl.h"
#include "vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

std::size_t float_dot(const FloatPlan&, const Form&, const Warps&) { return 0; }

#else

using I8 = hn::Repartition<std::int8_t, U32>;

/// Exponents of C that the usual case takes. All that a C of 2^-60 holds lies above what is truncated beside products of zeros.
constexpr int plain_c_exponent = 60;
constexpr int no_exponent = -30'000;

/// Byte i of each word, with its sign.
HWY_INLINE hn::Vec<I32> signed_byte(Word words, int i) { return hn::ShiftRight<24>(hn::BitCast(I32(), hn::ShiftLeftSame(words, 24 - 8 * i))); }
template <int i>
HWY_INLINE hn::Vec<I32> signed_byte(Word words) {
  return hn::ShiftRight<24>(hn::BitCast(I32(), hn::ShiftLeft<24 - 8 * i>(words)));
}

template <int bits, bool sparse>
class FloatDot {
 public:
  FloatDot(const FloatPlan& plan, const Form& form, const Warps& warps)
      : plan_(plan), form_(form), warps_(warps), decode_a_(plan.a, plan.wide), decode_b_(plan.b, plan.wide) {}

  /// Executes one warp, or declines.
  bool run(std::size_t warp) {
    warp_ = warp;
    if (plan_.split && c_overlaps_d()) return false;
    if (sparse && !read_places()) return false;
    padding_ = hn::Zero(U32());
    const bool plain_a = read_a(), plain_b = read_b(), plain_c = read_c();
    if (!hn::AllTrue(U32(), hn::Eq(padding_, hn::Zero(U32())))) return false;
    if (plan_.scaled && !read_scales()) return false;
    if (!plain_a || !plain_b || !plain_c || plan_.scaled || !multiply_plain()) multiply();
    if (plan_.split) add_c();
    write();
    return true;
  }

 private:
  static constexpr int per = 32 / bits;            // elements of a word
  static constexpr int block = quad * per;         // of a row in one register
  static constexpr int max_slots = max_row_words * per;
  static constexpr int max_b_elements = (sparse ? 2 : 1) * max_row_words * per * columns;

  const std::uint32_t* words(OperandName name, int word) const { return warps_.source(name, word, warp_); }
  std::uint32_t* destination(int word) const { return warps_.destination(word, warp_); }

  /// Whether a register of C is an earlier one of D: additions register by register would see the new value (execute_split_dot).
  bool c_overlaps_d() const {
    const auto& c = warps_.first.source(OperandName::c);
    for (std::size_t i = 1; i < c.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (c[i] == warps_.first.destination[j]) return true;
    return false;
  }

  // ---- Reading ------------------------------------------------------------------------------------------------------------------------
  //
  // A slot is a stored element of a row of A: slots 0 to block - 1 lie in the first pair of registers. The exponents of four slots make a
  // word; of 16-bit elements in the order 0, 2, 1, 3, which takes the fewest instructions.

  HWY_INLINE bool read_a() {
    Range range = decode_a_.empty_range();
    for (int b = 0; b < plan_.a_words / quad; ++b)
      for_each_row_vector(words(OperandName::a, 2 * b), words(OperandName::a, 2 * b + 1), [&](int row, const Word* quads) HWY_ATTR {
        Word exponents[quad];
        for (int t = 0; t < quad; ++t) {
          padding_ = hn::OrAnd(padding_, quads[t], hn::Set(U32(), plan_.padding_a));
          exponents[t] = decode_a_.exponents(decode_a_.magnitudes(quads[t], range));
          for (int i = 0; i < per; ++i) hn::Store(decode_a_.value(quads[t], i), F32(), a_[(b * quad + t) * per + i] + row);
        }
        for (int i = 0; i < per; ++i) hn::Store(pack(exponents, i), U32(), a_exponents_[b * per + i] + row);
      });
    return decode_a_.inside(range);
  }

  /// Bytes with the exponents of four slots, group i of those in four words.
  HWY_INLINE static Word pack(const Word* exponents, int i) {
    if constexpr (bits == 8) return exponents[i];
    if constexpr (bits == 16) {
      const Word low = hn::Set(U32(), 0x00ff00ffu);
      return hn::Or(hn::ShiftLeft<8>(hn::And(exponents[2 * i + 1], low)), hn::And(exponents[2 * i], low));
    }
    const Word low = hn::Set(U32(), 0xffu);
    const Word first = hn::OrAnd(hn::ShiftLeft<8>(hn::And(exponents[1], low)), exponents[0], low);
    return hn::Or(hn::Or(first, hn::ShiftLeft<16>(hn::And(exponents[2], low))), hn::ShiftLeft<24>(exponents[3]));
  }

  /// Where element k of a column of B is in b_ and b_exponents_: the elements of a register's quad beside each other.
  static constexpr int b_index(int k, int column) { return (k / block * columns + column) * block + k % block; }

  HWY_INLINE bool read_b() {
    Range range = decode_b_.empty_range();
    for (int reg = 0; reg < plan_.b_words / quad; ++reg)
      for (int lane = 0; lane < 32; lane += vector_rows) {
        const Word w = hn::LoadU(U32(), words(OperandName::b, reg) + lane);
        const int first = (reg * 32 + lane) * per;
        padding_ = hn::OrAnd(padding_, w, hn::Set(U32(), plan_.padding_b));
        if constexpr (bits == 16) {
          for (int half = 0; half < 2; ++half) {
            const auto* from = reinterpret_cast<const std::uint16_t*>(words(OperandName::b, reg) + lane) + half * vector_rows;
            hn::Store(decode_b_.halves(from), F32(), b_ + first + half * vector_rows);
          }
        } else {
          hn::Vec<F32> values[per];
          for (int i = 0; i < per; ++i) values[i] = decode_b_.value(w, i);
          if constexpr (per == 1) hn::Store(values[0], F32(), b_ + first);
          if constexpr (per == 4) hn::StoreInterleaved4(values[0], values[1], values[2], values[3], F32(), b_ + first);
        }
        store_bytes(decode_b_.exponents(decode_b_.magnitudes(w, range)), b_exponents_ + first);
      }
    if constexpr (sparse) {
      const int k = plan_.b_words * per;
      for (int i = 0; i < k * columns; i += block)
        std::memcpy(column_exponents_ + i / block % columns * max_k + i / (block * columns) * block, b_exponents_ + i, block);
    }
    return decode_b_.inside(range);
  }

  /// The exponents of one vector of words, in the order in which A's are packed; for a sparse A in the order of k.
  HWY_INLINE static void store_bytes(Word exponents, std::int8_t* to) {
    if constexpr (bits == 16 && sparse) {
      const hn::Repartition<std::uint16_t, U32> d;
      const hn::Rebind<std::uint8_t, decltype(d)> d8;
      hn::StoreU(hn::TruncateTo(d8, hn::BitCast(d, exponents)), d8, reinterpret_cast<std::uint8_t*>(to));
    } else if constexpr (bits == 8) {
      hn::StoreU(hn::BitCast(I8(), exponents), I8(), to);
    } else if constexpr (bits == 16) {
      const hn::Repartition<std::uint64_t, U32> d;
      const hn::Half<U32> half;
      const auto low = hn::And(hn::BitCast(d, exponents), hn::Set(d, 0x00ff00ff00ff00ffu));
      hn::StoreU(hn::TruncateTo(half, hn::Or(low, hn::ShiftRight<24>(low))), half, reinterpret_cast<std::uint32_t*>(to));
    } else {
      const hn::Rebind<std::uint8_t, U32> d8;
      hn::StoreU(hn::TruncateTo(d8, exponents), d8, reinterpret_cast<std::uint8_t*>(to));
    }
  }

  HWY_INLINE bool read_c() {
    if (plan_.f16_accumulator) return read_f16_c();
    Word least_below = hn::Set(U32(), ~0u), most = hn::Zero(U32());
    for (int i = 0; i < 2; ++i)
      for_each_row_vector(words(OperandName::c, i), words(OperandName::c, 2 + i), [&](int row, const Word* quads) HWY_ATTR {
        for (int t = 0; t < quad; ++t) {
          const Word magnitude = hn::ShiftLeft<1>(quads[t]);
          least_below = hn::Min(least_below, hn::Sub(magnitude, hn::Set(U32(), 1u)));
          most = hn::Max(most, magnitude);
          hn::Store(quads[t], U32(), c_[2 * t + i] + row);
        }
      });
    const auto too_small = hn::Lt(least_below, hn::Set(U32(), (127u - plain_c_exponent) << 24));
    return plan_.split || hn::AllFalse(U32(), hn::Or(too_small, hn::Gt(most, hn::Set(U32(), (127u + plain_c_exponent) << 24))));
  }

  HWY_INLINE bool read_f16_c() {
    Word most = hn::Zero(U32());
    const auto keep = [&](int column, int row, Word c) HWY_ATTR {
      most = hn::Max(most, hn::And(c, hn::Set(U32(), 0x7fffu)));
      hn::Store(c, U32(), c_[column] + row);
    };
    for_each_row_vector(words(OperandName::c, 0), words(OperandName::c, 1), [&](int row, const Word* quads) HWY_ATTR {
      for (int t = 0; t < quad; ++t) {
        keep(2 * t, row, hn::And(quads[t], hn::Set(U32(), 0xffffu)));
        keep(2 * t + 1, row, hn::ShiftRight<16>(quads[t]));
      }
    });
    return plan_.split || hn::AllFalse(U32(), hn::Gt(most, hn::Set(U32(), 0x7bffu)));
  }

  /// Finds the element of B that each slot meets: its number among the four from 4 · (slot / 2) on.
  bool read_places() {
    if (!HWY_NAMESPACE::read_places(plan_.metadata, words(OperandName::e, 0), *words(OperandName::selector, 0), plan_.a_words * per, byte_places_)) return false;
    const U32 d;
    for (int row = 0; row < rows; row += vector_rows)
      for (int slot = 0; slot < plan_.a_words * per; slot += 4) {
        std::uint32_t* bytes = byte_places_.bytes[slot / 4] + row;
        const Word four = hn::Load(d, bytes);
        for (int i = 0; i < 4; ++i) hn::Store(hn::And(hn::ShiftRightSame(four, 8 * i), hn::Set(d, 3u)), d, places_[slot + i] + row);
        if constexpr (bits == 16) {  // as A's exponents are packed
          const Word ends = hn::And(four, hn::Set(d, 0xff0000ffu));
          const Word middle = hn::Or(hn::And(hn::ShiftLeft<8>(four), hn::Set(d, 0x00ff0000u)), hn::And(hn::ShiftRight<8>(four), hn::Set(d, 0x0000ff00u)));
          hn::Store(hn::Or(ends, middle), d, bytes);
        }
      }
    return true;
  }

  /// The exponents of the scale factors, and whether there is a NaN. False for ids that are not defined, or not the same in all lanes.
  bool read_scales() {
    const auto matrix = [&](OperandName name) {
      const std::uint32_t *bytes = words(name, 0), *threads = words(name, 1);
      const ScaleIds ids{bytes[0], threads[0]};
      for (int lane = 1; lane < 32; ++lane)
        if (ids != ScaleIds{bytes[lane], threads[lane]}) return -1;
      return undefined_ids(form_, name, ids) ? -1 : scale_matrix(form_, name, ids);
    };
    const int matrix_a = matrix(OperandName::ids_a), matrix_b = matrix(OperandName::ids_b);
    if (matrix_a < 0 || matrix_b < 0) return false;
    const auto read = [&](const ScalePlan& plan, OperandName name, int which, int count, std::int32_t* exponents, float* nans) {
      const BitPlace& m = plan.matrices[static_cast<std::size_t>(which)];
      for (int i = 0; i < count; ++i) {
        const BitPlace& p = plan.lines[static_cast<std::size_t>(i)];
        const std::uint32_t factor = words(name, 0)[p.lane + m.lane] >> (p.bit + m.bit) & 0xff;
        exponents[i] = static_cast<std::int32_t>(factor) - 127;
        nans[i] = factor == 0xff ? std::numeric_limits<float>::quiet_NaN() : 0;
      }
    };
    read(plan_.scale_a, OperandName::scale_a, matrix_a, rows, scale_a_, nan_a_);
    read(plan_.scale_b, OperandName::scale_b, matrix_b, columns, scale_b_, nan_b_);
    return true;
  }

  // ---- What one step takes ------------------------------------------------------------------------------------------------------------

  struct Step {
    int first_slot, last_slot;  ///< whole blocks
    int first_byte, last_byte;  ///< of each four slots: 0 to 4, or half of them
  };

  /// Calls visit(step) for the steps of one result.
  template <class Visit>
  HWY_INLINE void for_each_step(Visit visit) const {
    const int slots = plan_.a_words * per, length = plan_.step_words * per;
    if (plan_.split) {
      visit(Step{0, slots, 0, 2});
      visit(Step{0, slots, 2, 4});
    } else {
      for (int slot = 0; slot < slots; slot += length) visit(Step{slot, HWY_MIN(slot + length, slots), 0, 4});
    }
  }

  /// The elements of column `column` of B that `slot` meets, for each row.
  HWY_INLINE hn::Vec<F32> b_values(int slot, int column, int row) const {
    if constexpr (sparse)
      return look_up(b_ + b_index(slot / 2 * 4, column), places_[slot] + row);
    else
      return hn::Set(F32(), b_[b_index(slot, column)]);
  }

  HWY_INLINE static hn::Vec<F32> look_up(const float* four, const std::uint32_t* places) {
    return hn::TableLookupLanes(hn::LoadDup128(F32(), four), hn::IndicesFromVec(F32(), hn::BitCast(I32(), hn::Load(U32(), places))));
  }

  HWY_INLINE hn::Vec<I8> b_exponents(int pack, int column, int row) const {
    const I8 d;
    if constexpr (sparse) {
      const auto table = hn::LoadDup128(d, column_exponents_ + column * max_k + pack * 8);
      return hn::TableLookupBytes(table, hn::BitCast(d, hn::Load(U32(), byte_places_.bytes[pack] + row)));
    } else {
      std::uint32_t four;
      std::memcpy(&four, b_exponents_ + b_index(4 * pack, column), sizeof four);
      return hn::BitCast(d, hn::Set(U32(), four));
    }
  }

  HWY_INLINE hn::Vec<I32> largest_exponent(const Step& s, int column, int row) const {
    const I8 d;
    auto largest = hn::Set(d, std::int8_t{-100});
    for (int pack = s.first_slot / 4; pack < s.last_slot / 4; ++pack)
      largest = hn::Max(largest, hn::SaturatedAdd(hn::BitCast(d, hn::Load(U32(), a_exponents_[pack] + row)), b_exponents(pack, column, row)));
    const Word packed = hn::BitCast(U32(), largest);
    auto out = signed_byte(packed, s.first_byte);
    for (int i = s.first_byte + 1; i < s.last_byte; ++i) out = hn::Max(out, signed_byte(packed, i));
    return out;
  }

  /// How much too small products are.
  int missing_exponent() const { return bits == 8 ? 30 - plan_.a.bias - plan_.b.bias : 0; }

  // ---- The usual case: all numbers are finite, products are normal floats, C is 0 or near the middle of its range -------------------------

  /// False where a sum leaves the range of an int32, or a result that of f16.
  bool multiply_plain() {
    if (plan_.f16_accumulator) return plan_.split ? multiply_plain<true, true>() : multiply_plain<true, false>();
    return plan_.split ? multiply_plain<false, true>() : multiply_plain<false, false>();
  }

  template <bool f16_accumulator, bool split>
  bool multiply_plain() {
    const Plain p(plan_, missing_exponent());
    auto overflow = hn::Zero(I32());
    const unsigned blocks = static_cast<unsigned>(plan_.a_words / quad), step_blocks = HWY_MIN(static_cast<unsigned>(plan_.step_words / quad), blocks);
    for (int column = 0; column < columns; ++column)
      for (int row = 0; row < rows; row += vector_rows) {
        Word c = split ? hn::Zero(U32()) : hn::Load(U32(), c_[column] + row);
        if constexpr (split) {
          c = plain_step<f16_accumulator, 0, 2>(p, 0, blocks, column, row, c, overflow);
          c = plain_step<f16_accumulator, 2, 4>(p, 0, blocks, column, row, c, overflow);
        } else {
          for (unsigned first = 0; first < blocks; first += step_blocks)
            c = plain_step<f16_accumulator, 0, 4>(p, first, first + step_blocks, column, row, c, overflow);
        }
        hn::Store(c, U32(), d_[column] + row);
      }
    return hn::AllFalse(I32(), hn::Lt(overflow, hn::Zero(I32())));
  }

  static constexpr int bias = 127;

  /// What is the same for all results. Factors are powers of two: a factor's biased exponent is the largest one minus E's.
  struct Plain {
    hn::Vec<I32> fraction_bits, largest_factor, largest_product_factor;
    Word kept;
    HWY_ATTR Plain(const FloatPlan& plan, int missing)
        : fraction_bits(hn::Set(I32(), plan.fraction_bits)), largest_factor(hn::Set(I32(), plan.fraction_bits + 2 * bias)),
          largest_product_factor(hn::Set(I32(), plan.fraction_bits + missing + 2 * bias)),
          kept(hn::Set(U32(), ~0u << (23 - plan.result_fraction_bits))) {}
  };

  /// One step over the blocks from `first_block` to `last_block` - 1. It takes bytes `first` to `last` - 1 of each four slots: all, or those
  /// of one half of a split product.
  template <bool f16_accumulator, int first, int last>
  HWY_INLINE Word plain_step(const Plain& p, unsigned first_block, unsigned last_block, int column, int row, Word c_bits, hn::Vec<I32>& overflow) const {
    const I32 d;
    const auto c = f16_accumulator ? f16_to_f32(c_bits) : hn::BitCast(F32(), c_bits);
    // Exponents are biased as f32's are. That of a zero is below all products'. A subnormal f16 counts with its format's smallest exponent.
    auto c_exponent = hn::BitCast(d, hn::ShiftRight<24>(hn::ShiftLeft<1>(hn::BitCast(U32(), c))));
    if constexpr (f16_accumulator) c_exponent = hn::IfThenElseZero(hn::Gt(c_exponent, hn::Zero(d)), hn::Max(c_exponent, hn::Set(d, bias - 14)));
    const auto products = hn::Add(largest_plain_exponent<first, last>(first_block, last_block, column, row), hn::Set(d, bias));
    const auto exponent = hn::Max(products, c_exponent);
    const auto c_factor = hn::BitCast(F32(), hn::ShiftLeft<23>(hn::Sub(p.largest_factor, exponent)));
    auto sum = truncate(hn::Mul(c, c_factor));
    const auto factor = bits == 8 ? hn::BitCast(F32(), hn::ShiftLeft<23>(hn::Sub(p.largest_product_factor, exponent))) : c_factor;
    const float* a = a_[first_block * block] + row;
    const std::uint32_t* places = sparse ? places_[first_block * block] + row : nullptr;
    constexpr unsigned b_blocks = sparse ? 2 : 1;  // of a column, for one of A
    const float* b = b_ + (first_block * b_blocks * columns + static_cast<unsigned>(column)) * block;
    for (unsigned i = first_block; i < last_block; ++i, a += block * rows, b += b_blocks * block * columns) {
      // As many products at a time as an int32 surely holds the sum of.
      constexpr int group = HWY_MIN(8 * 4 / (last - first), block);
      HWY_UNROLL(2)
      for (int k = 0; k < block; k += group) {
        const auto total = sum_of_products<group, first, last>(a, b, places, k, factor);
        const auto both = hn::Add(sum, total);
        // C and the first group fit.
        if (i != first_block || k != 0) overflow = hn::Or(overflow, hn::AndNot(hn::Xor(sum, total), hn::Xor(sum, both)));
        sum = both;
      }
      if constexpr (sparse) places += block * rows;
    }
    const auto unit = hn::BitCast(F32(), hn::ShiftLeft<23>(hn::Sub(exponent, p.fraction_bits)));
    return round_plain<f16_accumulator>(sum, unit, p.kept, overflow);
  }

  template <int first, int last>
  HWY_INLINE hn::Vec<I32> largest_plain_exponent(unsigned first_block, unsigned last_block, int column, int row) const {
    const I8 d;
    auto largest = hn::Set(d, std::int8_t{-100});
    const std::uint32_t* a = a_exponents_[first_block * (block / 4)] + row;
    for (unsigned i = first_block; i < last_block; ++i, a += block / 4 * rows)
      HWY_UNROLL(4)
      for (int k = 0; k < block / 4; ++k) {
        const auto b = b_exponents(static_cast<int>(i) * (block / 4) + k, column, row);
        largest = hn::Max(largest, hn::SaturatedAdd(hn::BitCast(d, hn::Load(U32(), a + k * rows)), b));
      }
    Word packed = hn::BitCast(U32(), largest);
    if constexpr (last - first == 4) packed = hn::BitCast(U32(), hn::Max(largest, hn::BitCast(d, hn::ShiftRight<16>(packed))));
    const auto pair = hn::Max(hn::BitCast(d, packed), hn::BitCast(d, hn::ShiftRight<8>(packed)));
    return signed_byte<last - first == 4 ? 0 : first>(hn::BitCast(U32(), pair));
  }

  /// The products of `group` slots of one block, from slot `k` of it on. Of a sparse A, four elements of B belong to two slots.
  template <int group, int first, int last>
  HWY_INLINE hn::Vec<I32> sum_of_products(const float* a, const float* b, const std::uint32_t* places, int k, hn::Vec<F32> factor) const {
    auto total = hn::Zero(I32());
    HWY_UNROLL(16)
    for (int i = k; i < k + group; ++i) {
      if (i % 4 < first || i % 4 >= last) continue;
      hn::Vec<F32> met;
      if constexpr (sparse)
        met = look_up(b + i / 2 * 4 / block * (columns * block) + i / 2 * 4 % block, places + i * rows);
      else
        met = hn::Set(F32(), b[i]);
      total = hn::Add(total, truncate(hn::Mul(hn::Mul(hn::Load(F32(), a + i * rows), met), factor)));
    }
    return total;
  }

  template <bool f16_accumulator>
  HWY_INLINE Word round_plain(hn::Vec<I32> sum, hn::Vec<F32> unit, Word kept, hn::Vec<I32>& overflow) const {
    const auto truncated = hn::ConvertTo(F32(), sum);
    if constexpr (!f16_accumulator) return hn::And(hn::BitCast(U32(), hn::Mul(truncated, unit)), kept);
    // The last bit tells that there were more, so that rounding once more rounds as the exact sum would.
    const auto inexact = hn::VecFromMask(I32(), hn::Ne(truncate(truncated), sum));
    const auto odd = hn::BitCast(F32(), hn::OrAnd(hn::BitCast(I32(), truncated), inexact, hn::Set(I32(), 1)));
    const Word result = f32_to_f16(hn::Mul(odd, unit));
    const auto infinity = hn::Set(I32(), 0x7c00);
    overflow = hn::Or(overflow, hn::VecFromMask(I32(), hn::Eq(hn::And(hn::BitCast(I32(), result), infinity), infinity)));
    return result;
  }

  // ---- Any numbers --------------------------------------------------------------------------------------------------------------------

  /// Twice a vector's half: the rows of a vector of words as doubles.
  struct Doubles {
    hn::Vec<F64> lower, upper;
  };

  HWY_INLINE static Doubles promote(hn::Vec<F32> v) {
    return {hn::PromoteTo(F64(), hn::LowerHalf(v)), hn::PromoteTo(F64(), hn::UpperHalf(hn::Half<F32>(), v))};
  }
  HWY_INLINE static Doubles promote(hn::Vec<I32> v) { return {lower_to_f64(v), upper_to_f64(v)}; }
  HWY_INLINE static Doubles power_of_two_f64(hn::Vec<I32> v) { return {lower_power_of_two(v), upper_power_of_two(v)}; }
  HWY_INLINE static void add(Doubles& sum, const Doubles& v) {
    sum.lower = hn::Add(sum.lower, v.lower);
    sum.upper = hn::Add(sum.upper, v.upper);
  }
  HWY_INLINE static Doubles multiply(const Doubles& a, const Doubles& b) { return {hn::Mul(a.lower, b.lower), hn::Mul(a.upper, b.upper)}; }
  HWY_INLINE static hn::Vec<F32> demote(const Doubles& v) {
    const hn::Half<F32> half;
    return hn::Combine(F32(), hn::DemoteTo(half, v.upper), hn::DemoteTo(half, v.lower));
  }

  void multiply() {
    for_each_vector([&](int column, int row) HWY_ATTR {
      Word c = plan_.split ? hn::Zero(U32()) : hn::Load(U32(), c_[column] + row);
      for_each_step([&](const Step& s) HWY_ATTR { c = plan_.wide || plan_.scaled ? step<true>(s, column, row, c) : step<false>(s, column, row, c); });
      hn::Store(c, U32(), d_[column] + row);
    });
  }

  struct Accumulator {
    hn::Vec<I32> exponent;     ///< no_exponent for a zero
    hn::Vec<I32> significand;  ///< a normal number's unit bit is bit 30
    hn::Vec<I32> sign;         ///< 0 or -1
    hn::Vec<F32> special;      ///< its value if that is infinite or NaN, else some number
  };

  HWY_INLINE Accumulator decode(Word c) const {
    const I32 d;
    const int fraction_bits = plan_.f16_accumulator ? 10 : 23, exponent_bits = plan_.f16_accumulator ? 5 : 8;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const auto all = hn::BitCast(d, c);
    const auto fraction = hn::And(all, hn::Set(d, (1 << fraction_bits) - 1));
    const auto field = hn::And(hn::ShiftRightSame(all, fraction_bits), hn::Set(d, (1 << exponent_bits) - 1));
    const auto significand = hn::IfThenElse(hn::Eq(field, hn::Zero(d)), fraction, hn::Or(fraction, hn::Set(d, 1 << fraction_bits)));
    const auto exponent = hn::Sub(hn::Max(field, hn::Set(d, 1)), hn::Set(d, bias));
    Accumulator out{hn::IfThenElse(hn::Eq(significand, hn::Zero(d)), hn::Set(d, no_exponent), exponent),
                    hn::ShiftLeftSame(significand, 30 - fraction_bits),
                    hn::BroadcastSignBit(hn::ShiftLeftSame(all, 31 - fraction_bits - exponent_bits)), hn::BitCast(F32(), all)};
    if (plan_.f16_accumulator) {
      const auto sign = hn::And(out.sign, hn::Set(d, INT32_MIN));
      const auto as_f32 = hn::Or(hn::Or(sign, hn::Set(d, 0x7f800000)), hn::ShiftLeft<13>(fraction));
      out.special = hn::BitCast(F32(), hn::IfThenElseZero(hn::Eq(field, hn::Set(d, 31)), as_f32));
    }
    return out;
  }

  /// The largest exponent of the products where elements have the whole range of f32.
  HWY_INLINE hn::Vec<I32> largest_wide_exponent(const Step& s, int column, int row) const {
    const I32 d;
    const auto exponents = [&](hn::Vec<F32> v) HWY_ATTR {
      const auto magnitude = hn::And(hn::BitCast(d, v), hn::Set(d, 0x7fffffff));
      return hn::IfThenElse(hn::Eq(magnitude, hn::Zero(d)), hn::Set(d, no_exponent), hn::Max(hn::ShiftRight<23>(magnitude), hn::Set(d, 1)));
    };
    auto largest = hn::Set(d, no_exponent);
    for (int slot = s.first_slot; slot < s.last_slot; ++slot) {
      largest = hn::Max(largest, hn::Add(exponents(hn::Load(F32(), a_[slot] + row)), exponents(b_values(slot, column, row))));
    }
    return hn::Sub(largest, hn::Set(d, 2 * 127));
  }

  /// With `doubles` products may leave the range of a float, or are scaled.
  template <bool doubles>
  HWY_INLINE Word step(const Step& s, int column, int row, Word c_bits) const {
    const I32 d;
    const Accumulator c = decode(c_bits);
    auto products = plan_.wide ? largest_wide_exponent(s, column, row) : largest_exponent(s, column, row);
    products = hn::IfThenElse(hn::Lt(products, hn::Set(d, plan_.wide ? -1000 : 2 * -plain_exponent - 1)), hn::Set(d, no_exponent), products);
    auto factor_exponent = hn::Zero(d);
    if (plan_.scaled) {
      factor_exponent = hn::Add(hn::Load(d, scale_a_ + row), hn::Set(d, scale_b_[column]));
      products = hn::Add(products, factor_exponent);
    }
    const auto exponent = hn::Max(hn::Max(products, c.exponent), hn::Set(d, plan_.least_exponent));
    const auto c_shift = hn::Min(hn::Add(hn::Sub(exponent, c.exponent), hn::Set(d, 30 - plan_.fraction_bits)), hn::Set(d, 31));
    const auto c_magnitude = hn::BitCast(d, hn::Shr(hn::BitCast(U32(), c.significand), hn::BitCast(U32(), c_shift)));
    Doubles sum = promote(hn::Sub(hn::Xor(c_magnitude, c.sign), c.sign));
    const auto scale = hn::Add(hn::Sub(hn::Set(d, plan_.fraction_bits), exponent), factor_exponent);
    hn::Vec<F32> special;  // infinite or NaN if the sum is
    if constexpr (doubles)
      special = add_doubles(s, column, row, scale, sum, c.special);
    else
      special = add_floats(s, column, row, scale, sum, c.special);
    return with_specials(round(sum, exponent), special);
  }

  HWY_INLINE hn::Vec<F32> add_doubles(const Step& s, int column, int row, hn::Vec<I32> scale, Doubles& sum, hn::Vec<F32> c) const {
    const I32 d;
    Doubles special = promote(c);
    if (plan_.scaled) add(special, promote(hn::Add(hn::Load(F32(), nan_a_ + row), hn::Set(F32(), nan_b_[column]))));
    // A product is less than 2^258, of narrow formats 2^34: with the smallest scale that is used, nothing of it remains.
    const auto bounded = hn::Max(hn::Min(scale, hn::Set(d, 400)), hn::Set(d, -400));
    const Doubles factor = power_of_two_f64(hn::Add(bounded, hn::Set(d, missing_exponent())));
    for (int slot = s.first_slot; slot < s.last_slot; ++slot) {
      if (slot % 4 < s.first_byte || slot % 4 >= s.last_byte) continue;
      const Doubles p = multiply(promote(hn::Load(F32(), a_[slot] + row)), promote(b_values(slot, column, row)));
      add(special, p);
      const Doubles scaled = multiply(p, factor);
      add(sum, {hn::Trunc(scaled.lower), hn::Trunc(scaled.upper)});
    }
    return demote({infinite_or_zero(special.lower), infinite_or_zero(special.upper)});
  }

  HWY_INLINE hn::Vec<F32> add_floats(const Step& s, int column, int row, hn::Vec<I32> scale, Doubles& sum, hn::Vec<F32> special) const {
    const I32 d;
    const auto bounded = hn::Max(hn::Min(scale, hn::Set(d, 90)), hn::Set(d, -60));
    const auto factor = power_of_two(hn::Add(bounded, hn::Set(d, missing_exponent())));
    for (int slot = s.first_slot; slot < s.last_slot; slot += 4) {
      auto total = hn::Zero(d);
      for (int i = slot + s.first_byte; i < slot + s.last_byte; ++i) {
        const auto product = hn::Mul(hn::Load(F32(), a_[i] + row), b_values(i, column, row));
        special = hn::Add(special, product);
        total = hn::Add(total, truncate(hn::Mul(product, factor)));
      }
      add(sum, promote(total));
    }
    return special;
  }

  /// `x` where it is infinite or NaN, else 0.
  HWY_INLINE static hn::Vec<F64> infinite_or_zero(hn::Vec<F64> x) {
    return hn::IfThenZeroElse(hn::Lt(hn::Abs(x), hn::Set(F64(), 1e300)), x);
  }

  /// sum · 2^(exponent − fraction_bits) in the accumulator's format.
  HWY_INLINE Word round(const Doubles& sum, hn::Vec<I32> exponent) const {
    const U32 d;
    const auto unit = hn::Max(hn::Sub(exponent, hn::Set(I32(), plan_.fraction_bits)), hn::Set(I32(), -400));
    const Doubles exact = multiply(sum, power_of_two_f64(unit));
    const auto truncated = demote(exact);
    if (plan_.f16_accumulator) {
      const Doubles back = promote(truncated);
      const auto one = hn::Set(F64(), 1.0);
      const Doubles inexact{hn::IfThenElseZero(hn::Ne(exact.lower, back.lower), one), hn::IfThenElseZero(hn::Ne(exact.upper, back.upper), one)};
      const Word last = hn::IfThenElseZero(hn::Ne(hn::BitCast(d, demote(inexact)), hn::Zero(d)), hn::Set(d, 1u));
      return f32_to_f16(hn::BitCast(F32(), hn::Or(hn::BitCast(d, truncated), last)));
    }
    // Toward zero, the conversion stops at the largest number.
    const auto limit = hn::Set(F64(), 0x1p128), huge = hn::Set(F64(), 1.0);
    const Doubles over{hn::IfThenElseZero(hn::Ge(hn::Abs(exact.lower), limit), huge), hn::IfThenElseZero(hn::Ge(hn::Abs(exact.upper), limit), huge)};
    const Word bits32 = hn::BitCast(d, truncated);
    const Word infinity = hn::Or(hn::And(bits32, hn::Set(d, 0x80000000u)), hn::Set(d, 0x7f800000u));
    const Word result = hn::IfThenElse(hn::Ne(hn::BitCast(d, demote(over)), hn::Zero(d)), infinity, bits32);
    const Word kept = hn::And(result, hn::Set(d, ~0u << (23 - plan_.result_fraction_bits)));
    return hn::IfThenZeroElse(hn::Eq(hn::ShiftLeft<1>(kept), hn::Zero(d)), kept);
  }

  /// `result`, except where `special` is infinite or NaN.
  HWY_INLINE Word with_specials(Word result, hn::Vec<F32> special) const {
    const U32 d;
    const Word all = hn::BitCast(d, special);
    const Word magnitude = hn::And(all, hn::Set(d, 0x7fffffffu)), sign = hn::And(all, hn::Set(d, 0x80000000u));
    const Word infinity = hn::Set(d, plan_.f16_accumulator ? 0x7c00u : 0x7f800000u), nan = hn::Set(d, plan_.f16_accumulator ? 0x7fffu : 0x7fffffffu);
    const Word limit = hn::Set(d, 0x7f800000u);
    result = hn::IfThenElse(hn::Eq(magnitude, limit), hn::Or(infinity, hn::ShiftRightSame(sign, plan_.f16_accumulator ? 16 : 0)), result);
    return hn::IfThenElse(hn::Gt(magnitude, limit), nan, result);
  }

  // ---- Writing ------------------------------------------------------------------------------------------------------------------------

  /// D = D + C, IEEE's addition to nearest even. From f32 to f16 the sum is rounded twice, but an f32 has bits enough for that not to show.
  void add_c() {
    const U32 d;
    HWY_ALIGN float sums[columns][rows], c[columns][rows];
    const auto widen = [&](Word w) HWY_ATTR { return plan_.f16_accumulator ? f16_to_f32(w) : hn::BitCast(F32(), w); };
    for_each_vector([&](int column, int row) HWY_ATTR {
      hn::Store(widen(hn::Load(d, d_[column] + row)), F32(), sums[column] + row);
      hn::Store(widen(hn::Load(d, c_[column] + row)), F32(), c[column] + row);
    });
    {
      const RoundingMode mode(RoundingMode::nearest);
      add_arrays(sums[0], c[0]);
    }
    const Word nan = hn::Set(d, plan_.f16_accumulator ? 0x7fffu : 0x7fffffffu);
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

  /// A call of its own, so that no addition is moved to where the CPU rounds otherwise.
  static HWY_NOINLINE void add_arrays(float* sums, const float* other) {
    for (int i = 0; i < columns * rows; i += vector_rows)
      hn::Store(hn::Add(hn::Load(F32(), sums + i), hn::Load(F32(), other + i)), F32(), sums + i);
  }

  HWY_INLINE void write() const {
    if (plan_.f16_accumulator) {
      store_row_vectors(destination(0), destination(1), [&](int row, Word* quads) HWY_ATTR {
        for (int t = 0; t < quad; ++t)
          quads[t] = hn::Or(hn::Load(U32(), d_[2 * t] + row), hn::ShiftLeft<16>(hn::Load(U32(), d_[2 * t + 1] + row)));
      });
      return;
    }
    for (int i = 0; i < 2; ++i)
      store_row_vectors(destination(i), destination(2 + i), [&](int row, Word* quads) HWY_ATTR {
        for (int t = 0; t < quad; ++t) quads[t] = hn::Load(U32(), d_[2 * t + i] + row);
      });
  }

  const FloatPlan& plan_;
  const Form& form_;
  const Warps& warps_;
  const Decoder<bits> decode_a_, decode_b_;
  std::size_t warp_ = 0;
  Word padding_;
  HWY_ALIGN float a_[max_slots][rows];
  HWY_ALIGN std::uint32_t a_exponents_[max_slots / 4][rows];
  HWY_ALIGN float b_[max_b_elements];
  HWY_ALIGN std::int8_t b_exponents_[max_b_elements];
  HWY_ALIGN std::uint32_t c_[columns][rows];
  HWY_ALIGN std::uint32_t d_[columns][rows];
  // Of a sparse A.
  static constexpr int max_k = 2 * max_slots;
  HWY_ALIGN std::uint32_t places_[sparse ? max_slots : 1][rows];
  Places byte_places_;
  HWY_ALIGN std::int8_t column_exponents_[sparse ? columns * max_k + 16 : 1];
  // With scale factors.
  HWY_ALIGN std::int32_t scale_a_[rows], scale_b_[columns];
  HWY_ALIGN float nan_a_[rows], nan_b_[columns];
};

template <int bits, bool sparse>
std::size_t run_float_dot(const FloatPlan& plan, const Form& form, const Warps& warps) {
  FloatDot<bits, sparse> product(plan, form, warps);
  return execute_each(warps, [&](std::size_t warp) { return product.run(warp); });
}

std::size_t float_dot(const FloatPlan& plan, const Form& form, const Warps& warps) {
  const RoundingMode mode(RoundingMode::toward_zero);
  switch (plan.container_bits) {
    case 8: return plan.sparse ? run_float_dot<8, true>(plan, form, warps) : run_float_dot<8, false>(plan, form, warps);
    case 16: return plan.sparse ? run_float_dot<16, true>(plan, form, warps) : run_float_dot<16, false>(plan, form, warps);
    case 32: return plan.sparse ? run_float_dot<32, true>(plan, form, warps) : run_float_dot<32, false>(plan, form, warps);
  }
  return 0;
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat {

HWY_EXPORT(float_dot);

std::size_t fast_float_dot(const FloatPlan& plan, const Form& form, const Warps& warps) {
  return HWY_DYNAMIC_DISPATCH(float_dot)(plan, form, warps);
}

}  // namespace warpmat
#endif
