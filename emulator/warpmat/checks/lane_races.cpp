#include <warpmat/checks/lane_races.h>

#include <algorithm>

namespace warpmat::checks {

/// Calls visit(word, its bytes) for the words of [offset, offset + bytes), until it returns a conflict.
template <typename Visit>
std::optional<LaneRaces::Conflict> LaneRaces::for_each_word(std::size_t offset, std::size_t bytes, Visit visit) {
  for (const std::size_t end = offset + bytes; offset < end;) {
    const std::size_t inside = offset % word_bytes, count = std::min(word_bytes - inside, end - offset);
    if (const auto conflict = visit(words_[offset / word_bytes], static_cast<std::uint8_t>(((1u << count) - 1) << inside))) return conflict;
    offset += count;
  }
  return std::nullopt;
}

/// The write before, if an access races with it. Lanes of one statement that store to a byte at once are left to the programmer, who often
/// stores one value.
std::optional<LaneRaces::Conflict> LaneRaces::racing_write(const Word& word, const Access& access, std::uint8_t bytes) {
  const Write& write = word.write;
  if (write.time == 0 || write.warp != access.warp || write.lane == access.lane || (write.bytes & bytes) == 0) return std::nullopt;
  const Warp& here = warp(access.warp);
  const bool together = write.statement == access.statement && write.time == here.now;
  if (together || (write.synchronising && access.synchronising)) return std::nullopt;
  if (write.time <= here.met || write.time <= here.known[static_cast<std::size_t>(access.lane)][write.lane]) return std::nullopt;
  return Conflict{write.lane, write.statement, true};
}

std::optional<LaneRaces::Conflict> LaneRaces::racing_read(const Word& word, const Access& access, std::uint8_t bytes) {
  const Reads& reads = word.reads;
  if (reads.time == 0 || reads.warp != access.warp || (reads.bytes & bytes) == 0) return std::nullopt;
  if ((reads.synchronising && access.synchronising) || reads.statement == access.statement) return std::nullopt;
  if (reads.time <= warp(access.warp).met) return std::nullopt;
  const Times& known = warp(access.warp).known[static_cast<std::size_t>(access.lane)];
  for (LaneMask rest = reads.lanes & ~lane_bit(access.lane); rest != 0; rest &= rest - 1)
    if (const int lane = first_lane(rest); reads.time > known[static_cast<std::size_t>(lane)])
      return Conflict{lane, reads.statement, false};
  return std::nullopt;
}

/// Whether a lane of the warp does not come behind a write of it yet.
bool LaneRaces::is_news(const Write& write, int index) {
  if (write.time <= warp(index).met || write.warp != index) return false;
  return std::ranges::any_of(warp(index).known, [&](const Times& known) { return write.time > known[write.lane]; });
}

bool LaneRaces::defer(int index, const SharedAccess& read) {
  constexpr std::size_t most_deferred = 128;
  Warp& here = warp(index);
  if (here.wrote > here.met) return false;
  if (here.deferred.size() == most_deferred) record_deferred(index);
  here.deferred.push_back(read);
  here.deferred.back().clock = here.now;
  return true;
}

void LaneRaces::record_deferred(int index) {
  for (const SharedAccess& read : warp(index).deferred)
    for (LaneMask rest = read.lanes; rest != 0; rest &= rest - 1) {
      const int lane = first_lane(rest);
      for_each_word(read.offsets[static_cast<std::size_t>(lane)], read.bytes, [&](Word& word, std::uint8_t part) {
        note(word.reads, {index, lane, read.statement, false}, read.clock, part);
        return std::optional<Conflict>();
      });
    }
  warp(index).deferred.clear();
}

void LaneRaces::note(Reads& reads, const Access& access, Time time, std::uint8_t part) {
  const bool same = reads.time == time && reads.warp == access.warp && reads.statement == access.statement && reads.bytes == part;
  const LaneMask before = same ? reads.lanes : 0;
  reads = {time, access.statement, before | lane_bit(access.lane), static_cast<std::uint8_t>(access.warp), part, access.synchronising};
}

bool LaneRaces::write_words(int index, const SharedAccess& written) {
  constexpr std::uint8_t all_bytes = 0xf;
  if (written.bytes % word_bytes != 0) return false;
  record_deferred(index);
  Warp& here = warp(index);
  here.wrote = here.now;
  for (LaneMask rest = written.lanes; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const std::size_t offset = written.offsets[static_cast<std::size_t>(lane)];
    if (offset % word_bytes != 0) return false;
    for (std::size_t i = offset / word_bytes; i < (offset + written.bytes) / word_bytes; ++i) {
      Word& word = words_[i];
      const bool wrote = word.write.warp == index && word.write.time > here.met,
                 read = word.reads.warp == index && word.reads.time > here.met;
      if (wrote || read) return false;
      word.write = {here.now, written.statement, static_cast<std::uint8_t>(index), static_cast<std::uint8_t>(lane), all_bytes, false};
    }
  }
  return true;
}

std::optional<LaneRaces::Conflict> LaneRaces::read(const Access& access, std::size_t offset, std::size_t bytes) {
  record_deferred(access.warp);
  return for_each_word(offset, bytes, [&](Word& word, std::uint8_t part) {
    auto conflict = racing_write(word, access, part);
    note(word.reads, access, warp(access.warp).now, part);
    return conflict;
  });
}

std::optional<LaneRaces::Conflict> LaneRaces::write(const Access& access, std::size_t offset, std::size_t bytes) {
  record_deferred(access.warp);
  warp(access.warp).wrote = warp(access.warp).now;
  return for_each_word(offset, bytes, [&](Word& word, std::uint8_t part) {
    auto conflict = racing_write(word, access, part);
    if (!conflict) conflict = racing_read(word, access, part);
    if (access.synchronising && !word.write.synchronising && is_news(word.write, access.warp)) return conflict;
    word.write = {
        warp(access.warp).now, access.statement, static_cast<std::uint8_t>(access.warp), static_cast<std::uint8_t>(access.lane), part,
        access.synchronising};
    return conflict;
  });
}

void LaneRaces::land(int index, int lane, std::size_t offset, std::size_t bytes) {
  record_deferred(index);
  warp(index).wrote = warp(index).now;
  for_each_word(offset, bytes, [&](Word& word, std::uint8_t) -> std::optional<Conflict> {
    if (word.write.warp == index && word.write.lane == lane && word.write.time != 0) word.write.time = warp(index).now;
    return std::nullopt;
  });
}

void LaneRaces::meet(int index, LaneMask lanes) {
  Warp& here = warp(index);
  if (lanes == all_lanes) {
    here.met = here.now++;
    here.deferred.clear();
    return;
  }
  Times joined{};
  for (std::size_t lane = 0; lane < joined.size(); ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    for (std::size_t other = 0; other < joined.size(); ++other) joined[other] = std::max(joined[other], here.known[lane][other]);
  }
  for (std::size_t lane = 0; lane < joined.size(); ++lane)
    if ((lanes >> lane & 1) != 0) joined[lane] = here.now;
  for (std::size_t lane = 0; lane < joined.size(); ++lane)
    if ((lanes >> lane & 1) != 0) here.known[lane] = joined;
  ++here.now;
}

void LaneRaces::synchronise(int index, int lane, std::size_t word) {
  Warp& here = warp(index);
  if (release_numbers_.empty()) release_numbers_.resize(words_.size());
  std::uint32_t& number = release_numbers_[word / word_bytes];
  if (number == 0) {
    releases_.emplace_back();
    number = static_cast<std::uint32_t>(releases_.size());
  }
  Release& release = releases_[number - 1];
  if (release.warp != index && release.warp != -1) join_all(index, lane);  // by way of another warp: of whom is not known
  Times& known = here.known[static_cast<std::size_t>(lane)];
  if (release.warp != index) release = {index, {}};
  for (std::size_t other = 0; other < known.size(); ++other) known[other] = std::max(known[other], release.known[other]);
  release.known = known;
  release.known[static_cast<std::size_t>(lane)] = here.now;
  ++here.now;
}

void LaneRaces::join_all(int index, int lane) {
  Warp& here = warp(index);
  here.known[static_cast<std::size_t>(lane)].fill(here.now);
  ++here.now;
}

}  // namespace warpmat::checks
