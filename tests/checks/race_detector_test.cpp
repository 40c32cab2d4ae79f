#include <warpmat/checks/race_detector.h>

#include "test.h"

namespace warpmat::race_detector_test {
namespace {

using checks::RaceDetector;
using Conflict = std::optional<std::tuple<int, std::uint32_t, bool>>;

/// The same rules, byte by byte: which events of other warps each warp knows of, as sets of numbers.
class Oracle {
 public:
  Oracle(std::size_t bytes, int warps) : known_(static_cast<std::size_t>(warps)), bytes_(bytes) {}

  Conflict read(int warp, std::size_t offset, std::size_t count, std::uint32_t statement) {
    for (std::size_t i = offset; i < offset + count; ++i) {
      if (const auto& write = bytes_[i].write; write && write->warp != warp && !knows(warp, *write))
        return Conflict({write->warp, write->statement, true});
      bytes_[i].reads[warp] = {warp, statement, now_[warp]};
    }
    return std::nullopt;
  }
  Conflict write(int warp, std::size_t offset, std::size_t count, std::uint32_t statement) {
    for (std::size_t i = offset; i < offset + count; ++i) {
      if (const auto& write = bytes_[i].write; write && write->warp != warp && !knows(warp, *write))
        return Conflict({write->warp, write->statement, true});
      for (const auto& [other, read] : bytes_[i].reads)
        if (other != warp && !knows(warp, read)) return Conflict({read.warp, read.statement, false});
      bytes_[i].write = {warp, statement, now_[warp]};
    }
    return std::nullopt;
  }
  /// All warps meet.
  void barrier() {
    std::map<int, int> all;
    for (std::size_t warp = 0; warp < known_.size(); ++warp) all[static_cast<int>(warp)] = now_[static_cast<int>(warp)]++;
    for (auto& known : known_) known = all;
  }
  /// `to` learns what `from` has done.
  void tell(int from, int to) {
    std::map<int, int> news = known_[static_cast<std::size_t>(from)];
    news[from] = now_[from]++;
    for (const auto& [warp, time] : news) {
      int& known = known_[static_cast<std::size_t>(to)].try_emplace(warp, -1).first->second;
      known = std::max(known, time);
    }
  }

 private:
  struct Access {
    int warp;
    std::uint32_t statement;
    int time;
  };
  struct Byte {
    std::optional<Access> write;
    std::map<int, Access> reads;
  };
  bool knows(int warp, const Access& access) const {
    const auto found = known_[static_cast<std::size_t>(warp)].find(access.warp);
    return found != known_[static_cast<std::size_t>(warp)].end() && found->second >= access.time;
  }

  std::map<int, int> now_;
  std::vector<std::map<int, int>> known_;
  std::vector<Byte> bytes_;
};

Conflict of(const std::optional<RaceDetector::Conflict>& conflict) {
  if (!conflict) return std::nullopt;
  return Conflict({conflict->warp, conflict->statement, conflict->wrote});
}

TEST_CASE("Accesses of any size race as their bytes do", "[checks][races]") {
  constexpr std::size_t bytes = 75;
  constexpr int warps = 3;
  int conflicts = 0, accesses = 0, deferrals = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    RaceDetector detector(bytes, warps);
    Oracle oracle(bytes, warps);
    const std::vector<std::uint8_t> words(200);
    for (std::uint32_t statement = 0; statement < 200; ++statement) {
      const int warp = static_cast<int>(below(warps));
      if (const std::size_t what = below(12); what == 0) {
        for (int w = 0; w < warps; ++w) detector.arrive(w, 0);
        for (int w = 0; w < warps; ++w) detector.leave(w, 0);
        detector.complete(0);
        oracle.barrier();
        continue;
      } else if (what < 4) {
        const int to = static_cast<int>(below(warps));
        const std::vector<const std::uint8_t*> word(warp_size, words.data() + statement);
        detector.synchronise(warp, word, 0, 1);
        detector.synchronise(to, word, 1, 0);
        oracle.tell(warp, to);
        continue;
      }
      const std::size_t size = std::size_t{1} << below(6), offset = below(2) == 0 ? below(bytes) : below(bytes / size + 1) * size;
      const std::size_t count = std::min(size, bytes - std::min(offset, bytes));
      const bool writes = below(3) == 0;
      const auto kind = RaceDetector::Kind::plain;
      checks::SharedAccess read{statement, 0, static_cast<std::uint32_t>(count), 1, {}};
      read.offsets[0] = static_cast<std::uint32_t>(offset);
      const bool deferred = !writes && offset < bytes && below(2) == 0 && detector.defer(warp, read);
      const Conflict found = deferred ? std::nullopt
                             : writes ? of(detector.write(warp, offset, count, statement, kind))
                                      : of(detector.read(warp, offset, count, statement, kind));
      deferrals += deferred ? 1 : 0;
      const Conflict expected = writes ? oracle.write(warp, offset, count, statement) : oracle.read(warp, offset, count, statement);
      REQUIRE(found == expected);
      ++accesses;
      conflicts += found ? 1 : 0;
    }
  }
  CHECK(conflicts > 1000);
  CHECK(accesses > 2 * conflicts);
  CHECK(deferrals > 1000);
}

}  // namespace
}  // namespace warpmat::race_detector_test
