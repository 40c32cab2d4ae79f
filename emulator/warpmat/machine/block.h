#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <warpmat/machine/block_storage.h>
#include <warpmat/machine/cluster.h>
#include <warpmat/machine/launch_state.h>
#include <warpmat/machine/mbarrier.h>
#include <warpmat/machine/stored_buffer.h>
#include <warpmat/machine/tensor_core.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/machine/warpgroup.h>

namespace warpmat::machine {

/// The first lane's access to global memory by the statements of one number.
struct LastAccess {
  const StoredBuffer* buffer = nullptr;   ///< null: none yet
  std::uint32_t address = 0, stride = 0;  ///< the low bits of the address, and of its distance from the one before
};

/// One barrier of a block (PTX ISA 9.1 section 9.7.13.1). It counts whole warps, whether their lanes arrive together or not.
struct BarrierState {
  std::uint32_t expected = 0;       ///< threads; 0: all threads of the block
  std::uint64_t arrived_warps = 0;  ///< the warps that wait, a bit each
  std::uint64_t participants = 0;   ///< including those of bar.arrive
  std::uint32_t arrived = 0;        ///< threads, including those of bar.arrive
  std::uint32_t count = 0;          ///< true predicates (bar.red)
  std::uint32_t contributed = 0;    ///< predicates
  bool in_use = false;
};

/// One block. It schedules its warps in an order that the schedule's seed decides; each runs until it waits or its slice ends.
class Block {
 public:
  /// `yielded` and `waits` (no warp can continue) occur only if the cluster has other blocks.
  enum class Status : std::uint8_t { finished, needs_reservation, reservation_is_over, yielded, waits };

  /// `storage`: of a block that is to be resumed; null: this one's begins now.
  Block(Cluster& cluster, Dim3 index, int rank, std::unique_ptr<BlockStorage> storage = nullptr);
  /// Goes on from these states of its warps, the first of which to run is `current`. `plain_bytes`: scalar::map_has_lanes() of the
  /// initialised bytes of shared memory; null: nobody asks.
  void resume(std::span<const ResumedWarp> warps, std::size_t current, const std::uint16_t* plain_bytes);

  /// Tell observers of block_begins and block_ends.
  void tell_beginning();
  void tell_end();

  /// Starts counting the operations of a reservation.
  void begin_reservation(bool has_reservation);
  /// Runs until the block ends, until it needs the reservation for an ordered operation but does not have it, or until the reservation's
  /// operations are used up. If the cluster has other blocks, each warp runs one slice. Throws Trap.
  Status run();
  bool finished() const { return finished_ == warps_.size(); }

  const LaunchState& launch() const { return launch_; }
  const Dim3& index() const { return index_; }
  Cluster& cluster() { return cluster_; }
  const Cluster& cluster() const { return cluster_; }
  int rank() const { return rank_; }  ///< in the cluster
  /// The address of its first byte of shared memory, with its rank.
  std::uint32_t shared_base() const { return shared_base_; }
  std::span<std::uint8_t> shared() { return shared_; }
  std::span<const std::uint8_t> shared() const { return shared_; }
  /// Uses external shared memory: that of the warp which executes a list of statements.
  void borrow(std::span<std::uint8_t> shared) { shared_ = shared; }
  /// All initialised mbarriers, by their offsets.
  std::map<std::uint32_t, MbarrierHistory>& mbarriers() { return mbarriers_; }
  const std::map<std::uint32_t, MbarrierHistory>& mbarriers() const { return mbarriers_; }
  /// "mbarrier 'full'[1] at 0x408: its phase of parity 0 misses 1 of 1 arrivals and 512 bytes that never arrive; 2 phases ended before".
  std::string describe_mbarrier(std::uint32_t offset) const;
  /// Who has arrived in the mbarrier's phase, or changed it, a note for each statement and warp.
  std::vector<Trap::Note> mbarrier_changes(std::uint32_t offset) const;
  /// What may be wrong with an mbarrier whose phase never ends, as the help of a report; empty where nothing is known.
  std::string mbarrier_help(std::uint32_t offset) const;
  std::string& printed() { return printed_; }
  std::uint64_t operations() const;
  /// The operations of the block so far, without those of the warp that runs, and by how much clocks have leapt.
  std::uint64_t read_clock();

  std::uint64_t progress() const { return cluster_.progress(); }
  void make_progress() { cluster_.make_progress(); }
  /// Throws a Trap that lists where the warps wait. `others`: where those of other blocks of the cluster do.
  [[noreturn]] void report_deadlock(std::vector<Trap::Note> others);
  /// Warps that wait alike have one note: "warps 4 to 11 wait here: ...", with what has come to their mbarrier in the notes that follow.
  /// Without a headline; the help is empty where nothing is known.
  Trap::Reason describe_waiting();
  bool polls() const;
  /// WarpState::only_polls() and only_waits() of all warps.
  bool only_polls() const;
  bool only_waits() const;
  /// Of all that decides what it does next while global memory stays as it is.
  std::uint64_t hash_of_state() const;
  /// A hash of what an access in the reservation has read that may poll.
  void note_read(std::uint64_t found) { reads_ = (reads_ ^ found) * 0x100000001b3; }

