#include <warpmat/checks/tensor_fence_check.h>

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::checks {

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

}  // namespace warpmat::checks
