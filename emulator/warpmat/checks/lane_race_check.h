#pragma once

#include <cstdint>
#include <vector>

#include <warpmat/checks/checks.h>
#include <warpmat/checks/lane_races.h>

namespace warpmat::checks {

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

}  // namespace warpmat::checks
