#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <warpmat/layout/tensor_descriptor.h>
#include <warpmat/machine/bulk_copies.h>
#include <warpmat/machine/launch_state.h>
#include <warpmat/machine/observers.h>
#include <warpmat/machine/stored_buffer.h>
#include <warpmat/ptx/syntax/module.h>
#include <warpmat/scalar/lane_offsets.h>
#include <warpmat/warp.h>

namespace warpmat::machine {

inline constexpr std::uint32_t block_barriers = 16;  ///< of each block, from number 0 on

class Block;
struct BarrierState;
struct PendingProduct;
struct WarpgroupState;

/// The return address of a called function.
struct Return {
  std::int32_t pc;             ///< of the call
  std::uint32_t frame, local;  ///< of the caller
  std::int32_t function;
};

/// A warp split: lanes of a warp that execute together.
struct Split {
  enum class State : std::uint8_t { ready, gathering, at_barrier };
  State state = State::ready;
  bool resumes = false;  ///< executes a barrier.cluster.wait again, which was counted and announced when the lanes reached it
  std::int32_t pc = 0;
  LaneMask lanes = 0;
  LaneMask executing = 0;         ///< gathering, at_barrier: the lanes whose guard is true
  LaneMask needed = 0;            ///< gathering: the lanes that execute together
  std::int32_t convergence = -1;  ///< the convergence point of the lanes: index in WarpState::convergences_
  std::uint32_t frame = 0;        ///< byte offset of the function's registers
  std::uint32_t local = 0;        ///< byte offset of its local memory, in each lane
  std::int32_t function = 0;
  std::int32_t barrier = 0;
  std::int32_t polls_at = -1;  ///< the last access that may poll for other lanes
  /// One more than Block::progress() when an access last read what it had read before, and when a clock was last read; 0: never.
  std::uint64_t polled_in_vain = 0, clock_read = 0;
  std::uint32_t clock_reads = 0;  ///< since that progress
  std::vector<Return> calls;
};

/// The warps of a block of that shape, and the lanes that exist of one.
inline std::size_t warps_of(const Dim3& block) {
  return static_cast<std::size_t>((block.count() + warp_size - 1) / warp_size);
}
inline LaneMask lanes_of_warp(const Dim3& block, std::size_t warp) {
  const std::uint64_t left = block.count() - warp * warp_size;
  return left >= warp_size ? all_lanes : lane_bit(static_cast<int>(left)) - 1;
}

inline constexpr int warp_slice = 4096;  ///< operations until the next warp is scheduled
inline constexpr int split_slice = 512;  ///< operations until another split of the warp is scheduled

/// A warp in the middle of its block, whose lanes no more than one branch separates: what QuickBlocks knows of it.
struct ResumedWarp {
  std::int32_t pc = 0;
  LaneMask lanes = 0, exited = 0;  ///< those that are left, and others
  std::uint64_t operations = 0;
  bool finished = false;
  bool waits = false;           ///< at the barrier at `pc`, which is counted
  int slice = 0, of_split = 0;  ///< what is used up of warp_slice and of split_slice
  struct Apart {
    std::int32_t branch = -1;  ///< that has separated the lanes; -1: none has
    LaneMask taken = 0;
    std::int32_t converges_at = -1;
    bool others_arrived = false;  ///< there; the lanes of `taken` are at `pc`. Else they are at the branch's target, and the others at `pc`
  } apart;

  int left() const { return warp_slice - slice; }
  int left_of_split() const { return split_slice - of_split; }
  void count(int executed) {
    operations += static_cast<std::uint64_t>(executed);
    slice += executed;
    of_split = (of_split + executed) % split_slice;
  }
  /// A barrier or its exit, which the slice of its split does not count.
  void count_last() {
    ++operations;
    ++slice;
  }
  /// Lanes arrive at a convergence point.
  void arrive() {
    ++slice;
    of_split = 1;
  }
};

/// A convergence point: lanes that a branch separated wait before operation `pc` for the others.
struct Convergence {
  std::int32_t pc = -1;  ///< -1: free
  std::uint32_t frame = 0;
  LaneMask expected = 0, arrived = 0;
  std::int32_t parent = -1;
  Split after;  ///< the split that continues there
};

/// Splits of a warp whose lanes no more than one branch separates: so many have a place from the start.
inline constexpr std::size_t usual_splits = 2;

/// cp.async of some lanes, performed when they wait for it: the latest time that the ISA allows.
struct AsyncCopy {
  std::uint64_t number;  ///< sequence number among the warp's copies, from 0 on
  LaneMask mask = 0;
  std::uint32_t group;  ///< the number of groups that the lanes had committed before
  std::uint8_t bytes;   ///< in shared memory
  alignas(64) std::array<std::uint8_t*, warp_size> to;
  std::array<const std::uint8_t*, warp_size> from;
  std::array<std::uint8_t, warp_size> copied;  ///< bytes that are read; the rest is zero

