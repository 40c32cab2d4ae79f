#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <warpmat/warp/lane_mask.h>

namespace warpmat::machine {

/// What is known of each byte of a block's shared memory besides its value: whether it is defined (somebody has written it, and everybody
/// may read it), which cp.async writes it, and where variables begin. Offsets count from the first byte of shared memory.
class SharedShadow {
 public:
  static constexpr int lane_count = 32;
  /// The bytes of each lane: where the machine keeps them. Lanes whose pointer lies elsewhere are left alone.
  using Places = std::array<std::uint8_t*, lane_count>;

  /// `memory` is the shared memory of `bytes` bytes; none is defined.
  SharedShadow(const std::uint8_t* memory, std::size_t bytes);

  /// A variable begins at this offset: no access may reach across it.
  void add_start(std::size_t offset);
  bool has_starts() const { return !starts_.empty(); }

  /// Whether every byte is defined, which makes undefined() superfluous.
  bool complete() const { return missing_ == 0; }
  /// The lanes of `mask` that access a byte which is not defined, `bytes` bytes (a power of two) from aligned places on.
  LaneMask undefined(const Places& places, std::uint32_t bytes, LaneMask mask) const;
  /// The lanes of `mask` whose access begins before the start of a variable and ends behind it.
  LaneMask crossing(const Places& places, std::uint32_t bytes, LaneMask mask) const;
  /// Whether one of the bytes is not defined.
  bool undefined(std::size_t offset, std::size_t bytes) const;

  void define(const Places& places, std::uint32_t bytes, LaneMask mask);
  void define(std::size_t offset, std::size_t bytes);
  void undefine(std::size_t offset, std::size_t bytes);

  /// What cp.async has to do with a byte: it still has to arrive (pending), or has arrived, but only its own warp knows (landed).
  struct Copy {
    enum class State : std::uint8_t { none, pending, landed };
    State state = State::none;
    int warp = 0;
    std::uint32_t statement = 0;  ///< of Program::statements
  };
  /// `bytes` are 4, 8 or 16, from a multiple of that on.
  void begin_copy(std::size_t offset, std::size_t bytes, int warp, std::uint32_t statement);
  void land_copy(std::size_t offset, std::size_t bytes, int warp);
  /// What `warp` has copied and waited for is there for all warps.
  void publish(int warp);
  /// Of the copies that have to do with these bytes, one that `warp` may not access; else state none.
  Copy conflict(std::size_t offset, std::size_t bytes, int warp, bool writes) const;
  bool has_copies() const { return !copies_.empty(); }
  /// Whether all of these bytes that are not defined have been copied by `warp`, which has waited for them.
  bool landed_for(std::size_t offset, std::size_t bytes, int warp) const;

  /// The offset of a place, or more than all where it lies elsewhere.
  std::size_t offset(const std::uint8_t* place) const {
    return reinterpret_cast<std::uintptr_t>(place) - reinterpret_cast<std::uintptr_t>(memory_);
  }
  std::size_t size() const { return bytes_; }

 private:
  static constexpr std::size_t cell_bytes = 16, copy_bytes = 4;
  using Cell = std::uint16_t;  // a bit for each byte

  /// What copies_ knows of 4 bytes, in one word, so that four of them are one vector: the statement from bit 0 on, the warp from bit 24 on.
  static constexpr std::uint32_t statement_bits = 0xffffff, warp_shift = 24, warp_bits = 0x1f << warp_shift;
  static constexpr std::uint32_t listed_bit = 1u << 29;  ///< in landed_ of its warp, perhaps among others
  static constexpr std::uint32_t pending_bit = 1u << 30, landed_bit = 1u << 31;
  static Copy unpack(std::uint32_t word);

  /// Some of copies_, all of one cell.
  struct Landed {
    std::uint32_t first, count;
  };

  static std::size_t count(Cell bits);
  void define_cell(std::size_t cell, Cell bits);

  template <typename Visit>
  void for_each_cell(std::size_t offset, std::size_t bytes, Visit visit) const;
  template <typename Visit>
  void for_each_lane(const Places& places, std::uint32_t bytes, LaneMask mask, Visit visit) const;

  const std::uint8_t* memory_;
  std::size_t bytes_;
  std::size_t missing_;  ///< bytes that are not defined
  std::vector<Cell> defined_;
  std::vector<Cell> starts_;           ///< empty where all variables begin at multiples of cell_bytes: no access reaches across those
  std::vector<std::uint32_t> copies_;  ///< for each 4 bytes; empty before the first copy
  std::array<std::vector<Landed>, lane_count> landed_;  ///< by warp
};

}  // namespace warpmat::machine
