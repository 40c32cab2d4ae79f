// Barriers of the block and of the cluster.

#include <bit>
#include <utility>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/operations.h>

namespace warpmat::machine {

using code::Operation;

namespace {

void arrive(WarpState& warp, BarrierState& state, std::uint32_t id) {
  state.arrived += warp_size;
  state.participants |= std::uint64_t{1} << warp.index();
  warp.observers().tell(
      EventKinds::synchronisation, &Observer::barrier_arrives,
      BarrierEvent{BarrierEvent::Scope::block, warp.block().rank(), static_cast<int>(id), std::uint64_t{1} << warp.index()});
}

/// Where all lanes that are left wait at a barrier of the block, the warp has arrived there.
bool arrive_if_whole(WarpState& warp, std::uint32_t id) {
  const LaneMask waiting = warp.waiting_at(static_cast<int>(id));
  if (waiting == 0 || (warp.live() & ~waiting) != 0) return false;
  BarrierState& state = warp.block().barrier(static_cast<int>(id));
  arrive(warp, state, id);
  state.arrived_warps |= std::uint64_t{1} << warp.index();
  return true;
}

}  // namespace

void arrive_without_exited(WarpState& warp) {
  if (warp.waits_at_barrier())
    for (std::uint32_t id = 0; id < block_barriers; ++id)
      if (arrive_if_whole(warp, id)) warp.block().check_barrier(static_cast<int>(id));
  warp.block().cluster().check_barrier();
}

Step body::barrier(WarpState& warp, const Operation& operation, LaneMask mask) {
  const code::Barrier& what = warp.program().of<code::Barrier>(operation);
  if (what.aligned && !warp.gather(warp.live(), mask, false)) return Step::leave_split;
  const int lane = first_lane(mask);
  const std::uint32_t id = warp.source_word(operation, 0, lane);
  if (id >= block_barriers) warp.trap(lane, std::nullopt, fmt::format("barrier {}: there are {}, from 0 on", id, block_barriers));
  const std::uint32_t threads = what.has_count ? warp.source_word(operation, 1, lane) : 0;
  if (threads % warp_size != 0)
    warp.trap(lane, std::nullopt, fmt::format("a barrier for {} threads: their number is a multiple of {}", threads, warp_size));
  BarrierState& state = warp.block().barrier(static_cast<int>(id));
  if (state.in_use && state.expected != threads)
    warp.trap(lane, std::nullopt,
              fmt::format("barrier {} is used for {} threads here and for {} by warps that wait there", id, threads, state.expected));
  warp.block().use_barrier(static_cast<int>(id)).expected = threads;
  const bool waits = what.action != code::Barrier::Action::arrive;
  if (operation.results > 0) {
    const LaneMask predicates = *warp.at<LaneMask>(warp.source_slot(operation, operation.sources - 1));
    state.count += static_cast<std::uint32_t>(std::popcount(predicates & mask));
    state.contributed += static_cast<std::uint32_t>(std::popcount(mask));
  }
  if (!waits) {
    if (mask != warp.live())
      warp.trap(lane, std::nullopt, fmt::format("lanes {:#010x} arrive at barrier {} without the others of their warp", mask, id));
    arrive(warp, state, id);
    warp.advance_gathered(mask, false);
    warp.block().check_barrier(static_cast<int>(id));
    return Step::next;
  }
  warp.wait_at(static_cast<std::int32_t>(id), mask, what.aligned);
  arrive_if_whole(warp, id);
  warp.block().check_barrier(static_cast<int>(id));
  return Step::leave_split;
}

void release(WarpState& warp, std::int32_t barrier, std::uint32_t count, std::uint32_t contributed) {
  warp.for_splits_at(barrier, [&](Split& s) {
    if (const Operation& operation = warp.operation(); operation.results > 0) {
      using Action = code::Barrier::Action;
      const Action action = warp.program().of<code::Barrier>(operation).action;
      const std::uint32_t value = action == Action::reduce_popc ? count : action == Action::reduce_and ? count == contributed : count != 0;
      warp.write_same(operation, 0, value, s.executing);
    }
    s.state = Split::State::ready;
    ++s.pc;
  });
}

namespace {

constexpr std::int32_t cluster_barrier_id = 1 << 16;  // not an ISA barrier, nor one of warpgroups

BarrierEvent cluster_event(const WarpState& warp, std::uint32_t phase) {
  return {BarrierEvent::Scope::cluster, warp.block().rank(), static_cast<int>(phase), std::uint64_t{1} << warp.index()};
}

}  // namespace

Step body::cluster_barrier(WarpState& warp, const Operation& operation, LaneMask mask) {
  warp.count_once();
  const bool waits = warp.program().has(operation, ".wait"), aligned = warp.program().has(operation, ".aligned");
  if (aligned && !warp.gather(warp.live(), mask, false)) return Step::leave_split;
  ClusterArrivals& lanes = warp.cluster_arrivals();
  Cluster& cluster = warp.block().cluster();
  const LaneMask wrong = waits ? mask & ~lanes.arrived & ~lanes.passed : mask & (lanes.arrived | lanes.passed);
  if (wrong != 0)
    warp.trap(
        first_lane(wrong), std::nullopt,
        waits ? "barrier.cluster.wait without a barrier.cluster.arrive before it" : "barrier.cluster.arrive twice without a wait between");
  if (!waits) {
    lanes.arrived |= mask;
    warp.observers().tell(EventKinds::synchronisation, &Observer::barrier_arrives, cluster_event(warp, cluster.barrier_phases()));
    cluster.arrive();
    warp.advance_gathered(mask, false);
    cluster.check_barrier();
    return Step::next;
  }
  if ((mask & lanes.arrived) == 0) {
    lanes.passed &= ~mask;
    warp.observers().tell(EventKinds::synchronisation, &Observer::barrier_leaves, cluster_event(warp, cluster.barrier_phases() - 1));
    return warp.advance_gathered(mask, false);
  }
  warp.wait_at(cluster_barrier_id, mask, aligned);
  return Step::leave_split;
}

bool has_arrived_at_cluster(WarpState& warp) {
  return (warp.live() & ~warp.cluster_arrivals().arrived) == 0;
}

/// Waiting splits execute their statement again, now without waiting.
void leave_cluster_barrier(WarpState& warp) {
  ClusterArrivals& lanes = warp.cluster_arrivals();
  lanes.passed |= std::exchange(lanes.arrived, 0);
  warp.for_splits_at(cluster_barrier_id, [](Split& s) {
    s.state = Split::State::ready;
    s.resumes = true;
  });
}

}  // namespace warpmat::machine