  AsyncCopy() {}  // sets the mask alone: cp.async writes the rest, once
};

/// An arrival of cp.async.mbarrier.arrive, performed after the lane's earlier copies.
struct CopyArrival {
  SharedPlace place;
  int lane;
  std::uint64_t copies;     ///< the number of copies that the warp had issued before
  std::uint32_t statement;  ///< of Program::statements
};

/// The asynchronous copies of a warp.
struct AsyncCopies {
  std::vector<AsyncCopy> copies;  ///< that a lane has not waited for, and some that all have, with an empty mask
  std::size_t landed = 0;         ///< of those
  std::uint64_t issued = 0;
  std::array<std::uint32_t, warp_size> committed{};       ///< groups, by lane
  std::array<std::uint32_t, warp_size> bulk_committed{};  ///< groups of bulk copies, by lane
  std::vector<CopyArrival> arrivals;
};

/// What polling lanes have found: accesses that may wait for others.
struct Polls {
  std::set<std::uint64_t> states;                                    ///< the warp's, as hashes, at some of these accesses
  std::map<std::pair<std::int32_t, LaneMask>, std::uint64_t> found;  ///< a hash of what an access at a place by these lanes read last
};

/// What setmaxnreg has made of a warp's registers.
struct RegisterLimit {
  std::int64_t count = 0;                  ///< per thread; 0: setmaxnreg has no effect
  std::optional<std::uint32_t> raised_at;  ///< the statement that raised it last
  std::optional<std::uint32_t> set_at;     ///< the last setmaxnreg
};

/// Lanes at the cluster's barrier.
struct ClusterArrivals {
  LaneMask arrived = 0;  ///< in its current phase
  LaneMask passed = 0;   ///< in a completed phase, but have not waited yet
};

/// A number for each lane.
using LaneValues = std::array<std::uint64_t, warp_size>;

/// One warp of a block: its registers, its lanes' program counters, and what it waits for. It schedules its splits; what operations do are
/// functions on it (operations.h).
class WarpState {
 public:
  /// The reason for the return of run().
  enum class Status : std::uint8_t {
    yielded,              ///< its slice is used up, or it yielded
    blocked,              ///< all its lanes wait for other warps
    finished,             ///< all its lanes have exited
    needs_reservation,    ///< the next operation needs the reservation
    reservation_is_over,  ///< it used up the operations of a reservation
  };

  /// `registers`: launch().frame_bytes (BlockStorage), aligned to code::register_alignment, at this place as long as the warp exists.
  /// `memory` is for its splits.
  WarpState(Block& block, int index, LaneMask existing, std::uint8_t* registers, std::pmr::memory_resource& memory);
  ~WarpState();

  /// Executes operations and decrements `budget` until it is 0. Throws Trap.
  Status run(int& budget);
  /// Goes on from this state, before its first run.
  void resume(const ResumedWarp& state);
  /// Goes on at this operation with all lanes, which are together, on these registers.
  void restart(std::int32_t pc, std::uint8_t* registers) {
    registers_ = registers;
    split().pc = pc;
  }

  bool finished() const { return live_ == 0; }
  LaneMask live() const { return live_; }
  int index() const { return index_; }
  std::uint64_t operations() const { return operations_; }

