#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <warpmat/ptx/program/code.h>
#include <warpmat/warp.h>

namespace warpmat::inline v0_1::machine {

/// A wgmma.mma_async that one warp has issued and not waited for. The wait produces its part of the results, 16 of 64 rows.
struct PendingProduct {
  const code::WarpgroupProduct* product;
  std::uint32_t statement;        ///< of Program::statements
  std::uint32_t group;            ///< the number of groups that the warp had committed before
  bool committed;                 ///< whether it belongs to a group
  std::vector<std::uint32_t*> d;  ///< the accumulators, 32 words each
  std::uint64_t a_descriptor, b_descriptor;
  std::vector<std::uint32_t> a;  ///< the words from Wgmma::read_a at issue
  /// The words from Wgmma::read_b when the first warp of the warpgroup issued it.
  std::shared_ptr<const std::vector<std::uint32_t>> b;
  Register metadata;
  bool accumulates;
};

/// The state of a warp's wgmma statements.
struct WarpgroupState {
  std::vector<PendingProduct> pending;  ///< in the order of their statements
  std::uint32_t committed = 0;          ///< groups
};

/// State that the four warps of a warpgroup share: their wgmma statements in order, and the descriptors.
struct WarpgroupIssues {
  struct Issue {
    std::uint32_t statement;
    std::uint64_t a_descriptor, b_descriptor;  ///< a_descriptor is 0 if A is in registers
    bool accumulates;
    int warp;  ///< the first warp to issue it
    std::shared_ptr<const std::vector<std::uint32_t>> b;
    bool same_operands(const Issue& other) const {
      return a_descriptor == other.a_descriptor && b_descriptor == other.b_descriptor && accumulates == other.accumulates;
    }
  };
  std::deque<Issue> issues;                            ///< statements that some warp has not reached yet
  std::uint64_t first = 0;                             ///< the number of issues.front(), from the kernel's start
  std::array<std::uint64_t, WgmmaForm::warps> next{};  ///< by warp: the number of its next statement
  std::uint32_t waiting = 0;                           ///< warps that wait at wgmma.fence or wgmma.wait_group for the others, a bit each
  std::uint32_t waits_at = 0;                          ///< the statement at which they wait
};

}  // namespace warpmat::inline v0_1::machine
