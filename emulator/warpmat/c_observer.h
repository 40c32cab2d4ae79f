/* What happens in a launch, or as a list of statements is executed, event by event, in C: for tracers, counters, timing models and checks
 * of your own. warpmat_launch_config of c_program.h takes observers, and warpmat_warp_observe below. The rules in c.h hold here, too.
 * warpmat_observer says when each event comes, and before or after which effect; observer.h is the same for C++.
 *
 * The library fills the structs of this header. They and what they point to are valid during the call, and an observer changes nothing of
 * them. `size` says how much of a struct the library knows. */
#ifndef WARPMAT_C_OBSERVER_H
#define WARPMAT_C_OBSERVER_H

#include <warpmat/c_program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Events ----------------------------------------------------------------------------------------------------------------------------
 */

/* A warp at a statement. */
typedef struct warpmat_event {
  size_t size;
  const char* opcode; /* as the text has it: "ld.global.f32"; valid as long as the warpmat_kernel, or the warpmat_program */
  int line;           /* of the PTX, from 1 on */
  uint32_t statement; /* its number in the kernel, from 0 on: cheaper to compare than the opcode */
  uint32_t block[3];
  int warp;           /* in its block */
  uint32_t lanes;     /* bit i: lane i executes it; 0: no lane's guard is true */
  int rank;           /* of the block in its cluster */
  const char* kernel; /* its name in PTX */
  const void* place;  /* the library's own: for the functions below */
} warpmat_event;

/* Writes the event's place in CUDA C++, "gemm.cu:12" and the calls that are inlined there, to `text`: as much as `capacity` bytes hold,
 * with a null. Returns its length, which is 0 if the PTX has no .loc. */
WARPMAT_API size_t warpmat_event_source(const warpmat_event* event, char* text, size_t capacity);

/* Ends the launch with `status`, one from WARPMAT_UNDEFINED to WARPMAT_REFUSED or from WARPMAT_MISUSE on, others become WARPMAT_STOPPED.
 * The error has the event's place, `lane` (-1: no single one), the address unless it is null, and the reason. Returns 1, which the callback
 * returns: `return warpmat_event_end(event, WARPMAT_MISUSE, lane, NULL, "odd lane");`. */
WARPMAT_API int warpmat_event_end(const warpmat_event* event, warpmat_status status, int lane, const uint64_t* address, const char* reason);

typedef struct warpmat_block_event {
  size_t size;
  const char* kernel;
  uint32_t block[3];
  int rank;              /* in its cluster */
  int warps;             /* of the block */
  const uint8_t* shared; /* its shared memory, at this place until block_ends */
  size_t shared_bytes;
} warpmat_block_event;

/* Warps of a warpgroup that executed setmaxnreg with different numbers, which the ISA leaves undefined and GPUs execute. */
typedef struct warpmat_registers_event {
  size_t size;
  uint32_t statement;  /* one of them */
  const char* problem; /* a report, with its place */
} warpmat_registers_event;

/* Consecutive statements without guards that only compute. */
typedef struct warpmat_run_event {
  size_t size;
  const warpmat_event* event; /* the first one; its lanes are those of all */
  uint32_t operations;        /* their number, preparations too */
} warpmat_run_event;

/* A call of a function of the module, or the return from it. */
typedef struct warpmat_call_event {
  size_t size;
  const warpmat_event* event; /* at the call, or at the function's ret */
  const char* function;       /* that is called, as the PTX has it */
} warpmat_call_event;

/* A shuffle, vote, match or reduction of lanes that act together. */
typedef struct warpmat_exchange {
  size_t size;
  const warpmat_event* event; /* its lanes are the group; of a shuffle, all groups that act at once */
  int shuffle;
  const int* from;     /* 32 lanes. Shuffle: the lane that each reads */
  uint32_t absent;     /* lanes that read a lane outside of their group */
  uint32_t of_nothing; /* lanes that get 0, or the value of a lane at another statement */
} warpmat_exchange;

/* An access of a warp to memory, once its addresses are valid. It takes effect afterwards; that of ldmatrix and stmatrix has taken effect.
 * A cp.async causes two: it writes shared and reads global memory. */
typedef struct warpmat_access {
  size_t size;
  const warpmat_event* event; /* its lanes are those that access this space */
  warpmat_space space;        /* never generic */
  int reads, writes;          /* both: atom, red */
  int asynchronous;           /* cp.async: its bytes move when the warp waits for them */
  uint32_t bytes;             /* of each lane */
  /* By lane, 32 each; those of other lanes are undefined. Shared addresses are offsets with their block's rank from bit 24 on, global ones
   * are those of warpmat_buffer_allocate. */
  const uint64_t* addresses;
  const uint8_t* const* places; /* the bytes, to read */
  int first_register;           /* wmma: the first of the statement's results or values that the bytes belong to; else 0 */
  int consecutive;              /* 1: all lanes access, each the bytes behind those of the lane before */
} warpmat_access;

