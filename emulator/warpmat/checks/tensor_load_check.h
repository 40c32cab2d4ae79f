#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <warpmat/checks/checks.h>

namespace warpmat::checks {

/// Warns of registers of tcgen05.ld that are used before tcgen05.wait::ld, and of loads that are neither waited for nor used when their
/// columns are freed. A copy of a register waits like the register: compilers move copies over the wait.
class TensorLoadCheck : public machine::Observer {
 public:
  TensorLoadCheck(const Setup& setup, std::uint64_t cluster);

  void operation(const machine::Event& event) override;
  void run(const machine::RunEvent& event) override;
  void tensor_accessed(const machine::TensorAccess& event) override;
  void tensor_ordered(const machine::TensorOrder& event) override;
  void tensor_freed(int rank, int first, int count) override;

 private:
  /// What a warp has loaded and not waited for. A use of one register waits for its whole load.
  struct Pending {
    std::map<std::size_t, std::uint32_t> registers;  ///< by their place, divided by register_alignment: the load's statement
    std::map<std::uint32_t, std::vector<machine::TensorRegion>> loads;  ///< by statement: what it reads
  };

  Pending& pending_of_warp(const machine::Event& event) { return warps_[{event.rank(), event.warp()}]; }
  void follow(const machine::Event& event, const code::Operation& operation, Pending& pending);
  void use(const machine::Event& event, const code::Operation& operation, std::uint32_t load, Pending& pending);
  void warn_of(const machine::Block& block, int warp, std::uint32_t statement, const Trap::Reason& reason);

  const Setup& setup_;
  std::uint64_t cluster_;
  std::map<std::pair<int, int>, Pending> warps_;  ///< by rank and warp
  const machine::Block* freeing_ = nullptr;       ///< whose warp frees columns
  std::uint32_t freed_at_ = 0;                    ///< by this statement
};

}  // namespace warpmat::checks
