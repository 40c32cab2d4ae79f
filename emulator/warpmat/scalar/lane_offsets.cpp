// The addresses of a warp's access, compiled once for each instruction set.

#include <warpmat/scalar/lane_offsets.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include <warpmat/numeric/kernels_target.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/scalar/lane_offsets.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::scalar::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t lane_count = 32;
constexpr std::uint32_t every_lane = 0xffffffff;

using Words = hn::CappedTag<std::uint32_t, lane_count / 2>;  // find_neighbours() reads a vector from lane 1 on
using Word = hn::Vec<Words>;
using Offsets = std::array<std::uint32_t, lane_count>;

/// Which of the lanes from `first` on are among `lanes`.
HWY_INLINE hn::Mask<Words> part_of(std::uint32_t lanes, std::size_t first) {
  alignas(8) const std::array<std::uint32_t, 2> bits{lanes >> first, 0};
  return hn::LoadMaskBits(Words(), reinterpret_cast<const std::uint8_t*>(bits.data()));
}

/// Low halves of the sums of base and `add` from lane `first` on, and their high halves.
struct Sums {
  Word low, high;
};

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE Sums wide_sums(const LaneAddresses& a, std::size_t first) {
  const Words d;
  const std::uint64_t sum = static_cast<const std::uint64_t*>(a.base)[first] + a.add;
  return {hn::Set(d, static_cast<std::uint32_t>(sum)), hn::Set(d, static_cast<std::uint32_t>(sum >> 32))};
}
#else
HWY_INLINE Sums wide_sums(const LaneAddresses& a, std::size_t first) {
  const Words d;
  const hn::Repartition<std::uint64_t, Words> dw;
  const auto* const base = static_cast<const std::uint64_t*>(a.base) + first;
  const auto add = hn::Set(dw, a.add);
  const Word one = hn::BitCast(d, hn::Add(hn::Load(dw, base), add));
  const Word other = hn::BitCast(d, hn::Add(hn::Load(dw, base + hn::Lanes(dw)), add));
  return {hn::ConcatEven(d, other, one), hn::ConcatOdd(d, other, one)};
}
#endif

template <bool wide>
HWY_INLINE Sums sums_of(const LaneAddresses& a, std::size_t first) {
  if constexpr (wide) return wide_sums(a, first);
  const Words d;
  const auto* const base = static_cast<const std::uint32_t*>(a.base) + first;
  return {hn::Add(hn::Load(d, base), hn::Set(d, static_cast<std::uint32_t>(a.add))), hn::Zero(d)};
}

/// The offset of the first of `lanes`.
template <bool wide>
HWY_INLINE std::uint32_t first_offset(const LaneAddresses& a) {
  const int lane = std::countr_zero(a.lanes);
  const std::uint64_t base = wide ? static_cast<const std::uint64_t*>(a.base)[lane] : static_cast<const std::uint32_t*>(a.base)[lane];
  return static_cast<std::uint32_t>(base + a.add);
}

/// The same. Known before the offsets of all lanes are.
HWY_INLINE std::uint32_t first_offset_of(const LaneAddresses& a) {
  return a.wide ? first_offset<true>(a) : first_offset<false>(a);
}

HWY_INLINE bool is_zero(Word v) {
  const Words d;
  return hn::AllTrue(d, hn::Eq(v, hn::Zero(d)));
}