/* Bytes of the shared memory of the block with this rank in the cluster. */
typedef struct warpmat_shared_range {
  int rank; /* -1: there is none */
  uint64_t offset, bytes;
} warpmat_shared_range;

/* A lane accesses another block's shared memory. */
typedef struct warpmat_remote_access {
  size_t size;
  const warpmat_event* event;
  int lane;
  warpmat_shared_range range;
  uint64_t address; /* as the statement has it */
  int writes;
  int ended; /* 1: the block has exited; its memory is gone, and the access has no effect */
} warpmat_remote_access;

/* cp.async of one statement. */
typedef struct warpmat_copies_event {
  size_t size;
  int rank, warp;
  uint32_t lanes;
  uint32_t bytes;               /* of each lane */
  const uint8_t* const* places; /* 32 lanes, in shared memory */
} warpmat_copies_event;

/* A bulk copy, st.async or red.async. */
typedef struct warpmat_bulk_event {
  size_t size;
  uint64_t number;      /* of the copy in its cluster, from 0 on */
  int rank, warp, lane; /* that issued it */
  uint32_t statement;   /* that issued it */
  warpmat_shared_range reads, writes;
  int reduces; /* what it writes; such copies may overlap */
  int from_registers;
  warpmat_shared_range barrier; /* the mbarrier that counts it */
  /* bulk_completes: the bytes, where a tensor's box is not contiguous; else none. */
  const warpmat_shared_range* written;
  size_t written_count;
  const uint8_t* map; /* the WARPMAT_TENSOR_MAP_BYTES bytes of a tensor copy's map; null of others */
} warpmat_bulk_event;

/* A wgmma.mma_async of one warp, from its statement to the wait that ends it. */
typedef struct warpmat_async_product {
  size_t size;
  const char* opcode;
  uint32_t statement;
  int a_in_registers;
  int accumulates;                     /* scale-d: 1 adds to D */
  uint64_t a_descriptor, b_descriptor; /* A's is 0 if A is in registers */
  const void* product;                 /* the library's own: for the function below */
} warpmat_async_product;

#define WARPMAT_CHUNK_BYTES 16 /* that the matrix unit reads at once */

/* Addresses of the chunks of shared memory that the warp reads of operand WARPMAT_A, none if A is in registers, or WARPMAT_B; in an order
 * that follows from shape and layout. Writes the first `capacity` of them to `list`. Returns the number of all; 0 for other operands. */
WARPMAT_API size_t warpmat_async_product_chunks(const warpmat_async_product* product, warpmat_operand operand, uint32_t* list,
                                                size_t capacity);

/* Cells of tensor memory: some columns of some lanes. */
typedef struct warpmat_tensor_region {
  uint32_t lanes[4]; /* bit by lane, a word for each warp's quarter */
  int first_column, columns;
} warpmat_tensor_region;

/* What a tcgen05 statement touches of the tensor memory of a block. */
typedef struct warpmat_tensor_access {
  size_t size;
  const warpmat_event* event;
  int rank;        /* of the block */
  int by_a_thread; /* mma, cp, shift: a commit says when they are done; else ld, st */
  const warpmat_tensor_region* reads;
  size_t read_count;
  const warpmat_tensor_region* writes;
  size_t write_count;
  uint64_t issued; /* by_a_thread: its number among those that the threads of the block which issued it have issued, from 1 on */
} warpmat_tensor_access;

typedef enum warpmat_tensor_order_kind {
  WARPMAT_TENSOR_BEFORE_SYNC,
  WARPMAT_TENSOR_AFTER_SYNC,
  WARPMAT_TENSOR_COMMIT,
  WARPMAT_TENSOR_LOAD_DONE,
  WARPMAT_TENSOR_STORE_DONE
} warpmat_tensor_order_kind;

/* What orders the asynchronous tcgen05 statements of a warp with those of others. */
typedef struct warpmat_tensor_order {
  size_t size;
  warpmat_tensor_order_kind kind;
  int rank, warp;  /* of the block, and of the warp; of a commit those that issued it, told when the mbarrier gets its arrivals */
  uint64_t issued; /* commit: the number of the last statement before it; it tracks none behind */
} warpmat_tensor_order;

