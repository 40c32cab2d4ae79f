#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include <warpmat/checks/checks.h>
#include <warpmat/checks/lane_races.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/kernel_trap.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::checks {

namespace {

/// Warns of data races between lanes of one warp in shared memory. Statements of the whole warp, as ldmatrix, are not looked at: lanes meet
/// there.
class LaneRaceCheck : public machine::Observer {
 public:
  LaneRaceCheck(const Setup& setup, std::uint64_t cluster);

  void block_begins(const machine::BlockEvent& event) override;
  void access(const machine::AccessEvent& event) override;
  void copies_land(const machine::CopiesEvent& event) override;
  void synchronises(const machine::Synchronisation& event) override;
  void lanes_meet(const machine::Event& event) override;
  void barrier_completes(const machine::BarrierEvent& event) override;
  void barrier_leaves(const machine::BarrierEvent& event) override;

 private:
  struct BlockState {
    const std::uint8_t* shared;
    std::size_t bytes;
    LaneRaces races;
  };

  BlockState& block(int rank) { return blocks_[static_cast<std::size_t>(rank)]; }
  void meet(int rank, std::uint64_t warps);
  void report(const machine::Event& event, int lane, std::size_t offset, bool writes, const LaneRaces::Conflict& conflict);

  const Setup& setup_;
  std::uint64_t cluster_;
  std::vector<BlockState> blocks_;  ///< by rank
};

}  // namespace

using catalogue::Semantics;
using machine::Event;
using machine::EventKinds;

LaneRaceCheck::LaneRaceCheck(const Setup& setup, std::uint64_t cluster)
    : Observer(EventKinds::shared_accesses | EventKinds::copies | EventKinds::synchronisation), setup_(setup), cluster_(cluster) {}

void LaneRaceCheck::block_begins(const machine::BlockEvent& event) {
  blocks_.push_back({event.shared.data(), event.shared.size(), LaneRaces(event.shared.size(), event.warps)});
}

void LaneRaceCheck::report(const Event& event, int lane, std::size_t offset, bool writes, const LaneRaces::Conflict& conflict) {
  const std::uint32_t line = machine::first_of_line(setup_.program, event.statement());
  if (!setup_.reports.lane_races.wants(line, cluster_)) return;
  const machine::WarpState& warp = warp_of(event);
  const std::uint64_t address = setup_.program.shared_base + offset;
  warn(setup_.reports.lane_races, line, event, cluster_, lane, address,
       {fmt::format("race within the warp at {:#x}: nothing orders this {} and the {} of lane {}", address, writes ? "store" : "load",
                    conflict.wrote ? "store" : "load", conflict.lane),
        {warp.note_of_shared(address),
         warp.note(fmt::format("{} here by lane {}", conflict.wrote ? "stored" : "loaded", conflict.lane), conflict.statement)},
        "__syncwarp() (bar.warp.sync) between the two orders them"});
}

void LaneRaceCheck::access(const machine::AccessEvent& event) {
  const code::Operation& operation = operation_of(event.event);
  if (event.space != Space::shared || operation.semantics == Semantics::matrix) return;
  BlockState& here = block(event.event.rank());
  const bool synchronising = (event.reads && event.writes) || (!event.asynchronous && orders_others(setup_.program.access(operation)));
  if (!synchronising) {
    const SharedAccess lanes = shared_access(event, here.shared, here.bytes);
    const int warp = event.event.warp();
    if (event.writes ? here.races.write_words(warp, lanes) : here.races.defer(warp, lanes)) return;
  }
  for (LaneMask rest = event.event.lanes(); rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const std::size_t offset = offset_from(here.shared, event.places[static_cast<std::size_t>(lane)]);
    if (offset >= here.bytes) continue;
    const LaneRaces::Access access{event.event.warp(), lane, operation.statement, synchronising};
    const auto conflict = event.writes ? here.races.write(access, offset, event.bytes) : here.races.read(access, offset, event.bytes);
    if (conflict) report(event.event, lane, offset, event.writes, *conflict);
  }
}

void LaneRaceCheck::copies_land(const machine::CopiesEvent& event) {
  BlockState& here = block(event.rank);
  for (LaneMask rest = event.lanes; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    here.races.land(event.warp, lane, offset_from(here.shared, event.places[static_cast<std::size_t>(lane)]), event.bytes);
  }
}

void LaneRaceCheck::synchronises(const machine::Synchronisation& event) {
  BlockState& here = block(event.rank);
  for (LaneMask rest = event.acquired | event.released; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const std::size_t word = offset_from(here.shared, event.words[static_cast<std::size_t>(lane)]);
    word < here.bytes ? here.races.synchronise(event.warp, lane, word) : here.races.join_all(event.warp, lane);
  }
}

void LaneRaceCheck::lanes_meet(const Event& event) {
  block(event.rank()).races.meet(event.warp(), event.lanes());
}

void LaneRaceCheck::meet(int rank, std::uint64_t warps) {
  for (; warps != 0; warps &= warps - 1) block(rank).races.meet(std::countr_zero(warps), all_lanes);
}

void LaneRaceCheck::barrier_completes(const machine::BarrierEvent& event) {
  if (event.scope != machine::BarrierEvent::Scope::cluster) meet(event.rank, event.warps);
}

void LaneRaceCheck::barrier_leaves(const machine::BarrierEvent& event) {
  meet(event.rank, event.warps);
}

void add_lane_race_check(Observers& all, const Setup& setup, std::uint64_t cluster) {
  if (setup.has_shared() && setup.checks.races) all.push_back(std::make_unique<LaneRaceCheck>(setup, cluster));
}

}  // namespace warpmat::checks