  static constexpr int reservation_accesses = 1024;  ///< ordered operations until the next block gets the reservation
  bool has_reservation() const { return has_reservation_; }
  enum class Use : std::uint8_t { granted, is_over, gives_way };
  /// Counts an ordered operation. Now and then it looks whether the warp only polls: then the others of the cluster have their turn, and
  /// the reservation is over if these only poll, too.
  Use use_reservation(const WarpState& warp);
  /// How many this reservation has had.
  int used_accesses() const { return reservation_accesses - std::max(reservation_left_, 0); }

  /// Of the last access which has this number, or another one that shares its place.
  LastAccess& last_access(std::uint32_t access) { return accesses_[access % accesses_.size()]; }
  /// Memory may have been allocated, freed or moved since.
  void forget_accesses() {
    accesses_ = {};
    std::ranges::fill(known_memory_, code::KnownMemory());
    for (WarpState* const warp : warps_) warp->forget_buffer();
  }
  /// What machine code of its warps reads, where it does not depend on the warp.
  code::CodeContext& code_context() {
    if (!code_context_) prepare_code();
    return *code_context_;
  }
  BarrierState& barrier(int id) { return barriers_[static_cast<std::size_t>(id)]; }
  const BarrierState& barrier(int id) const { return barriers_[static_cast<std::size_t>(id)]; }
  /// The same, which an operation names.
  BarrierState& use_barrier(int id) {
    known_barriers_ = std::max(known_barriers_, id + 1);
    barrier(id).in_use = true;
    return barrier(id);
  }
  /// All lanes of a warp have exited.
  void count_exit() { ++exited_; }
  /// Releases the warps at barrier `id` if all have arrived; `action` is that of the last statement.
  void check_barrier(int id);
  const std::vector<WarpState*>& warps() const { return warps_; }
  /// Its tensor memory, made where a program has statements of tcgen05.
  bool has_tensor_core() const { return tensor_core_ != nullptr; }
  TensorCore& tensor_core() { return *tensor_core_; }
  const TensorCore& tensor_core() const { return *tensor_core_; }
  /// The shared state of warps 4 `index` to 4 `index` + 3.
  WarpgroupIssues& warpgroup(int index) { return warpgroups_[static_cast<std::size_t>(index)]; }
  /// A statement of one of its warps, for errors.
  Trap::Site site_of(int warp, std::uint32_t statement) const;

 private:
  void prepare_code();
  bool all_wait() const;
  std::string mbarrier_name(std::uint32_t offset) const;
  void check_all_barriers();
  void check_limits(WarpState& warp) const;
  void begin_slice();
  void check_warpgroups() const;
  void check_tensor_memory() const;
  void end();

  Cluster& cluster_;
  const LaunchState& launch_;
  Dim3 index_;
  int rank_;
  std::uint32_t shared_base_;
  std::unique_ptr<BlockStorage> resumed_;  ///< of a block that is resumed
  std::optional<BlockStorage> own_;        ///< of all others
  BlockStorage& storage_;
  std::span<std::uint8_t> shared_;
  std::map<std::uint32_t, MbarrierHistory> mbarriers_;
  const std::vector<WarpState*>& warps_;
  std::vector<std::size_t> order_;  ///< of the warps; empty: that of their numbers
  std::array<BarrierState, block_barriers> barriers_{};
  int known_barriers_ = 0;  ///< one more than the largest number that an operation has named
  std::array<LastAccess, 32> accesses_{};
  std::vector<code::KnownMemory> known_memory_;
  std::optional<code::CodeContext> code_context_;  ///< once one of its warps runs machine code
  std::vector<WarpgroupIssues> warpgroups_;        ///< of programs with wgmma
  std::unique_ptr<TensorCore> tensor_core_;
  std::string printed_;
  std::size_t next_warp_ = 0;
  int slice_ = 0;  ///< operations left for the warp
  std::uint64_t clock_ = 0;
  std::uint64_t random_;
  std::size_t exited_ = 0;               ///< warps
  std::size_t finished_ = 0, idle_ = 0;  ///< exited warps that run() has seen; consecutive warps that could not continue
  bool has_reservation_ = false;
  int reservation_left_ = 0;
  std::uint64_t reads_ = 0;  ///< of note_read() in this reservation
};

}  // namespace warpmat::machine
