#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <warpmat/checks/checks.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/tensor_core.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::checks {

namespace {

/// Warns of what the ISA asks of statements on the same cells of tensor memory, one of which writes (PTX ISA 9.1 section 9.7.16.6.4):
///   - tcgen05.fence::before_thread_sync behind the first, if another warp executes the second; a commit is one for what it tracks;
///   - after_thread_sync before the second, also before ld and st of the warp whose thread issued the first;
///   - tcgen05.wait::ld between an ld and what writes its cells, in any warp: the use of its registers orders nothing else;
///   - tcgen05.wait::st between an st and an ld of its cells, in any warp. Before everything else an st without it traps,
///     unless a load has read it;
///   - an ld or st whose address has a lane of the warp;
///   - a commit without .shared::cluster whose address is a generic one.
/// A launch has one warning of each, because GPUs execute kernels well that have none of these: those of CUTLASS.
class TensorFenceCheck : public machine::Observer {
 public:
  TensorFenceCheck(const Setup& setup, std::uint64_t cluster)
      : Observer(machine::EventKinds::tensor_memory), setup_(setup), cluster_(cluster) {}

  void tensor_accessed(const machine::TensorAccess& event) override;
  void tensor_ordered(const machine::TensorOrder& event) override;
  void tensor_freed(int rank, int first, int count) override;

 private:
  using Warp = std::pair<int, int>;  ///< rank of the block, number in it

  struct Access {
    int rank;  ///< of the block whose tensor memory it is
    Warp warp;
    bool by_a_thread, writes;
    machine::TensorRegion region;
    std::uint32_t statement;
    std::uint64_t issued;        ///< TensorAccess::issued
    bool waited = false;         ///< ld, st: tcgen05.wait followed it
    std::uint64_t released = 0;  ///< when the warp had a fence behind it, or the commit arrived; 0: not yet
  };

  void check_lane(const machine::TensorAccess& event);
  void check_commit(const machine::TensorAccess& event);
  void check(const machine::TensorAccess& event, const Warp& warp, const machine::TensorRegion& region, bool writes);
  void keep(Access access);
  enum class Missing : std::uint32_t { before_sync, after_sync, wait_of_load, wait_of_store };
  void warn(const machine::TensorAccess& event, const Access& earlier, Missing missing);

  static constexpr std::uint32_t wrong_lane = 4;      ///< the key of check_lane's warning, behind those of Missing
  static constexpr std::uint32_t wrong_window = 5;    ///< of check_commit's
  static constexpr std::size_t most_accesses = 1024;  ///< kept: the latest of all with different cells

  const Setup& setup_;
  std::uint64_t cluster_;
  std::uint64_t time_ = 0;
  std::vector<Access> accesses_;
  std::map<Warp, std::uint64_t> acquired_;  ///< the time of a warp's last after_thread_sync
};

}  // namespace

using machine::TensorAccess;
using machine::TensorOrder;
using machine::TensorRegion;

void TensorFenceCheck::tensor_accessed(const TensorAccess& event) {
  if (event.reads.empty() && event.writes.empty()) return check_commit(event);
  ++time_;
  if (!event.by_a_thread) check_lane(event);
  const Warp warp{event.event.rank(), event.event.warp()};
  for (const TensorRegion& region : event.reads) check(event, warp, region, false);
  for (const TensorRegion& region : event.writes) check(event, warp, region, true);
  for (const TensorRegion& region : event.reads)
    keep({event.rank, warp, event.by_a_thread, false, region, event.event.statement(), event.issued});
  for (const TensorRegion& region : event.writes)
    keep({event.rank, warp, event.by_a_thread, true, region, event.event.statement(), event.issued});
}

/// Of ld and st: whether the address names the warp's own lanes.
void TensorFenceCheck::check_lane(const TensorAccess& event) {
  const machine::WarpState& state = warp_of(event.event);
  const int lane = tensor_place(state.source_word(operation_of(event.event), 0, 0)).lane, quarter = lane / tensor_quarter;
  if (quarter == event.event.warp() % 4) return;
  checks::warn(setup_.reports.tensor_fences, wrong_lane, event.event, cluster_, -1, std::nullopt,
               {fmt::format("the address has lane {}, which another warp reaches", lane),
                {{fmt::format("this one takes its own lanes, from {} on (PTX ISA 9.1 section 9.7.16.8.1)",
                              event.event.warp() % 4 * tensor_quarter)}}});
}

