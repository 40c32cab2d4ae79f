#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <warpmat/checks/lane_runs.h>

namespace warpmat::checks {

/// Finds data races in shared memory: two warps of a block access the same byte, at least one writes, and neither access happens before the
/// other. It keeps a vector clock for each warp, and for each byte the last write and the later reads (Flanagan and Freund, FastTrack,
/// 2009). It finds races that this run's order hides: only synchronisation counts.
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

  /// Records an access; returns the earlier one with which it races. Bytes that an asynchronous copy writes become visible to other warps
  /// with land().
  std::optional<Conflict> read(int warp, std::size_t offset, std::size_t bytes, std::uint32_t statement, Kind kind);
  std::optional<Conflict> write(int warp, std::size_t offset, std::size_t bytes, std::uint32_t statement, Kind kind);
  /// The same of a store that leaves the bytes as they are: it races with reads alone.
  std::optional<Conflict> write_again(int warp, std::size_t offset, std::size_t bytes, std::uint32_t statement);
  /// Records a plain read later, if it races with nothing that was written: most reads are over, by a barrier, before somebody writes. Else
  /// false: it is to be recorded now.
  bool defer(int warp, const SharedAccess& read);
  void begin_copy(int warp, std::size_t offset, std::size_t bytes);
  void land_copy(int warp, std::size_t offset, std::size_t bytes);

  /// The number of an agent outside the block, as used in conflicts.
  int outside() const { return static_cast<int>(warps_) - 1; }
  /// Bytes that a bulk copy of `warp` writes become visible to warps that synchronise by `word` from now on.
  void land_bulk(int warp, std::size_t offset, std::size_t bytes, std::uint32_t statement, std::uintptr_t word);

  void arrive(int warp, int barrier);
  /// `warp` continues after a barrier: everything before the other warps' arrivals happens before its next access.
  void leave(int warp, int barrier);
  void complete(int barrier) { barriers_.erase(barrier); }
  /// Accesses of the lanes of a warp to words that order warps: those that acquire come after what earlier ones have released to the same
  /// word. `words` are host addresses, by lane.
  void synchronise(int warp, std::span<const std::uint8_t* const> words, LaneMask acquiring, LaneMask releasing);

 private:
  using Clock = std::uint32_t;
  using Vector = std::vector<Clock>;
  struct Access {
    Clock clock = 0;  ///< of its warp; 0: none
    std::uint32_t statement = 0;
    std::uint8_t warp = 0;
    Kind kind = Kind::plain;
  };
  struct Free {
    void operator()(Access* all) const { std::free(all); }
  };
  /// Of one warp.
  struct Recent {
    std::vector<SharedAccess> reads = {};  ///< deferred
    Clock written = 0;                     ///< when it wrote last, anywhere
  };
  static constexpr Clock pending = 0xffffffff;

  /// Bytes that were always accessed together share one record, that of the first of them: a whole cell, or 4 bytes, or one. Records of
  /// whole cells are neighbours in memory.
  static constexpr std::size_t cell_bytes = 16, word_bytes = 4;
  std::size_t record(std::size_t byte) const { return byte % cell_bytes * shared_by_.size() + byte / cell_bytes; }
  template <typename Visit>
  void for_each_record(std::size_t offset, std::size_t bytes, Visit visit);
  void split(std::size_t cell, std::size_t bytes);

  Access& reader(std::size_t record, int warp) { return reads_[record * warps_ + static_cast<std::size_t>(warp)]; }
  Access access_now(int warp, std::uint32_t statement, Kind kind) const;
  bool races(const Access& earlier, int warp, Kind kind) const;
  /// The write before, if an access of `warp` races with it.
  std::optional<Conflict> racing_write(std::size_t record, int warp, Kind kind) const;
  std::optional<Conflict> racing_read(std::size_t record, int warp, Kind kind);
  void record_reads_before_write(int warp);
  static void join(Vector& to, const Vector& from);
  void record_deferred(int warp);
  void drop_ordered_reads(int warp);
  void landed(int warp, std::size_t bytes);

  std::size_t warps_;                      ///< of the block, plus one for agents outside it
  std::vector<Vector> clocks_;             ///< by warp
  std::vector<std::uint8_t> shared_by_;    ///< by cell: the bytes that share a record
  std::vector<Access> writes_;             ///< by record
  std::unique_ptr<Access[], Free> reads_;  ///< by record and warp; pages that nobody has read cost nothing
  std::map<int, Vector> barriers_;
  std::unordered_map<std::uintptr_t, Vector> words_;
  std::uint64_t deferring_ = 0;  ///< warps that have deferred reads
  std::vector<Recent> recent_;   ///< by warp
  std::size_t copying_ = 0;      ///< bytes of copies that have not landed
};

}  // namespace warpmat::checks