/// `bytes` is a.bytes, as a constant where the compiler knows it.
template <bool wide>
HWY_INLINE LanePattern classify(const LaneAddresses& a, std::uint32_t bytes, std::uint32_t* offsets) {
  const Words d;
  const Word first = hn::Set(d, first_offset<wide>(a)), last = hn::Set(d, a.last);
  const Word start = hn::Set(d, a.start), low_bits = hn::Set(d, a.bytes - 1);
  const Word step = hn::Set(d, bytes * static_cast<std::uint32_t>(hn::Lanes(d)));
  Word next = hn::Add(first, hn::Mul(hn::Iota(d, 0), hn::Set(d, bytes)));  // of a consecutive access
  Word bad = hn::Zero(d), different = hn::Zero(d), apart = hn::Zero(d);
  for (std::size_t lane = 0; lane < lane_count; lane += hn::Lanes(d)) {
    auto [offset, high] = sums_of<wide>(a, lane);
    if (a.lanes != every_lane) {
      const auto active = part_of(a.lanes, lane);
      offset = hn::IfThenElse(active, offset, first);
      if constexpr (wide) high = hn::IfThenElseZero(active, high);
    }
    hn::Store(offset, d, offsets + lane);
    bad = hn::Or(bad, hn::Or(hn::Xor(hn::Max(offset, last), last), hn::And(hn::Add(offset, start), low_bits)));
    if constexpr (wide)
      if (!a.wraps) bad = hn::Or(bad, high);
    different = hn::Or(different, hn::Xor(offset, first));
    apart = hn::Or(apart, hn::Xor(offset, next));
    next = hn::Add(next, step);
  }
  if (HWY_UNLIKELY(!is_zero(bad))) return LanePattern::invalid;
  return is_zero(apart) ? LanePattern::consecutive : is_zero(different) ? LanePattern::same : LanePattern::scattered;
}

LanePattern lane_offsets(const LaneAddresses& a, std::uint32_t* offsets) {
  return a.wide ? classify<true>(a, a.bytes, offsets) : classify<false>(a, a.bytes, offsets);
}

HWY_INLINE LanePattern word_offsets(const LaneAddresses& a, std::uint32_t* offsets) {
  return a.wide ? classify<true>(a, sizeof(std::uint32_t), offsets) : classify<false>(a, sizeof(std::uint32_t), offsets);
}

HWY_INLINE std::uint32_t bits_of(hn::Mask<Words> mask) {
  alignas(8) std::array<std::uint32_t, 2> bits{};
  hn::StoreMaskBits(Words(), mask, reinterpret_cast<std::uint8_t*>(bits.data()));
  return bits[0];
}

/// Whether the offset of each lane but the first is `bytes` beyond that of the lane before, and whether it is above it.
struct Neighbours {
  std::uint32_t follow, rise;
};
HWY_INLINE Neighbours find_neighbours(const std::uint32_t* offsets, std::uint32_t bytes) {
  const Words d;
  Neighbours all{0, 0};
  for (std::size_t vector = 0; vector < lane_count; vector += hn::Lanes(d)) {
    const std::size_t lane = vector == 0 ? 1 : vector;  // the first vector is one lane ahead: none is before lane 0
    const Word before = hn::LoadU(d, offsets + lane - 1), here = hn::LoadU(d, offsets + lane);
    all.follow |= bits_of(hn::Eq(here, hn::Add(before, hn::Set(d, bytes)))) << lane;
    all.rise |= bits_of(hn::Gt(here, before)) << lane;
  }
  return all;
}

void lane_range(const std::uint32_t* offsets, std::uint32_t bytes, LaneRange& range) {
  const Words d;
  Word least = hn::Load(d, offsets), largest = least;
  for (std::size_t lane = hn::Lanes(d); lane < lane_count; lane += hn::Lanes(d)) {
    const Word offset = hn::Load(d, offsets + lane);
    least = hn::Min(least, offset);
    largest = hn::Max(largest, offset);
  }
  const std::uint32_t first = hn::GetLane(hn::MinOfLanes(d, least)), last = hn::GetLane(hn::MaxOfLanes(d, largest));
  const auto [follow, rises] = find_neighbours(offsets, bytes);
  const std::uint32_t runs = ~follow;
  range = {first, last, runs == 1, runs, rises};
  if (runs == 1 || last - first != (lane_count - 1) * bytes) return;
  // A bit for each part of the range. Compilers shift by vectors; on SSE4 Highway would multiply floats, which raises exceptions.
  const int shift = std::countr_zero(bytes);
  std::uint32_t parts = 0;
  for (std::size_t lane = 0; lane < lane_count; ++lane) parts |= 1u << ((offsets[lane] - first) >> shift);
  range.whole = parts == every_lane;
}

