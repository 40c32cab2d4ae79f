#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <warpmat/machine/bulk_copies.h>
#include <warpmat/machine/launch_state.h>

namespace warpmat::machine {

class Block;

/// Blocks that run together and see each other's shared memory (PTX ISA 9.1 section 2.2.2); without clusters each block is one. Blocks
/// take turns, so everything in a cluster happens in one order.
class Cluster {
 public:
  enum class Status : std::uint8_t { finished, needs_turn, turn_is_over };

  /// Cluster `number` of the launch.
  Cluster(const LaunchState& launch, std::uint64_t number);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// Runs until all blocks end, or an operation comes whose order among clusters is defined and the cluster does not have the turn, or the
  /// turn's share of such operations is used up. Throws KernelTrap.
  Status run(bool has_turn);

  const LaunchState& launch() const { return launch_; }
  std::uint64_t number() const { return number_; }  ///< of the launch's clusters
  Dim3 index() const { return index_; }             ///< %clusterid
  int size() const { return static_cast<int>(blocks_.size()); }
  Block& block(int rank) { return *blocks_[static_cast<std::size_t>(rank)]; }
  BulkCopies& copies() { return copies_; }
  std::uint64_t operations() const;
  std::string take_printed();
  std::size_t warps() const;

  /// Grows with everything that lanes may wait for: stores, atomic operations that change something, barriers, exits.
  std::uint64_t progress() const { return progress_; }
  void make_progress() { ++progress_; }
  /// Whether the turn that is over brought no progress.
  bool idle_turn() const { return progress_ == progress_before_; }
  /// Throws the KernelTrap that says where each warp waits.
  [[noreturn]] void report_deadlock();

  /// How many phases of the cluster's barrier are over.
  std::uint32_t barrier_phases() const { return barrier_phases_; }
  /// Lanes have arrived at the cluster's barrier.
  void arrive() { arrived_ = true; }
  /// Lets the warps that wait at the cluster's barrier go if every thread that has not exited has arrived.
  void check_barrier();
  /// The address of a byte as other blocks name it: the low 24 bits are the block's own, the rest is its rank + 1, 0 for the block itself.
  static constexpr int rank_at = 24;

 private:
  const LaunchState& launch_;
  std::uint64_t number_;
  Dim3 index_;
  BulkCopies copies_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::size_t next_ = 0, ended_ = 0;
  std::uint64_t progress_ = 0, progress_before_ = 0;
  bool arrived_ = false;  ///< some lanes at the barrier, in the phase that is not over
  std::uint32_t barrier_phases_ = 0;
};

/// The number of the cluster's barrier in phase `phase` for a RaceDetector: warps leave one phase while others arrive in the next.
inline int cluster_barrier_of(std::uint32_t phase) {
  constexpr int behind_others = 1 << 16;
  return behind_others + static_cast<int>(phase % 2);
}

/// The block's place in its cluster, counted as %cluster_ctarank counts.
Dim3 place_in_cluster(const Dim3& cluster, std::uint32_t rank);

}  // namespace warpmat::machine
