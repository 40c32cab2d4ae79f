#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <warpmat/scalar/lane_offsets.h>
#include <warpmat/warp.h>

namespace warpmat::checks {

/// The shadow memory of a block's shared memory. For each byte: whether it is initialised (written, and visible to all warps), which
/// cp.async writes it, and whether a variable begins there. Offsets are relative to the first byte of shared memory.
class SharedShadow {
 public:
  static constexpr int lane_count = 32;
  static constexpr std::size_t cell_bytes = 16;
  static constexpr std::size_t behind_map = 16;  ///< cells that lie behind those of map(), for who reads many at once
  using Cell = std::uint16_t;                    ///< a bit for each of its bytes
  /// Host pointers to each lane's bytes. Lanes whose pointer is outside shared memory are ignored.
  using Places = std::span<const std::uint8_t* const>;

  /// `memory` is the shared memory of `bytes` bytes; no byte is initialised.
  SharedShadow(const std::uint8_t* memory, std::size_t bytes);

  /// Marks the beginning of a variable: no access may cross it.
  void add_start(std::size_t offset);
  bool has_starts() const { return !starts_.empty(); }
  /// Whether one begins inside of a cell of 16 bytes among these bytes.
  bool has_starts(std::size_t offset, std::size_t bytes) const;

  /// Whether every byte is initialised, as far as it is known; undefined() is then always empty.
  bool complete() const { return missing_ == 0; }
  /// The lanes of `mask` that access an uninitialised byte, in `bytes` bytes (a power of two) at aligned addresses.
  LaneMask undefined(const Places& places, std::uint32_t bytes, LaneMask mask) const;
  /// The lanes of `mask` whose access crosses the beginning of a variable.
  LaneMask crossing(const Places& places, std::uint32_t bytes, LaneMask mask) const;
  /// Whether one of the bytes is uninitialised.
  bool undefined(std::size_t offset, std::size_t bytes) const;
  /// Whether all bytes of the pages in which these lie are initialised, as when a tile is in use.
  bool pages_defined(std::size_t offset, std::size_t bytes) const;
  /// Whether it is found at once that all bytes are initialised.
  bool surely_defined(std::size_t offset, std::size_t bytes) const;
  /// Whether all bytes that lanes access are initialised.
  bool surely_defined(const scalar::LanePlaces& lanes, std::uint32_t bytes) const;
  /// The map of initialised bytes (scalar::map_has_lanes); nullptr once copies have had footprints.
  const Cell* map() const { return footprints_.empty() ? defined_.data() : nullptr; }
  /// From now on others may add bytes to map(), which are initialised then.
  void let_others_define() { others_define_ = true; }
  /// Whether the bytes of each of 32 lanes are in one cell. All offsets are multiples of `bytes`, a power of two, or none is.
  static bool are_in_cells(const std::uint32_t* offsets, std::uint32_t bytes) { return bytes <= cell_bytes && offsets[0] % bytes == 0; }
  /// Whether they are initialised; are_in_cells() of them.
  bool lanes_defined(const std::uint32_t* offsets, std::uint32_t bytes) const;

  /// Whether has_starts() and undefined() are false of these bytes. Remembers ranges of which it is true.
  bool is_plain(std::size_t offset, std::size_t bytes);

  void define(const Places& places, std::uint32_t bytes, LaneMask mask);
  void define(const scalar::LanePlaces& lanes, std::uint32_t bytes);
  /// are_in_cells() of these.
  void define_lanes(const std::uint32_t* offsets, std::uint32_t bytes);
  void define(std::size_t offset, std::size_t bytes);
  void undefine(std::size_t offset, std::size_t bytes);

