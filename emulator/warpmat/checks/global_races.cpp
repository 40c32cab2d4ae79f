#include <warpmat/checks/global_races.h>

namespace warpmat::checks {

namespace {

/// Whether two accesses of different clusters, the bytes of which meet, may have an order or need none.
bool is_fine(const GlobalAccess& a, const GlobalAccess& b) {
  if ((a.bytes & b.bytes) == 0) return true;
  if ((a.strong || b.strong) && a.counts && b.counts) return true;
  return (a.released && b.acquired) || (b.released && a.acquired);
}

/// The bits of the bytes of a cell.
std::uint32_t mask_of(unsigned bytes) {
  std::uint32_t mask = 0;
  for (unsigned b = 0; b < 4; ++b) mask |= (bytes >> b & 1) != 0 ? 0xffu << 8 * b : 0;
  return mask;
}

}  // namespace

void GlobalRaces::add(std::uint64_t cluster, Local local, const Report& report) {
  const std::lock_guard lock(mutex_);
  waiting_.emplace(cluster, std::move(local));
  while (!waiting_.empty() && (waiting_.begin()->first <= next_ || waiting_.size() > most_waiting)) {
    next_ = waiting_.begin()->first + 1;
    merge(waiting_.begin()->first, waiting_.begin()->second, report);
    waiting_.erase(waiting_.begin());
  }
}

void GlobalRaces::finish(const Report& report) {
  const std::lock_guard lock(mutex_);
  for (const auto& [cluster, local] : waiting_) merge(cluster, local, report);
  waiting_.clear();
}

void GlobalRaces::merge(std::uint64_t cluster, const Local& local, const Report& report) {
  local.for_each([&](std::uint64_t number, const GlobalCell& mine) {
    if ((mine.read.bytes | mine.write.bytes) == 0) return;
    Cell* const cell = all_.cell(number);
    if (cell == nullptr) return;
    const auto conflict = [&](const GlobalAccess& access, bool writes, const Owned& other, bool other_writes) {
      if (other.cluster == cluster || is_fine(access, other.access)) return false;
      report(cluster, {number * Local::cell_bytes, other.cluster, access, other.access, writes, other_writes});
      return true;
    };
    const bool equal = ((mine.value ^ cell->value) & mask_of(mine.write.bytes & cell->write.access.bytes)) == 0;
    bool found = !equal && conflict(mine.write, true, cell->write, true);
    found = found || (!mine.write.silent && conflict(mine.write, true, cell->read, false));
    found = found || (!cell->write.access.silent && conflict(mine.read, false, cell->write, true));
    if (cell->read.access.bytes == 0 && mine.read.bytes != 0) cell->read = {mine.read, cluster};
    if ((cell->write.access.bytes == 0 || cell->write.access.silent) && mine.write.bytes != 0) {
      cell->write = {mine.write, cluster};
      cell->value = mine.value;
    }
  });
}

}  // namespace warpmat::checks
