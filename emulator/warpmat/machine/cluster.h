#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <warpmat/machine/bulk_copies.h>
#include <warpmat/machine/clock_leaps.h>
#include <warpmat/machine/launch_state.h>
#include <warpmat/machine/observers.h>

namespace warpmat::machine {

class Block;
class BlockStorage;

/// Blocks that run together and access each other's shared memory (PTX ISA 9.1 section 2.2.2). Without clusters each block is its own
/// cluster. Its blocks run alternately on one thread, so all events in a cluster have one order.
class Cluster {
 public:
  enum class Status : std::uint8_t { finished, needs_reservation, reservation_is_over };

  /// Takes another cluster of the launch, which then does not begin; returns its number, or nothing if there is none to be had.
  using Cancel = std::function<std::optional<std::uint64_t>()>;
  /// Cluster `number` of the launch.
  /// `storage`: of its only block, which is to be resumed.
  Cluster(const LaunchState& launch, std::uint64_t number, Cancel cancel = nullptr, std::unique_ptr<BlockStorage> storage = nullptr);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// Runs until all blocks end, until an ordered operation needs the reservation but the cluster does not have it, or until the
  /// reservation's operations are used up. Throws Trap.
  Status run(bool has_reservation);
  /// The clocks of the cluster's grid have leapt so far, in all; `hurries`: each read makes them leap again, further and further.
  void set_clocks(std::uint64_t leaps, bool hurries) {
    grid_leaps_ = leaps;
    hurries_ = hurries;
  }

  const LaunchState& launch() const { return launch_; }
  std::uint64_t number() const { return number_; }  ///< among the launch's clusters
  Dim3 index() const { return index_; }             ///< %clusterid
  /// clusterlaunchcontrol.try_cancel: the index of the first block of a cluster that now does not begin.
  std::optional<Dim3> cancel_another();
  int size() const { return static_cast<int>(blocks_.size()); }
  Block& block(int rank) { return *blocks_[static_cast<std::size_t>(rank)]; }
  const Block& block(int rank) const { return *blocks_[static_cast<std::size_t>(rank)]; }
  BulkCopies& copies() { return copies_; }
  const BulkCopies& copies() const { return copies_; }
  Observers& observers() { return observers_; }
  std::uint64_t operations() const;
  std::string take_printed();
  std::size_t warps() const;

  /// Increases with every event that lanes may wait for: stores, atomic operations that change a value, barriers, exits.
  std::uint64_t progress() const { return progress_; }
  void make_progress() { ++progress_; }
  /// Memory may have been allocated, freed or moved while the cluster did not run.
  void forget_accesses();
  /// By how much clocks have leapt, for a lane that reads one.
  std::uint64_t read_clock() {
    ++clock_reads_;
    constexpr std::uint64_t least = 1 << 16, part = 8;
    if (hurries_) own_leaps_ += std::max(least, own_leaps_ / part);
    return own_leaps_ + grid_leaps_;
  }
  /// How often a warp has read a clock since the last call.
  std::uint64_t take_clock_reads() { return std::exchange(clock_reads_, 0); }
  /// Where no lane can continue: if lanes read clocks, these leap, and the lanes go on. False: they wait for what never comes.
  bool leap();
  /// Whether the last reservation brought no progress, and no warp computes what may bring it later: all poll, or wait for a time.
  bool idle_reservation() const;
  /// Of its block that has used most of the last reservation.
  std::uint64_t used_accesses() const;
  /// Whether no warp waits for a time either.
  bool only_polls() const;
  /// Of all that decides what it does next while global memory stays as it is.
  std::uint64_t hash_of_state() const;
  std::uint64_t progress_of_reservation() const { return progress_ - progress_before_; }
  /// Throws a Trap that lists where each warp waits.
  [[noreturn]] void report_deadlock();

  /// The number of completed phases of the cluster's barrier.
  std::uint32_t barrier_phases() const { return barrier_phases_; }
  /// Lanes have arrived at the cluster's barrier.
  void arrive() { arrived_ = true; }
  /// Releases the warps at the cluster's barrier if every thread that has not exited has arrived.
  void check_barrier();

 private:
  const LaunchState& launch_;
  std::uint64_t number_;
  Cancel cancel_;
  Dim3 index_;
  Observers observers_;
  BulkCopies copies_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::size_t next_ = 0, ended_ = 0;
  std::uint64_t progress_ = 0, progress_before_ = 0;
  ClockLeaps leaps_;
  std::uint64_t own_leaps_ = 0, grid_leaps_ = 0;
  bool hurries_ = false;
  std::uint64_t clock_reads_ = 0;
  bool arrived_ = false;  ///< some lanes at the barrier, in the phase that is not over
  std::uint32_t barrier_phases_ = 0;
};

/// %clusterid of cluster `number` of a launch.
Dim3 cluster_index(const LaunchConfig& config, std::uint64_t number);
/// The block's position in its cluster, in the order of %cluster_ctarank.
Dim3 place_in_cluster(const Dim3& cluster, std::uint32_t rank);

}  // namespace warpmat::machine
