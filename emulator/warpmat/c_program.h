/* Programs and whole kernels in C: PTX text parsed once, run by any number of warps; entries of modules, launched; matrices of operands.
 * The rules in c.h hold for all functions here. This header is separate because c.h's functions are in the library warpmat::core and these
 * in warpmat::warpmat. c_observer.h has what launches and lists tell observers, c_explain.h how an element of a result comes about. */
#ifndef WARPMAT_C_PROGRAM_H
#define WARPMAT_C_PROGRAM_H

#include <warpmat/c.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Programs --------------------------------------------------------------------------------------------------------------------------
 */

/* PTX statements that a warp executes from first to last. Immutable: many threads may run it at once. */
typedef struct warpmat_program warpmat_program;

/* Parses a program: a list of PTX statements, with or without .version, .target, .reg and .shared. `target` ("sm_90a") overrides the
 * text's .target; it may be null if the text has one. Returns null if the text is wrong; `error` then holds the first error with line
 * and column. */
WARPMAT_API warpmat_program* warpmat_program_parse(const char* text, const char* target, warpmat_error* error);

/* Frees a program. No warp may use it afterwards. Null is ignored. */
WARPMAT_API void warpmat_program_free(warpmat_program* program);

/* The program's named registers, in the order of their first use. */
WARPMAT_API int warpmat_program_register_count(const warpmat_program* program);
WARPMAT_API const char* warpmat_program_register_name(const warpmat_program* program, int index);

/* The registers and shared memory of one warp that runs a program. Two threads must not use it at once. */
typedef struct warpmat_warp warpmat_warp;

/* All registers and memory are zero; shared memory has at least `shared_bytes` bytes from address 0 on. `program` must outlive the warp.
 * Returns null if memory is exhausted. */
WARPMAT_API warpmat_warp* warpmat_warp_create(const warpmat_program* program, size_t shared_bytes, warpmat_error* error);
WARPMAT_API void warpmat_warp_free(warpmat_warp* warp);

/* The 32 lanes of a register, to read and write; `word` is 1 for the upper half of a 64-bit one. Null if the program has no such register.
 */
WARPMAT_API uint32_t* warpmat_warp_register(warpmat_warp* warp, const char* name, int word);

/* The warp's shared memory and its size. */
WARPMAT_API uint8_t* warpmat_warp_shared(warpmat_warp* warp, size_t* bytes);

/* Runs the program once. `flags`: WARPMAT_UNDEFINED_AS_HARDWARE and WARPMAT_REFERENCE_PATH. An error names the line; the statements
 * before it have taken effect. */
WARPMAT_API warpmat_status warpmat_warp_run(warpmat_warp* warp, unsigned flags, warpmat_error* error);

/* ---- Whole kernels ---------------------------------------------------------------------------------------------------------------------
 */

/* Parsed PTX: entries, functions and variables. Immutable. */
typedef struct warpmat_module warpmat_module;

/* Parses a module as compilers write it. Returns null if the text is wrong; `error` then holds the first error with line and column. */
WARPMAT_API warpmat_module* warpmat_module_parse(const char* text, warpmat_error* error);

/* Frees a module. Kernels made from it remain valid. Null is ignored. */
WARPMAT_API void warpmat_module_free(warpmat_module* module);

/* The names of its entries, 0 to count - 1; null for other numbers. They last as long as the module. */
WARPMAT_API int warpmat_module_entry_count(const warpmat_module* module);
WARPMAT_API const char* warpmat_module_entry_name(const warpmat_module* module, int index);

/* An entry, resolved for a target. Immutable: many threads may launch it at once, each on a memory of its own. */
typedef struct warpmat_kernel warpmat_kernel;

#define WARPMAT_NO_CONTRACTION 8u   /* unrounded mul and add do not become fma, as ptxas does with --fmad=false */
#define WARPMAT_ASSEMBLER_PTXAS 16u /* this machine's ptxas, a process that this starts, decides about the bits that PTX leaves open */

/* The kernel `entry`; null means the only one. `target` ("sm_90a") is the GPU to emulate; null means the module's own. `flags`:
 * WARPMAT_NO_CONTRACTION, and WARPMAT_ASSEMBLER_PTXAS in place of warpmat's rule; it is an error where no ptxas is in PATH, CUDA_HOME,
 * CUDA_PATH or /usr/local/cuda. Returns null if there is no such entry or target, or if a statement cannot be executed; `error` then holds
 * the first error. */
WARPMAT_API warpmat_kernel* warpmat_kernel_create(const warpmat_module* module, const char* entry, const char* target, unsigned flags,
                                                  warpmat_error* error);

/* Its name in PTX, and the GPU that it is resolved for, "sm_90a". They last as long as the kernel; null for a null kernel. */
WARPMAT_API const char* warpmat_kernel_entry(const warpmat_kernel* kernel);
WARPMAT_API const char* warpmat_kernel_target(const warpmat_kernel* kernel);

/* A parameter of the entry, and its place in the .param space. */
typedef struct warpmat_parameter_info {
  size_t size;
  const char* name; /* in PTX; this string and the other last as long as the kernel */
  const char* type; /* "u64", or "b8" of structs */
  uint32_t offset, bytes, alignment;
  int pointer; /* .ptr */
} warpmat_parameter_info;