/* tcgen05.dealloc has freed columns. */
typedef struct warpmat_tensor_freed {
  size_t size;
  int rank; /* of the block */
  int first_column, columns;
} warpmat_tensor_freed;

typedef enum warpmat_synchronisation_kind {
  WARPMAT_ORDERED_LOAD,
  WARPMAT_ORDERED_STORE, /* atomics, too */
  WARPMAT_MBARRIER,
  WARPMAT_FENCE,
  WARPMAT_PROXY_FENCE
} warpmat_synchronisation_kind;

typedef struct warpmat_synchronisation {
  size_t size;
  warpmat_synchronisation_kind kind;
  int rank, warp;
  uint32_t acquired, released; /* lanes whose words order them after, or before, other warps' accesses to the same words */
  const uint8_t* const* words; /* 32 lanes, those of other lanes are undefined; null: there are none */
  int waited;                  /* mbarrier: a wait that succeeded in all lanes */
} warpmat_synchronisation;

typedef enum warpmat_barrier_scope { WARPMAT_BLOCK_BARRIER, WARPMAT_WARPGROUP_BARRIER, WARPMAT_CLUSTER_BARRIER } warpmat_barrier_scope;

typedef struct warpmat_barrier_event {
  size_t size;
  warpmat_barrier_scope scope;
  int rank;         /* of the block; cluster, barrier_completes: 0 */
  int number;       /* of the barrier; of the warpgroup; of the phase of the cluster's barrier */
  uint64_t warps;   /* bit w: warp w arrives, or leaves; at the end, all that arrived. Cluster, barrier_completes: 0 */
  uint64_t waiting; /* barrier_completes: those that continue now, without bar.arrive's */
  uint64_t exited;  /* barrier_completes: warps of a barrier of all threads that exited instead */
} warpmat_barrier_event;

/* ---- Observers -------------------------------------------------------------------------------------------------------------------------
 */

/* Kinds of events, for warpmat_observer's `events`. */
#define WARPMAT_EVENTS_OPERATIONS 1u
#define WARPMAT_EVENTS_ACCESSES 2u
#define WARPMAT_EVENTS_SHARED_ACCESSES 4u
#define WARPMAT_EVENTS_EXCHANGES 8u
#define WARPMAT_EVENTS_COPIES 16u
#define WARPMAT_EVENTS_PRODUCTS 32u
#define WARPMAT_EVENTS_SYNCHRONISATION 64u
#define WARPMAT_EVENTS_ABSENT_LANES 128u
#define WARPMAT_EVENTS_TENSOR_MEMORY 256u
#define WARPMAT_EVENTS_RUNS 512u
#define WARPMAT_EVENTS_NONE 0x80000000u /* no kind; blocks are told nevertheless */

/* Receives events of a launch. Observers in warpmat_launch_config's `observers` receive those of all clusters; the launch then uses one
 * thread, the caller's. Blocks of a cluster run alternately, others one after the other, unless they wait for each other. An observer from
 * `observer_of_cluster` receives those of one cluster, whose events have one order; observers of other clusters are told meanwhile by other
 * threads.
 *
 * Callbacks may be null; an event for which no observer asks costs one test. A callback returns 0; another value ends the launch with
 * WARPMAT_STOPPED at this place. It calls no function that changes the launch's memory. An observer whose size ends before a callback has
 * none. The caller keeps the struct until `finished`, or the end of the launch. */
