#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include <warpmat/execute/operand_words.h>
#include <warpmat/execute/operands/matrix_storage.h>
#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/ir/atomic_operation.h>
#include <warpmat/ir/special_register.h>
#include <warpmat/layout/tensor_memory.h>
#include <warpmat/ptx/catalogue/row.h>
#include <warpmat/scalar/kernel.h>
#include <warpmat/tables/tcgen05.h>
#include <warpmat/tables/types.h>
#include <warpmat/version.h>
#include <warpmat/wgmma.h>

namespace warpmat::code {

// What operations have besides their registers: a type for each family of semantics.

/// The form of a register in a warp's frame: 32 lanes of 32 or 64 bits, of 128 bits as two arrays of 64, or a LaneMask.
enum class RegisterClass : std::uint8_t { word, wide, quad, predicate };

/// The size of such a register in bytes; its alignment is the same.
std::size_t bytes(RegisterClass register_class);
WARPMAT_LOCAL inline constexpr std::size_t register_alignment = 64;

/// The place of an operand: a byte offset into the frame of the executing function, or ~offset into the constants.
using Slot = std::int32_t;
/// An operation with fewer operands has slots of 0 behind theirs: the usual operations are read without a loop.
WARPMAT_LOCAL inline constexpr std::size_t fewest_slots = 4;

/// What all accesses of memory have, whatever they do with it.
struct Access {
  Space space = Space::generic;
  std::int64_t offset = 0;          ///< added to the address
  bool narrow_address = false;      ///< the address register has 32 bits
  bool relative = false;            ///< the address is relative to the executing function's local memory
  std::uint8_t bytes = 4;           ///< of one element
  std::uint8_t vector = 1;          ///< elements
  std::uint8_t register_bits = 32;  ///< of each register: loads fill them, stores take their low bits
  bool own_block = false;           ///< .shared: of no other block of the cluster
  bool ordered = false;             ///< volatile, relaxed, acquire, release: others observe it in a defined order
  bool polled = false;              ///< a weak load that is ordered as it is read until others write there (lower/polling_loops.h)
  bool within_block = false;        ///< .cta: others are the threads of the block
  /// The end of the shared variable from whose address alone the access's first address is computed, as an offset in shared memory
  std::uint32_t shared_end = no_end;
  static constexpr std::uint32_t no_end = 0xffffffff;
};

/// Whether the access orders others, as the program says it.
inline bool orders_others(const Access& access) {
  return access.ordered && !access.polled;
}

struct LoadAccess : Access {
  bool sign_extend = false;  ///< of a signed type narrower than the register
  bool uniform = false;      ///< the address is the same in all lanes: a parameter or variable
};

struct StoreAccess : Access {};

/// What an operation on memory computes of its elements, which have one type, and of its operands.
struct Reduction {
  AtomicOperation operation = AtomicOperation::add;
  const DataType* type = nullptr;
  scalar::Function arithmetic = nullptr;  ///< of floating-point types
  scalar::Modifiers modifiers{};
};

/// atom and red.
struct AtomicAccess : Access, Reduction {
  bool flush = false;        ///< of f32: subnormal numbers are zero
  bool result_used = false;  ///< by an operation; else atom acts like red
};

/// multimem.
struct MultimemAccess : Access, Reduction {};

/// cp.async: `bytes` of shared memory. If fewer are read, the rest is zero.
struct CopyAccess : Access {
  std::int64_t source_offset = 0;  ///< added to the second address
  bool narrow_source = false;      ///< the register of the second address has 32 bits
  bool has_source_size = false;    ///< a source holds the number of bytes to read
  bool ignores_source = false;     ///< a predicate selects writing zeros only
};

/// Whether clusters share the memory of a space, which may be generic.
WARPMAT_LOCAL inline bool is_shared_by_clusters(Space space) {
  return space != Space::shared && space != Space::local && space != Space::param;
}

/// Whether others may see in which order clusters execute an atomic: its result is used, it rounds a sum, or the memory depends on which
/// came last.
WARPMAT_LOCAL inline bool may_have_order(const AtomicAccess& access) {
  return is_shared_by_clusters(access.space) &&
         (access.result_used || access.arithmetic != nullptr || atomic_rows[static_cast<std::size_t>(access.operation)].ordered);
}

/// A fence or membar.
struct Fence {
  bool orders_clusters = false;  ///< its scope is wider than the block
};

/// cp.async.wait_group and .wait_all, cp.async.bulk.wait_group, wgmma.wait_group.
struct WaitGroups {
  std::uint32_t pending = 0;  ///< groups that need not be complete, at most most_groups
  bool all = false;           ///< cp.async.wait_all: complete is what is not committed, too
  bool early = false;         ///< a wait for products that have one of the operation's sources as accumulators, before these are read
};
WARPMAT_LOCAL inline constexpr std::uint64_t most_groups = 0xfffffffe;  // more than any warp commits

/// Why an operation of Semantics::trap traps.
enum class TrapCause : std::uint8_t {
  statement,  ///< trap, brkpt
  call,       ///< behind a call through a register, for targets that are none of its possible functions
  stack,      ///< an alloca for which the function's stack has too few bytes left
};

/// bar and barrier.
struct Barrier {
  enum class Action : std::uint8_t { sync, arrive, reduce_and, reduce_or, reduce_popc };
  Action action = Action::sync;
  bool aligned = true;
  bool has_count = false;  ///< the second source is the number of threads
};

/// mbarrier (PTX ISA 9.1 section 9.7.13.15). Sources: the address; then the statement's count, state or parity.
struct Mbarrier {
  enum class Action : std::uint8_t { init, invalidate, expect, complete, arrive, arrive_and_drop, wait, copies_arrive };
  Action action = Action::arrive;
  Space space = Space::generic;
  bool remote = false;     ///< .shared::cluster: the address may be another block's
  bool expects = false;    ///< arrive.expect_tx: the count is one of bytes
  bool has_count = false;  ///< the second source is a count
  bool parity = false;     ///< a wait for a phase's parity, not for a state
  bool completes = true;   ///< not .noComplete
};

/// A bulk copy (PTX ISA 9.1 sections 9.7.9.25 and 9.7.9.27). Sources, as far as its kind has them: destination, source or tensor map,
/// bytes, coordinates, mbarrier, offsets, mask of blocks. Sources of st.async and red.async (sections 9.7.9.12 and 9.7.13.7): destination,
/// mbarrier, values.
struct BulkCopy {
  enum class Kind : std::uint8_t { load, store, between_blocks, from_registers, prefetch, cancel, fill };
  Kind kind = Kind::load;
  int rank = 0;         ///< dimensions of the tensor; 0: no tensor
  bool im2col = false;  ///< mode of the tensor's map
  bool multicast = false;
  bool remote = false;                       ///< the destination may be another block's
  bool pair = false;                         ///< .cta_group::2: the mbarrier may be the other block's of the pair
  std::vector<Reduction> reductions{};       ///< empty for a copy; for a tensor one for each type that supports the operation
  Space space = Space::shared;               ///< from_registers, cancel, fill: the space of its addresses
  std::uint8_t values = 0, value_bytes = 0;  ///< from_registers
};

/// mapa and getctarank. Sources: an address of shared memory; of mapa the rank.
struct ClusterAddress {
  bool asks_rank = false;  ///< getctarank
  bool generic = false;    ///< the address is a generic one
  bool wide = false;       ///< it has 64 bits
};

/// setmaxnreg.
struct RegisterChange {
  std::uint32_t count = 0;  ///< per thread
};

/// A field of a tensor map that tensormap.replace writes. Sources: the map's address, the ordinal of the dimension, the value.
struct TensorMapEdit {
  enum class Field : std::uint8_t {
    global_address,
    rank,
    box_dim,
    global_dim,
    global_stride,
    element_stride,
    elemtype,
    interleave_layout,
    swizzle_mode,
    fill_mode,
    swizzle_atomicity,
    copy,  ///< tensormap.cp_fenceproxy: all of it, from shared to global memory
  };
  Field field = Field::copy;
  Space space = Space::generic;
  bool has_ordinal = false;
};

/// shfl, vote, match, redux and similar: the operation across the lanes' values.
enum class WarpOperation : std::uint8_t {
  shuffle_up,
  shuffle_down,
  shuffle_butterfly,
  shuffle_index,
  vote_all,
  vote_any,
  vote_uniform,
  vote_ballot,
  match_any,
  match_all,
  reduce_add,
  reduce_min,
  reduce_max,
  reduce_min_signed,
  reduce_max_signed,
  reduce_and,
  reduce_or,
  reduce_xor,
  reduce_min_float,
  reduce_max_float,
};

struct WarpExchange {
  WarpOperation operation = WarpOperation::vote_all;
  bool has_mask = true;        ///< .sync: the last source is the lane mask
  bool second_result = false;  ///< shfl d|p, match.all d|p
  bool absolute = false;       ///< redux.f32.abs
  bool nan = false;            ///< redux.f32.NaN
  bool wide = false;           ///< match.b64
  /// Whether lanes that execute it and lanes that execute `other` exchange with each other.
  bool is_like(const WarpExchange& other) const {
    return has_mask && other.has_mask && operation == other.operation && absolute == other.absolute && nan == other.nan &&
           wide == other.wide;
  }
};

/// A matrix instruction with the slots of its operands.
struct Matrix {
  Instruction instruction;
  std::span<const OperandWords> operands;  ///< of its form
  std::int64_t offset = 0;                 ///< of the address
  bool generic = false;                    ///< the address is a generic one
  bool narrow_address = false;             ///< its register has 32 bits
  Space space = Space::shared;             ///< of wmma.load and wmma.store
  MatrixRuns runs;                         ///< the same
  // mma: product_runs.h; ldmatrix: row_loads.h, the kernel alone
  const FastPath* kernel = nullptr;     ///< executes the statement and those behind it as one run
  std::uint8_t run = 0;                 ///< their number; 0: each is executed alone
  bool same_a = false, same_b = false;  ///< A's, B's registers are those of the product before, which does not write them
};

/// wgmma.mma_async. Its results are the registers of D. Its sources are those of A or A's descriptor, B's descriptor, the metadata if A is
/// sparse, scale-d (a predicate), and the registers of D again.
struct WarpgroupProduct {
  Wgmma instruction;
  bool a_in_registers = false;

