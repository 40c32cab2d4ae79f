// What the report of a deadlock says: where the warps of a block wait, and for what.

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/ptx/text/readable_name.h>
#include <warpmat/text.h>

namespace warpmat::machine {
namespace {

constexpr std::size_t most_lines = 12;

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
struct Waiting {
  LaneMask lanes;
  std::string what;
  std::uint64_t warps;  ///< a bit each
};

}  // namespace

std::string Block::describe_waiting() {
  std::vector<Waiting> all;
  for (const auto& warp : warps_) {
    if (warp->finished()) continue;
    warp->go_back_to_polls();
    for (auto& [lanes, what] : warp->describe_waiting()) {
      const LaneMask mask = lanes;
      const std::string& text = what;
      const auto same = std::ranges::find_if(all, [&](const Waiting& w) { return w.lanes == mask && w.what == text; });
      const std::uint64_t bit = std::uint64_t{1} << warp->index();
      if (same == all.end())
        all.push_back({mask, text, bit});
      else
        same->warps |= bit;
    }
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), most_lines); ++i)
    text += fmt::format("\n  {}, {}, {}", warps_text(all[i].warps),
                        all[i].lanes == all_lanes ? "all lanes" : fmt::format("lanes {:#010x}", all[i].lanes), all[i].what);
  if (all.size() > most_lines) text += fmt::format("\n  and {} places more", all.size() - most_lines);
  return text;
}

/// Names the statement of a warp that polls, if there is one: that warp shows what is missing.
void Block::report_deadlock(const std::string& others) {
  const WarpState* first = nullptr;
  for (const auto& warp : warps_) {
    if (warp->finished()) continue;
    warp->go_back_to_polls();
    if (first == nullptr || (!first->polls() && warp->polls())) first = warp;
  }
  if (!first->polls())
    for (const auto& warp : warps_)
      if (!warp->finished()) warp->check_gathering();
  const std::string text = describe_waiting();
  first->trap(-1, std::nullopt,
              fmt::format("deadlock: no warp of the {} can continue:{}{}", cluster_.size() == 1 ? "block" : "cluster", text, others),
              Trap::Kind::deadlock);
}

std::string Block::describe_mbarrier(std::uint32_t offset) {
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
  if (history.last_changes().empty()) return text + ", and nothing has come since";
  std::vector<std::string> changes;
  for (const MbarrierHistory::Change& change : history.last_changes())
    changes.push_back(fmt::format("warp {} at {}{}", change.warp, warps_.front()->statement_name(change.statement),
                                  change.times == 1 ? "" : fmt::format(", {} times", change.times)));
  const std::string earlier = history.earlier_changes() == 0 ? "" : fmt::format("{} changes, then ", history.earlier_changes());
  return text + fmt::format("; in this one: {}{}", earlier, joined(changes, ", "));
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