/* The number of its parameters, and parameter `index`. */
WARPMAT_API int warpmat_kernel_parameter_count(const warpmat_kernel* kernel);
WARPMAT_API warpmat_status warpmat_kernel_parameter(const warpmat_kernel* kernel, int index, warpmat_parameter_info* info);

/* Frees a kernel. No thread may launch it afterwards. Null is ignored. */
WARPMAT_API void warpmat_kernel_free(warpmat_kernel* kernel);

/* The global memory of a GPU: buffers with gaps between them, so that accesses outside a buffer are detected. Two threads must not use
 * it at once. */
typedef struct warpmat_device_memory warpmat_device_memory;

/* A memory without buffers; null if memory is exhausted. */
WARPMAT_API warpmat_device_memory* warpmat_device_memory_create(warpmat_error* error);

/* The same, but the first allocated buffer lies at `first_address`, or at the next multiple of its alignment; all others lie behind it. */
WARPMAT_API warpmat_device_memory* warpmat_device_memory_create_at(uint64_t first_address, warpmat_error* error);

/* The most bytes that all buffers together may have from now on; there is no limit unless said. WARPMAT_NO_MEMORY for what exceeds it. */
WARPMAT_API warpmat_status warpmat_device_memory_set_most_bytes(warpmat_device_memory* memory, uint64_t bytes, warpmat_error* error);

/* Frees a memory and its buffers. Null is ignored. */
WARPMAT_API void warpmat_device_memory_free(warpmat_device_memory* memory);

/* The size that the heap of malloc() in kernels is to have, 8 MiB unless said. WARPMAT_BAD_ARGUMENT once a kernel has used it. */
WARPMAT_API warpmat_status warpmat_device_memory_set_heap_bytes(warpmat_device_memory* memory, uint64_t bytes, warpmat_error* error);

/* Allocates a zeroed buffer and stores its address, a multiple of 256, in `address`. `name` appears in messages and may be null. Addresses
 * depend only on the order, sizes and alignments of the buffers. WARPMAT_NO_MEMORY where no addresses or memory are left. */
WARPMAT_API warpmat_status warpmat_buffer_allocate(warpmat_device_memory* memory, uint64_t bytes, const char* name, uint64_t* address,
                                                   warpmat_error* error);

/* The same at a multiple of `alignment`, a power of two, and of 256. WARPMAT_BAD_ARGUMENT for another alignment, too. */
WARPMAT_API warpmat_status warpmat_buffer_allocate_aligned(warpmat_device_memory* memory, uint64_t bytes, uint64_t alignment,
                                                           const char* name, uint64_t* address, warpmat_error* error);

/* A buffer with a copy of the `bytes` bytes of `contents` at an address that another memory or a GPU gave it. `contents` may be null
 * without bytes, `name` always. WARPMAT_BAD_ARGUMENT, and nothing changed, where it overlaps another buffer, freed or not, or addresses
 * that are not of global memory. Buffers that are allocated later keep away from it. */
WARPMAT_API warpmat_status warpmat_buffer_place(warpmat_device_memory* memory, uint64_t address, const void* contents, uint64_t bytes,
                                                const char* name, warpmat_error* error);

/* Frees the buffer that begins at `address`. Later accesses of kernels to it are errors. */
WARPMAT_API warpmat_status warpmat_buffer_free(warpmat_device_memory* memory, uint64_t address, warpmat_error* error);

/* The `bytes` bytes at `address`, readable and writable until their buffer is freed. Null unless one buffer contains them all. */
WARPMAT_API uint8_t* warpmat_buffer_bytes(warpmat_device_memory* memory, uint64_t address, uint64_t bytes, warpmat_error* error);

/* A buffer as it is when it is asked for. */
typedef struct warpmat_buffer_info {
  size_t size;
  uint64_t address, bytes; /* its first byte, and its size */
  const char* name;        /* "" without one; lasts as long as the memory */
  int freed;
} warpmat_buffer_info;

/* The buffer that contains `address`, freed or not. WARPMAT_OUT_OF_RANGE if there is none: the error says which one is the nearest. */
WARPMAT_API warpmat_status warpmat_buffer_find(const warpmat_device_memory* memory, uint64_t address, warpmat_buffer_info* info,
                                               warpmat_error* error);

/* The buffer of that name that is not freed. WARPMAT_BAD_ARGUMENT if there is none, or several. */
WARPMAT_API warpmat_status warpmat_buffer_find_name(const warpmat_device_memory* memory, const char* name, warpmat_buffer_info* info,
                                                    warpmat_error* error);

/* The position of `address` relative to the nearest buffer, as messages have it: "16 bytes beyond the end of buffer 'A' of 1024 bytes at
 * 0x7f0000000000"; as much of it as `capacity` bytes hold, with a null. `length`, which may be null, receives the length of all of it. */
WARPMAT_API warpmat_status warpmat_address_describe(const warpmat_device_memory* memory, uint64_t address, char* text, size_t capacity,
                                                    size_t* length, warpmat_error* error);

