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

/// A wgmma.mma_async that one warp has issued and not waited for. The wait produces its part of the results, 16 of 64 rows.
struct PendingProduct {
  const code::WarpgroupProduct* product;
  std::uint32_t statement;          ///< of Program::statements
  std::uint32_t group;              ///< the number of groups that the warp had committed before
  bool committed;                   ///< whether it belongs to a group
  std::vector<std::uint32_t*> d;    ///< the accumulators, 32 words each
  std::vector<std::size_t> places;  ///< their register numbers: WarpgroupState::place
  std::vector<std::size_t> reads;   ///< the register numbers of A
  std::uint64_t a_descriptor, b_descriptor;
  std::vector<std::uint32_t> a;  ///< the words from Wgmma::read_a at issue
  /// The words from Wgmma::read_b when the first warp of the warpgroup issued it.
  std::shared_ptr<const std::vector<std::uint32_t>> b;
  Register metadata;
  bool accumulates;
};

/// The state of a warp's wgmma statements.
struct WarpgroupState {
  /// The last writer of a register.
  struct Write {
    std::uint64_t time = 0;  ///< WarpState::operations() at that time; 0: none
    std::uint32_t statement = 0;
  };

  explicit WarpgroupState(std::size_t frame_bytes) : writes(place(frame_bytes)), users(place(frame_bytes)), readers(place(frame_bytes)) {}
  /// The number of a register, from its byte offset among the warp's registers.
  static std::size_t place(std::size_t offset) { return offset / code::register_alignment; }

  std::vector<PendingProduct> pending;  ///< in the order of their statements
  std::uint32_t committed = 0;          ///< groups
  std::uint64_t fenced_at = 0;          ///< WarpState::operations() at the last wgmma.fence; 0: none
  std::vector<Write> writes;            ///< by place
  std::vector<std::uint32_t> users;     ///< by place: the number of pending products that write the register
  std::vector<std::uint32_t> readers;   ///< by place: the number of pending products that read the register as operand a
};

/// Calls visit(WarpgroupState::place) for each of `count` registers from `slots` on that are not constants; the function's registers begin
/// at byte `frame`.
template <typename Visit>
void for_each_place(const code::Slot* slots, int count, std::uint32_t frame, Visit visit) {
  for (int i = 0; i < count; ++i)
    if (slots[i] >= 0) visit(WarpgroupState::place(frame + static_cast<std::size_t>(slots[i])));
}

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

}  // namespace warpmat::machine