void lane_places(const std::uint32_t* offsets, std::uint64_t start, const std::uint8_t* memory, std::uint64_t* addresses,
                 const std::uint8_t** places) {
  const hn::CappedTag<std::uint64_t, lane_count> d;
  const hn::Rebind<std::uint32_t, decltype(d)> d32;
  const auto first = hn::Set(d, start), from = hn::Set(d, std::uint64_t{reinterpret_cast<std::uintptr_t>(memory)});
  auto* const of_places = reinterpret_cast<std::uint64_t*>(places);
  constexpr bool wide_pointers = sizeof(std::uintptr_t) == sizeof(std::uint64_t);  // not on WebAssembly
  for (std::size_t lane = 0; lane < lane_count; lane += hn::Lanes(d)) {
    const auto offset = hn::PromoteTo(d, hn::Load(d32, offsets + lane));
    hn::Store(hn::Add(offset, first), d, addresses + lane);
    if constexpr (wide_pointers) hn::Store(hn::Add(offset, from), d, of_places + lane);
  }
  if constexpr (!wide_pointers)
    for (std::size_t lane = 0; lane < lane_count; ++lane) places[lane] = memory + offsets[lane];
}

/// row = words in `lanes`.
template <typename WordsFrom>
HWY_INLINE void write_row(std::uint32_t lanes, std::uint32_t* row, WordsFrom words_from) {
  const Words d;
  for (std::size_t lane = 0; lane < lane_count; lane += hn::Lanes(d)) {
    Word words = words_from(lane);
    if (lanes != every_lane) words = hn::IfThenElse(part_of(lanes, lane), words, hn::Load(d, row + lane));
    hn::Store(words, d, row + lane);
  }
}

/// Whether the lanes of a vector access consecutive words.
HWY_INLINE bool is_run(const std::uint32_t* offsets) {
  const Words d;
  const Word run = hn::Add(hn::Set(d, offsets[0]), hn::Mul(hn::Iota(d, 0), hn::Set(d, sizeof(std::uint32_t))));
  return is_zero(hn::Xor(hn::Load(d, offsets), run));
}

HWY_INLINE std::uint32_t word_at(const std::uint8_t* from) {
  std::uint32_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

HWY_INLINE void load_scattered(const std::uint32_t* offsets, std::uint32_t lanes, const std::uint8_t* memory, std::uint32_t* row) {
  const Words d;
  write_row(lanes, row, [&](std::size_t lane) HWY_ATTR {
    const std::uint32_t* const o = offsets + lane;
    if (is_run(o)) return hn::LoadU(d, reinterpret_cast<const std::uint32_t*>(memory + *o));
    const auto signed_offsets = hn::BitCast(hn::RebindToSigned<Words>(), hn::Load(d, o));  // those of a gather
    if (HWY_LIKELY(is_zero(hn::ShiftRight<31>(hn::Load(d, o)))))
      return hn::GatherOffset(d, reinterpret_cast<const std::uint32_t*>(memory), signed_offsets);
    alignas(64) Offsets words;
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) words[i] = word_at(memory + o[i]);
    return hn::Load(d, words.data());
  });
}