  /// The cp.async state of a byte: the copy is pending, or has completed but is visible only to its own warp (landed).
  struct Copy {
    enum class State : std::uint8_t { none, pending, landed };
    State state = State::none;
    int warp = 0;
    std::uint32_t statement = 0;  ///< of Program::statements
  };
  /// `bytes` of each lane is 4, 8 or 16; the offsets are multiples of it.
  void begin_copies(const Places& places, std::uint32_t bytes, LaneMask mask, int warp, std::uint32_t statement);
  void begin_copies(const scalar::LanePlaces& lanes, std::uint32_t bytes, int warp, std::uint32_t statement);
  void land_copies(const Places& places, std::uint32_t bytes, LaneMask mask, int warp);
  /// The same of bytes in one cell, or of whole cells.
  void begin_copy(std::size_t offset, std::size_t bytes, int warp, std::uint32_t statement);
  void land_copy(std::size_t offset, std::size_t bytes, int warp);
  /// Makes everything that `warp` has copied and waited for visible to all warps.
  void publish(int warp);
  /// A copy of these bytes with which an access of `warp` conflicts; else state none.
  Copy conflict(std::size_t offset, std::size_t bytes, int warp, bool writes) const;
  bool has_copies() const { return !copies_.empty(); }
  /// Whether `warp` has copied and waited for all of these bytes that are not initialised.
  bool landed_for(std::size_t offset, std::size_t bytes, int warp) const;

  /// The offset of a pointer; larger than all offsets if it is outside.
  std::size_t offset(const std::uint8_t* place) const {
    return reinterpret_cast<std::uintptr_t>(place) - reinterpret_cast<std::uintptr_t>(memory_);
  }
  std::size_t size() const { return bytes_; }

 private:
  static constexpr std::size_t copy_bytes = 4, page_bytes = 1024;
  static constexpr Cell full_cell = 0xffff;
  /// Four cells, which are looked at at once as far as they go: a warp's row of words is two such pieces.
  static constexpr std::size_t piece_bytes = sizeof(std::uint64_t) / sizeof(Cell) * cell_bytes;

  static constexpr std::size_t words_of_cell = cell_bytes / copy_bytes;

  /// The state of a cell, or of 4 bytes, in one word: the statement from bit 0 on, the warp from bit 24 on.
  static constexpr std::uint32_t statement_bits = 0xffffff, warp_shift = 24, warp_bits = 0x1f << warp_shift;
  static constexpr std::uint32_t listed_bit = 1u << 29;  ///< in landed_, of a footprint landed_footprints_, of its warp
  static constexpr std::uint32_t pending_bit = 1u << 30, landed_bit = 1u << 31;
  static constexpr std::uint32_t in_flight = pending_bit | landed_bit;  ///< either: a copy's bytes that are not published
  static constexpr std::uint32_t divided = in_flight;                   ///< both: of a cell whose words have states of their own
  static Copy unpack(std::uint32_t word);

  static constexpr std::size_t most_warps = 32;  ///< of a block
  /// Bytes in one cell, or of whole cells.
  struct Landed {
    std::uint32_t offset, bytes;
  };

