#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <warpmat/ir/machine_code.h>
#include <warpmat/machine/block_storage.h>
#include <warpmat/machine/cluster.h>
#include <warpmat/machine/launch_state.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::machine {

/// Runs blocks of hot kernels while machine code executes all that their warps do: computations, accesses of memory that it knows, branches
/// that separate lanes once, barriers of the whole block, exits. Such a block is its registers, its shared memory, and a place in the code
/// for each warp. At anything else it becomes a Block in the same state, which goes on as if it had been one from the start: order, clocks
/// and events are the same. Of one thread of a launch whose clusters have no order; the thread rounds to nearest.
class QuickBlocks {
 public:
  explicit QuickBlocks(const LaunchState& launch);
  ~QuickBlocks();

  /// Whether run() may begin: at once where no check looks at the launch. Else look_at() decides, of a `cluster` of the launch that has not
  /// run yet: its observers say whether they would miss something.
  bool ready() const { return usable_ && looked_ && code_ != nullptr; }
  void look_at(Cluster& cluster);

  /// The launch begins again, with another number.
  void begin_launch();
  /// Of memory, from block to block.
  std::size_t kept_bytes() const { return storage_ == nullptr ? 0 : storage_->bytes(); }

  /// Runs cluster `number`. Null: it has ended, after so many operations. Else it is to go on.
  std::unique_ptr<Cluster> run(std::uint64_t number, std::uint64_t& operations);

 private:
  enum class End : std::uint8_t { barrier, exit, machine };

  void find_code();
  bool begin(const Dim3& index);
  bool run_warps();
  std::size_t run_straight();
  End run_warp(ResumedWarp& warp, std::size_t index);
  End run_code(ResumedWarp& warp, std::size_t index, LaneMask lanes, bool apart, std::int32_t& pc);
  bool end_some(ResumedWarp& warp, std::size_t index);
  bool separate(ResumedWarp& warp, std::size_t index);
  bool arrives(ResumedWarp& warp, std::size_t index, LaneMask lanes, std::int32_t& pc);
  void release_barrier();
  bool arrive_at_barrier(ResumedWarp& warp);
  /// The lanes whose guard is true.
  LaneMask executing(const code::Operation& operation, std::size_t index, LaneMask lanes) const;
  std::unique_ptr<Cluster> go_on(std::uint64_t number);
  const code::Operation& operation(std::int32_t pc) const { return launch_.program.operations[static_cast<std::size_t>(pc)]; }
  const code::MachineCode& code_for(LaneMask lanes) const { return lanes == all_lanes ? *code_ : *partial_; }

  const LaunchState& launch_;
  const code::MachineCode *code_ = nullptr, *partial_ = nullptr;
  bool usable_ = false, looked_ = false;
  bool follows_bytes_ = false;           ///< a check wants to know which bytes of shared memory are initialised
  std::vector<std::uint16_t> at_first_;  ///< scalar::map_has_lanes() of them when a block begins
  std::vector<std::uint16_t> plain_;     ///< now
  std::unique_ptr<BlockStorage> storage_;
  code::CodeContext context_;
  std::vector<ResumedWarp> new_warps_, warps_;  ///< when a block begins; now
  std::size_t current_ = 0;
  std::ptrdiff_t waiting_ = 0;  ///< warps at the barrier of this number
  std::uint64_t barrier_ = 0;
  std::uint64_t begun_ = 0, left_to_machine_ = 0;
};

}  // namespace warpmat::machine