/// From the last lane to the first: of lanes with one place the first one's word stays, as machine::for_each_storing_lane() has it.
HWY_INLINE void store_scattered(const std::uint32_t* offsets, std::uint32_t lanes, std::uint8_t* memory, const std::uint32_t* row) {
  const Words d;
  if (lanes == every_lane) {
    for (std::size_t end = lane_count; end != 0; end -= hn::Lanes(d)) {
      const std::size_t lane = end - hn::Lanes(d);
      const std::uint32_t* const o = offsets + lane;
      if (is_run(o))
        hn::StoreU(hn::Load(d, row + lane), d, reinterpret_cast<std::uint32_t*>(memory + *o));
      else
        for (std::size_t i = hn::Lanes(d); i-- != 0;) std::memcpy(memory + o[i], row + lane + i, sizeof *row);
    }
    return;
  }
  for (std::uint32_t rest = lanes; rest != 0;) {
    const auto lane = static_cast<std::size_t>(std::bit_width(rest)) - 1;
    rest &= ~(1u << lane);
    std::memcpy(memory + offsets[lane], row + lane, sizeof *row);
  }
}

constexpr int map_shift = 4;  // bytes whose bits a word of a map has

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_SSE4
// On SSE4 Highway would shift by multiplying floats, which raises exceptions.
bool lanes_in_map(const std::uint16_t* map, const std::uint32_t* offsets, std::uint32_t bytes) {
  const std::uint32_t of_lane = (1u << bytes) - 1;
  std::uint32_t missing = 0;
  for (std::size_t lane = 0; lane < lane_count; ++lane)
    missing |= of_lane << offsets[lane] % (1u << map_shift) & ~std::uint32_t{map[offsets[lane] >> map_shift]};
  return missing == 0;
}
#else
bool lanes_in_map(const std::uint16_t* map, const std::uint32_t* offsets, std::uint32_t bytes) {
  const Words d;
  const Word of_lane = hn::Set(d, (1u << bytes) - 1), in_word = hn::Set(d, (1u << map_shift) - 1);
  Word missing = hn::Zero(d);
  for (std::size_t lane = 0; lane < lane_count; lane += hn::Lanes(d)) {
    const Word offset = hn::Load(d, offsets + lane);
    const auto at = hn::BitCast(hn::RebindToSigned<Words>(), hn::ShiftLeft<1>(hn::ShiftRight<map_shift>(offset)));
    const Word words = hn::GatherOffset(d, reinterpret_cast<const std::uint32_t*>(map), at);
    missing = hn::Or(missing, hn::AndNot(words, hn::Shl(of_lane, hn::And(offset, in_word))));
  }
  return is_zero(missing);
}
#endif

/// The same of a row of words: 128 bits of the map, in 17 bytes if the row begins inside of a byte.
HWY_INLINE bool row_in_map(const std::uint16_t* map, std::uint32_t offset) {
  constexpr std::uint64_t full = ~std::uint64_t{0};
  std::array<std::uint64_t, 2> bits;
  const auto* const from = reinterpret_cast<const std::uint8_t*>(map) + offset / 8;
  std::memcpy(bits.data(), from, sizeof bits);
  const std::uint32_t outside = (1u << offset % 8) - 1;  // low bits of the first byte, which are before the row; the last byte's are in it
  return ((bits[0] | outside) & bits[1]) == full && (from[sizeof bits] & outside) == outside;
}

/// word_offsets(), if their bytes are in the map. Of bytes that are stored for the first time the first is most often not.
HWY_INLINE LanePattern word_offsets_in(const std::uint16_t* map, const LaneAddresses& a, std::uint32_t* offsets) {
  const std::uint32_t first = first_offset_of(a);
  if (first > a.last || (map[first >> map_shift] >> first % (1u << map_shift) & 1) == 0) return LanePattern::invalid;
  const LanePattern pattern = word_offsets(a, offsets);
  const bool good = pattern == LanePattern::consecutive
                        ? row_in_map(map, first)
                        : pattern != LanePattern::invalid && lanes_in_map(map, offsets, sizeof(std::uint32_t));
  return good ? pattern : LanePattern::invalid;
}