  /// Lanes that wait at `barrier`.
  LaneMask waiting_at(std::int32_t barrier) const;
  bool waits_at_barrier() const { return std::ranges::find(splits_, Split::State::at_barrier, &Split::state) != splits_.end(); }
  /// Whether all its lanes wait for others: at barriers, or by polling without success for long.
  bool waits() const;
  bool polls() const;
  /// Memory may have been allocated, freed or moved since its last access.
  void forget_buffer() { last_buffer_ = nullptr; }
  /// Of everything that decides what the warp does next while shared and global memory stay as they are.
  std::uint64_t hash_of_state() const;
  /// For reports: resets every polling lane to its access.
  void go_back_to_polls();
  /// Lanes that wait: where and for what, and what has come to the mbarrier that they wait at.
  struct Waiting {
    LaneMask lanes;
    std::uint32_t statement;
    std::string what;
    std::vector<Trap::Note> changes;
    std::string help;  ///< empty: nothing is known
  };
  /// For reports of a deadlock: each split.
  std::vector<Waiting> describe_waiting() const;
  /// Throws Trap if lanes wait for lanes of the warp that never arrive.
  void check_gathering();

  // Messages: warp_messages.cpp
  /// The operation at which the split is.
  const code::Operation& operation() const { return program_.operations[static_cast<std::size_t>(split().pc)]; }
  /// "line 12 (st.shared.u32)"
  std::string statement_name(std::uint32_t statement) const;
  /// What a statement of the kernel did, for the notes of an error.
  Trap::Note note(std::string text, std::uint32_t statement) const;
  /// "16 bytes into 'tile', a shared variable of 4096 bytes at 0x400": the variable nearest before the address.
  std::string describe_shared(std::uint64_t address) const;
  /// The same as a note: "address 0x410 is 16 bytes into 'tile', ...".
  Trap::Note note_of_shared(std::uint64_t address) const;
  [[noreturn]] void trap(int lane, std::optional<std::uint64_t> address, const Trap::Reason& reason, Trap::Kind kind = Trap::Kind::misuse,
                         std::optional<OperandName> operand = {}) const;
  /// The same at the operation that comes `ahead` operations behind that of the split, which only computes, as do those before it.
  [[noreturn]] void trap_ahead(std::uint32_t ahead, const Trap::Reason& reason) const;

  // What observers read, besides the above.
  const Block& block() const { return block_; }
  const code::Program& program() const { return program_; }
  LaneMask existing() const { return existing_; }
  /// The split that executes: its lanes, and its function's frame.
  const Split& split() const { return splits_[current_]; }
  /// All splits: of a block that another one interrupts, and of a warp that others wait for, too.
  const std::pmr::vector<Split>& splits() const { return splits_; }
  /// The registers of all functions, in which a Split::frame is an offset.
  const std::uint8_t* registers() const { return registers_; }
  /// A lane's local memory, that of all functions.
  const std::uint8_t* whole_local_memory(int lane) const {
    return local_.data() + std::size_t{launch_.local_bytes} * static_cast<std::size_t>(lane);
  }
  const LaunchState& launch() const { return launch_; }
  /// Program::constants, as its block has them.
  const std::uint8_t* constants() const { return constants_; }
  /// Executes a computation, load, store or update of the split that its machine code leaves to the machine. `operations`: of the warp so
  /// far, with this one.
  void execute_straight_at(std::int32_t pc, std::uint64_t operations);
  /// Its cp.async; null: it has issued none.
  const AsyncCopies* async_copies() const { return async_.get(); }
  /// The groups of bulk copies that a lane has committed.
  std::uint32_t bulk_groups(int lane) const { return async_ == nullptr ? 0 : async_->bulk_committed[static_cast<std::size_t>(lane)]; }
  code::Slot result_slot(const code::Operation& operation, int i) const { return slots(operation)[i]; }
  code::Slot source_slot(const code::Operation& operation, int i) const { return slots(operation)[operation.results + i]; }
  const code::Slot* slots(const code::Operation& operation) const { return program_.slots.data() + operation.slots; }
  std::uint32_t source_word(const code::Operation& operation, int i, int lane) const {
    return at<std::uint32_t>(source_slot(operation, i))[lane];
  }
  template <typename T>
  const T* at(code::Slot slot) const {
    return reinterpret_cast<const T*>(slot >= 0 ? registers_ + split().frame + slot : constants_ + ~slot);
  }

  // ---- The context of the executing split, which the bodies of operations use (operations.h)

  /// What follows an operation.
  enum class Step : std::uint8_t { next, leave_split, yield, gives_way, needs_reservation, reservation_is_over };
  /// To the split's next operation.
  Step advance() {
    ++split().pc;
    return Step::next;
  }

