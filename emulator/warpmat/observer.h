#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/forms.h>
#include <warpmat/launch.h>
#include <warpmat/version.h>
#include <warpmat/warp.h>

namespace warpmat {
class Wgmma;
}

namespace warpmat::code {
struct Call;
struct Operation;
struct Program;
}  // namespace warpmat::code

namespace warpmat::machine {

class Block;
class WarpState;
struct BulkTransfer;
struct PendingProduct;

// What a launch tells its observers. Tracers, counters and warpmat's own checks are observers; the machine knows none of them.
//
// Order. Blocks of a cluster run on one thread at a time, so the events of a cluster have one order, which is that of execution. An
// observer is told of an event before the next one begins. Several observers are told in the order: checks,
// LaunchOptions::observers_of_clusters, LaunchOptions::observers.
//
// Threads. An observer from LaunchOptions::observers_of_clusters belongs to one cluster. It is made, called and destroyed by threads that
// run the cluster, never by two at once; observers of other clusters run meanwhile on other threads. Those of LaunchOptions::observers
// receive the events of all clusters, and the launch then uses one thread, the caller's.
//
// Reading. An event and what it refers to are valid during the call. An observer may read them, and the global memory of the launch, to
// which threads of other clusters may write meanwhile. It changes nothing of the launch.
//
// Ending a launch. An observer may throw. The launch ends as with a trap: launch() throws what the observer of the lowest such cluster
// threw, without effects of that event that the table has as `later`. Event::trap() throws a Trap with the event's place.
//
// Waiting. A statement at which lanes wait is announced once by each warp split that reaches it. Statements that a launch executes again
// only because another block has its turn are announced once: the operation() calls are LaunchResult::operations in number. A statement
// whose addresses or values must be computed first is several operations, a function's end is one; Event::prepares() tells them apart.
//
// Lists. Warp::observe (program.h) gives observers to a warp that executes a list of statements; what is said of launches holds for its
// run() and execute(), on their thread. Its kernel has no name, its one block begins and ends with Warp::observe, also after a run that
// ended with an error, and statement() is an index in Program::statements(). Operations of a statement that follow it, as those that store
// a predicate, prepare, too. At operation() the warp's registers are those before the statement, and may be read. Its wmma.load and
// wmma.store access shared memory.
//
// Cost. An observer asks for kinds of events, and may ask for others in each of its calls. An event for which no observer asks costs one
// test. Operations and accesses for which none asks take the paths that are fastest.
//
//   call               for                     when                                                           its effect
//   block_begins       all                     a block has its memory, no warp has run                        later
//   block_ends         all                     all warps of a block have exited, without an error             over
//   registers_differ   all                     a block ends whose warpgroup executed different setmaxnreg      over
//   operation          operations, or          a split reaches a statement, its guard is known                later
//                      runs for those outside of runs
//   run                runs                    a split reaches statements that only compute                   later
//   performs           operations, or          matrix, wmma, wgmma: all lanes are there                       later
//                      products for wgmma
//   calls, returns     operations              registers are about to move between functions                  later
//   exchange           exchanges, or           shfl, vote, match, redux of a group of lanes                   later
//                      absent_lanes            shuffles of these that read a lane outside of the group        later
//   access             accesses, or            ld, st, atom, red, wmma.load, wmma.store, cp.async: the        later
//                      shared_accesses for     addresses are valid
//                      those of shared memory  ldmatrix, stmatrix: the instruction has checked its addresses  over
//   remote_access      shared_accesses         a lane accesses another block's shared memory                  later
//   shared_written     shared_accesses         mbarrier.init has written a word                               over
//   copies_land        copies                  bytes of cp.async are in shared memory, because lanes wait     over
//   copies_complete    copies                  cp.async.wait_group, wait_all, cp.async.bulk.wait_group         over
//   bulk_issues        copies                  cp.async.bulk, st.async, red.async: addresses are valid        later
//   bulk_reads         copies                  the copy has read shared memory                                over
//   bulk_completes     copies                  the copy has written its destination                           over
//   product_issues     products                wgmma.mma_async: its operands are read for the first time      later
//   products_read      products                wgmma.wait_group: the products have read their operands        over
//   product_completes  products                the product is about to write its accumulators                 later
//   tensor_accessed    tensor_memory           tcgen05.ld, .st, .mma, .cp, .shift: their cells may be touched        later
//   tensor_ordered     tensor_memory           tcgen05.fence, .wait; an mbarrier gets arrivals of tcgen05.commit      over
//   tensor_freed       tensor_memory           tcgen05.dealloc has freed columns                                      over
//   synchronises       synchronisation         ordered accesses, atomics, mbarriers, fences                   over
//   lanes_meet         synchronisation         lanes of a warp have come to a statement that needs them all:      over
//                                              bar.warp.sync, shfl.sync, mma.sync, a barrier
//   barrier_arrives    synchronisation         a warp is at a barrier                                         over
//   barrier_completes  synchronisation         all are there, no warp has continued                           later
//   barrier_leaves     synchronisation         a warp goes on from the cluster's barrier                      over
//   checks_told        check_time              warpmat's own checks have been told of an event                over
//
// Runs. The machine executes consecutive statements that only compute at once, unless an observer asks for operations: then each of them
// is an operation(), and there are no runs. Statements that the assembler removes (a mul fused into an fma) cause no event.

/// Kinds of events, as bits.
enum class EventKinds : std::uint32_t {
  none = 0,
  operations = 1,
  accesses = 2,
  shared_accesses = 4,
  exchanges = 8,
  copies = 16,
  products = 32,
  synchronisation = 64,
  absent_lanes = 128,
  tensor_memory = 256,
  all = 511,  ///< but these, which say in another way what the others say:
  runs = 512,
  check_time = 1024,
};
constexpr EventKinds operator|(EventKinds a, EventKinds b) {
  return static_cast<EventKinds>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr EventKinds operator&(EventKinds a, EventKinds b) {
  return static_cast<EventKinds>(static_cast<std::uint32_t>(a) & static_cast<std::uint32_t>(b));
}

/// A warp at a statement.
class WARPMAT_API Event {
 public:
  LaneMask lanes() const { return lanes_; }  ///< whose guard is true; none: the statement has no effect
  Dim3 block() const;
  int rank() const;  ///< of the block in its cluster
  int warp() const;  ///< in its block
  std::string_view kernel() const;
  std::string_view opcode() const;  ///< as the text has it: "ld.global.f32"
  int line() const;                 ///< of the PTX, from 1 on
  std::string source() const;       ///< "gemm.cu:12", with the calls that are inlined; empty if the PTX has no .loc
  std::uint32_t statement() const;  ///< its number in the kernel, from 0 on: cheaper to compare than the opcode
  /// Whether the statement's own operation is another event, for which this one computes an address or a value, or behind which it ends the
  /// function: a statement is executed once for each operation() that does not prepare it.
  bool prepares() const;

  /// Ends the launch with an error at this place. `lane` is -1 if no single lane is at fault.
  [[noreturn]] void trap(int lane, std::optional<std::uint64_t> address, const Trap::Reason& reason,
                         Trap::Kind kind = Trap::Kind::misuse) const;

 private:
  friend struct warpmat::Internals;
  friend class WarpState;
  Event(const WarpState& warp, const code::Operation& operation, LaneMask executing)
      : warp_(&warp), operation_(&operation), lanes_(executing) {}
  const code::Program& program() const;

  const WarpState* warp_;
  const code::Operation* operation_;
  LaneMask lanes_;
};

/// Consecutive statements without guards that only compute.
struct RunEvent {
  Event event;               ///< the first one; its lanes are those of all
  std::uint32_t operations;  ///< their number, preparations too: each is one of LaunchResult::operations
};

class WARPMAT_API BlockEvent {
 public:
  Dim3 block;
  int rank;                              ///< in its cluster
  int warps;                             ///< of the block
  std::span<const std::uint8_t> shared;  ///< its shared memory, at this place until block_ends

  std::string_view kernel() const;

 private:
  friend struct warpmat::Internals;
  friend class Block;
  explicit BlockEvent(const Block& block);

  const code::Program* program_;
};

/// Warps of a warpgroup that executed setmaxnreg with different numbers, which the ISA leaves undefined and GPUs execute.
struct RegistersEvent {
  std::uint32_t statement;   ///< one of them
  std::string_view problem;  ///< a report, with its place
  const Trap& report;        ///< the same in parts
};

/// An access of a warp to memory. A cp.async causes two: it writes shared and reads global memory.
struct AccessEvent {
  Event event;                                  ///< its lanes are those that access this space
  Space space;                                  ///< never generic
  bool reads, writes;                           ///< both: atom, red
  std::uint32_t bytes;                          ///< of each lane
  std::span<const std::uint64_t> addresses;     ///< by lane, in the space: shared ones have their block's rank, global ones are generic
  std::span<const std::uint8_t* const> places;  ///< by lane: the bytes, to read
  bool asynchronous = false;
  int first_register = 0;    ///< wmma: the first of the statement's results or values that the bytes belong to; else 0
  bool consecutive = false;  ///< all lanes access, each the bytes behind those of the lane before
};

/// A call of a function of the module, or the return from it.
class CallEvent {
 public:
  Event event;                ///< at the call, or at the function's ret
  std::string_view function;  ///< that is called, as the PTX has it

 private:
  friend struct warpmat::Internals;
  friend class WarpState;
  CallEvent(const Event& place, std::string_view callee, const code::Call& call, std::uint32_t caller_frame, std::uint32_t callee_frame)
      : event(place), function(callee), call_(&call), caller_frame_(caller_frame), callee_frame_(callee_frame) {}

  const code::Call* call_;
  std::uint32_t caller_frame_, callee_frame_;  ///< byte offsets of the functions' registers
};

/// A shuffle, vote, match or reduction of lanes that act together.
struct ExchangeEvent {
  Event event;  ///< its lanes are the group; of a shuffle, all groups that act at once
  bool shuffle;
  std::array<int, warp_size> from;  ///< shuffle, by lane: the lane that it reads
  LaneMask absent;                  ///< lanes that read a lane outside of their group
  LaneMask of_nothing;              ///< lanes that get 0, or the value of a lane at another statement, which no check follows
};

/// Bytes of the shared memory of the block with this rank in the cluster.
struct SharedRange {
  int rank = 0;
  std::uint64_t offset = 0, bytes = 0;
};

struct RemoteAccess {
  Event event;
  int lane;
  SharedRange range;
  std::uint64_t address;  ///< as the statement has it
  bool writes;
  bool ended;  ///< the block has exited; its memory is gone, and the access has no effect
};

/// cp.async of one statement.
struct CopiesEvent {
  int rank, warp;
  LaneMask lanes;
  std::uint32_t bytes;                          ///< of each lane
  std::span<const std::uint8_t* const> places;  ///< by lane, in shared memory
};

/// A bulk copy, st.async or red.async.
class BulkEvent {
 public:
  std::uint64_t number;     ///< of the copy in its cluster, from 0 on
  int rank, warp, lane;     ///< that issued it
  std::uint32_t statement;  ///< that issued it
  std::optional<SharedRange> reads, writes;
  bool reduces;  ///< what it writes; such copies may overlap
  bool from_registers;
  const TensorMap* map;                    ///< of a tensor copy, during the call; else nullptr
  std::optional<SharedRange> barrier{};    ///< the mbarrier that counts it
  std::span<const SharedRange> written{};  ///< bulk_completes: the bytes, where a tensor's box is not contiguous

 private:
  friend struct warpmat::Internals;
  friend struct BulkTransfer;
  explicit BulkEvent(const BulkTransfer& transfer);

  const BulkTransfer* transfer_;
};

/// A wgmma.mma_async of one warp, from its statement to the wait that ends it.
class WARPMAT_API Product {
 public:
  std::uint32_t statement() const;  ///< its number in the kernel
  const Wgmma& instruction() const;
  bool a_in_registers() const;
  std::uint64_t a_descriptor() const;  ///< 0 if A is in registers
  std::uint64_t b_descriptor() const;
  bool accumulates() const;  ///< scale-d: whether D has the old D added

  // The addresses of the chunks of shared memory that the warp reads. Their order follows from shape and layout.
  static constexpr std::uint32_t chunk_bytes = 16;
  std::vector<std::uint32_t> a_chunks() const;  ///< of its rows; none if A is in registers
  std::vector<std::uint32_t> b_chunks() const;

 private:
  friend struct warpmat::Internals;
  friend class WarpState;
  Product(const PendingProduct& pending, int warp) : pending_(&pending), warp_(warp) {}

  const PendingProduct* pending_;
  int warp_;  ///< in the block
};

struct ProductEvent {
  Event event;  ///< the statement where the warp is: wgmma.mma_async, or the wait
  Product product;
};

/// Cells of tensor memory: some columns of some lanes.
struct TensorRegion {
  std::array<std::uint32_t, 4> lanes{};  ///< bit by lane, a word for each warp's quarter
  int first_column = 0, columns = 0;

  bool overlaps(const TensorRegion& other) const {
    if (first_column >= other.first_column + other.columns || other.first_column >= first_column + columns) return false;
    for (std::size_t i = 0; i < lanes.size(); ++i)
      if ((lanes[i] & other.lanes[i]) != 0) return true;
    return false;
  }
};

/// What a tcgen05 statement touches of the tensor memory of a block.
struct TensorAccess {
  Event event;
  int rank;          ///< of the block
  bool by_a_thread;  ///< mma, cp, shift: a commit says when they are done; else ld, st
  std::span<const TensorRegion> reads, writes;
  std::uint64_t issued = 0;  ///< by_a_thread: its number among those that the threads of the block which issued it have issued, from 1 on
};

/// What orders the asynchronous tcgen05 statements of a warp with those of others (PTX ISA 9.1 section 9.7.16.6.3).
struct TensorOrder {
  enum class Kind : std::uint8_t { before_sync, after_sync, commit, load_done, store_done };
  Kind kind;
  int rank, warp;            ///< of the block, and of the warp; of a commit those that issued it, told when the mbarrier gets its arrivals
  std::uint64_t issued = 0;  ///< commit: the number of the last statement before it; it tracks none behind
};

struct Synchronisation {
  enum class Kind : std::uint8_t { ordered_load, ordered_store, mbarrier, fence, proxy_fence };  ///< atomics: ordered_store
  Kind kind;
  int rank, warp;
  LaneMask acquired = 0, released = 0;           ///< lanes whose words order them after, or before, other warps' accesses to the same words
  std::span<const std::uint8_t* const> words{};  ///< by lane; those of other lanes are undefined
  bool waited = false;                           ///< mbarrier: a wait that succeeded in all lanes
  LaneMask begun = 0;                            ///< mbarrier: lanes that initialise or invalidate theirs, which orders nothing
  const Event* event = nullptr;                  ///< the warp at the statement; none of arrivals at an mbarrier for asynchronous work
};

struct BarrierEvent {
  enum class Scope : std::uint8_t { block, warpgroup, cluster };
  Scope scope;
  int rank;                   ///< of the block; cluster, barrier_completes: 0
  int number;                 ///< of the barrier; of the warpgroup; of the phase of the cluster's barrier
  std::uint64_t warps;        ///< bit w: warp w arrives, or leaves; at the end, all that arrived. Cluster, barrier_completes: 0
  std::uint64_t waiting = 0;  ///< barrier_completes: those that continue now, without bar.arrive's
  std::uint64_t exited = 0;   ///< barrier_completes: warps of a barrier of all threads that exited instead
};

/// The calls of an Observer that one struct describes: X(CALL, STRUCT). C's observer has callbacks of the same names.
// clang-format off
#define WARPMAT_OBSERVER_EVENTS(X)                                                                         \
  X(block_begins, BlockEvent)       X(block_ends, BlockEvent)            X(registers_differ, RegistersEvent) \
  X(run, RunEvent)                  X(performs, Event)                   X(lanes_meet, Event)                \
  X(calls, CallEvent)               X(returns, CallEvent)                X(exchange, ExchangeEvent)          \
  X(access, AccessEvent)            X(remote_access, RemoteAccess)       X(shared_written, SharedRange)      \
  X(copies_land, CopiesEvent)       X(copies_complete, Event)            X(synchronises, Synchronisation)    \
  X(bulk_reads, BulkEvent)          X(bulk_completes, BulkEvent)         X(product_issues, ProductEvent)     \
  X(product_completes, ProductEvent) X(tensor_accessed, TensorAccess)    X(tensor_ordered, TensorOrder)      \
  X(barrier_arrives, BarrierEvent)  X(barrier_completes, BarrierEvent)   X(barrier_leaves, BarrierEvent)
// clang-format on

/// Receives the events of a launch.
class WARPMAT_API Observer {
 public:
  explicit Observer(EventKinds events = EventKinds::all) : wanted_(events) {}
  virtual ~Observer() = default;

  EventKinds wanted() const { return wanted_; }
  bool wants(EventKinds events) const { return (wanted_ & events) != EventKinds::none; }

  // clang-format off
#define WARPMAT_EVENT(call, type) virtual void call(const type&) {}
  WARPMAT_OBSERVER_EVENTS(WARPMAT_EVENT)
#undef WARPMAT_EVENT
  // clang-format on
  virtual void operation(const Event&) {}
  virtual void bulk_issues(const Event&, const BulkEvent&) {}
  virtual void products_read(const Event&, std::span<const Product>) {}
  /// Of the block with this rank: `count` columns from `first` on.
  virtual void tensor_freed(int rank, int first, int count) {
    static_cast<void>(rank);
    static_cast<void>(first);
    static_cast<void>(count);
  }
  /// `took`: the time of the calls of all checks, in ticks of a clock of constant rate: x86's time stamp counter, aarch64's virtual
  /// counter, elsewhere std::chrono::steady_clock. The calls of other observers for the same event follow. An access that concerns no other
  /// observer may have no event, or a call before that of its event.
  virtual void checks_told(EventKinds, std::uint64_t took) {
    static_cast<void>(took);
  }

 protected:
  /// Asks for these events from now on, and for no others. To be called where the observer is made, and in its calls.
  void want(EventKinds events) {
    wanted_ = events;
  }

 private:
  EventKinds wanted_;
};

}  // namespace warpmat::machine