  static std::size_t count(Cell bits);
  void count_again(std::size_t page) const;
  bool page_defined(std::size_t page) const;
  template <bool to, typename ChangeCell>
  void change(std::size_t offset, std::size_t bytes, ChangeCell change_cell);
  struct LaneOffsets {
    alignas(64) std::array<std::uint32_t, lane_count> of_lane;  // of vectors
  };
  std::optional<scalar::LanePlaces> find_lanes(const Places& places, std::uint32_t bytes, LaneMask mask, LaneOffsets& offsets) const;
  /// What a cp.async of 16 bytes by all lanes writes, each lane another cell: pipelines copy to few such places again and again. Their
  /// bytes have one state, and the cells have none of their own.
  struct Footprint {
    struct OfPage {
      std::uint16_t page, bytes;
    };
    std::array<std::uint32_t, lane_count> offsets;  ///< by lane
    std::uint32_t copy = 0;                         ///< as of a cell; `bytes` are initialised if it is neither pending nor landed
    std::uint8_t page_count = 0;
    std::array<OfPage, lane_count> pages;  ///< how many bytes it has of which pages, `page_count` of them
    std::span<const OfPage> of_pages() const { return std::span(pages).first(page_count); }
    void count_cell(std::uint16_t page);
    bool defined() const { return (copy & in_flight) == 0; }
  };
  std::uint16_t footprint_of(std::size_t cell) const { return footprints_.empty() ? std::uint16_t{0} : footprint_of_[cell]; }
  Cell defined_of(std::size_t cell) const {
    return footprints_.empty() ? defined_[cell] : static_cast<Cell>(defined_[cell] & footprint_cells_[footprint_of_[cell]]);
  }
  bool begin_footprint(const scalar::LanePlaces& lanes, std::uint32_t fresh);
  std::uint16_t make_footprint(const scalar::LanePlaces& lanes);
  void set_defined(std::uint16_t number, bool defined);
  bool land_footprint(const Places& places, int warp);
  void publish_footprints(int warp);
  void dissolve(std::size_t offset, std::size_t bytes);

  static std::uint32_t begun(int warp, std::uint32_t statement);
  static std::uint32_t kept_of(std::uint32_t copy, std::uint32_t fresh);
  static bool publishes(std::uint32_t& copy, std::uint32_t own);
  void make_copies();
  std::uint32_t* divide(std::size_t cell);
  std::uint32_t copy_of(std::size_t word) const;
  void publish_cell(std::size_t cell, std::uint32_t own);
  bool surely_defined(const Places& places, std::uint32_t bytes, LaneMask mask) const;
  void define_cell(std::size_t cell, Cell bits);
  void define_alone(std::size_t cell, Cell bits);
  void undefine_cell(std::size_t cell, Cell bits);

  template <typename Visit>
  void for_each_cell(std::size_t offset, std::size_t bytes, Visit visit) const;
  template <typename Visit>
  void for_each_lane(const Places& places, std::uint32_t bytes, LaneMask mask, Visit visit) const;

  /// A range of which is_plain() was true when bytes had become uninitialised `undefined_at` times. Bytes of no range: 0.
  struct Plain {
    std::uint32_t offset = 0, bytes = 0;
    std::uint64_t undefined_at = 0;
  };
  static constexpr std::size_t plain_count = 256;  ///< more than the operands of products in the stages of a pipeline

  const std::uint8_t* memory_;
  std::size_t bytes_;
  mutable std::size_t missing_;                         ///< uninitialised bytes, or more of them where others define some
  std::vector<Cell> defined_;                           ///< and behind_map cells more
  mutable std::vector<std::uint16_t> missing_of_page_;  ///< the same in each page_bytes
  bool others_define_ = false;
  std::uint64_t undefined_ = 0;              ///< how many times bytes have become uninitialised
  std::vector<Plain> plain_;                 ///< by a hash of the range; empty before the first one
  std::vector<Cell> starts_;                 ///< empty if all variables begin at multiples of cell_bytes: no access crosses those
  std::vector<std::uint32_t> copies_;        ///< for each cell; empty before the first copy
  std::vector<std::uint32_t> divided_;       ///< for each 4 bytes of cells that are divided; empty before the first of these
  std::vector<std::vector<Landed>> landed_;  ///< by warp; empty before the first copy
  std::vector<Footprint> footprints_;        ///< the first one is none; empty before the first one
  std::vector<Cell> footprint_cells_;        ///< by number: what defined_ would be for each of their cells, for which it is full
  std::vector<std::uint16_t> footprint_of_;  ///< of each cell, its number in footprints_, or 0
  std::vector<std::vector<std::uint16_t>> landed_footprints_;  ///< by warp
  std::vector<std::uint16_t> free_footprints_;                 ///< that were dissolved
  bool makes_footprints_ = true;
  int dissolved_ = 0;  ///< footprints that are no more
};

}  // namespace warpmat::checks