  Block& block() { return block_; }
  Observers& observers() { return observers_; }
  Event event(const code::Operation& operation, LaneMask executing) const { return Event(*this, operation, executing); }
  CallEvent event(const code::Operation& operation, std::string_view callee, const code::Call& call, std::uint32_t caller_frame,
                  std::uint32_t callee_frame) const {
    return CallEvent(event(operation, split().lanes), callee, call, caller_frame, callee_frame);
  }
  /// As observers are told of it.
  Product told(const PendingProduct& product) const { return Product(product, index_); }
  Split& split() { return splits_[current_]; }
  template <typename T>
  T* at(code::Slot slot) {
    return const_cast<T*>(std::as_const(*this).template at<T>(slot));
  }
  /// The registers of all functions, in which a Split::frame is an offset.
  std::uint8_t* registers() { return registers_; }

  // Results: warp_compute.cpp
  void write_word(const code::Operation& operation, int result, int lane, std::uint64_t value);
  void write_words(const code::Operation& operation, int result, const std::array<std::uint64_t, warp_size>& values, LaneMask mask);
  void write_bits(const code::Operation& operation, int result, LaneMask bits, LaneMask mask);
  /// Gives the lanes of `mask` one value.
  void write_same(const code::Operation& operation, int result, std::uint32_t value, LaneMask mask);

  // Memory: warp_addresses.cpp
  struct Addresses {
    std::array<std::uint64_t, warp_size> address;  ///< as in the statement
    alignas(64) std::array<std::uint8_t*, warp_size> host;
  };
  /// An operand that is an address.
  struct AddressOperand {
    Space space;
    int source;  ///< of the operation
    bool narrow, relative;
    std::int64_t offset;
    std::uint32_t shared_end = code::Access::no_end;  ///< Access::shared_end
  };
  static AddressOperand first_address(const code::Access& access) {
    return {access.space, 0, access.narrow_address, access.relative, access.offset, access.shared_end};
  }
  /// Of cp.async: where it reads.
  static AddressOperand second_address(const code::CopyAccess& access) {
    return {Space::global, 1, access.narrow_source, false, access.source_offset};
  }
  /// Where the lanes of an access find their bytes in one memory: shared memory, a buffer, the parameters, or the lanes' local memory.
  struct Offsets {
    std::uint8_t* memory;
    std::uint64_t start;  ///< the first address of the memory
    scalar::LanePattern pattern;
    alignas(64) std::array<std::uint32_t, warp_size> offset;
    std::uint8_t* operator[](std::size_t lane) const { return memory + offset[lane]; }
  };
  bool find_offsets(const code::Operation& operation, const code::Access& access, const AddressOperand& operand, LaneMask mask,
                    Offsets& out);
  /// What an access does beside its addresses.
  struct AccessKind {
    Space space;
    std::uint32_t bytes;
    bool reads, writes, asynchronous = false;
  };
  /// That of a load, store or atomic operation which find_offsets() has found. Inlined: a call would return it in registers, for which the
  /// CPU waits until its members are in memory.
  static AccessKind kind_of(const code::Operation& operation, const code::Access& access) {
    return {.space = access.space == Space::generic ? Space::global : access.space,
            .bytes = std::uint32_t{access.bytes} * access.vector,
            .reads = operation.semantics != catalogue::Semantics::store,
            .writes = operation.semantics != catalogue::Semantics::load};
  }
  void tell_offsets(const code::Operation& operation, const AccessKind& kind, LaneMask mask, const Offsets& found);
  /// Where the lanes of the access that observers are told of find their bytes in shared memory; nothing: not known. Lanes outside of the
  /// access have the offset of one inside.
  const std::optional<scalar::LanePlaces>& told_places() const { return told_places_; }
  void find_addresses(const code::Operation& operation, const AddressOperand& operand, Addresses& out) const;
  Space locate(const code::Operation& operation, const code::Access& access, LaneMask mask, Addresses& addresses);
  Space locate(const code::Operation& operation, Space space, std::uint32_t bytes, LaneMask mask, bool reads, bool writes,
               Addresses& addresses, bool asynchronous = false, int first_register = 0);
  /// The `bytes` at an address, all that the lane accesses there. Traps unless they lie in one memory of that space, at a multiple of
  /// `alignment`, and the kernel may write them.
  std::span<std::uint8_t> range(Space space, int lane, std::uint64_t address, std::uint64_t bytes, std::uint64_t alignment, bool writes);
  /// A lane's local memory: that of all functions, and that of the executing one.
  std::uint8_t* whole_local_memory(int lane) { return local_.data() + std::size_t{launch_.local_bytes} * static_cast<std::size_t>(lane); }
  std::uint8_t* local_memory(int lane) { return whole_local_memory(lane) + split().local; }
  void tell_access(const code::Operation& operation, Space space, std::uint32_t bytes, LaneMask mask, bool reads, bool writes,
                   const Addresses& addresses, bool asynchronous, int first_register) const;
  /// Tells observers that this operation orders the warp's accesses: at the words of the lanes of `mask`, or all of them.
  void tell_order(Synchronisation::Kind kind, LaneMask mask, std::uint8_t* const* words) const;
  bool is_ordered(const code::Operation& operation) const;
  bool is_global(const code::Operation& operation) const;

