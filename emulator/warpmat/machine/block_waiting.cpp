// What the report of a deadlock says: where the warps of a block wait, and for what.

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/kernel_trap.h>
#include <warpmat/ptx/text/readable_name.h>
#include <warpmat/text.h>

namespace warpmat::machine {
namespace {

constexpr std::size_t most_places = 12;

/// "warp 3", "warps 0 to 3", "warps 0, 2 and 5 to 7".
std::string warps_text(std::uint64_t warps) {
  std::vector<std::string> runs;
  for (int first = 0; first < 64; ++first) {
    if ((warps >> first & 1) == 0) continue;
    int last = first;
    while (last < 63 && (warps >> (last + 1) & 1) != 0) ++last;
    runs.push_back(first == last ? std::to_string(first) : fmt::format("{} to {}", first, last));
    first = last;
  }
  return fmt::format("warp{} {}", std::popcount(warps) == 1 ? "" : "s", joined(runs, ", "));
}

/// Warps whose lanes wait at the same place for the same thing.
struct Alike {
  WarpState::Waiting waiting;
  std::uint64_t warps;  ///< a bit each
};

std::string lanes_text(LaneMask lanes) {
  return lanes == all_lanes ? "" : fmt::format(", lanes {:#010x},", lanes);
}

}  // namespace

Trap::Reason Block::describe_waiting() {
  std::vector<Alike> all;
  for (const auto& warp : warps_) {
    if (warp->finished()) continue;
    warp->go_back_to_polls();
    for (WarpState::Waiting& found : warp->describe_waiting()) {
      const auto same = std::ranges::find_if(all, [&](const Alike& other) {
        return other.waiting.lanes == found.lanes && other.waiting.statement == found.statement && other.waiting.what == found.what;
      });
      const std::uint64_t bit = std::uint64_t{1} << warp->index();
      if (same == all.end())
        all.push_back({std::move(found), bit});
      else
        same->warps |= bit;
    }
  }
  std::vector<Trap::Note> notes;
  std::string help;
  for (Alike& each : std::span(all).first(std::min(all.size(), most_places))) {
    WarpState::Waiting& waiting = each.waiting;
    notes.push_back({fmt::format("{}{} wait{} here{}", warps_text(each.warps), lanes_text(waiting.lanes),
                                 std::has_single_bit(each.warps) ? "s" : "", waiting.what),
                     place_of(launch_.program, waiting.statement)});
    std::ranges::move(waiting.changes, std::back_inserter(notes));
    if (help.empty()) help = waiting.help;
  }
  if (all.size() > most_places) notes.push_back({fmt::format("and {} places more", all.size() - most_places)});
  return {"", std::move(notes), std::move(help)};
}

/// Names the statement of a warp that polls, if there is one: that warp shows what is missing.
void Block::report_deadlock(std::vector<Trap::Note> others) {
  const WarpState* first = nullptr;
  for (const auto& warp : warps_) {
    if (warp->finished()) continue;
    warp->go_back_to_polls();
    if (first == nullptr || (!first->polls() && warp->polls())) first = warp;
  }
  if (!first->polls())
    for (const auto& warp : warps_)
      if (!warp->finished()) warp->check_gathering();
  Trap::Reason reason = describe_waiting();
  reason.headline = fmt::format("deadlock: no warp of the {} can continue", cluster_.size() == 1 ? "block" : "cluster");
  if (reason.help.empty()) reason.help = "compare what each barrier expects with the warps that reach it";
  std::ranges::move(others, std::back_inserter(reason.notes));
  first->trap(-1, std::nullopt, reason, Trap::Kind::deadlock);
}

std::string Block::describe_mbarrier(std::uint32_t offset) const {
  const std::uint64_t address = launch_.program.shared_base + offset;
  std::uint64_t bits;
  std::memcpy(&bits, shared_.data() + offset, 8);
  const MbarrierWord word(bits);
  std::string text = fmt::format("{} at {:#x}: its phase of parity {} misses {} of {} arrivals", mbarrier_name(offset), address,
                                 word.phase(), word.missing(), word.expected());
  if (word.bytes() > 0) text += fmt::format(" and {} bytes that never arrive", word.bytes());
  if (word.bytes() < 0) text += fmt::format(" and has {} unexpected bytes", -word.bytes());
  const auto found = mbarriers_.find(offset);
  if (found == mbarriers_.end()) return text;
  const MbarrierHistory& history = found->second;
  if (history.phases() == 0)
    text += "; no phase has ended";
  else
    text += fmt::format("; {} phase{} ended before", history.phases(), history.phases() == 1 ? "" : "s");
  if (history.last_changes().empty()) text += ", and nothing has come since";
  return text;
}

std::string Block::mbarrier_help(std::uint32_t offset) const {
  const auto found = mbarriers_.find(offset);
  if (found == mbarriers_.end()) return "";
  std::uint64_t bits;
  std::memcpy(&bits, shared_.data() + offset, 8);
  const MbarrierWord word(bits);
  const MbarrierHistory& history = found->second;
  if (word.bytes() > 0 && word.missing() == 0)
    return "expect_tx announces the bytes of the copies that are issued in the phase, and no others";
  if (word.missing() < word.expected())
    return fmt::format("the count of mbarrier.init is that of a phase's arrivals: {} came, {} are expected",
                       word.expected() - word.missing(), word.expected());
  if (!history.last_changes().empty()) return "expect_tx and copies are no arrivals: mbarrier.arrive.expect_tx is one that announces bytes";
  if (history.phases() == 0)
    return "before the first phase ends, a wait for parity 0 waits, and one for parity 1 goes through, as a producer's first wait must";
  return "nothing arrives in this phase: compare how many phases each side takes part in";
}

std::vector<Trap::Note> Block::mbarrier_changes(std::uint32_t offset) const {
  const auto found = mbarriers_.find(offset);
  if (found == mbarriers_.end()) return {};
  const MbarrierHistory& history = found->second;
  std::vector<Trap::Note> notes;
  if (const auto& beginning = history.beginning())
    notes.push_back({fmt::format("initialised here by warp {} with a count of {}", beginning->warp, beginning->count),
                     place_of(launch_.program, beginning->statement)});
  if (history.earlier_changes() != 0) notes.push_back({fmt::format("in this phase came {} changes, then", history.earlier_changes())});
  for (const MbarrierHistory::Change& change : history.last_changes())
    notes.push_back(
        {fmt::format("in this phase warp {} came here{}", change.warp, change.times == 1 ? "" : fmt::format(", {} times", change.times)),
         place_of(launch_.program, change.statement)});
  if (const MbarrierHistory::Phase& phase = history.phase(); phase.statements != 0 && phase.came != phase.announced)
    notes.push_back({fmt::format("expect_tx announces {} bytes too {}: {} were issued on it",
                                 phase.came < phase.announced ? phase.announced - phase.came : phase.came - phase.announced,
                                 phase.came < phase.announced ? "many" : "few", phase.came),
                     place_of(launch_.program, phase.announcer.statement)});
  return notes;
}

/// "mbarrier 'full'", "mbarrier 'full'[1]" of an array of mbarriers, "mbarrier 3 of 8 in 'ring'" of a variable that has other things, too.
std::string Block::mbarrier_name(std::uint32_t offset) const {
  const std::uint64_t address = launch_.program.shared_base + offset;
  const auto nearest = shared_variable_before(launch_, address);
  if (!nearest) return "mbarrier";
  const std::uint64_t first = nearest->variable.address, bytes = nearest->bytes;
  std::uint64_t number = 0, count = 0;
  for (const auto& [other, history] : mbarriers_) {
    const std::uint64_t place = launch_.program.shared_base + other;
    if (place < first || place >= first + bytes) continue;
    ++count;
    if (place < address) ++number;
  }
  const std::string name = fmt::format("'{}'", readable_name(nearest->variable.name));
  const std::uint64_t into = address - first;
  if (bytes == 8) return "mbarrier " + name;
  if (bytes == 8 * count) return fmt::format("mbarrier {}[{}]", name, into / 8);
  return fmt::format("mbarrier {} of {} in {}, {} bytes into it,", number, count, name, into);
}

}  // namespace warpmat::machine