/* The address in `memory` of the .global or .const variable `name`, in PTX or in C++, of the kernel's module, as cuModuleGetGlobal returns
 * it. All variables of the module get memory and their initial contents now, if nothing of the module was placed in `memory` before. */
WARPMAT_API warpmat_status warpmat_variable_address(const warpmat_kernel* kernel, warpmat_device_memory* memory, const char* name,
                                                    uint64_t* address, warpmat_error* error);

/* A .global or .const variable of the kernel's module. */
typedef struct warpmat_module_variable {
  size_t size;
  const char* name; /* in PTX; lasts as long as the kernel */
  uint64_t bytes;
  uint64_t address; /* in the memory that was asked about; 0 without one */
  int constant;     /* .const */
} warpmat_module_variable;

/* The number of variables, and variable `index`. With a memory it tells the address as warpmat_variable_address does; `memory` may be
 * null. */
WARPMAT_API int warpmat_kernel_variable_count(const warpmat_kernel* kernel);
WARPMAT_API warpmat_status warpmat_kernel_variable(const warpmat_kernel* kernel, int index, warpmat_device_memory* memory,
                                                   warpmat_module_variable* variable, warpmat_error* error);

/* Where a variable is to lie: from an address on that a buffer has. */
typedef struct warpmat_variable_place {
  const char* name; /* in PTX */
  uint64_t address;
} warpmat_variable_place;

/* Says where variables of the kernel's module lie in `memory`, whose contents stay; the others get memory and their initial contents.
 * WARPMAT_BAD_ARGUMENT, and nothing placed, for a name that no variable of the module or that another place has, where one buffer does not
 * hold the whole variable, and where the module was placed in `memory` before: by this function, by one above or by a launch. */
WARPMAT_API warpmat_status warpmat_place_variables(const warpmat_kernel* kernel, warpmat_device_memory* memory,
                                                   const warpmat_variable_place* places, size_t count, warpmat_error* error);

/* One argument of a kernel: a number, an address or a struct, with the bytes that the parameter has in memory. */
typedef struct warpmat_argument {
  const void* bytes;
  size_t byte_count;
} warpmat_argument;

/* An argument whose value is a variable: WARPMAT_ARGUMENT(x). */
#define WARPMAT_ARGUMENT(variable) \
  { &(variable), sizeof(variable) }

/* A tensor map: the arguments of cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col, numbers of enumerations as the driver has them. */
typedef struct warpmat_tensor_map {
  size_t size;
  int im2col; /* 0: tiled */
  int type; /* CUtensorMapDataType: 0 u8, 1 u16, 2 u32, 3 s32, 4 u64, 5 s64, 6 f16, 7 f32, 8 f64, 9 bf16, 10 f32_ftz, 11 tf32, 12 tf32_ftz,
                13 u4x16, 14 u4x16_p64, 15 u6x16_p32 */
  uint32_t rank;               /* dimensions, the innermost first */
  uint64_t address;            /* of element (0, 0, ...): warpmat_buffer_allocate's */
  uint64_t dims[5];            /* elements */
  uint64_t strides[4];         /* bytes, of dimensions 1, 2, ... */
  uint32_t box[5];             /* tiled: elements that a copy traverses */
  uint32_t element_strides[5]; /* 0 stands for 1 */
  int interleave;              /* 0 none, 1 slices of 16 bytes, 2 of 32 */
  int swizzle;                 /* 0 none, 1 32 bytes, 2 64, 3 128; 4, 5, 6: 128 of atoms of 32 bytes, 32 that exchange 8, 64 */
  int l2_promotion;            /* 0 to 3; without effect */
  int fill;                    /* outside of the tensor: 0 zeros, 1 NaN */
  /* im2col: corners of the box in which the filter's base moves, along W, {H, {D}}; elements of each pixel; pixels of a copy. */
  int32_t lower_corner[3], upper_corner[3];
  uint32_t channels, pixels;
} warpmat_tensor_map;

#define WARPMAT_TENSOR_MAP_BYTES 128 /* of an encoded map; a kernel's argument of that size, .const and .global memory hold it */

/* The `bytes` of a kernel's argument for `map`. Their order is warpmat's own: a GPU's maps are other bytes. WARPMAT_BAD_ARGUMENT where the
 * driver refuses the map; the message says which of its rules is broken. */
WARPMAT_API warpmat_status warpmat_tensor_map_encode(const warpmat_tensor_map* map, uint8_t bytes[WARPMAT_TENSOR_MAP_BYTES],
                                                     warpmat_error* error);
/* The inverse, of bytes that warpmat_tensor_map_encode or a kernel made. WARPMAT_BAD_ARGUMENT for bytes that are no map of warpmat. */
WARPMAT_API warpmat_status warpmat_tensor_map_decode(const uint8_t bytes[WARPMAT_TENSOR_MAP_BYTES], warpmat_tensor_map* map,
                                                     warpmat_error* error);

/* What a copy by a map moves: rows, each of contiguous elements in global memory or one slice. */
typedef struct warpmat_tensor_box {
  size_t size;
  uint64_t rows, row_bytes; /* of global memory */
  uint64_t bytes;           /* that the copy counts at its mbarrier: all rows, inside of the tensor or not, without padding */
  uint64_t row_pitch;       /* from one row to the next in shared memory */
  uint64_t shared_bytes;    /* of shared memory that the box occupies: whole spans of the swizzle */
} warpmat_tensor_box;

