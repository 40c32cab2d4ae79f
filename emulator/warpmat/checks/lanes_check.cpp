#include <cstdint>
#include <set>

#include <fmt/core.h>

#include <warpmat/checks/checks.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::checks {

namespace {

/// Shuffles that read a lane outside of their group: a trap with Checks::lanes, else an entry of Reports::absent_lanes.
class LanesCheck : public machine::Observer {
 public:
  LanesCheck(const Setup& setup, std::uint64_t cluster) : Observer(machine::EventKinds::absent_lanes), setup_(setup), cluster_(cluster) {}

  void exchange(const machine::ExchangeEvent& event) override;

 private:
  const Setup& setup_;
  std::uint64_t cluster_;
  std::set<std::uint32_t> noted_;  ///< statements
};

}  // namespace

void LanesCheck::exchange(const machine::ExchangeEvent& event) {
  if (event.absent == 0) return;
  const machine::WarpState& warp = warp_of(event.event);
  const code::Operation& operation = operation_of(event.event);
  if (setup_.checks.lanes) {
    const int lane = first_lane(event.absent), source = event.from[static_cast<std::size_t>(lane)];
    const LaneMask bit = lane_bit(source);
    const bool has_mask = program_of(event.event).of<code::WarpExchange>(operation).has_mask;
    const LaneMask named = has_mask ? warp.source_word(operation, operation.sources - 1, lane) : all_lanes;
    event.event.trap(lane, std::nullopt,
                     fmt::format("reads lane {}, which {}: what that gives is undefined", source,
                                 (warp.existing() & bit) == 0 ? "does not exist"
                                 : (warp.live() & bit) == 0   ? "has exited"
                                 : (named & bit) == 0         ? fmt::format("its mask {:#010x} does not name", named)
                                                              : "does not execute the statement"),
                     Trap::Kind::undefined);
  }
  if (noted_.insert(operation.statement).second)
    setup_.reports.absent_lanes.add(operation.statement, cluster_, warp.statement_name(operation.statement));
}

void add_lanes_check(Observers& all, const Setup& setup, std::uint64_t cluster) {
  if (setup.program.executes(catalogue::Semantics::exchange)) all.push_back(std::make_unique<LanesCheck>(setup, cluster));
}

}  // namespace warpmat::checks