  // Matrix instructions: warp_matrix.cpp
  /// Pointers to the registers of `count` slots, which stay where they are.
  void place_registers(const code::Slot* slot, int count, std::uint32_t** to);
  bool has_warpgroup_state() const { return wgmma_ != nullptr; }
  /// Of a program with wgmma.mma_async.
  WarpgroupState& warpgroup_state() { return *wgmma_; }

  // Splits: warp_splits.cpp
  /// The lanes that a branch of this split separates, and those that stay, will wait for each other before operation `pc`.
  void converge_at(std::int32_t pc);
  /// Lanes of this split become one of their own at the same place. Invalidates references to splits.
  Split& separate(LaneMask lanes);
  /// Lanes exit. Returns whether no lane of the split is left.
  bool end_lanes(LaneMask lanes);

  // Lanes that execute together, and waiting: warp_waiting.cpp
  bool gather(LaneMask needed, LaneMask& mask, bool any_place);
  /// Tells observers that the operation has all the lanes that it needs.
  void tell_meeting(LaneMask lanes) const;
  Step advance_gathered(LaneMask mask, bool any_place);
  /// Calls visit(statement, its lanes) for each statement at which lanes of `mask` stand: `operation`, and those at which they wait for it.
  /// The split that stands there is then the one that executes, as registers are those of its function.
  template <typename Visit>
  void for_statements_of(const code::Operation& operation, LaneMask mask, Visit visit);
  /// Calls visit(split) for each split that waits at `barrier`, which is then the one that executes.
  template <typename Visit>
  void for_splits_at(std::int32_t barrier, Visit visit);
  /// The warp let others go first, or read what they may change.
  void note_spin() { ++spins_; }
  void note_wait(LaneMask mask, bool failed);
  void forget_polls();
  /// A clock has leapt: the warp polls again, for less long than before.
  void poll_on();
  /// A lane reads a clock: between two polls that is no more than another poll.
  void note_clock_read();
  /// Whether every split that could go on has polled in vain since the last progress. Others may compute what it waits for.
  bool only_polls() const;
  /// The same, or has read clocks again and again: it may wait for a time.
  bool only_waits() const;
  /// Lanes may read this access's memory again and again until it changes.
  void poll(const code::Operation& operation, const Addresses& addresses, std::uint32_t bytes, LaneMask mask);
  /// The split waits at a barrier with these lanes; `with_gathered`, with the splits that it has gathered here.
  void wait_at(std::int32_t barrier, LaneMask mask, bool with_gathered);
  /// For reports of a deadlock: the mbarrier of the last unsuccessful wait.
  void note_mbarrier(const SharedPlace& place) { waits_for_ = place; }

  /// Made where the warp first issues or awaits a copy: most have none.
  AsyncCopies& async() {
    if (async_ == nullptr) async_ = std::make_unique<AsyncCopies>();
    return *async_;
  }
  RegisterLimit& register_limit() { return register_limit_; }
  ClusterArrivals& cluster_arrivals() { return cluster_arrivals_; }
  /// Of a split that executes its operation again: it is not counted again.
  void count_once() { operations_ -= std::exchange(split().resumes, false); }

