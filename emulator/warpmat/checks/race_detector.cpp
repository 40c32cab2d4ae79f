#include <warpmat/checks/race_detector.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

namespace warpmat::checks {

RaceDetector::RaceDetector(std::size_t bytes, int warps)
    : warps_(static_cast<std::size_t>(warps) + 1),
      clocks_(warps_, Vector(warps_)),
      shared_by_((bytes + cell_bytes - 1) / cell_bytes, std::uint8_t{cell_bytes}),
      writes_(shared_by_.size() * cell_bytes),
      reads_(static_cast<Access*>(std::calloc(writes_.size() * warps_, sizeof(Access)))),
      recent_(warps_) {
  if (reads_ == nullptr) throw std::bad_alloc();
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
  if (earlier.clock <= clocks_[static_cast<std::size_t>(warp)][earlier.warp] || earlier.warp == warp) return false;
  return kind != Kind::synchronising || earlier.kind != kind;
}

std::optional<RaceDetector::Conflict> RaceDetector::racing_write(std::size_t record, int warp, Kind kind) const {
  const Access& write = writes_[record];
  if (!races(write, warp, kind)) return std::nullopt;
  return Conflict{write.warp, write.statement, true};
}

std::optional<RaceDetector::Conflict> RaceDetector::read(int warp, std::size_t offset, std::size_t bytes, std::uint32_t statement,
                                                         Kind kind) {
  if (!recent_[static_cast<std::size_t>(warp)].reads.empty()) record_deferred(warp);
  const Access now = access_now(warp, statement, kind);
  std::optional<Conflict> conflict;
  for_each_record(offset, bytes, [&](std::size_t record) {
    if ((conflict = racing_write(record, warp, kind))) return false;
    reader(record, warp) = now;
    return true;
  });
  return conflict;
}

std::optional<RaceDetector::Conflict> RaceDetector::racing_read(std::size_t record, int warp, Kind kind) {
  for (std::size_t other = 0; other < warps_; ++other)
    if (const Access& read = reader(record, static_cast<int>(other)); races(read, warp, kind))
      return Conflict{read.warp, read.statement, false};
  return std::nullopt;
}

/// Of other warps' deferred reads those that a write of `warp` may race with.
void RaceDetector::record_reads_before_write(int warp) {
  const auto w = static_cast<std::size_t>(warp);
  for (std::uint64_t rest = deferring_ & ~(std::uint64_t{1} << w); rest != 0; rest &= rest - 1)
    if (const int other = std::countr_zero(rest);
        clocks_[w][static_cast<std::size_t>(other)] < recent_[static_cast<std::size_t>(other)].reads.back().clock)
      record_deferred(other);
  recent_[w].written = clocks_[w][w];
}

std::optional<RaceDetector::Conflict> RaceDetector::write(int warp, std::size_t offset, std::size_t bytes, std::uint32_t statement,
                                                          Kind kind) {
  record_reads_before_write(warp);
  std::optional<Conflict> conflict;
  for_each_record(offset, bytes, [&](std::size_t record) {
    if ((conflict = racing_write(record, warp, kind)) || (conflict = racing_read(record, warp, kind))) return false;
    writes_[record] = access_now(warp, statement, kind);
    return true;
  });
  return conflict;
}

std::optional<RaceDetector::Conflict> RaceDetector::write_again(int warp, std::size_t offset, std::size_t bytes, std::uint32_t statement) {
  record_reads_before_write(warp);
  std::optional<Conflict> conflict;
  for_each_record(offset, bytes, [&](std::size_t record) {
    if ((conflict = racing_read(record, warp, Kind::plain))) return false;
    if (!racing_write(record, warp, Kind::plain)) writes_[record] = access_now(warp, statement, Kind::plain);
    return true;
  });
  return conflict;
}

bool RaceDetector::defer(int warp, const SharedAccess& read) {
  constexpr std::size_t most_deferred = 128;
  const auto w = static_cast<std::size_t>(warp);
  const Vector& known = clocks_[w];
  bool may_race = copying_ != 0;
  for (std::size_t other = 0; other < warps_; ++other) may_race |= recent_[other].written > known[other];
  if (may_race) return false;
  std::vector<SharedAccess>& reads = recent_[w].reads;
  if (reads.size() == most_deferred) drop_ordered_reads(warp);
  reads.push_back(read);
  reads.back().clock = known[w];
  deferring_ |= std::uint64_t{1} << w;
  return true;
}

/// Drops the deferred reads that are ordered before all other warps; if there are none, records all.
void RaceDetector::drop_ordered_reads(int warp) {
  const auto w = static_cast<std::size_t>(warp);
  Clock known = pending;
  for (std::size_t other = 0; other + 1 < warps_; ++other)
    if (other != w) known = std::min(known, clocks_[other][w]);
  if (std::erase_if(recent_[w].reads, [&](const SharedAccess& read) { return read.clock <= known; }) == 0) record_deferred(warp);
}

void RaceDetector::record_deferred(int warp) {
  const auto w = static_cast<std::size_t>(warp);
  for (const SharedAccess& read : recent_[w].reads) {
    const auto offset_of = [&](int lane) { return read.offsets[static_cast<std::size_t>(lane)]; };
    for_each_run(read.lanes, read.bytes, true, offset_of, [&](int lane, int lanes) {
      for_each_record(offset_of(lane), static_cast<std::size_t>(lanes) * read.bytes, [&](std::size_t record) {
        reader(record, warp) = {read.clock, read.statement, static_cast<std::uint8_t>(warp), Kind::plain};
        return true;
      });
    });
  }
  recent_[w].reads.clear();
  deferring_ &= ~(std::uint64_t{1} << w);
}

void RaceDetector::begin_copy(int warp, std::size_t offset, std::size_t bytes) {
  copying_ += bytes;
  for_each_record(offset, bytes, [&](std::size_t record) {
    if (writes_[record].warp == warp) writes_[record].clock = pending;
    return true;
  });
}

void RaceDetector::land_copy(int warp, std::size_t offset, std::size_t bytes) {
  landed(warp, bytes);
  for_each_record(offset, bytes, [&](std::size_t record) {
    Access& write = writes_[record];
    if (write.warp == warp && write.clock == pending) write.clock = clocks_[static_cast<std::size_t>(warp)][static_cast<std::size_t>(warp)];
    return true;
  });
}

void RaceDetector::landed(int warp, std::size_t bytes) {
  const auto w = static_cast<std::size_t>(warp);
  copying_ -= std::min(copying_, bytes);
  recent_[w].written = clocks_[w][w];
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

void RaceDetector::synchronise(int warp, std::span<const std::uint8_t* const> words, LaneMask acquiring, LaneMask releasing) {
  Vector& own = clocks_[static_cast<std::size_t>(warp)];
  const auto for_each_word = [&](LaneMask lanes, auto visit) {
    const std::uint8_t* last = nullptr;
    for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
      const std::uint8_t* const word = words[static_cast<std::size_t>(first_lane(rest))];
      if (word != last) visit(words_[reinterpret_cast<std::uintptr_t>(word)]);
      last = word;
    }
  };
  for_each_word(acquiring, [&](Vector& word) { join(own, word); });
  for_each_word(releasing, [&](Vector& word) { join(word, own); });
  if (releasing != 0) ++own[static_cast<std::size_t>(warp)];
}

/// The accelerator's writes follow the statement that started it. They precede other accesses only by way of the mbarrier, so even later
/// accesses of the same warp may race with them.
void RaceDetector::land_bulk(int warp, std::size_t offset, std::size_t bytes, std::uint32_t statement, std::uintptr_t word) {
  landed(warp, bytes);
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