/* WARPMAT_BAD_ARGUMENT where the driver refuses the map. */
WARPMAT_API warpmat_status warpmat_tensor_map_box(const warpmat_tensor_map* map, warpmat_tensor_box* box, warpmat_error* error);

/* A cp.async.bulk or cp.async.bulk.tensor between global and shared memory, whole or reducing, for timing models. Not .tile::gather4,
 * .tile::scatter4, .im2col::w and .cp_mask, which launches do not execute either. */
typedef struct warpmat_bulk_copy {
  size_t size;
  const uint8_t* map;     /* the WARPMAT_TENSOR_MAP_BYTES bytes of a tensor map; null: `bytes` bytes from `global` on */
  int stores;             /* 0: from global to shared memory; 1: from shared to global memory */
  int32_t coordinates[5]; /* of the tensor's dimensions, the innermost first */
  uint16_t offsets[3];    /* im2col: along W, {H, {D}} */
  uint32_t shared;        /* address in shared memory */
  uint64_t global, bytes; /* without a map */
  int rank;               /* of the block in its cluster whose shared memory it is; observers are told it, nothing reads it */
} warpmat_bulk_copy;

/* What a bulk copy accesses, without executing it, in warpmat's order: each contiguous part's read, then its write; of a tensor parts of at
 * most 16 bytes, row by row of the box. What a load fills because it lies outside of the tensor has a write alone; a store moves nothing of
 * it. An access has the operand WARPMAT_P and no lane (-1); its element is the row of the box and the byte in that row. Lists as
 * warpmat_accesses does. WARPMAT_BAD_ARGUMENT for what the hardware refuses: addresses, sizes, coordinates. */
WARPMAT_API warpmat_status warpmat_bulk_accesses(const warpmat_bulk_copy* copy, warpmat_memory_access* list, size_t capacity, size_t* count,
                                                 warpmat_error* error);

struct warpmat_observer; /* c_observer.h: what happens in a launch or a list, event by event */
typedef struct warpmat_observer warpmat_observer;

typedef struct warpmat_block_index {
  uint32_t x, y, z;
} warpmat_block_index;

/* A product that formed an element: one element of the result of a matrix instruction. */
typedef struct warpmat_why_step {
  const char* opcode;
  const char* where; /* "line 341 (mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32; gemm.cu:41)" */
  int row, column;   /* of the instruction's result */
  /* The k that the elements of this row of a have; -1: none, or an element that was not kept. */
  const int* depths;
  size_t depth_count;
  /* Words of the operands, 32 lanes each: what warpmat_explain of c_explain.h takes register-major; none of wgmma. */
  const uint32_t *a, *b, *c;
  size_t a_count, b_count, c_count;
} warpmat_why_step;

/* The way of an element of a product's result, backwards. */
typedef struct warpmat_why {
  size_t size;
  const char* text;              /* who stored it, and for each product which elements met, by which statements and shared addresses */
  const warpmat_why_step* steps; /* in their order */
  size_t step_count;
} warpmat_why;

typedef enum warpmat_child_kind { WARPMAT_CHILD_KERNEL, WARPMAT_CHILD_COPY, WARPMAT_CHILD_FILL } warpmat_child_kind;

/* What a kernel leaves to the GPU (CUDA's dynamic parallelism). It may run when the grid of that kernel has ended. */
typedef struct warpmat_child_launch {
  size_t size;
  warpmat_child_kind kind;
  const char* entry; /* of the same module */
  uint32_t grid[3], block[3];
  uint32_t shared_bytes;
  uint64_t stream;           /* as the kernel named it; 3: behind all others (cudaStreamTailLaunch) */
  const uint8_t* parameters; /* at the offsets that warpmat_kernel_parameter tells, and bytes behind them */
  size_t parameter_bytes;
  uint64_t to, from, bytes; /* of a copy; of a fill `from` is the value of each byte */
} warpmat_child_launch;

