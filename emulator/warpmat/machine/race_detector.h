#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace warpmat::machine {

/// Finds accesses of two warps of a block to the same byte of shared memory, one of them a write, with nothing between them that makes one
/// happen before the other: a vector clock a warp, and for each byte who wrote it last and who has read it since (Flanagan and Freund,
/// FastTrack, 2009). It finds races that this run's order hides: only the barriers count.
class RaceDetector {
 public:
  struct Conflict {
    int warp;
    std::uint32_t statement;  ///< of Program::statements
    bool wrote;
  };
  /// Atomic, volatile, relaxed, acquire and release accesses do not race with each other.
  enum class Kind : std::uint8_t { plain, synchronising };

  RaceDetector(std::size_t bytes, int warps);

  /// An access, and the earlier one that it races with. What an asynchronous copy writes is not there for other warps before land().
  std::optional<Conflict> read(int warp, std::size_t offset, std::size_t bytes, std::uint32_t statement, Kind kind);
  std::optional<Conflict> write(int warp, std::size_t offset, std::size_t bytes, std::uint32_t statement, Kind kind);
  void begin_copy(int warp, std::size_t offset, std::size_t bytes);
  void land_copy(int warp, std::size_t offset, std::size_t bytes);

  /// The number of whoever is not of this block, as conflicts name it.
  int outside() const { return static_cast<int>(warps_) - 1; }
  /// Bytes that a bulk copy of `warp` writes are there, for those who synchronise by `word` from now on.
  void land_bulk(int warp, std::size_t offset, std::size_t bytes, std::uint32_t statement, std::uintptr_t word);

  void arrive(int warp, int barrier);
  /// `warp`, which waited, goes on behind all that arrived.
  void leave(int warp, int barrier);
  void complete(int barrier) { barriers_[barrier].clear(); }
  /// An access to a word that orders warps: after earlier ones to the same word, before later ones. `word` is where the machine keeps it.
  void synchronise(int warp, std::uintptr_t word);
  /// Half of that: what `warp` did is before later acquire() of the same word; it comes after earlier release().
  void release(int warp, std::uintptr_t word);
  void acquire(int warp, std::uintptr_t word);

 private:
  using Clock = std::uint32_t;
  using Vector = std::vector<Clock>;
  struct Access {
    Clock clock = 0;  ///< of its warp; 0: none
    std::uint32_t statement = 0;
    std::uint8_t warp = 0;
    Kind kind = Kind::plain;
  };
  static constexpr Clock pending = 0xffffffff;

  Access& reader(std::size_t byte, int warp) { return reads_[byte * warps_ + static_cast<std::size_t>(warp)]; }
  bool races(const Access& earlier, int warp, Kind kind) const;
  static void join(Vector& to, const Vector& from);

  std::size_t warps_;           ///< of the block, and one for whoever is outside
  std::vector<Vector> clocks_;  ///< by warp
  std::vector<Access> writes_;  ///< by byte
  std::vector<Access> reads_;   ///< by byte and warp
  std::map<int, Vector> barriers_;
  std::map<std::uintptr_t, Vector> words_;
};

}  // namespace warpmat::machine