/// How 32 addresses of type T lie, words apart.
template <typename T>
HWY_INLINE LanePattern row_pattern(const T* base) {
  if (base[1] - base[0] != 0 && base[1] - base[0] != sizeof(std::uint32_t)) return LanePattern::scattered;  // most others, at once
  const hn::CappedTag<T, lane_count> d;
  const auto first = hn::Set(d, *base), step = hn::Set(d, static_cast<T>(sizeof(std::uint32_t) * hn::Lanes(d)));
  auto next = hn::ShiftLeft<2>(hn::Iota(d, 0)), apart = hn::Zero(d), different = hn::Zero(d);
  for (std::size_t lane = 0; lane < lane_count; lane += hn::Lanes(d)) {
    const auto offset = hn::Sub(hn::Load(d, base + lane), first);
    apart = hn::Or(apart, hn::Xor(offset, next));
    different = hn::Or(different, offset);
    next = hn::Add(next, step);
  }
  if (hn::AllTrue(d, hn::Eq(apart, hn::Zero(d)))) return LanePattern::consecutive;
  return hn::AllTrue(d, hn::Eq(different, hn::Zero(d))) ? LanePattern::same : LanePattern::scattered;
}

/// row_pattern() of offsets that are good, from `first` on; else `invalid`.
template <typename T>
HWY_INLINE LanePattern good_row(const void* base, T first, std::uint32_t last, const std::uint16_t* map) {
  constexpr std::uint32_t word = sizeof(std::uint32_t);
  if (first > last || first % word != 0) return LanePattern::invalid;
  const auto offset = static_cast<std::uint32_t>(first);
  constexpr std::uint32_t bits = (1u << word) - 1;
  if (map != nullptr && (map[offset >> map_shift] >> offset % (1u << map_shift) & bits) != bits) return LanePattern::invalid;
  const LanePattern pattern = row_pattern(static_cast<const T*>(base));
  if (pattern != LanePattern::consecutive) return pattern;
  return last - offset >= (lane_count - 1) * word && (map == nullptr || row_in_map(map, offset)) ? pattern : LanePattern::invalid;
}

HWY_INLINE void copy_row(const std::uint8_t* from, std::uint8_t* to) {
  const hn::CappedTag<std::uint8_t, 2 * lane_count> d;
  for (std::size_t at = 0; at < lane_count * sizeof(std::uint32_t); at += hn::Lanes(d)) hn::StoreU(hn::LoadU(d, from + at), d, to + at);
}

template <typename T>
HWY_INLINE bool load_row_by(const void* base, T add, std::uint32_t last, const std::uint8_t* memory, std::uint32_t* row,
                            const std::uint16_t* map) {
  const T first = *static_cast<const T*>(base) + add;
  const LanePattern pattern = good_row(base, first, last, map);
  if (pattern == LanePattern::consecutive) {
    copy_row(memory + first, reinterpret_cast<std::uint8_t*>(row));
    return true;
  }
  if (pattern != LanePattern::same) return false;
  const Words d;
  const Word word = hn::Set(d, word_at(memory + first));
  for (std::size_t lane = 0; lane < lane_count; lane += hn::Lanes(d)) hn::Store(word, d, row + lane);
  return true;
}

/// Of lanes that store to one place one's word stays, for which store_lanes_words() is.
template <typename T>
HWY_INLINE bool store_row_by(const void* base, T add, std::uint32_t last, std::uint8_t* memory, const std::uint32_t* row,
                             const std::uint16_t* map) {
  const T first = *static_cast<const T*>(base) + add;
  if (good_row(base, first, last, map) != LanePattern::consecutive) return false;
  copy_row(reinterpret_cast<const std::uint8_t*>(row), memory + first);
  return true;
}

bool load_row_by_u32(const void* base, std::uint32_t add, std::uint32_t last, const std::uint8_t* memory, std::uint32_t* row,
                     const std::uint16_t* map) {
  return load_row_by(base, add, last, memory, row, map);
}
bool load_row_by_u64(const void* base, std::uint64_t add, std::uint32_t last, const std::uint8_t* memory, std::uint32_t* row,
                     const std::uint16_t* map) {
  return load_row_by(base, add, last, memory, row, map);
}
bool store_row_by_u32(const void* base, std::uint32_t add, std::uint32_t last, std::uint8_t* memory, const std::uint32_t* row,
                      const std::uint16_t* map) {
  return store_row_by(base, add, last, memory, row, map);
}
bool store_row_by_u64(const void* base, std::uint64_t add, std::uint32_t last, std::uint8_t* memory, const std::uint32_t* row,
                      const std::uint16_t* map) {
  return store_row_by(base, add, last, memory, row, map);
}