typedef struct warpmat_launch_config {
  size_t size;
  uint32_t grid[3], block[3];        /* x, y, z; 0 stands for 1 */
  uint32_t shared_bytes;             /* of dynamic shared memory */
  const warpmat_argument* arguments; /* in the entry's order */
  size_t argument_count;
  int jobs;                 /* threads; 0: the number of cores. The result does not depend on it */
  uint64_t schedule;        /* 0: warps in order; else the seed of another order */
  uint64_t most_operations; /* 0: no limit; else WARPMAT_LIMIT for a block that executes more */
  unsigned flags;           /* WARPMAT_UNDEFINED_AS_HARDWARE, WARPMAT_REFERENCE_PATH */
  /* Receives what a kernel that ended well has printed, `bytes` bytes and a terminating null, unless that is empty. May be null. */
  void (*print)(void* user, const char* text, size_t bytes);
  void* user;
  /* Told in this order (c_observer.h). A config whose size ends before them has none; so of all that follows. */
  const warpmat_observer* const* observers;
  size_t observer_count;
  uint32_t cluster[3]; /* blocks that run together; all 0: the entry's .reqnctapercluster, or none */
  /* The matrix product that the kernel is to compute, "C=A*B^T:128x128x64", of buffers by their names: the first product of a matrix
   * instruction that is none of it ends the launch with WARPMAT_MISPAIRED (docs/use/launch.md). May be null. A config whose size ends
   * before it has none. */
  const char* gemm;
  /* Receives, after a kernel that ended well, a sentence for each statement whose results a GPU may not reproduce, with its place; `user`
   * is the config's. May be null. A config whose size ends before it has none. */
  void (*warn)(void* user, const char* text);
  /* A byte, 0 or 1. Once it is 1 the launch ends soon with WARPMAT_LIMIT; any thread may set it, and a signal handler. May be null. A
   * config whose size ends before it has none. */
  const volatile uint8_t* stop;
  /* Returns the observer of cluster `cluster` of the launch, without clusters of a block; null: none. Several threads may call it at once:
   * each cluster's observer is told by one thread at a time, and clusters run on all of `jobs` threads. */
  const warpmat_observer* (*observer_of_cluster)(void* user, uint64_t cluster);
  /* An element of the product of `gemm`, "C[5,3]": `tell_why` is told where it comes from, after a kernel that ended well. Both, or null.
   */
  const char* why;
  void (*tell_why)(void* user, const warpmat_why* why);
  /* The blocks at whose products `gemm` and `why` look; the others of their clusters are looked at, too. None: all. A few cost little. */
  const warpmat_block_index* gemm_blocks;
  size_t gemm_block_count;
  /* Receives the launches and copies that a kernel which ended well has made, in the order of the blocks. Null: a kernel that makes one
   * ends with an error. */
  void (*child)(void* user, const warpmat_child_launch* child);
  /* Of a cooperative launch: the address of its size and its barrier, both 32 bits and the barrier zero; else 0. */
  uint64_t workspace;
  double most_seconds;       /* 0: no limit; else WARPMAT_LIMIT for a launch that takes longer */
  uint64_t most_block_bytes; /* 0: no limit; else WARPMAT_NO_MEMORY if registers, local and shared memory of the blocks at once are more */
  /* Those of the launch, "uninitialised,copies,races", as `warpmat launch --check` has them (docs/use/launch.md); null: the usual ones.
   * Bounds, alignment, lanes of a warp and deadlocks are always checked. */
  const char* checks;
} warpmat_launch_config;

/* Runs a kernel to its end. After an error `memory` holds what was written so far. `error` holds the block, warp, lane, line and address of
 * the kernel's error, as far as they are known. `operations` receives the number of executed warp-wide operations; it may be null. */
WARPMAT_API warpmat_status warpmat_launch(const warpmat_kernel* kernel, const warpmat_launch_config* config, warpmat_device_memory* memory,
                                          uint64_t* operations, warpmat_error* error);

/* Calls work(data) on at most `jobs` threads, the caller's among them, and returns when all calls have returned. The caller's call alone
 * must be enough: others help if threads are there. */
typedef void (*warpmat_run_on_threads)(int jobs, void (*work)(void* data), void* data);

/* Gives all later launches of the process the threads that they run on, as those of a pool that the program has: to begin threads takes
 * longer than a short launch. Without a call, or after one with null, threads begin and end with each launch on several. Any thread may
 * call it. After fork() the child's launches call `threads`, too; it must then use the caller's thread alone. */
WARPMAT_API void warpmat_set_threads(warpmat_run_on_threads threads);

/* ---- Results --------------------------------------------------------------------------------------------------------------------------
 */

/* How a matrix differs from the expected one. */
typedef struct warpmat_matrix_difference {
  size_t size;
  uint64_t elements, wrong;
  uint64_t row, column; /* of the first wrong element */
  char text[2048];      /* how many, where, and by which rule: at most 10 lines; empty if nothing is wrong */
} warpmat_matrix_difference;

/* Compares `rows` times `columns` elements of `format`, a number of c.h, in the order of the rows; those below 8 bits are packed, the first
 * in the lowest bits. `units` and `relative` say by how much numbers may differ: units in the last place, and parts of the expected number.
 * If both are 0, bit for bit; all NaNs are equal. Returns WARPMAT_OK also for matrices that differ: difference->wrong says. */
WARPMAT_API warpmat_status warpmat_compare_matrix(int format, uint64_t rows, uint64_t columns, const void* held, const void* expected,
                                                  double units, double relative, warpmat_matrix_difference* difference,
                                                  warpmat_error* error);

/* ---- tcgen05 ---------------------------------------------------------------------------------------------------------------------------
 */

/* A tcgen05.mma, .cp, .shift, .ld or .st. A call does it as if the statement and the wait for it followed each other, in tensor memory and
 * shared memory that the caller holds. Allocation, commits and waits are the caller's. */
typedef struct warpmat_tcgen05 warpmat_tcgen05;

