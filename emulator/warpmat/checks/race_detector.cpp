#include <warpmat/checks/race_detector.h>

#include <algorithm>

namespace warpmat::checks {

RaceDetector::RaceDetector(std::size_t bytes, int warps)
    : warps_(static_cast<std::size_t>(warps) + 1),
      clocks_(warps_, Vector(warps_)),
      shared_by_((bytes + cell_bytes - 1) / cell_bytes, std::uint8_t{cell_bytes}),
      writes_(shared_by_.size() * cell_bytes),
      reads_(writes_.size() * warps_) {
  for (std::size_t i = 0; i < warps_; ++i) clocks_[i][i] = 1;
}

/// Calls visit(record) for the records of these bytes in their order, until it returns false. Records that have other bytes, too, are
/// split before.
template <typename Visit>
void RaceDetector::for_each_record(std::size_t offset, std::size_t bytes, Visit visit) {
  for (const std::size_t end = offset + bytes; offset < end;) {
    const std::size_t cell = offset / cell_bytes, last = std::min(end, (cell + 1) * cell_bytes);
    const std::size_t most = (offset | last) % cell_bytes == 0 ? cell_bytes : (offset | last) % word_bytes == 0 ? word_bytes : 1;
    if (shared_by_[cell] > most) split(cell, most);
    for (const std::size_t step = shared_by_[cell]; offset < last; offset += step)
      if (!visit(record(offset))) return;
  }
}

/// From now on `bytes` bytes of the cell share a record.
void RaceDetector::split(std::size_t cell, std::size_t bytes) {
  const std::size_t first = cell * cell_bytes, before = shared_by_[cell];
  for (std::size_t i = 0; i < cell_bytes; i += bytes) {
    const std::size_t from = record(first + i / before * before), to = record(first + i);
    writes_[to] = writes_[from];
    for (std::size_t warp = 0; warp < warps_; ++warp) reader(to, static_cast<int>(warp)) = reader(from, static_cast<int>(warp));
  }
  shared_by_[cell] = static_cast<std::uint8_t>(bytes);
}

RaceDetector::Access RaceDetector::access_now(int warp, std::uint32_t statement, Kind kind) const {
  return {clocks_[static_cast<std::size_t>(warp)][static_cast<std::size_t>(warp)], statement, static_cast<std::uint8_t>(warp), kind};
}

bool RaceDetector::races(const Access& earlier, int warp, Kind kind) const {
  if (earlier.clock == 0 || earlier.warp == warp) return false;
  if (kind == Kind::synchronising && earlier.kind == kind) return false;
  return earlier.clock > clocks_[static_cast<std::size_t>(warp)][earlier.warp];
}

std::optional<RaceDetector::Conflict> RaceDetector::racing_write(std::size_t record, int warp, Kind kind) const {
  const Access& write = writes_[record];
  if (!races(write, warp, kind)) return std::nullopt;
  return Conflict{write.warp, write.statement, true};
}

std::optional<RaceDetector::Conflict> RaceDetector::read(int warp, std::size_t offset, std::size_t bytes, std::uint32_t statement,
                                                         Kind kind) {
  const Access now = access_now(warp, statement, kind);
  std::optional<Conflict> conflict;
  for_each_record(offset, bytes, [&](std::size_t record) {
    if ((conflict = racing_write(record, warp, kind))) return false;
    reader(record, warp) = now;
    return true;
  });
  return conflict;
}

std::optional<RaceDetector::Conflict> RaceDetector::write(int warp, std::size_t offset, std::size_t bytes, std::uint32_t statement,
                                                          Kind kind) {
  const Access now = access_now(warp, statement, kind);
  std::optional<Conflict> conflict;
  for_each_record(offset, bytes, [&](std::size_t record) {
    if ((conflict = racing_write(record, warp, kind))) return false;
    for (std::size_t other = 0; other < warps_; ++other)
      if (const Access& read = reader(record, static_cast<int>(other)); races(read, warp, kind)) {
        conflict = {read.warp, read.statement, false};
        return false;
      }
    writes_[record] = now;
    return true;
  });
  return conflict;
}

void RaceDetector::begin_copy(int warp, std::size_t offset, std::size_t bytes) {
  for_each_record(offset, bytes, [&](std::size_t record) {
    if (writes_[record].warp == warp) writes_[record].clock = pending;
    return true;
  });
}

void RaceDetector::land_copy(int warp, std::size_t offset, std::size_t bytes) {
  for_each_record(offset, bytes, [&](std::size_t record) {
    Access& write = writes_[record];
    if (write.warp == warp && write.clock == pending) write.clock = clocks_[static_cast<std::size_t>(warp)][static_cast<std::size_t>(warp)];
    return true;
  });
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
  for_each_record(offset, bytes, [&](std::size_t record) {
    writes_[record] = {now, statement, static_cast<std::uint8_t>(warp), Kind::plain};
    return true;
  });
  ++now;
}

}  // namespace warpmat::checks
