#pragma once

#include <cstdint>
#include <set>

#include <warpmat/checks/checks.h>

namespace warpmat::checks {

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

}  // namespace warpmat::checks