HWY_INLINE void load_words(LanePattern pattern, const LaneAddresses& a, const std::uint32_t* offsets, const std::uint8_t* memory,
                           std::uint32_t* row) {
  const Words d;
  if (pattern == LanePattern::consecutive) {
    const auto* const from = reinterpret_cast<const std::uint32_t*>(memory + first_offset_of(a));
    write_row(every_lane, row, [&](std::size_t lane) HWY_ATTR { return hn::LoadU(d, from + lane); });
  } else if (pattern == LanePattern::same) {
    const Word word = hn::Set(d, word_at(memory + first_offset_of(a)));
    write_row(a.lanes, row, [&](std::size_t) HWY_ATTR { return word; });
  } else if (pattern == LanePattern::scattered) {
    load_scattered(offsets, a.lanes, memory, row);
  }
}

HWY_INLINE void store_words(LanePattern pattern, const LaneAddresses& a, const std::uint32_t* offsets, std::uint8_t* memory,
                            const std::uint32_t* row) {
  const Words d;
  if (pattern == LanePattern::consecutive) {
    auto* const to = reinterpret_cast<std::uint32_t*>(memory + first_offset_of(a));
    for (std::size_t lane = 0; lane < lane_count; lane += hn::Lanes(d)) hn::StoreU(hn::Load(d, row + lane), d, to + lane);
  } else if (pattern != LanePattern::invalid) {
    store_scattered(offsets, a.lanes, memory, row);
  }
}

LanePattern load_lanes_words(const LaneAddresses& a, const std::uint8_t* memory, std::uint32_t* row) {
  alignas(64) Offsets offset;
  const LanePattern pattern = word_offsets(a, offset.data());
  load_words(pattern, a, offset.data(), memory, row);
  return pattern;
}

LanePattern load_lanes_words_in(const std::uint16_t* map, const LaneAddresses& a, const std::uint8_t* memory, std::uint32_t* row) {
  alignas(64) Offsets offset;
  const LanePattern pattern = word_offsets_in(map, a, offset.data());
  load_words(pattern, a, offset.data(), memory, row);
  return pattern;
}

LanePattern store_lanes_words(const LaneAddresses& a, std::uint8_t* memory, const std::uint32_t* row) {
  alignas(64) Offsets offset;
  const LanePattern pattern = word_offsets(a, offset.data());
  store_words(pattern, a, offset.data(), memory, row);
  return pattern;
}

LanePattern store_lanes_words_in(const std::uint16_t* map, const LaneAddresses& a, std::uint8_t* memory, const std::uint32_t* row) {
  alignas(64) Offsets offset;
  const LanePattern pattern = word_offsets_in(map, a, offset.data());
  store_words(pattern, a, offset.data(), memory, row);
  return pattern;
}

void load_words_at_offsets(const std::uint32_t* offsets, std::uint32_t lanes, const std::uint8_t* memory, std::uint32_t* row) {
  load_scattered(offsets, lanes, memory, row);
}

void store_words_at_offsets(const std::uint32_t* offsets, std::uint32_t lanes, std::uint8_t* memory, const std::uint32_t* row) {
  store_scattered(offsets, lanes, memory, row);
}

}  // namespace
}  // namespace warpmat::scalar::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat::scalar {

