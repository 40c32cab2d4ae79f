#include <warpmat/checks/global_races.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

namespace warpmat::checks {

namespace {

/// Whether two accesses of different clusters, the bytes of which meet, may have an order or need none.
bool is_fine(const GlobalAccess& a, const GlobalAccess& b) {
  if (!a.made || !b.made) return true;
  if ((a.strong || b.strong) && a.counts && b.counts) return true;
  return (a.released && b.acquired) || (b.released && a.acquired);
}

template <typename Differs>
std::optional<std::uint32_t> first_byte(std::uint32_t first, std::uint32_t end, Differs differs) {
  for (std::uint32_t i = first; i < end; ++i)
    if (differs(i)) return i;
  return std::nullopt;
}

std::optional<std::uint32_t> first_changed(const std::unique_ptr<GlobalRaces::Bits>& changed, std::uint32_t first, std::uint32_t end) {
  if (changed == nullptr) return std::nullopt;
  return first_byte(first, end, [&](std::uint32_t i) { return changed->test(i); });
}

}  // namespace

bool GlobalRaces::LocalPage::store(std::uint32_t first, std::uint32_t end, const std::uint8_t* before, const std::uint8_t* value) {
  if (value != nullptr && values == nullptr) values = std::make_unique_for_overwrite<Values>();
  if (value != nullptr) std::copy(value, value + (end - first), values->data() + first);
  if (value != nullptr && std::equal(value, value + (end - first), before)) return false;
  if (changed == nullptr) changed = std::make_unique<Bits>();
  for (std::uint32_t i = first; i < end; ++i)
    if (value == nullptr || value[i - first] != before[i - first]) changed->set(i);
  return true;
}

/// A cluster's accesses on their way to all clusters' ones.
class GlobalRaces::Merge {
 public:
  Merge(GlobalRaces& races, std::uint64_t cluster, const Ended& ended, const Report& report)
      : races_(races), cluster_(cluster), ended_(ended), report_(report) {}

  void run() {
    for (const auto& [number, page] : ended_.local)
      if (Page* const all = races_.all_.page(number)) merge(number, *page, *all);
  }

 private:
  void merge(std::uint64_t number, const LocalPage& mine, Page& all) {
    for (const ByteRuns<Touched>::Run& run : mine.bytes.runs()) {
      const Touched touched = at_end(run.record);
      races_.all_.count(all.bytes.update(run.first, run.end, races_.scratch_, [&](Number& record, std::uint32_t first, std::uint32_t end) {
        compare(number, mine, all, touched, races_.record(record), first, end);
        record = with(touched, record);
        keep_values(mine, all, record, first, end);
      }));
    }
    if (mine.changed == nullptr) return;
    if (all.changed == nullptr) all.changed = std::make_unique<Bits>();
    *all.changed |= *mine.changed;
  }

  /// With what is known at the cluster's end.
  Touched at_end(Touched touched) const {
    touched.read.released = touched.read_releases < ended_.releases;
    touched.write.released = touched.write_releases < ended_.releases;
    touched.read.counts = touched.write.counts = touched.counts;
    return touched;
  }

  /// Reports at most one conflict of the bytes.
  void compare(std::uint64_t number, const LocalPage& mine, const Page& all, const Touched& touched, const Owned& owned,
               std::uint32_t first, std::uint32_t end) {
    const auto conflict = [&](const GlobalAccess& access, bool writes, bool other_writes, auto place) {
      const GlobalAccess& other = other_writes ? owned.write : owned.read;
      const std::uint64_t other_cluster = other_writes ? owned.writer : owned.reader;
      if (other_cluster == cluster_ || is_fine(access, other)) return false;
      const std::optional<std::uint32_t> byte = place();
      if (byte) report_(cluster_, {number * page_bytes + *byte, other_cluster, access, other, writes, other_writes});
      return byte.has_value();
    };
    const auto i_changed = [&] { return first_changed(mine.changed, first, end); };
    const auto other_changed = [&] { return first_changed(all.changed, first, end); };
    const auto other_values = [&] { return other_value(mine, all, touched.write, owned, first, end); };
    conflict(touched.write, true, true, other_values) || conflict(touched.write, true, false, i_changed) ||
        conflict(touched.read, false, true, other_changed);
  }

  /// Where both write, and not the same.
  static std::optional<std::uint32_t> other_value(const LocalPage& mine, const Page& all, const GlobalAccess& write, const Owned& owned,
                                                  std::uint32_t first, std::uint32_t end) {
    if (write.unknown || owned.write.unknown) return first;
    return first_byte(first, end, [&](std::uint32_t i) { return (*mine.values)[i] != (*all.values)[i]; });
  }

  /// Keeps what this cluster has stored, if it is the writer of the record.
  void keep_values(const LocalPage& mine, Page& all, Number record, std::uint32_t first, std::uint32_t end) const {
    const Owned owned = races_.record(record);
    if (!owned.write.made || owned.writer != cluster_ || owned.write.unknown) return;
    if (all.values == nullptr) all.values = std::make_unique_for_overwrite<Values>();
    std::copy(mine.values->begin() + first, mine.values->begin() + end, all.values->begin() + first);
  }

  /// The record of bytes that had record `before`.
  Number with(const Touched& touched, Number before) {
    const Owned was = races_.record(before);
    Owned owned = was;
    if (!owned.read.made && touched.read.made) {
      owned.read = touched.read;
      owned.read.warp = 0;
      owned.reader = cluster_;
    }
    if ((!owned.write.made || owned.write.silent) && touched.write.made) {
      owned.write = touched.write;
      owned.write.warp = 0;
      owned.writer = cluster_;
    }
    if (owned == was) return before;
    const auto found = std::ranges::find_if(made_, [&](Number number) { return races_.record(number) == owned; });
    if (found != made_.end()) return *found;
    races_.records_.push_back(owned);
    if (made_.size() == most_made) made_.pop_front();
    made_.push_back({static_cast<std::uint32_t>(races_.records_.size())});
    return made_.back();
  }

  static constexpr std::size_t most_made = 16;
  GlobalRaces& races_;
  std::uint64_t cluster_;
  const Ended& ended_;
  const Report& report_;
  std::deque<Number> made_;  ///< the last new records, to find equal ones
};

void GlobalRaces::add(std::uint64_t cluster, std::uint32_t releases, Local local, const Report& report) {
  const std::lock_guard lock(mutex_);
  left_out_ = left_out_ || local.left_out();
  waiting_.emplace(cluster, Ended{releases, std::move(local)});
  while (!waiting_.empty() && (waiting_.begin()->first <= next_ || waiting_.size() > most_waiting)) merge_first(report);
}

void GlobalRaces::finish(const Report& report) {
  const std::lock_guard lock(mutex_);
  while (!waiting_.empty()) merge_first(report);
}

void GlobalRaces::merge_first(const Report& report) {
  const auto node = waiting_.extract(waiting_.begin());
  next_ = node.key() + 1;
  Merge(*this, node.key(), node.mapped(), report).run();
}

}  // namespace warpmat::checks