/* The statement that `opcode` spells, "tcgen05.mma.cta_group::1.kind::f16", on a target, "sm_100a". Null if there is none. */
WARPMAT_API warpmat_tcgen05* warpmat_tcgen05_create(const char* opcode, const char* target, warpmat_error* error);
/* The same by fields, as warpmat_find_fields of c.h. A collector's buffer has no effect on results, and no field. */
WARPMAT_API warpmat_tcgen05* warpmat_tcgen05_create_fields(const warpmat_fields* fields, const char* target, warpmat_error* error);
/* No thread may use it afterwards. Null is ignored. */
WARPMAT_API void warpmat_tcgen05_free(warpmat_tcgen05* tcgen05);

typedef enum warpmat_tcgen05_action {
  WARPMAT_TCGEN05_MMA,
  WARPMAT_TCGEN05_CP,
  WARPMAT_TCGEN05_SHIFT,
  WARPMAT_TCGEN05_LD,
  WARPMAT_TCGEN05_ST
} warpmat_tcgen05_action;

typedef struct warpmat_tcgen05_info {
  size_t size;
  const char* opcode; /* this string and the others last as long as the handle */
  const char* evidence;
  const char* source;
  warpmat_tcgen05_action action;
  int blocks;         /* whose memory a call touches: 1, or 2 with .cta_group::2 */
  int registers;      /* ld, st: of a lane; that of a reduction is the last */
  int lanes, columns; /* ld, st: of a rectangle; cp: rows, and columns that they become; shift: 32 and 8; mma: 0 */
  int sparse;         /* mma: A has metadata */
  int scaled;         /* mma: A and B have scale factors */
} warpmat_tcgen05_info;
WARPMAT_API warpmat_status warpmat_tcgen05_describe(const warpmat_tcgen05* tcgen05, warpmat_tcgen05_info* info);

/* What a tcgen05.mma is with an instruction descriptor. */
typedef struct warpmat_tcgen05_product {
  size_t size;
  int m, n, k;                  /* of all blocks; k of the expanded A */
  const char *d, *a, *b;        /* formats, as warpmat_format_name has them */
  int rows;                     /* of A and D in one block */
  int b_columns;                /* of B in one block */
  int d_columns, a_columns;     /* of tensor memory that D takes, and A if it is there */
  int scale_vector;             /* scale factors of a row of A; 0 without them */
  int transpose_a, transpose_b; /* 1: MN-major */
  const char* evidence;         /* of the arithmetic */
  const char* source;
} warpmat_tcgen05_product;
WARPMAT_API warpmat_status warpmat_tcgen05_product_of(const warpmat_tcgen05* tcgen05, uint32_t instruction_descriptor,
                                                      warpmat_tcgen05_product* product, warpmat_error* error);

/* A place in tensor memory: lanes 0 to 127, columns 0 to 511. */
typedef struct warpmat_tensor_cell {
  int block, lane, column;
} warpmat_tensor_cell;

/* mma: the cell of D's element (row, column), from D's address on. */
WARPMAT_API warpmat_status warpmat_tcgen05_cell_of(const warpmat_tcgen05* tcgen05, uint32_t instruction_descriptor, int row, int column,
                                                   warpmat_tensor_cell* cell);
/* ld, st: the cell of register `reg` of `lane`, from the address on; `half` is 1 for the upper half of a register with .pack::16b or
 * .unpack::16b. */
WARPMAT_API warpmat_status warpmat_tcgen05_register_cell(const warpmat_tcgen05* tcgen05, int64_t second_columns, int lane, int reg,
                                                         int half, warpmat_tensor_cell* cell);

/* A block's tensor memory: the cell of a lane and a column is words[lane * lane_stride + column * column_stride]. */
typedef struct warpmat_tensor_memory {
  uint32_t* words;
  ptrdiff_t lane_stride, column_stride;
} warpmat_tensor_memory;

typedef struct warpmat_tcgen05_call {
  size_t size;
  const warpmat_tensor_memory* tensor; /* of each of info.blocks blocks, the even one of a pair first */
  const warpmat_memory* shared;        /* mma, cp: of each block too; bytes, whose base is below 2^32 */
  uint32_t address;                    /* of tensor memory: D, what cp and st write, what ld reads and shift moves */
  uint64_t source_descriptor;          /* cp */
  /* mma */
  int a_in_tensor_memory;
  uint32_t a_address;
  uint64_t a_descriptor, b_descriptor;
  uint32_t instruction_descriptor;
  uint32_t metadata, scale_a, scale_b; /* addresses of tensor memory */
  int accumulate;                      /* enable-input-d: 1 adds to D, 0 overwrites it */
  int scale_d;                         /* scale-input-d, 0 to 15 */
  const uint32_t* disabled_lanes;      /* 4 words for each block; null: none */
  const uint64_t* zero_columns;        /* .ws: the mask; null: none */
  /* ld, st */
  const warpmat_registers* registers; /* of the one warp that executes it */
  int warp;                           /* its number: it reaches the lanes of its number modulo 4; lanes 0 to 31 of an address are its own */
  int64_t second_columns;             /* immHalfSplitoff of .16x32bx2 */
  unsigned flags;                     /* WARPMAT_UNDEFINED_AS_HARDWARE, WARPMAT_REFERENCE_PATH */
} warpmat_tcgen05_call;

/* After an error nothing has changed. Allocates memory. A launch warns of an address of ld or st with lanes 0 to 31 in a warp of other
 * lanes; a call executes it without a word. */
