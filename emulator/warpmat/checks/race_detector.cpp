#include <warpmat/checks/race_detector.h>

#include <algorithm>

namespace warpmat::inline v0_1::checks {

RaceDetector::RaceDetector(std::size_t bytes, int warps)
    : warps_(static_cast<std::size_t>(warps) + 1), clocks_(warps_, Vector(warps_)), writes_(bytes), reads_(bytes * warps_) {
  for (std::size_t i = 0; i < warps_; ++i) clocks_[i][i] = 1;
}

bool RaceDetector::races(const Access& earlier, int warp, Kind kind) const {
  if (earlier.clock == 0 || earlier.warp == warp) return false;
  if (kind == Kind::synchronising && earlier.kind == kind) return false;
  return earlier.clock > clocks_[static_cast<std::size_t>(warp)][earlier.warp];
}

std::optional<RaceDetector::Conflict> RaceDetector::read(int warp, std::size_t offset, std::size_t bytes, std::uint32_t statement,
                                                         Kind kind) {
  const Clock now = clocks_[static_cast<std::size_t>(warp)][static_cast<std::size_t>(warp)];
  for (std::size_t i = offset; i < offset + bytes; ++i) {
    if (races(writes_[i], warp, kind)) return Conflict{writes_[i].warp, writes_[i].statement, true};
    reader(i, warp) = {now, statement, static_cast<std::uint8_t>(warp), kind};
  }
  return std::nullopt;
}

std::optional<RaceDetector::Conflict> RaceDetector::write(int warp, std::size_t offset, std::size_t bytes, std::uint32_t statement,
                                                          Kind kind) {
  const Clock now = clocks_[static_cast<std::size_t>(warp)][static_cast<std::size_t>(warp)];
  for (std::size_t i = offset; i < offset + bytes; ++i) {
    if (races(writes_[i], warp, kind)) return Conflict{writes_[i].warp, writes_[i].statement, true};
    for (std::size_t other = 0; other < warps_; ++other) {
      Access& read = reader(i, static_cast<int>(other));
      if (races(read, warp, kind)) return Conflict{read.warp, read.statement, false};
    }
    writes_[i] = {now, statement, static_cast<std::uint8_t>(warp), kind};
  }
  return std::nullopt;
}

void RaceDetector::begin_copy(int warp, std::size_t offset, std::size_t bytes) {
  for (std::size_t i = offset; i < offset + bytes; ++i)
    if (writes_[i].warp == warp) writes_[i].clock = pending;
}

void RaceDetector::land_copy(int warp, std::size_t offset, std::size_t bytes) {
  for (std::size_t i = offset; i < offset + bytes; ++i)
    if (writes_[i].warp == warp && writes_[i].clock == pending)
      writes_[i].clock = clocks_[static_cast<std::size_t>(warp)][static_cast<std::size_t>(warp)];
}

void RaceDetector::join(Vector& to, const Vector& from) {
  to.resize(std::max(to.size(), from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = std::max(to[i], from[i]);
}

void RaceDetector::arrive(int warp, int barrier) {
  Vector& own = clocks_[static_cast<std::size_t>(warp)];
  join(barriers_[barrier], own);
  ++own[static_cast<std::size_t>(warp)];
}

void RaceDetector::leave(int warp, int barrier) {
  join(clocks_[static_cast<std::size_t>(warp)], barriers_[barrier]);
}

void RaceDetector::synchronise(int warp, std::uintptr_t word) {
  acquire(warp, word);
  release(warp, word);
}

void RaceDetector::release(int warp, std::uintptr_t word) {
  Vector& own = clocks_[static_cast<std::size_t>(warp)];
  join(words_[word], own);
  ++own[static_cast<std::size_t>(warp)];
}

void RaceDetector::acquire(int warp, std::uintptr_t word) {
  join(clocks_[static_cast<std::size_t>(warp)], words_[word]);
}

/// The accelerator's writes follow the statement that started it. They precede other accesses only by way of the mbarrier, so even later
/// accesses of the same warp may race with them.
void RaceDetector::land_bulk(int warp, std::size_t offset, std::size_t bytes, std::uint32_t statement, std::uintptr_t word) {
  const auto w = static_cast<std::size_t>(warp);
  Clock& now = clocks_[w][w];
  Vector& known = words_[word];
  known.resize(warps_);
  known[w] = std::max(known[w], now);
  for (std::size_t i = offset; i < offset + bytes; ++i) writes_[i] = {now, statement, static_cast<std::uint8_t>(warp), Kind::plain};
  ++now;
}

}  // namespace warpmat::inline v0_1::checks
