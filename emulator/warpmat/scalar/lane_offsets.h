#pragma once

#include <cstdint>

namespace warpmat::scalar {

/// The addresses of an access by the lanes of a warp to one region of memory.
struct LaneAddresses {
  const void* base;     ///< of each lane, 32 of 32 or 64 bits, aligned to 64 bytes
  bool wide;            ///< 64 bits
  bool wraps;           ///< addresses have 32 bits; else a sum beyond them is outside
  std::uint64_t add;    ///< base + add is the offset in the region
  std::uint32_t lanes;  ///< bit i: lane i accesses
  std::uint32_t start;  ///< the low bits of the region's address
  std::uint32_t bytes;  ///< of a lane; a power of two, and its alignment
  std::uint32_t last;   ///< the largest offset
};

/// `invalid`: an address of `lanes` is outside or misaligned, or not in a map of bytes. `consecutive`: all lanes access, each behind the
/// one before.
enum class LanePattern : std::uint8_t { invalid, scattered, same, consecutive };

/// Writes the 32 offsets; lanes outside of `lanes` get that of the first of `lanes`. `offsets` is aligned to 64 bytes.
LanePattern find_lane_offsets(const LaneAddresses& addresses, std::uint32_t* offsets);

/// What lanes access together.
struct LaneRange {
  std::uint32_t first, last;  ///< the least and the largest of their offsets
  bool whole;                 ///< each lane has its own `bytes` of 32 * `bytes` from `first` on, in any order: a row, or a swizzled tile
  std::uint32_t runs;         ///< bit i: lane i begins a run, as its bytes are not those behind lane i - 1's; a row of a tile is a run
  std::uint32_t rises;        ///< bit i: lane i's offset is above that of lane i - 1; not of lane 0
};
/// Of 32 offsets, multiples of `bytes` apart (a power of two), aligned to 64 bytes. Written where it stays: the CPU would wait for its
/// members before it copied them together.
void find_lane_range(const std::uint32_t* offsets, std::uint32_t bytes, LaneRange& range);

/// Writes each lane's address, `start` + offset, and its place, `memory` + offset: 32 each, aligned to 64 bytes.
void find_lane_places(const std::uint32_t* offsets, std::uint64_t start, const std::uint8_t* memory, std::uint64_t* addresses,
                      const std::uint8_t** places);

/// An access of lanes with good offsets.
struct LanePlaces {
  const std::uint32_t* offsets;  ///< 32
  LaneRange range;
};

/// Whether the bits of all lanes' bytes are set in a map: bit i % 16 of word i / 16 is that of byte i. Each lane has `bytes` bytes, a power
/// of two up to 16, of which the 32 offsets, aligned to 64 bytes, are multiples. Another 16 bits behind the map are read, too.
bool map_has_lanes(const std::uint16_t* map, const std::uint32_t* offsets, std::uint32_t bytes);

/// Loads a word of each of `lanes` from memory + its offset; other lanes of `row` keep theirs. `bytes` is 4; `row` is
/// aligned to 64 bytes. If the pattern is `invalid`, nothing is loaded.
LanePattern load_lane_words(const LaneAddresses& addresses, const std::uint8_t* memory, std::uint32_t* row);
/// Stores them. Of lanes with one address the first one's word stays.
LanePattern store_lane_words(const LaneAddresses& addresses, std::uint8_t* memory, const std::uint32_t* row);
/// The same where map_has_lanes() is true of their bytes. Else they move nothing, and the pattern is `invalid`.
LanePattern load_lane_words_in(const std::uint16_t* map, const LaneAddresses& addresses, const std::uint8_t* memory, std::uint32_t* row);
LanePattern store_lane_words_in(const std::uint16_t* map, const LaneAddresses& addresses, std::uint8_t* memory, const std::uint32_t* row);

/// A word of each of 32 lanes, of the usual access: consecutive words, or of a load one and the same. Lane i's offset is base[i] + `add`,
/// of 32 or 64 bits, and `last` the largest offset that is good; `base` and `row` are aligned to 64 bytes, the region's address to 4. `map`
/// is that of load_lane_words_in(), or null. False, and nothing is moved, for other accesses and bad ones.
bool load_row_by_words(const void* base, std::uint32_t add, std::uint32_t last, const std::uint8_t* memory, std::uint32_t* row,
                       const std::uint16_t* map);
bool load_row_by_wides(const void* base, std::uint64_t add, std::uint32_t last, const std::uint8_t* memory, std::uint32_t* row,
                       const std::uint16_t* map);
bool store_row_by_words(const void* base, std::uint32_t add, std::uint32_t last, std::uint8_t* memory, const std::uint32_t* row,
                        const std::uint16_t* map);
bool store_row_by_wides(const void* base, std::uint64_t add, std::uint32_t last, std::uint8_t* memory, const std::uint32_t* row,
                        const std::uint16_t* map);

/// The same at offsets that find_lane_offsets() has written and found to be good.
void load_words_at(const std::uint32_t* offsets, std::uint32_t lanes, const std::uint8_t* memory, std::uint32_t* row);
void store_words_at(const std::uint32_t* offsets, std::uint32_t lanes, std::uint8_t* memory, const std::uint32_t* row);

}  // namespace warpmat::scalar