  int b_source() const { return a_in_registers ? instruction.form().a_registers() : 1; }
  int metadata_source() const { return b_source() + 1; }
  int scale_source() const { return b_source() + (instruction.form().sparse() ? 2 : 1); }
};

/// tcgen05 (PTX ISA 9.1 section 9.7.16). Addresses of tensor memory have 32 bits and include their offset, those of shared memory 64.
struct TensorStatement {
  enum class Action : std::uint8_t {
    allocate,    ///< sources: where the address goes in shared memory, the number of columns
    deallocate,  ///< the address, the number of columns
    relinquish,
    load,   ///< the address; results: the registers, and of .red the reduction
    store,  ///< the address, the registers
    wait_load,
    wait_store,
    fence_before,
    fence_after,
    commit,    ///< the mbarrier; .multicast::cluster: the mask of blocks
    copy,      ///< the address, the descriptor
    shift,     ///< the address
    multiply,  ///< D's address, A's address or descriptor, B's descriptor, then as the functions below say
  };
  enum class Reduction : std::uint8_t { none, min_u32, max_u32, min_s32, max_s32, min_f32, max_f32 };
  Action action = Action::fence_before;
  Space space = Space::generic;           ///< allocate, commit
  bool multicast = false;                 ///< commit
  Transfer transfer{};                    ///< load, store
  Reduction reduction = Reduction::none;  ///< load
  bool absolute = false, nan = false;     ///< of the reduction
  const CopyShape* shape = nullptr;       ///< copy
  std::uint8_t unpacked_bits = 0;         ///< copy: of elements that become bytes; 0: bytes move
  const TensorKind* kind = nullptr;       ///< multiply
  TensorVariant variant{};                ///< multiply; its group also of the others
  bool a_in_tensor_memory = false;        ///< multiply
  bool shifts_a = false;                  ///< multiply
  std::uint8_t disabled_words = 0;        ///< multiply: sources that say which lanes of D are not written
  std::uint8_t scale_d = 0;               ///< multiply: D counts 2^-scale_d times
  bool masks_columns = false;             ///< multiply: the last source is a zero-column mask