WARPMAT_API warpmat_status warpmat_tcgen05_execute(const warpmat_tcgen05* tcgen05, const warpmat_tcgen05_call* call, warpmat_error* error);

/* What a call accesses, without executing it, of each block in turn: of shared memory the 16 bytes that the matrix unit reads at once, as
 * warpmat_accesses of wgmma; of tensor memory the columns of one lane. place.reg is the block; place.lane is the lane of tensor memory, -1
 * of shared memory. D of a product that accumulates is read, then written; disabled lanes count. Of ld, st and cp the operand is WARPMAT_R
 * or WARPMAT_P. Of the call it reads no memory and no registers. Lists as warpmat_accesses does. */
WARPMAT_API warpmat_status warpmat_tcgen05_accesses(const warpmat_tcgen05* tcgen05, const warpmat_tcgen05_call* call,
                                                    warpmat_memory_access* list, size_t capacity, size_t* count, warpmat_error* error);

/* ---- Statements of a program -----------------------------------------------------------------------------------------------------------
 */

typedef struct warpmat_statement_info {
  size_t size;
  int line, column;
  const char* opcode;
  /* Of a matrix instruction: its label, or else "mma.0"; and itself. Null of others. */
  const char* name;
  const warpmat_instruction* instruction;
} warpmat_statement_info;

/* Strings of a program last as long as it does. */
WARPMAT_API int warpmat_program_statement_count(const warpmat_program* program);
WARPMAT_API warpmat_status warpmat_program_statement(const warpmat_program* program, int index, warpmat_statement_info* info);
/* The number of the matrix instruction "mma.0", "product" (its label) or "2" (the third one) among the statements; -1 if there is none: the
 * error lists what exists. */
WARPMAT_API int warpmat_program_find_statement(const warpmat_program* program, const char* name, warpmat_error* error);

/* A variable in shared memory. */
typedef struct warpmat_variable_info {
  size_t size;
  const char* name;
  const char* type;        /* of an element: "f16" */
  uint64_t address, bytes; /* the address counts from where shared memory begins */
} warpmat_variable_info;

WARPMAT_API int warpmat_program_variable_count(const warpmat_program* program);
WARPMAT_API warpmat_status warpmat_program_variable(const warpmat_program* program, int index, warpmat_variable_info* info);

/* The program as PTX with all declarations; null if memory is exhausted. */
WARPMAT_API const char* warpmat_program_text(const warpmat_program* program, warpmat_error* error);

/* As warpmat_warp_create, with shared memory from address `shared_base` on, a multiple of every alignment in the program. */
WARPMAT_API warpmat_warp* warpmat_warp_create_at(const warpmat_program* program, size_t shared_bytes, uint32_t shared_base,
                                                 warpmat_error* error);
/* Executes one statement; an error has changed nothing. `flags` as warpmat_warp_run. */
WARPMAT_API warpmat_status warpmat_warp_step(warpmat_warp* warp, int statement, unsigned flags, warpmat_error* error);
/* The lanes whose guard is true now: those that would execute a statement; 0 for other numbers. */
WARPMAT_API uint32_t warpmat_warp_executing(const warpmat_warp* warp, int statement);
/* The addresses from which the 32 lanes read in its last execution; null unless it is an ldmatrix or ld.shared that was executed. */
WARPMAT_API const uint64_t* warpmat_warp_addresses_read(const warpmat_warp* warp, int statement);

/* ---- Matrices of operands --------------------------------------------------------------------------------------------------------------
 *
 * A fragment as a matrix of doubles, which represent every element of every format exactly: `count` numbers in the order of the rows. Its
 * matrices (ldmatrix.x2) stand one above the other, or `matrix` selects one: that of a selector's metadata or of scale factors. `format`, a
 * number of c.h, says how to read the bits; -1 means the operand's own, which data movement lacks. Numbers are rounded to the nearest
 * element, ties to even. Wrong sizes, formats and operands are errors that name what would be right; nothing has then changed. */

/* Writes all of a fragment into the registers of warp `warp`; -1 for `matrix` means all of them. */
WARPMAT_API warpmat_status warpmat_scatter(const warpmat_instruction* instruction, warpmat_operand operand, int matrix, int format,
                                           const double* values, size_t count, const warpmat_registers* registers, size_t warp,
                                           warpmat_error* error);
/* Reads it. */
WARPMAT_API warpmat_status warpmat_gather(const warpmat_instruction* instruction, warpmat_operand operand, int matrix, int format,
                                          double* values, size_t count, const warpmat_registers* registers, size_t warp,
                                          warpmat_error* error);

/* How registers differ from an expected matrix. */
typedef struct warpmat_operand_difference {
  size_t size;
  size_t elements, wrong;
  warpmat_element element; /* the first wrong one, and what it holds */
  warpmat_place place;
  double held, expected;
  char text[2048]; /* at most 8 elements with lane, register and where their value belongs; empty if nothing is wrong */
} warpmat_operand_difference;