struct warpmat_observer {
  size_t size;
  void* user; /* handed to each callback */
  /* A part of a warp has reached a statement, before its effect: once for each time that it executes it. */
  int (*operation)(void* user, const warpmat_event* event);
  /* ACCESSES, of shared memory SHARED_ACCESSES: the addresses are valid, and the access has no effect yet; ldmatrix and stmatrix have. */
  int (*access)(void* user, const warpmat_access* access);
  /* A lane has issued a bulk copy between global and shared memory, of multicast one for each block that receives it. Its bytes move later.
   * warpmat_bulk_accesses lists what it will access; shared addresses are offsets. `event` has the lane alone. */
  int (*bulk)(void* user, const warpmat_event* event, const warpmat_bulk_copy* copy);
  /* 0: what the callbacks need that are not null, with WARPMAT_EVENTS_RUNS in place of operations if `run` is one. Else the kinds of
   * which it is told; each callback names its own below. The library reads it anew after each callback, so that an observer may change what
   * it asks for. */
  unsigned events;
  /* An operation that computes an address or a value for a statement, which is another operation: together they are the operations of
   * warpmat_launch. Of kind OPERATIONS. */
  int (*preparation)(void* user, const warpmat_event* event);
  int (*block_begins)(void* user, const warpmat_block_event* block); /* always: it has its memory, no warp has run */
  int (*block_ends)(
      void* user, const warpmat_block_event* block); /* always: all warps have exited, without an error; of a list, warpmat_warp_observe */
  int (*registers_differ)(void* user, const warpmat_registers_event* registers); /* always: as a block ends */
  int (*run)(void* user, const warpmat_run_event* run);       /* RUNS, before their effect; `operation` gets what is outside of runs */
  int (*performs)(void* user, const warpmat_event* event);    /* OPERATIONS, wgmma PRODUCTS: all lanes are there; before its effect */
  int (*calls)(void* user, const warpmat_call_event* call);   /* OPERATIONS: registers are about to move to the function */
  int (*returns)(void* user, const warpmat_call_event* call); /* OPERATIONS: and back */
  /* EXCHANGES; ABSENT_LANES: shuffles that read a lane outside of the group. Before its effect. */
  int (*exchange)(void* user, const warpmat_exchange* exchange);
  int (*remote_access)(void* user, const warpmat_remote_access* access); /* SHARED_ACCESSES, before its effect */
  int (*shared_written)(void* user, const warpmat_shared_range* range);  /* SHARED_ACCESSES: mbarrier.init has written it */
  int (*copies_land)(void* user, const warpmat_copies_event* copies);    /* COPIES: bytes of cp.async are there */
  int (*copies_complete)(void* user, const warpmat_event* event);        /* COPIES: lanes have waited for cp.async */
  int (*bulk_issues)(void* user, const warpmat_event* event,
                     const warpmat_bulk_event* copy);                /* COPIES: addresses are valid, nothing has moved */
  int (*bulk_reads)(void* user, const warpmat_bulk_event* copy);     /* COPIES: it has read shared memory */
  int (*bulk_completes)(void* user, const warpmat_bulk_event* copy); /* COPIES: it has written its destination */
  int (*product_issues)(void* user, const warpmat_event* event,
                        const warpmat_async_product* product); /* PRODUCTS: its operands are about to be read */
  /* PRODUCTS: wgmma.wait_group; the products have read their operands. */
  int (*products_read)(void* user, const warpmat_event* event, const warpmat_async_product* products, size_t count);
  /* PRODUCTS: it is about to write its accumulators. */
  int (*product_completes)(void* user, const warpmat_event* event, const warpmat_async_product* product);
  int (*tensor_accessed)(void* user, const warpmat_tensor_access* access);  /* TENSOR_MEMORY: its cells may be touched; before its effect */
  int (*tensor_ordered)(void* user, const warpmat_tensor_order* order);     /* TENSOR_MEMORY, after its effect */
  int (*tensor_freed)(void* user, const warpmat_tensor_freed* freed);       /* TENSOR_MEMORY: dealloc has freed columns */
  int (*synchronises)(void* user, const warpmat_synchronisation* what);     /* SYNCHRONISATION, after its effect */
  int (*barrier_arrives)(void* user, const warpmat_barrier_event* barrier); /* SYNCHRONISATION: the warp has arrived */
  int (*barrier_completes)(void* user, const warpmat_barrier_event* barrier); /* SYNCHRONISATION: all are there, no warp has continued */
  int (*barrier_leaves)(void* user, const warpmat_barrier_event* barrier);    /* SYNCHRONISATION: a warp goes on; the cluster's alone */
  /* The launch has no more events for it, and does not use it again: its cluster has ended, or the launch. On the thread that ran it. */
  void (*finished)(void* user);
  int (*lanes_meet)(void* user, const warpmat_event* event); /* SYNCHRONISATION: lanes have come to a statement that needs them all */
};

/* Tells these observers, in their order and on the caller's thread, what warpmat_warp_run and warpmat_warp_step of this warp execute from
 * now on, and those of an earlier call no more: `count` 0 tells none. The block of those before ends, also after calls that ended with an
 * error, and `finished` follows; then the block of these begins. warpmat_warp_free ends it, too. An observer that ends the launch ends the
 * call; one that does so as a block begins or ends leaves the warp without observers. WARPMAT_BAD_ARGUMENT, and nothing changed: wrong
 * callbacks, or a call by one of the warp's own observers, which cannot execute it either. A program without statements tells nothing. */
WARPMAT_API warpmat_status warpmat_warp_observe(warpmat_warp* warp, const struct warpmat_observer* const* observers, size_t count,
                                                warpmat_error* error);

#ifdef __cplusplus
}
#endif
#endif
