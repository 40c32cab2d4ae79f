#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <warpmat/machine/cluster.h>
#include <warpmat/machine/launch_state.h>
#include <warpmat/machine/proxy_shadow.h>
#include <warpmat/machine/race_detector.h>
#include <warpmat/machine/shared_shadow.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/machine/warpgroup.h>

namespace warpmat::machine {

/// One barrier of a block (PTX ISA 9.1 section 9.7.13.1). Warps count as a whole: their lanes arrive together or one after another.
struct BarrierState {
  std::uint32_t expected = 0;       ///< threads; 0: all of the block
  std::uint64_t arrived_warps = 0;  ///< that wait, a bit each
  std::uint64_t participants = 0;   ///< those of bar.arrive included
  std::uint32_t arrived = 0;        ///< threads, those of bar.arrive included
  std::uint32_t count = 0;          ///< of true predicates (bar.red)
  std::uint32_t contributed = 0;    ///< predicates
  bool in_use = false;
};

/// One block: its warps in turn until they wait, in an order that the schedule's seed decides.
class Block {
 public:
  /// `yielded` and `waits`, which says that no warp could go on, only where the cluster has other blocks.
  enum class Status : std::uint8_t { finished, needs_turn, turn_is_over, yielded, waits };

  Block(Cluster& cluster, Dim3 index, int rank);

  /// What is left of the turn counts from here.
  void begin_turn(bool has_turn);
  /// Runs until the block ends, or an operation comes whose order among blocks is defined and the block does not have the turn, or the
  /// turn's share of such operations is used up. With other blocks in the cluster, each warp goes on once. Throws KernelTrap.
  Status run();
  bool finished() const { return finished_ == warps_.size(); }

  const LaunchState& launch() const { return launch_; }
  Dim3 index() const { return index_; }
  Cluster& cluster() { return cluster_; }
  int rank() const { return rank_; }  ///< in the cluster
  std::span<std::uint8_t> shared() { return shared_; }
  /// The block of a list of statements has the shared memory of the list's warp.
  void borrow(std::span<std::uint8_t> shared) { shared_ = shared; }
  /// What is known of the shared memory's bytes, or nullptr where there is none or nothing is checked.
  SharedShadow* shadow() { return shadow_ ? &*shadow_ : nullptr; }
  /// Which bytes wait for a proxy fence, or nullptr where nothing reads shared memory asynchronously.
  ProxyShadow* proxies() { return proxies_ ? &*proxies_ : nullptr; }
  /// Offsets of the mbarriers that exist.
  std::set<std::uint32_t>& mbarriers() { return mbarriers_; }
  RaceDetector* races() { return races_ ? &*races_ : nullptr; }
  std::string& printed() { return printed_; }
  std::uint64_t operations() const;
  std::uint64_t clock() const { return clock_; }

  std::uint64_t progress() const { return cluster_.progress(); }
  void make_progress() { cluster_.make_progress(); }
  /// Throws the KernelTrap that says where each warp waits; `others` is what other blocks of the cluster wait for.
  [[noreturn]] void report_deadlock(const std::string& others);
  std::string describe_waiting();
  bool polls() const;
  /// All warps may see what each of them has copied.
  void publish_all();

  bool has_turn() const { return has_turn_; }
  /// Counts an operation whose order among blocks is defined; false where the turn is over.
  bool use_turn();

  BarrierState& barrier(int id) { return barriers_[static_cast<std::size_t>(id)]; }
  /// Lets the warps of `id` go if all have arrived; `action` is that of the last statement.
  void check_barrier(int id);
  const std::vector<std::unique_ptr<WarpState>>& warps() const { return warps_; }
  /// What the warps 4 `index` to 4 `index` + 3 have in common.
  WarpgroupIssues& warpgroup(int index) { return warpgroups_[static_cast<std::size_t>(index)]; }

 private:
  bool all_wait() const;
  void check_all_barriers();
  void count_exited(int id);
  void begin_slice();
  void begin_checks();
  void check_warpgroups() const;
  void end();

  Cluster& cluster_;
  const LaunchState& launch_;
  Dim3 index_;
  int rank_;
  std::vector<std::uint8_t> shared_storage_;
  std::span<std::uint8_t> shared_;
  std::optional<SharedShadow> shadow_;
  std::optional<RaceDetector> races_;
  std::optional<ProxyShadow> proxies_;
  std::set<std::uint32_t> mbarriers_;
  std::vector<std::unique_ptr<WarpState>> warps_;
  std::vector<std::size_t> order_;
  std::array<BarrierState, block_barriers> barriers_{};
  std::vector<WarpgroupIssues> warpgroups_;
  std::string printed_;
  std::size_t next_warp_ = 0;
  int slice_ = 0;  ///< operations that are left to the warp
  std::uint64_t clock_ = 0;
  std::uint64_t random_;
  std::size_t finished_ = 0, idle_ = 0;  ///< warps that have ended; warps in a row that could not go on
  bool has_turn_ = false;
  int turn_left_ = 0;
};

}  // namespace warpmat::machine