  // The sources of multiply.
  int metadata_source() const { return 3; }  ///< of sparse A
  int descriptor_source() const { return variant.sparse ? 4 : 3; }
  int scale_source() const { return descriptor_source() + 1; }     ///< of A, then of B
  int disabled_source() const { return descriptor_source() + 1; }  ///< a kind with scale factors has none
  int enable_source() const { return descriptor_source() + 1 + (variant.scale_vector != 0 ? 2 : disabled_words); }
  int mask_source() const { return enable_source() + 1; }
};

/// tex, tld4, txq, suld and sust (PTX ISA 9.1 sections 9.7.11 and 9.7.12). Sources: the handle; the layer, if it has one; coordinates; then
/// the level or two gradients, or the values to store.
struct TextureAccess {
  enum class Action : std::uint8_t { fetch, gather, query, load, store };
  enum class Level : std::uint8_t { base, given, gradients };
  enum class Query : std::uint8_t { width, height, depth, layers, levels, normalised };
  enum class Outside : std::uint8_t { trap, clamp, zero };
  Action action = Action::fetch;
  std::uint8_t coordinates = 1;  ///< without the layer
  bool layered = false, cube = false;
  bool integers = false;               ///< the coordinates are s32, not f32
  Level level = Level::base;           ///< fetch
  std::uint8_t component = 0;          ///< gather
  Query query = Query::width;          ///< query
  Outside outside = Outside::trap;     ///< load, store: coordinates outside
  std::uint8_t bytes = 4, vector = 1;  ///< load, store
  int first_coordinate() const { return layered ? 2 : 1; }
  int first_behind() const { return first_coordinate() + coordinates; }
};

/// Bytes that a call copies between the two functions' local memories, in each lane.
struct ArgumentCopy {
  std::int32_t caller = 0, callee = 0, bytes = 0;  ///< offsets from the functions' local memories
};

/// A register that a call copies between the functions.
struct RegisterCopy {
  Slot caller = 0, callee = 0;
  RegisterClass register_class = RegisterClass::word;
};

struct Call {
  enum class Target : std::uint8_t {
    function,
    indirect,
    print,
    assert_fail,
    allocate,
    free,
    prepare_launch,  ///< __cudaCDP2GetParameterBufferV2
    launch,          ///< __cudaCDP2LaunchDeviceV2
    copy,            ///< __cudaCDP2MemcpyAsync
    fill,            ///< __cudaCDP2MemsetAsync
    put_memory,      ///< __cudaCDP2Malloc
    free_memory,     ///< __cudaCDP2Free
    put_handle,      ///< __cudaCDP2StreamCreateWithFlags, and of events
    put_zero,        ///< __cudaCDP2GetDevice
    succeed,         ///< a function of the device's runtime that has nothing to do: it returns 0
  };
  Target target = Target::function;
  int function = -1;  ///< of Program::functions
  std::vector<ArgumentCopy> arguments{}, returns{};
  std::vector<RegisterCopy> register_arguments{}, register_returns{};

