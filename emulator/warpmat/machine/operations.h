#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <warpmat/layout/tensor_descriptor.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::machine {

// The bodies of operations, and by family what they take of each other: functions on a warp, whose context WarpState gives (split,
// registers, memory, traps, observers).

struct PendingTensorWork;
struct SharedOperands;
struct TensorRegion;

using Step = WarpState::Step;

namespace body {

/// Executes an operation for its lanes `mask`, of which there are some.
using Body = Step(WarpState& warp, const code::Operation& operation, LaneMask mask);
#define WARPMAT_OPERATION(name, payload, maker, facts) Body name;
#include <warpmat/ptx/catalogue/operations.inc>

}  // namespace body

/// Calls the operation's body.
Step execute(WarpState& warp, const code::Operation& operation, LaneMask mask);

/// Uses the block's reservation for an operation whose order among clusters is visible. Anything but Step::next: it executes later.
Step reserve(WarpState& warp);

// Scalar operations: warp_compute.cpp
void compute(WarpState& warp, const code::Operation& operation, LaneMask mask);

// Special registers: warp_special.cpp
void special(WarpState& warp, const code::Operation& operation, LaneMask mask);

// Loads and stores: warp_memory.cpp. `observed`: with observers, or as bodies call them; without, the common cases do not ask for any.
template <bool observed>
void load(WarpState& warp, const code::Operation& operation, LaneMask mask);
template <bool observed>
void store(WarpState& warp, const code::Operation& operation, LaneMask mask);

// atom and red: warp_atomics.cpp
template <bool observed>
void atomic(WarpState& warp, const code::Operation& operation, LaneMask mask);

// multimem: warp_multimem.cpp
void multimem(WarpState& warp, const code::Operation& operation, LaneMask mask);

// Matrix instructions: warp_matrix.cpp
/// Executes statements from `first` on in all lanes, at most `most`, for which no lane waits. Returns their number.
int perform_matrices(WarpState& warp, const code::Operation& first, int most);

// Barriers of the block and of the cluster: warp_barriers.cpp
/// Lanes that have exited hold up no barrier at which all others of their warp wait.
void arrive_without_exited(WarpState& warp);
/// Releases the splits that wait at `barrier`; `count` of `contributed` predicates were true (bar.red).
void release(WarpState& warp, std::int32_t barrier, std::uint32_t count, std::uint32_t contributed);
/// Whether all its lanes but those that have exited are at the cluster's barrier.
bool has_arrived_at_cluster(WarpState& warp);
/// The cluster's barrier releases all.
void leave_cluster_barrier(WarpState& warp);

// Asynchronous work of every kind: warp_messages.cpp
/// Before one more of `waiting` pieces of work ("copies") that a statement must wait for: traps where a kernel issues them without an end.
void check_waiting(const WarpState& warp, int lane, std::size_t waiting, const char* what);

// cp.async: warp_async.cpp
/// Performs the copies of these lanes with numbers below `before`.
void finish_copies(WarpState& warp, LaneMask mask, std::uint64_t before);
/// Performs all asynchronous copies of the warp: Timing::card.
void complete_copies(WarpState& warp);

// mbarriers: warp_mbarrier.cpp
/// An arrival for asynchronous work that `lane` issued by `statement`.
void arrive_at_mbarrier(WarpState& warp, const SharedPlace& place, int lane, std::uint32_t statement);
void must_be_mbarrier(WarpState& warp, int lane, const SharedPlace& place);
/// The bytes at an address of shared memory: the block's own or, if `remote`, those of another block of the cluster.
SharedPlace shared_place(WarpState& warp, int lane, std::uint64_t address, std::uint64_t bytes, std::uint64_t alignment, Space space,
                         bool remote);
std::uint8_t* host_of(WarpState& warp, const SharedPlace& place);

// Bulk copies: warp_bulk.cpp
/// Performs the stores that exiting lanes have not waited for.
void finish_bulk_stores(WarpState& warp, LaneMask mask);
/// Whether stores that the lanes wait for add floating-point numbers, so that the order among blocks is visible.
bool waits_for_sums(WarpState& warp, LaneMask mask);

// Clusters: warp_cluster.cpp
/// The bytes of a load, store or atomic operation in the shared memory of another block.
std::span<std::uint8_t> range_in_cluster(WarpState& warp, int lane, std::uint64_t address, std::uint64_t bytes, std::uint64_t alignment,
                                         bool writes);

// wmma.load and wmma.store: warp_wmma.cpp
void move_matrix(WarpState& warp, const code::Operation& operation, const code::Matrix& matrix);

// setmaxnreg: warp_registers.cpp
/// At the end of the block, of a program that defines the registers of a thread: traps if its warps have raised theirs beyond the available
/// ones.
void check_max_registers(WarpState& warp);

// tcgen05: warp_tensor_memory.cpp
/// The blocks whose tensor memory a statement of .cta_group::`group` touches; of a pair the even one first.
std::vector<Block*> tensor_blocks(WarpState& warp, int group, int lane);
void must_have_peer(WarpState& warp, int group, int lane);
void must_be_stored(WarpState& warp, const TensorRegion& region, Block& block);
void must_be_allocated(WarpState& warp, TensorCell at, int columns, const char* what, Block& block);
void tell_tensor_order(WarpState& warp, TensorOrder::Kind kind, std::uint64_t issued = 0);
void tell_tensor_access(WarpState& warp, const code::Operation& operation, LaneMask executing, const Block& block,
                        std::span<const TensorRegion> reads, std::span<const TensorRegion> writes, std::uint64_t issued = 0);

// Products, copies and shifts in tensor memory: warp_tensor_work.cpp
void issue_tensor_work(WarpState& warp, const code::Operation& operation, int lane);
/// Performs the oldest commit that arrives at `place`, after the work before it. Returns false if there is none.
bool arrive_products(WarpState& warp, const SharedPlace& place);

// Built-in functions: warp_print.cpp, warp_runtime.cpp
void print(WarpState& warp, const code::Call& call, LaneMask mask);
[[noreturn]] void assert_fail(WarpState& warp, const code::Call& call, LaneMask mask);
void use_heap(WarpState& warp, const code::Call& call, LaneMask mask);
void use_runtime(WarpState& warp, const code::Call& call, LaneMask mask);

}  // namespace warpmat::machine