/// Of a commit whose address is one of shared memory where it has to be generic: no other commit is told.
void TensorFenceCheck::check_commit(const TensorAccess& event) {
  checks::warn(setup_.reports.tensor_fences, wrong_window, event.event, cluster_, -1, std::nullopt,
               {"without .shared::cluster the address is a generic one, and this is one of shared memory",
                {{"it is taken for that (PTX ISA 9.1 section 9.7.16.12.1)"}}});
}

void TensorFenceCheck::check(const TensorAccess& event, const Warp& warp, const TensorRegion& region, bool writes) {
  const auto found = acquired_.find(warp);
  const std::uint64_t acquired = found == acquired_.end() ? 0 : found->second;
  for (const Access& earlier : accesses_) {
    if (earlier.rank != event.rank || (!writes && !earlier.writes) || !earlier.region.overlaps(region)) continue;
    const bool own = earlier.warp == warp;
    if (!earlier.by_a_thread && !earlier.waited) {
      warn(event, earlier, earlier.writes ? Missing::wait_of_store : Missing::wait_of_load);
      continue;
    }
    if (own && (!earlier.by_a_thread || event.by_a_thread)) continue;
    if (earlier.released == 0)
      warn(event, earlier, Missing::before_sync);
    else if (acquired < earlier.released)
      warn(event, earlier, Missing::after_sync);
  }
}

/// Replaces an earlier access of the same kind to the same cells.
void TensorFenceCheck::keep(Access access) {
  std::erase_if(accesses_, [&](const Access& a) {
    return a.rank == access.rank && a.warp == access.warp && a.by_a_thread == access.by_a_thread && a.writes == access.writes &&
           a.region.lanes == access.region.lanes && a.region.first_column == access.region.first_column &&
           a.region.columns == access.region.columns;
  });
  if (accesses_.size() == most_accesses) accesses_.erase(accesses_.begin());
  accesses_.push_back(access);
}

/// One warning of each kind for a launch, whatever the statement: there are as many statements without a fence as loads.
void TensorFenceCheck::warn(const TensorAccess& event, const Access& earlier, Missing missing) {
  const auto key = static_cast<std::uint32_t>(missing);
  if (!setup_.reports.tensor_fences.wants(key, cluster_)) return;
  const machine::WarpState& state = warp_of(event.event);
  constexpr const char* problems[] = {
      "no tcgen05.fence::before_thread_sync stands behind the earlier access to the same cells of tensor memory",
      "no tcgen05.fence::after_thread_sync stands between this statement and the earlier access to the same cells of tensor memory",
      "a load may still read these cells: tcgen05.wait::ld has not followed it",
      "a store may still write these cells: tcgen05.wait::st has not followed it"};
  checks::warn(
      setup_.reports.tensor_fences, key, event.event, cluster_, -1, std::nullopt,
      {problems[key],
       {state.note(fmt::format("warp {} {} them here", earlier.warp.second, earlier.writes ? "writes" : "reads"), earlier.statement),
        {"PTX ISA 9.1 section 9.7.16.6.4"}}});
}

void TensorFenceCheck::tensor_ordered(const TensorOrder& event) {
  ++time_;
  const Warp warp{event.rank, event.warp};
  if (event.kind == TensorOrder::Kind::after_sync) {
    acquired_[warp] = time_;
    return;
  }
  if (event.kind == TensorOrder::Kind::load_done || event.kind == TensorOrder::Kind::store_done) {
    const bool stores = event.kind == TensorOrder::Kind::store_done;
    for (Access& access : accesses_)
      access.waited = access.waited || (access.warp == warp && !access.by_a_thread && access.writes == stores);
    return;
  }
  const bool commit = event.kind == TensorOrder::Kind::commit;
  for (Access& access : accesses_)
    if (access.warp == warp && access.released == 0 && (!commit || (access.by_a_thread && access.issued <= event.issued)))
      access.released = time_;
}

void TensorFenceCheck::tensor_freed(int rank, int first, int count) {
  const TensorRegion freed = machine::all_lanes_of(first, count);
  std::erase_if(accesses_, [&](const Access& access) { return access.rank == rank && access.region.overlaps(freed); });
}

void add_tensor_fence_check(Observers& all, const Setup& setup, std::uint64_t cluster) {
  if (setup.checks.copies && setup.program.executes(catalogue::Semantics::tensor_memory))
    all.push_back(std::make_unique<TensorFenceCheck>(setup, cluster));
}

}  // namespace warpmat::checks