  /// Whether it works on what clusters share: the launch's heap, or the device's runtime.
  bool uses_launch() const { return target != Target::function && target != Target::print && target != Target::assert_fail; }
};

/// brx.idx: the operations to which its indices branch.
using BranchTable = std::vector<std::int32_t>;

/// What an operation has besides its registers: one type for each family of semantics. Operations are copied, compared with their
/// neighbours and read in sequence, so they are small (56 bytes on x86-64) and name a payload, which is large. A kernel's is Modifiers.
using Payload = std::variant<scalar::Modifiers, LoadAccess, StoreAccess, AtomicAccess, MultimemAccess, CopyAccess, Fence, WaitGroups,
                             TrapCause, SpecialRegister, Barrier, Mbarrier, BulkCopy, ClusterAddress, RegisterChange, TensorMapEdit,
                             WarpExchange, Matrix, WarpgroupProduct, TensorStatement, TextureAccess, Call, BranchTable>;

/// Of an operation that has no payload.
struct NoPayload;

/// The number of a type among those of Payload, their number if it is none.
template <typename P, typename... All>
constexpr std::size_t number_among(const std::variant<All...>*) {
  std::size_t number = 0;
  static_cast<void>(((std::is_same_v<P, All> ? false : (++number, true)) && ...));
  return number;
}

}  // namespace warpmat::code
