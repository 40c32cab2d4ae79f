/* warpmat in C: find instructions, query them, execute them on registers and memory that the caller owns. C99. c_program.h runs programs.
 *
 * No function throws or ends the process. A null pointer, a list that is too short and an unknown size are errors, not crashes. Every
 * function may be called from every thread, in destructors at exit and after fork. Strings and instructions last until the process ends.
 * warpmat_execute neither allocates nor locks unless it fails; of wgmma it allocates.
 *
 * Structs with a `size` grow at their end in later versions. The caller sets `size` to sizeof the struct in this header; the library reads
 * and writes no byte beyond it. Structs without `size` never change: they are passed by value or are elements of arrays. */
#ifndef WARPMAT_C_H
#define WARPMAT_C_H

#include <stddef.h>
#include <stdint.h>

#include <warpmat/version.h>

/* Changes where a program compiled with an older header would go wrong: compare with warpmat_abi(). */
#define WARPMAT_ABI 2

#ifdef __cplusplus
extern "C" {
#endif

/* WARPMAT_VERSION and WARPMAT_ABI of the library that is loaded. */
WARPMAT_API const char* warpmat_version(void);
WARPMAT_API int warpmat_abi(void);

/* ---- Errors ----------------------------------------------------------------------------------------------------------------------------
 */

typedef enum warpmat_status {
  WARPMAT_OK = 0,
  WARPMAT_BAD_ARGUMENT,   /* null, missing, too short, of unknown size, not 4-byte aligned */
  WARPMAT_UNKNOWN_OPCODE, /* no instruction has this opcode or SASS name */
  WARPMAT_UNKNOWN_TARGET,
  WARPMAT_UNAVAILABLE,  /* the target does not have the instruction */
  WARPMAT_SYNTAX,       /* of a program's text */
  WARPMAT_UNDEFINED,    /* the ISA leaves the operands undefined: metadata, a selector, ids, padding */
  WARPMAT_MISALIGNED,   /* an address is no multiple of the size of the row or access */
  WARPMAT_OUT_OF_RANGE, /* an address is outside of the memory that the caller passed, or that a kernel may access */
  WARPMAT_REFUSED,      /* a callback of the caller's memory refused a row */
  WARPMAT_NO_MEMORY,    /* the library's own allocation failed */
  WARPMAT_INTERNAL,     /* a defect of the library */
  /* Kernel launches only: */
  WARPMAT_MISUSE,    /* lanes, operands or barriers violate PTX's rules */
  WARPMAT_UNWRITTEN, /* an uninitialised value of shared memory affects the result */
  WARPMAT_UNORDERED, /* two accesses are not ordered: a race, a copy without a wait */
  WARPMAT_DEADLOCK,
  WARPMAT_LIMIT,    /* more operations than the caller allows, or the caller's `stop` was set */
  WARPMAT_STOPPED,  /* the kernel executes a trap, an assertion of its own failed, or an observer ends the launch */
  WARPMAT_MISPAIRED /* a matrix instruction multiplies, or a statement stores, what the launch's `gemm` rules out */
} warpmat_status;

/* "WARPMAT_MISALIGNED"; "unknown status" for other numbers. */
WARPMAT_API const char* warpmat_status_name(warpmat_status status);

/* An error report in the caller's struct. A null pointer is allowed everywhere. A successful call leaves the struct unchanged. */
typedef struct warpmat_error {
  size_t size;
  warpmat_status status;
  int lane;          /* the lane at fault; -1 if none is */
  int operand;       /* the operand at fault, a warpmat_operand; -1 if none is */
  int line, column;  /* in a program's text, from 1 on; 0 elsewhere */
  size_t warp;       /* the warp at fault; for a kernel, within its block */
  uint32_t block[3]; /* of a kernel: the warp's block */
  uint64_t address;  /* the wrong address, if any: for WARPMAT_MISALIGNED, WARPMAT_OUT_OF_RANGE, WARPMAT_REFUSED, WARPMAT_UNORDERED */
  char message[512]; /* what is wrong and what would be right; truncated if longer */
} warpmat_error;

/* ---- Tables ----------------------------------------------------------------------------------------------------------------------------
 */

/* Numbers from 0 to count - 1; names of other numbers are null. */
WARPMAT_API int warpmat_target_count(void);
WARPMAT_API const char* warpmat_target_name(int target); /* "sm_90a" */
WARPMAT_API int warpmat_form_count(void);
WARPMAT_API const char* warpmat_form_opcode(int form); /* "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" */
WARPMAT_API int warpmat_format_count(void);
WARPMAT_API const char* warpmat_format_name(int format); /* "e4m3" */
WARPMAT_API int warpmat_format_bits(int format);         /* of one element; 0 for other numbers */
WARPMAT_API int warpmat_find_format(const char* name);   /* -1 if there is none of that name */

/* The value of an element, exactly; higher bits of `bits` are ignored. */
WARPMAT_API warpmat_status warpmat_to_double(int format, uint64_t bits, double* value);
/* The element nearest to `value`, ties to even. Beyond the range: infinity, or the largest number if the format has no infinity. */
WARPMAT_API warpmat_status warpmat_from_double(int format, double value, uint64_t* bits);

/* ---- Formats and their values ----------------------------------------------------------------------------------------------------------
 */

typedef enum warpmat_specials {
  WARPMAT_IEEE_SPECIALS, /* all-ones exponent: infinity (fraction 0) and NaN */
  WARPMAT_ONE_NAN,       /* all-ones exponent and fraction: NaN; no infinity; e4m3 */
  WARPMAT_NO_SPECIALS    /* every code is a finite number; e2m1 */
} warpmat_specials;

typedef struct warpmat_format_info {
  size_t size;
  const char* name;
  int bits; /* of one element in a register; tf32 fills 32 */
  int is_signed;
  int exponent_bits;    /* 0: an integer. The bias is 2^(exponent_bits - 1) - 1 */
  int fraction_bits;    /* stored; 0 for integers */
  int ignored_low_bits; /* that the hardware drops on reading: of tf32 13 */
  warpmat_specials specials;
  int has_zero; /* 0 for ue8m0, whose code 0 is 2^-127 */
} warpmat_format_info;
WARPMAT_API warpmat_status warpmat_format_describe(int format, warpmat_format_info* info);

typedef enum warpmat_value_kind { WARPMAT_ZERO, WARPMAT_FINITE, WARPMAT_INFINITY, WARPMAT_NAN } warpmat_value_kind;

/* A number: significand * 2^(exponent - fraction_bits), if it is finite. A subnormal keeps the smallest exponent. */
typedef struct warpmat_value {
  warpmat_value_kind kind;
  int negative, exponent, fraction_bits;
  uint64_t significand;
} warpmat_value;

typedef enum warpmat_rounding { WARPMAT_NEAREST_EVEN, WARPMAT_TOWARD_ZERO, WARPMAT_DOWN, WARPMAT_UP } warpmat_rounding;

typedef enum warpmat_overflow {
  WARPMAT_OVERFLOW_IEEE,     /* infinity or the largest finite number, depending on the rounding direction */
  WARPMAT_OVERFLOW_INFINITY, /* always infinity: the matrix units, also in rounding toward zero */
  WARPMAT_OVERFLOW_SATURATE  /* the largest finite number: .satfinite */
} warpmat_overflow;

/* The value of an element, of f64 too; higher bits of `bits` are ignored. */
WARPMAT_API warpmat_status warpmat_decode(int format, uint64_t bits, warpmat_value* value);
/* The element of a value, rounded. A NaN keeps sign and payload if the format has its fraction's width and that is a NaN of it, else it is
 * the canonical one. WARPMAT_BAD_ARGUMENT for a finite number without significand, a NaN whose significand has more than fraction_bits
 * bits, fraction_bits outside 0 to 63, and exponents beyond 10,000. */
WARPMAT_API warpmat_status warpmat_encode(int format, const warpmat_value* value, warpmat_rounding rounding, warpmat_overflow overflow,
                                          uint64_t* bits);

/* ---- Instructions ----------------------------------------------------------------------------------------------------------------------
 */

typedef struct warpmat_instruction warpmat_instruction;

/* The instruction that `opcode` spells, on a target ("sm_90a") or a card ("H100"), as every `target` of this interface; null if there is
 * none: mma, ldmatrix, stmatrix, movmatrix, wmma; wgmma.mma_async; scalar instructions that compute, "add.rn.f32"; and what lists of
 * statements have beside them, "shfl.sync.idx.b32", which are described here and executed by programs alone (c_program.h). Qualifiers may
 * have any order that ptxas accepts. A predicate, blanks, operands, a semicolon and capitals are not part of it; the error says so.
 * Repeated calls return the same pointer.
 *
 * wgmma.mma_async is executed by four warps, as if statement and wait followed each other; its immediates are operands of the call. Warp w
 * of four has rows 16 w to 16 w + 15 of A and D. After an error no register has changed, except where a warp's metadata are undefined.
 * Scalar instructions run in isolation: contraction of products and sums to fma happens only in programs. */
WARPMAT_API const warpmat_instruction* warpmat_find(const char* opcode, const char* target, warpmat_error* error);

/* The same by the machine instruction's name, as SASS spells it: "HMMA.16816.F32.BF16", "LDSM.16.MT88.4", "IMMA.16832.S8.U8.SAT",
 * "OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X", "HGMMA.64x128x16.F32.BF16", and the shape of f64 with or without crosses, "DMMA.8x8x4" or
 * "DMMA.884". If several PTX instructions become that machine instruction, returns the first of warpmat_form_opcode's list that the target
 * has. The error says what is beside the name, names the nearest, or the types that a name leaves open. */
WARPMAT_API const warpmat_instruction* warpmat_find_machine(const char* name, const char* target, warpmat_error* error);

/* A machine instruction of sm_70 that is one step of mma.m8n8k4: "HMMA.884.F32.F32.STEP0" to "STEP3", "HMMA.884.F16.F16.STEP0" and "STEP1".
 */
typedef struct warpmat_machine_step {
  size_t size;
  const warpmat_instruction* instruction; /* the mma */
  int step, steps;
  /* Of operands d and c: the step reads and writes these registers of them, and their elements depend on no others of C. So a step is the
   * whole instruction, of whose d these registers are kept. warpmat_element_at has their elements. */
  int first_register, registers;
} warpmat_machine_step;

/* The step that SASS calls `name`. `layout_a` and `layout_b`, "row" or "col", are what it writes in capitals behind the registers of A and
 * B. The caller sets step->size. WARPMAT_UNKNOWN_OPCODE if there is none. */
WARPMAT_API warpmat_status warpmat_find_machine_step(const char* name, const char* layout_a, const char* layout_b, const char* target,
                                                     warpmat_machine_step* step, warpmat_error* error);

/* An instruction's parts, as a decoder has them. Strings are as PTX spells them, without the dot: "f16", "row".
 * Open members: null or 0 matches every value. All other members: null or 0 means that the opcode lacks the qualifier. */
typedef struct warpmat_fields {
  size_t size;
  /* Open: */
  const char* mnemonic; /* "mma", also of mma.sp; "ldmatrix", "wmma.load.a", "wmma.mma", "wmma.store.d"; "wgmma.mma_async"; "tcgen05.mma",
                           "tcgen05.cp", "tcgen05.shift", "tcgen05.ld", "tcgen05.ld.red", "tcgen05.st" */
  int m, n, k;          /* all of them, of ldmatrix m and n; or all 0 */
  const char* d;        /* types of mma, wmma.mma and wgmma; where wmma.mma writes two, those of d and c, a and b are "f16" */
  const char* a;
  const char* b;
  const char* c;
  const char* type;     /* of the others: "b16", "b8x16.b6x16_p32", "f16"; of tcgen05.ld.red "f32" */
  const char* layout_a; /* "row", "col"; of wmma.load and wmma.store this one alone */
  const char* layout_b;
  const char* scale_type; /* "ue8m0" */
  const char* operation;  /* "xor", "and"; of tcgen05.ld.red "min", "max" */
  int number;             /* of ldmatrix 1, 2, 4; of tcgen05.ld and .st 1 to 128 */
  /* Not open: */
  const char* kind;      /* "mxf8f6f4" */
  const char* sparsity;  /* "sp", "sp::ordered_metadata" */
  const char* scale_vec; /* "2X"; of tcgen05.mma also "block16", "block32" */
  const char* rounding;  /* "rn" */
  const char* space;     /* "shared", "global" */
  int transposed;        /* .trans */
  int satfinite;
  /* tcgen05 alone; fields whose size ends before them have none. Open: */
  int cta_group;         /* 1, 2 */
  const char* shape;     /* of .cp, .ld and .st, in place of m, n and k: "128x256b", "32x32b" */
  const char* multicast; /* of .cp: "warpx4", "warpx2::02_13" */
  /* Not open: */
  const char* format; /* of .cp, to and from: "b8x16.b6x16_p32" */
  int weights;        /* .ws */
  int shift_a;        /* .ashift */
  int pack;           /* .pack::16b, .unpack::16b */
  int absolute, nan;  /* of .ld.red: .abs, .NaN */
} warpmat_fields;

/* The one instruction of `target` with these fields; of wgmma only where `mnemonic` says so. Null if there is none
 * (WARPMAT_UNKNOWN_OPCODE), none on this target (WARPMAT_UNAVAILABLE), or several (WARPMAT_BAD_ARGUMENT): the error says which field would
 * have to be another, which targets have it, or which fields tell the instructions apart. */
WARPMAT_API const warpmat_instruction* warpmat_find_fields(const warpmat_fields* fields, const char* target, warpmat_error* error);

typedef struct warpmat_instruction_info {
  size_t size;
  const char* opcode;
  const char* target;
  const char* machine;  /* `sass`, or else the machine instructions: "2 HMMA.16816 and an addition" */
  const char* sass;     /* its name for warpmat_find_machine; null unless it is one machine instruction with a known name */
  const char* evidence; /* the evidence for the bits: "measured", "specified", "replayed", "published", "assumed" */
  const char* source;   /* the source of the evidence */
  int m, n, k;          /* of mma, wmma and wgmma; of ldmatrix and stmatrix m rows of n elements, k 0 */
  int operands;         /* as warpmat_operand_at counts them */
  int rows;             /* rows of memory that ldmatrix and stmatrix access, row i addressed by lane i; 0 if none */
  int row_bytes;        /* of each row */
  int checked_lanes;    /* lanes whose addresses must be valid, from lane 0 on: `rows`, or more if the hardware checks more */
  int reads_memory, writes_memory;
  size_t stack_bytes; /* stack that warpmat_execute needs, callbacks of the caller not counted */
  /* How it is known which lane and register hold which element; evidence and source above are the arithmetic's. */
  const char* layout_evidence;
  const char* layout_source;
  /* The opcode's parts, as warpmat_fields has them; empty where it has none. */
  const char* mnemonic;
  const char* type;
  const char* layout_a;
  const char* layout_b;
  const char* space;
  int alignment;      /* of an address in bytes, and of wmma's stride: 16 for rows; what a lane of ld or st accesses; 0 without memory */
  int default_stride; /* elements, where wmma.load or wmma.store names none; 0 elsewhere */
  int warps;          /* that execute it together: 4 of wgmma, else 1 */
  int scalar;         /* 1: each lane by itself; `machine` is then empty, m, n and k are 0 */
  int needs_program;  /* 1: ld.shared, st.shared, shfl and others of lists: warpmat_execute refuses it; `machine` is empty, too */
} warpmat_instruction_info;

WARPMAT_API warpmat_status warpmat_describe(const warpmat_instruction* instruction, warpmat_instruction_info* info);

typedef enum warpmat_operand {
  WARPMAT_D,
  WARPMAT_A,
  WARPMAT_B,
  WARPMAT_C,
  WARPMAT_E,
  WARPMAT_SELECTOR,
  WARPMAT_SCALE_A,
  WARPMAT_IDS_A,
  WARPMAT_SCALE_B,
  WARPMAT_IDS_B,
  WARPMAT_R,      /* registers of ldmatrix and stmatrix */
  WARPMAT_P,      /* their addresses; of wmma.load and wmma.store the matrix's, in all lanes */
  WARPMAT_STRIDE, /* of wmma.load and wmma.store: null words mean that PTX names none */
  /* Of wgmma.mma_async, besides d, a, e and selector: */
  WARPMAT_A_DESCRIPTOR, /* in place of a, whose words are then null */
  WARPMAT_B_DESCRIPTOR,
  WARPMAT_SCALE_D,     /* a predicate: 0 overwrites D, else adds to it */
  WARPMAT_IMM_SCALE_A, /* 1 or -1 as 32 bits; null words: 1 */
  WARPMAT_IMM_SCALE_B,
  WARPMAT_IMM_TRANS_A, /* 0, or 1: MN-major; null words: 0 */
  WARPMAT_IMM_TRANS_B,
  WARPMAT_NAMED /* of scalar instructions and those that need a program: warpmat_operand_info's name and number say which */
} warpmat_operand;

typedef enum warpmat_operand_kind {
  WARPMAT_FRAGMENT, /* registers that hold a matrix, metadata or scale factors */
  WARPMAT_ADDRESS,  /* the address of a row for each lane */
  WARPMAT_CHOICE,   /* the sparsity selector: a number */
  WARPMAT_IDS,      /* byte-id and thread-id of scale factors */
  WARPMAT_DISTANCE, /* a stride in memory, the same in all lanes */
  WARPMAT_VALUE,    /* of a scalar instruction, of `type`: up to 32 bits are a word's low ones, 64 are two words, 128 four, low one first */
  WARPMAT_PREDICATE, /* a word: 0 is false, all else true; written as 0 or 1 */
  WARPMAT_CARRY,     /* CC.CF, which PTX does not write, as a predicate; of sub and subc the borrow */
  WARPMAT_NUMBER,    /* an immediate: lane 0's word counts for all lanes */
  WARPMAT_DESCRIPTOR /* of a matrix in shared memory, 64 bits: lane 0's of the first of four warps counts */
} warpmat_operand_kind;

typedef struct warpmat_operand_info {
  size_t size;
  warpmat_operand operand;
  warpmat_operand_kind kind;
  const char* name;   /* "scale-a" */
  const char* format; /* of its elements: "e4m3"; null if bits only move, and for metadata */
  int written;        /* 1 for d, and r of ldmatrix */
  int registers;      /* that PTX writes, of register_bits bits each */
  int register_bits;
  int words; /* the same in 32-bit words a lane: what warpmat_registers describes; a register of 64 bits is two, low half first */
  int rows, columns, matrices; /* of a fragment */
  int element_bits;            /* of a fragment's element in the register, padding included */
  int choices;                 /* of a choice: numbers that it takes, from 0 on */
  int read;                    /* 1 for all but results; d of wgmma is read and written */
  int optional;                /* 1: its words may be null */
  const char* type;            /* of a value or predicate, as PTX spells it: "f32"; null of others */
} warpmat_operand_info;

/* Operand `index`, in PTX's order; the carry, which PTX does not write, comes last. */
WARPMAT_API warpmat_status warpmat_operand_at(const warpmat_instruction* instruction, int index, warpmat_operand_info* info);

/* ---- Layouts ---------------------------------------------------------------------------------------------------------------------------
 */

typedef struct warpmat_place {
  int lane, reg, bit; /* `bit` is the element's lowest in register `reg` (of register_bits bits) of `lane`; of wgmma lanes are 0 to 127 */
} warpmat_place;

typedef struct warpmat_element {
  int row, column, matrix; /* `matrix` counts those of ldmatrix, the products of m8n8k4, or a selector's values */
} warpmat_element;

/* The element at a place of a fragment, and the place of an element. */
WARPMAT_API warpmat_status warpmat_element_at(const warpmat_instruction* instruction, warpmat_operand operand, warpmat_place place,
                                              warpmat_element* element);
WARPMAT_API warpmat_status warpmat_place_of(const warpmat_instruction* instruction, warpmat_operand operand, warpmat_element element,
                                            warpmat_place* place);
/* The place of an element of ldmatrix's or stmatrix's r in memory: bit `bit` and up of the row that `lane` addresses; reg is 0.
 * Returns WARPMAT_BAD_ARGUMENT for other instructions, whose rows no lane addresses. */
WARPMAT_API warpmat_status warpmat_memory_place_of(const warpmat_instruction* instruction, warpmat_element element, warpmat_place* place);

/* ---- Matrix descriptors ----------------------------------------------------------------------------------------------------------------
 */

/* A matrix descriptor of wgmma. Offsets and addresses in bytes, multiples of 16 from 0 to 2^18 - 16. */
typedef struct warpmat_matrix_descriptor {
  size_t size;
  uint32_t start;   /* of the first line in shared memory */
  uint32_t leading; /* leading (dimension) byte offset */
  uint32_t stride;  /* stride (dimension) byte offset */
  int base_offset;  /* 0 to 7: offset into the swizzle's pattern */
  int swizzle;      /* bytes: 0, 32, 64, 128 */
} warpmat_matrix_descriptor;

WARPMAT_API warpmat_status warpmat_descriptor_decode(uint64_t bits, warpmat_matrix_descriptor* descriptor);
/* WARPMAT_BAD_ARGUMENT, naming the field, where one cannot hold its value. */
WARPMAT_API warpmat_status warpmat_descriptor_encode(const warpmat_matrix_descriptor* descriptor, uint64_t* bits, warpmat_error* error);
/* The address from which the matrix unit reads byte `byte` of line `line`: of K-major operands a row of A or a column of B, along k; with
 * `mn_major` one k, along m or n. 0 for a null descriptor, or one that warpmat_descriptor_encode refuses. */
WARPMAT_API uint32_t warpmat_descriptor_address(const warpmat_matrix_descriptor* descriptor, int mn_major, uint32_t line, uint32_t byte);

/* ---- Executing -------------------------------------------------------------------------------------------------------------------------
 */

/* The 32-bit words of one operand: word i of lane l of warp w is words[n * word_stride + l * lane_stride + w * warp_stride]. n is
 * numbers[i], or i if `numbers` is null. Strides count 32-bit words and may be negative. Operands that are only read are not written. */
typedef struct warpmat_registers {
  uint32_t* words;
  const uint16_t* numbers; /* the registers that the instruction names, a number a word; may be null */
  size_t number_count;     /* of `numbers`: at least the operand's words */
  ptrdiff_t word_stride, lane_stride, warp_stride;
} warpmat_registers;

/* An array of `thread_words` registers for each thread; `numbers` as above, then `number_count`. */
#define WARPMAT_THREAD_MAJOR(words, thread_words, numbers, number_count) \
  { (words), (numbers), (size_t)(number_count), 1, (ptrdiff_t)(thread_words), 32 * (ptrdiff_t)(thread_words) }
/* Each register as 32 consecutive lanes, `warp_words` words a warp. */
#define WARPMAT_REGISTER_MAJOR(words, warp_words) \
  { (words), 0, 0, 32, 1, (ptrdiff_t)(warp_words) }
/* The same words for all lanes of all warps; they may be const. */
#define WARPMAT_IMMEDIATE(words) \
  { (uint32_t*)(words), 0, 0, 1, 0, 0 }

/* The memory that ldmatrix, stmatrix, wmma.load and wmma.store address: bytes, or callbacks if `bytes` is null. All addresses are checked
 * before the first access (instruction_info's checked_lanes). A row's must be a multiple of 16; what is accessed must be inside the
 * `byte_count` bytes from address `base` on. */
typedef struct warpmat_memory {
  size_t size;
  uint8_t* bytes;        /* warp 0's; or null */
  ptrdiff_t warp_stride; /* of `bytes`, from warp to warp; 0: all warps share them */
  uint64_t base;
  uint64_t byte_count; /* UINT64_MAX: callbacks take any address */
  /* One access: `row_bytes` bytes that `lane` of warp `warp` addresses, or of wmma that it has in its registers. The calls are those that
   * warpmat_accesses lists, in its order: ldmatrix and stmatrix a row each, lane 0's first; wmma a part of a row, register by register. A
   * result other than 0 ends the instruction with WARPMAT_REFUSED. A load has then changed nothing; a store has written what came before.
   */
  int (*read)(void* user, size_t warp, int lane, uint64_t address, uint8_t* row, size_t row_bytes);
  int (*write)(void* user, size_t warp, int lane, uint64_t address, const uint8_t* row, size_t row_bytes);
  void* user;
} warpmat_memory;

#define WARPMAT_UNDEFINED_AS_HARDWARE 1u /* if the ISA leaves behaviour undefined, do what was measured on hardware */
#define WARPMAT_REFERENCE_PATH 2u        /* execute by the slow reference: the same bits */
#define WARPMAT_WIDE_ADDRESSES 4u        /* p has two words: addresses of 64 bits, low half first */

typedef struct warpmat_call {
  size_t size;
  const warpmat_registers* operands; /* operand i is warpmat_operand_at's */
  size_t operand_count;              /* at least the instruction's; optional ones at the end may be missing */
  const warpmat_memory* memory;      /* for instructions that address memory */
  int64_t offset; /* added to each address, as PTX's [register+offset]; modulo 2^32 unless addresses are wide; 0 for wgmma and scalars */
  unsigned flags;
} warpmat_call;

typedef enum warpmat_space {
  WARPMAT_SPACE_GLOBAL,
  WARPMAT_SPACE_CONSTANT,
  WARPMAT_SPACE_SHARED,
  WARPMAT_SPACE_LOCAL,
  WARPMAT_SPACE_PARAM,
  WARPMAT_SPACE_GENERIC, /* of an opcode that names no space */
  WARPMAT_SPACE_TENSOR   /* tensor memory; an address has the lane in bits 16 to 31, the column below */
} warpmat_space;

/* Contiguous bytes that an instruction reads or writes, for timing models and caches. */
typedef struct warpmat_memory_access {
  uint64_t address;
  uint32_t bytes;
  warpmat_space space;
  int write;               /* 1: a store's; 0: a load's */
  warpmat_operand operand; /* whose elements the bytes are */
  /* ldmatrix, stmatrix: the lane whose address it is; reg is -1. wmma: where the bytes begin in registers. wgmma: -1, the matrix unit. */
  warpmat_place place;
  warpmat_element element; /* the first of the elements */
} warpmat_memory_access;

/* What warp `warp` of a call accesses, without executing: its accesses in the order in which callbacks see them. Writes the first
 * `capacity` of them to `list`, and the number of all to `count`, which does not depend on addresses. With a null `list`, `call` may be
 * null too: only `count` is written. Of the call it reads the operands p and stride, `offset` and `flags`, and no memory. Instructions that
 * address none have no accesses. Errors are those of warpmat_execute that need no memory: an address that is misaligned, or of wmma not the
 * same in all lanes.
 *
 * wgmma: what the four warps from `warp` on read of shared memory, 16 bytes each: A's warp by warp, unless its words are given; then B's,
 * once. `call` must not be null: the descriptors and immediates are read, and whether a's words are null; the words of d and e may be. An
 * element's row and column are m and k of A, k and n of B. */
WARPMAT_API warpmat_status warpmat_accesses(const warpmat_instruction* instruction, const warpmat_call* call, size_t warp,
                                            warpmat_memory_access* list, size_t capacity, size_t* count, warpmat_error* error);

/* Executes one instruction on warps 0 to `warps` - 1, in order; of wgmma a multiple of four, which allocates memory. Each warp reads all
 * sources before it writes a result, except for additions that a lowering writes as a sequence. Registers and memory may overlap. After an
 * error the warps before error->warp are executed; that warp and later ones are unchanged. */
WARPMAT_API warpmat_status warpmat_execute(const warpmat_instruction* instruction, const warpmat_call* call, size_t warps,
                                           warpmat_error* error);

#ifdef __cplusplus
}
#endif
#endif
