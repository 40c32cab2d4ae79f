#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <warpmat/ptx/program/code.h>
#include <warpmat/warp/warp.h>

namespace warpmat::machine {

/// A wgmma.mma_async that one warp has issued and not waited for: its part of the results, 16 of 64 rows, comes with the wait.
struct PendingProduct {
  const code::WarpgroupProduct* product;
  std::uint32_t statement;          ///< of Program::statements
  std::uint32_t group;              ///< the number of groups that the warp had committed before
  bool committed;                   ///< whether it belongs to a group
  std::vector<std::uint32_t*> d;    ///< the accumulators, 32 words each
  std::vector<std::size_t> places;  ///< where they lie: WarpgroupState::place
  std::vector<std::size_t> reads;   ///< and the registers of A
  std::uint64_t a_descriptor, b_descriptor;
  std::vector<std::uint32_t> a;  ///< as Wgmma::read_a brings them, when it was issued
  /// As Wgmma::read_b brings them, when the first warp of the warpgroup issued it.
  std::shared_ptr<const std::vector<std::uint32_t>> b;
  Register metadata;
  bool accumulates;
};

/// What a warp knows of its wgmma statements.
struct WarpgroupState {
  /// Who wrote a register last.
  struct Write {
    std::uint64_t time = 0;  ///< WarpState::operations() then; 0: nobody
    std::uint32_t statement = 0;
  };

  explicit WarpgroupState(std::size_t frame_bytes) : writes(place(frame_bytes)), users(place(frame_bytes)), readers(place(frame_bytes)) {}
  /// The number of a register by its byte offset among the warp's registers.
  static std::size_t place(std::size_t offset) { return offset / code::register_alignment; }

  std::vector<PendingProduct> pending;  ///< in the order of their statements
  std::uint32_t committed = 0;          ///< groups
  std::uint64_t fenced_at = 0;          ///< WarpState::operations() at the last wgmma.fence; 0: there was none
  std::vector<Write> writes;            ///< by place
  std::vector<std::uint32_t> users;     ///< by place: how many pending products write the register
  std::vector<std::uint32_t> readers;   ///< by place: how many pending products have operand a there
};

/// Calls visit(WarpgroupState::place) for each of `count` registers from `slots` on that are no constants, of a function whose registers
/// begin at byte `frame`.
template <typename Visit>
void for_each_place(const code::Slot* slots, int count, std::uint32_t frame, Visit visit) {
  for (int i = 0; i < count; ++i)
    if (slots[i] >= 0) visit(WarpgroupState::place(frame + static_cast<std::size_t>(slots[i])));
}

/// What the four warps of a warpgroup must have in common: their wgmma statements, one by one, and the descriptors.
struct WarpgroupIssues {
  struct Issue {
    std::uint32_t statement;
    std::uint64_t a_descriptor, b_descriptor;  ///< a_descriptor 0 where A is in registers
    bool accumulates;
    int warp;  ///< that came first
    std::shared_ptr<const std::vector<std::uint32_t>> b;
    bool same_operands(const Issue& other) const {
      return a_descriptor == other.a_descriptor && b_descriptor == other.b_descriptor && accumulates == other.accumulates;
    }
  };
  std::deque<Issue> issues;                            ///< those that some warp has yet to come to
  std::uint64_t first = 0;                             ///< the number of issues.front(), counted from the kernel's start
  std::array<std::uint64_t, WgmmaForm::warps> next{};  ///< by warp: the number of its next statement
  std::uint32_t waiting = 0;                           ///< warps that wait at wgmma.fence or wgmma.wait_group for the others: a bit each
  std::uint32_t meeting = 0;                           ///< the statement where they wait
};

}  // namespace warpmat::machine