HWY_EXPORT(lane_offsets);
HWY_EXPORT(lane_range);
HWY_EXPORT(lane_places);
HWY_EXPORT(lanes_in_map);
HWY_EXPORT(load_lanes_words);
HWY_EXPORT(store_lanes_words);
HWY_EXPORT(load_lanes_words_in);
HWY_EXPORT(store_lanes_words_in);
HWY_EXPORT(load_row_by_u32);
HWY_EXPORT(load_row_by_u64);
HWY_EXPORT(store_row_by_u32);
HWY_EXPORT(store_row_by_u64);
HWY_EXPORT(load_words_at_offsets);
HWY_EXPORT(store_words_at_offsets);

LanePattern find_lane_offsets(const LaneAddresses& addresses, std::uint32_t* offsets) {
  return WARPMAT_KERNEL(lane_offsets)(addresses, offsets);
}

void find_lane_range(const std::uint32_t* offsets, std::uint32_t bytes, LaneRange& range) {
  WARPMAT_KERNEL(lane_range)(offsets, bytes, range);
}

void find_lane_places(const std::uint32_t* offsets, std::uint64_t start, const std::uint8_t* memory, std::uint64_t* addresses,
                      const std::uint8_t** places) {
  WARPMAT_KERNEL(lane_places)(offsets, start, memory, addresses, places);
}

bool map_has_lanes(const std::uint16_t* map, const std::uint32_t* offsets, std::uint32_t bytes) {
  return WARPMAT_KERNEL(lanes_in_map)(map, offsets, bytes);
}

LanePattern load_lane_words(const LaneAddresses& addresses, const std::uint8_t* memory, std::uint32_t* row) {
  return WARPMAT_KERNEL(load_lanes_words)(addresses, memory, row);
}

LanePattern store_lane_words(const LaneAddresses& addresses, std::uint8_t* memory, const std::uint32_t* row) {
  return WARPMAT_KERNEL(store_lanes_words)(addresses, memory, row);
}

LanePattern load_lane_words_in(const std::uint16_t* map, const LaneAddresses& addresses, const std::uint8_t* memory, std::uint32_t* row) {
  return WARPMAT_KERNEL(load_lanes_words_in)(map, addresses, memory, row);
}

LanePattern store_lane_words_in(const std::uint16_t* map, const LaneAddresses& addresses, std::uint8_t* memory, const std::uint32_t* row) {
  return WARPMAT_KERNEL(store_lanes_words_in)(map, addresses, memory, row);
}

bool load_row_by_words(const void* base, std::uint32_t add, std::uint32_t last, const std::uint8_t* memory, std::uint32_t* row,
                       const std::uint16_t* map) {
  return WARPMAT_KERNEL(load_row_by_u32)(base, add, last, memory, row, map);
}

bool load_row_by_wides(const void* base, std::uint64_t add, std::uint32_t last, const std::uint8_t* memory, std::uint32_t* row,
                       const std::uint16_t* map) {
  return WARPMAT_KERNEL(load_row_by_u64)(base, add, last, memory, row, map);
}

bool store_row_by_words(const void* base, std::uint32_t add, std::uint32_t last, std::uint8_t* memory, const std::uint32_t* row,
                        const std::uint16_t* map) {
  return WARPMAT_KERNEL(store_row_by_u32)(base, add, last, memory, row, map);
}

bool store_row_by_wides(const void* base, std::uint64_t add, std::uint32_t last, std::uint8_t* memory, const std::uint32_t* row,
                        const std::uint16_t* map) {
  return WARPMAT_KERNEL(store_row_by_u64)(base, add, last, memory, row, map);
}

void load_words_at(const std::uint32_t* offsets, std::uint32_t lanes, const std::uint8_t* memory, std::uint32_t* row) {
  WARPMAT_KERNEL(load_words_at_offsets)(offsets, lanes, memory, row);
}

void store_words_at(const std::uint32_t* offsets, std::uint32_t lanes, std::uint8_t* memory, const std::uint32_t* row) {
  WARPMAT_KERNEL(store_words_at_offsets)(offsets, lanes, memory, row);
}

}  // namespace warpmat::scalar
#endif