 private:
  [[noreturn]] void trap_at(std::uint32_t ahead, int lane, std::optional<std::uint64_t> address, const Trap::Reason& reason,
                            Trap::Kind kind, std::optional<OperandName> operand) const;

  // Scheduling: warp_control.cpp, warp_splits.cpp, warp_waiting.cpp
  bool choose_split();
  bool find_split();
  /// `observed` as in operations.h: run() decides once for a slice.
  template <bool observed>
  Status run_splits(int& budget);
  template <bool observed>
  Step step();
  template <bool observed, bool whole>
  int run_statements(Split& s, int most);
  int run_compiled(Split& s, const code::MachineCode& code, int most);
  template <bool observed>
  void run_straight(int& budget);
  int tell_run(int most);
  LaneMask guarded_lanes(const code::Operation& operation, const Split& s) const;
  /// Before which operation the split waits for others; -1: before none.
  std::int32_t converges_at(const Split& s) const {
    if (s.convergence < 0) return -1;
    const Convergence& convergence = convergences_[static_cast<std::size_t>(s.convergence)];
    return convergence.frame == s.frame ? convergence.pc : -1;
  }
  bool arrive_at_convergence(std::int32_t pc);
  void complete_convergence(std::int32_t convergence);
  void remove_split();
  bool meet_at(const Split& a, const Split& b) const;
  void wake_gathering();
  bool release_waiting_lanes(LaneMask lanes);
  LaneMask missed_lanes() const;
  void note_poll(LaneMask mask, std::uint64_t found, bool global);
  bool lanes_wait_to_converge() const;
  std::uint64_t hash_of_live_registers(std::uint64_t hash) const;

  Block& block_;
  const LaunchState& launch_;
  Observers& observers_;
  const code::Program& program_;
  const std::uint8_t* const constants_;
  int index_;
  LaneMask existing_, live_;
  std::uint64_t operations_ = 0;
  std::pmr::vector<Split> splits_;
  std::pmr::vector<Convergence> convergences_;
  std::size_t current_ = 0;
  int split_slice_ = 0;              ///< operations until another split is scheduled
  std::uint64_t waiting_since_ = 0;  ///< operations_ when lanes last reached or left a convergence point
  std::uint64_t spins_ = 0;          ///< of note_spin() since then
  std::uint64_t polls_ = 0;          ///< consecutive accesses that may wait for other warps of the block and read nothing new
  std::unique_ptr<Polls> polling_;   ///< made by the first of them
  bool repeats_ = false;             ///< a state of the warp came back
  std::uint64_t seen_progress_ = 0;  ///< Block::progress() at the last of them
  std::uint8_t* registers_;          ///< the block's storage; a list's owner keeps its own
  std::vector<std::uint8_t> local_;  ///< by lane
  std::unique_ptr<AsyncCopies> async_;
  RegisterLimit register_limit_;
  std::unique_ptr<WarpgroupState> wgmma_;  ///< set if the program has wgmma statements
  std::optional<SharedPlace> waits_for_;   ///< the mbarrier of the last unsuccessful wait
  ClusterArrivals cluster_arrivals_;
  const StoredBuffer* last_buffer_ = nullptr;
  std::optional<scalar::LanePlaces> told_places_;
  bool announced_ = false;  ///< observers know of the next operation, which waits for the reservation
};

template <typename Visit>
void WarpState::for_statements_of(const code::Operation& operation, LaneMask mask, Visit visit) {
  const std::size_t kept = current_;
  LaneMask elsewhere = 0;
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    const Split &other = splits_[i], &own = splits_[kept];
    if (i == kept || other.state != Split::State::gathering || (other.executing & ~mask) != 0) continue;
    if (other.pc == own.pc && other.frame == own.frame) continue;
    elsewhere |= other.executing;
    current_ = i;
    visit(program_.operations[static_cast<std::size_t>(other.pc)], other.executing);
  }
  current_ = kept;
  visit(operation, mask & ~elsewhere);
}

template <typename Visit>
void WarpState::for_splits_at(std::int32_t barrier, Visit visit) {
  const std::size_t kept = current_;
  for (current_ = 0; current_ < splits_.size(); ++current_)
    if (split().state == Split::State::at_barrier && split().barrier == barrier) visit(split());
  current_ = kept;
}

}  // namespace warpmat::machine