/* Compares bit for bit after rounding; all NaNs are equal. Returns WARPMAT_OK also for registers that differ: difference->wrong says. */
WARPMAT_API warpmat_status warpmat_compare_operand(const warpmat_instruction* instruction, warpmat_operand operand, int format,
                                                   const double* expected, size_t count, const warpmat_registers* registers, size_t warp,
                                                   warpmat_operand_difference* difference, warpmat_error* error);

/* Dense A, m x k, of a sparse instruction to the stored elements, m x k/2, and the codes of their places, m x k/group, for operand e as u4
 * at the selector's matrix; and back. `group` is warpmat_metadata_group's. An error names row and group with too many elements, or a code
 * that the ISA does not define. */
WARPMAT_API int warpmat_metadata_group(const warpmat_instruction* instruction); /* 2, 4 or 8; 0 if A is not sparse */
WARPMAT_API warpmat_status warpmat_compress(const warpmat_instruction* instruction, const double* a, size_t a_count, double* stored,
                                            size_t stored_count, double* metadata, size_t metadata_count, warpmat_error* error);
WARPMAT_API warpmat_status warpmat_expand(const warpmat_instruction* instruction, const double* stored, size_t stored_count,
                                          const double* metadata, size_t metadata_count, double* a, size_t a_count, warpmat_error* error);

/* The matrix of operand scale-a or scale-b that {byte_id, thread_id} of `ids`, WARPMAT_IDS_A or WARPMAT_IDS_B, select. */
WARPMAT_API warpmat_status warpmat_scale_matrix(const warpmat_instruction* instruction, warpmat_operand ids, uint32_t byte_id,
                                                uint32_t thread_id, int* matrix, warpmat_error* error);

/* Rows of 16 elements in 16 bytes, as ldmatrix reads them: `packing` is "b8x16", "b6x16_p32" or "b4x16_p64". A row of c elements has c
 * bytes; c is a multiple of 16. `bytes` has rows * columns bytes. */
WARPMAT_API warpmat_status warpmat_pack_rows(const char* packing, int format, int rows, int columns, const double* values, uint8_t* bytes,
                                             warpmat_error* error);
WARPMAT_API warpmat_status warpmat_unpack_rows(const char* packing, int format, int rows, int columns, const uint8_t* bytes, double* values,
                                               warpmat_error* error);

/* The same of a program's warp. `place` is "mma.0.a", or "product.a" by the label; `statement` "mma.0". */
WARPMAT_API warpmat_status warpmat_warp_set_operand(warpmat_warp* warp, const char* place, int format, const double* values, size_t count,
                                                    warpmat_error* error);
WARPMAT_API warpmat_status warpmat_warp_get_operand(const warpmat_warp* warp, const char* place, int format, double* values, size_t count,
                                                    warpmat_error* error);
/* A line for each wrong element, and the rows of memory that ldmatrix read for it; as much of it as `capacity` bytes hold, with a null:
 * empty if nothing is wrong. `length`, which may be null, receives the length of all of it. */
WARPMAT_API warpmat_status warpmat_warp_compare_operand(const warpmat_warp* warp, const char* place, int format, const double* expected,
                                                        size_t count, char* text, size_t capacity, size_t* length, warpmat_error* error);
/* Dense A into operands a and e of a sparse mma, for the statement's selector; and back. */
WARPMAT_API warpmat_status warpmat_warp_set_sparse_a(warpmat_warp* warp, const char* statement, const double* a, size_t count,
                                                     warpmat_error* error);
WARPMAT_API warpmat_status warpmat_warp_get_sparse_a(const warpmat_warp* warp, const char* statement, double* a, size_t count,
                                                     warpmat_error* error);
/* Scale factors where the statement's {byte-id, thread-id} select them: `scale` is WARPMAT_SCALE_A or WARPMAT_SCALE_B. */
WARPMAT_API warpmat_status warpmat_warp_set_scales(warpmat_warp* warp, const char* statement, warpmat_operand scale, const double* scales,
                                                   size_t count, warpmat_error* error);
WARPMAT_API warpmat_status warpmat_warp_get_scales(const warpmat_warp* warp, const char* statement, warpmat_operand scale, double* scales,
                                                   size_t count, warpmat_error* error);

/* A matrix in a program's shared variable. */
typedef struct warpmat_variable_matrix {
  size_t size;
  const char* variable;
  int rows, columns, format;
  const char* layout; /* "rows", "padded<80>", "swizzle<3,4,3>" or "swizzle<3,4,3,256>", whose last number is a row's bytes; null: "rows" */
} warpmat_variable_matrix;

/* `values` and `expected` are rows * columns doubles. After setting one, warpmat_warp_compare_operand names its elements. */
WARPMAT_API warpmat_status warpmat_warp_set_variable(warpmat_warp* warp, const warpmat_variable_matrix* matrix, const double* values,
                                                     warpmat_error* error);
WARPMAT_API warpmat_status warpmat_warp_get_variable(const warpmat_warp* warp, const warpmat_variable_matrix* matrix, double* values,
                                                     warpmat_error* error);
WARPMAT_API warpmat_status warpmat_warp_compare_variable(const warpmat_warp* warp, const warpmat_variable_matrix* matrix,
                                                         const double* expected, char* text, size_t capacity, size_t* length,
                                                         warpmat_error* error);

#ifdef __cplusplus
}
#endif
#endif
