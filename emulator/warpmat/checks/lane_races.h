#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <warpmat/checks/lane_runs.h>
#include <warpmat/warp.h>

namespace warpmat::checks {

/// Finds data races of lanes of one warp in the shared memory of a block: two lanes access a byte, at least one writes, and the lanes have
/// not met between. What orders the lanes of a warp is a statement that needs them all, or atomics and volatile accesses to one word.
/// Execution in step orders nothing. For each word it keeps the last write and the lanes that have read last: it may miss a race, and
/// reports none that is not there.
class LaneRaces {
 public:
  struct Conflict {
    int lane;
    std::uint32_t statement;  ///< of Program::statements
    bool wrote;
  };
  struct Access {
    int warp, lane;
    std::uint32_t statement;
    bool synchronising;  ///< such accesses do not race with each other
  };

  LaneRaces(std::size_t bytes, int warps) : warps_(static_cast<std::size_t>(warps)), words_((bytes + word_bytes - 1) / word_bytes) {}

  /// Records a read of lanes later, if all lanes of the warp have met since one of them wrote. Else false: each lane's read is to be
  /// recorded.
  bool defer(int warp, const SharedAccess& read);
  /// Records what lanes write, if all have met since the bytes were accessed; whole words. Else false: each lane's write is to be recorded.
  bool write_words(int warp, const SharedAccess& written);

  /// Records an access to [offset, offset + bytes); returns the earlier one with which it races.
  std::optional<Conflict> read(const Access& access, std::size_t offset, std::size_t bytes);
  std::optional<Conflict> write(const Access& access, std::size_t offset, std::size_t bytes);
  /// An asynchronous copy that the lane has issued has written these bytes.
  void land(int warp, int lane, std::size_t offset, std::size_t bytes);

  /// What these lanes did until now happens before what they do from now on.
  void meet(int warp, LaneMask lanes);
  /// A lane synchronises by a word of shared memory: it comes after the lanes that have done so before.
  void synchronise(int warp, int lane, std::size_t word);
  /// A lane synchronises by another word: it comes after all that its warp has done.
  void join_all(int warp, int lane);

 private:
  using Time = std::uint32_t;  ///< counts the meetings of a warp
  using Times = std::array<Time, warp_size>;
  struct Warp {
    Time now = 1;
    Time met = 0;    ///< all lanes come behind what was until then
    Time wrote = 0;  ///< the last write
    std::vector<SharedAccess> deferred = {};
    std::array<Times, warp_size> known{};  ///< by lane: up to when it comes behind each lane of its warp, if that is later than `met`
  };
  struct Write {
    Time time = 0;  ///< 0: none
    std::uint32_t statement = 0;
    std::uint8_t warp = 0, lane = 0, bytes = 0;
    bool synchronising = false;
  };
  struct Reads {
    Time time = 0;
    std::uint32_t statement = 0;
    LaneMask lanes = 0;
    std::uint8_t warp = 0, bytes = 0;
    bool synchronising = false;
  };
  /// The last accesses to 4 bytes.
  struct Word {
    Write write;
    Reads reads;
  };
  struct Release {
    int warp = -1;
    Times known{};
  };
  static constexpr std::size_t word_bytes = 4;

  template <typename Visit>
  std::optional<Conflict> for_each_word(std::size_t offset, std::size_t bytes, Visit visit);
  Warp& warp(int index) { return warps_[static_cast<std::size_t>(index)]; }
  std::optional<Conflict> racing_write(const Word& word, const Access& access, std::uint8_t bytes);
  void record_deferred(int warp);
  static void note(Reads& reads, const Access& access, Time time, std::uint8_t part);
  bool is_news(const Write& write, int warp);
  std::optional<Conflict> racing_read(const Word& word, const Access& access, std::uint8_t bytes);

  std::vector<Warp> warps_;
  std::vector<Word> words_;
  std::vector<std::uint32_t> release_numbers_;  ///< by word: of its release, from 1 on; empty before the first one
  std::vector<Release> releases_;
};

}  // namespace warpmat::checks
