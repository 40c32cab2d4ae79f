/* What happens inside of one instruction, in C: how an element of a result comes about, step by step; bank conflicts and global memory
 * traffic of a warp's access. The rules in c.h hold here, too. explain.h is the same for C++. */
#ifndef WARPMAT_C_EXPLAIN_H
#define WARPMAT_C_EXPLAIN_H

#include <warpmat/c_program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Explanations ----------------------------------------------------------------------------------------------------------------------
 */

/* How one element of a matrix instruction's result comes about, step by step, as the reference computes it. */
typedef struct warpmat_explanation warpmat_explanation;

/* Of element `element` of the result of warp `warp`. `call` is as for warpmat_execute, but its memory is bytes, with a base below 2^32;
 * registers and memory are as before afterwards. Null for what warpmat_execute refuses, and for an element that the result lacks. */
WARPMAT_API warpmat_explanation* warpmat_explain(const warpmat_instruction* instruction, const warpmat_call* call, size_t warp,
                                                 warpmat_element element, warpmat_error* error);
/* The same element by a loop in f32, for comparison: multiply-adds from C on, K ascending, each rounded once to nearest. */
WARPMAT_API warpmat_explanation* warpmat_explain_as_f32(const warpmat_instruction* instruction, const warpmat_call* call, size_t warp,
                                                        warpmat_element element, warpmat_error* error);
/* Of a program's matrix instruction "mma.0", if it were executed now. `flags` as warpmat_warp_run. */
WARPMAT_API warpmat_explanation* warpmat_warp_explain(warpmat_warp* warp, const char* statement, warpmat_element element, unsigned flags,
                                                      warpmat_error* error);
WARPMAT_API void warpmat_explanation_free(warpmat_explanation* explanation);

/* Lines of text: machine instructions and label, a table of each step's products, how they are aligned, summed and rounded; of data
 * movement from where to where. The text lasts as long as the explanation. */
WARPMAT_API const char* warpmat_explanation_text(const warpmat_explanation* explanation);

typedef struct warpmat_explanation_info {
  size_t size;
  const char* target; /* "sm_90a"; "f32 on a CPU" */
  const char* machine;
  warpmat_operand operand; /* d, or r */
  warpmat_element element;
  warpmat_place place;
  uint64_t result; /* bits of the operand's format */
  int steps;       /* of products; 0 of data movement */
  /* Of data movement: from and to; a register's lane is -1 where it is memory. */
  warpmat_place from_register, to_register;
  int memory_lane;         /* that holds the address; -1 without memory */
  uint64_t memory_address; /* of the row, or of the matrix of wmma.load and wmma.store */
  uint64_t memory_bit;     /* of the element's lowest bit, counted from there */
} warpmat_explanation_info;
WARPMAT_API warpmat_status warpmat_explanation_describe(const warpmat_explanation* explanation, warpmat_explanation_info* info);

typedef enum warpmat_step_kind {
  WARPMAT_UNIT_SUM,    /* a step of a matrix unit: aligned, truncated, summed, rounded once; the last term is the addend */
  WARPMAT_FUSED,       /* an IEEE multiply-add of one product */
  WARPMAT_ADDITION,    /* an IEEE addition: `other` + `addend` */
  WARPMAT_INTEGER_SUM, /* all products and the addend exactly, then modulo 2^32 or clamped */
  WARPMAT_CONVERSION,  /* of the addend, which has the format `from` */
  WARPMAT_NAN_OF_SCALE /* a scale factor is NaN, so the result is NaN */
} warpmat_step_kind;

/* An operation on bits of `format`: `result` of the terms and `addend`. */
typedef struct warpmat_step {
  size_t size;
  warpmat_step_kind kind;
  int format, from; /* numbers of c.h */
  warpmat_rounding rounding;
  uint64_t addend, other, result;
  int terms;
  int special;          /* unit_sum: a term is NaN or infinite, so nothing is aligned */
  int largest_exponent; /* unit_sum: of the nonzero terms */
  int unit_exponent;    /* unit_sum: of the register's lowest bit */
  int64_t sum;          /* unit_sum: in units of 2^unit_exponent; integer_sum: itself */
} warpmat_step;
WARPMAT_API warpmat_status warpmat_explanation_step(const warpmat_explanation* explanation, int index, warpmat_step* step);

/* A number that enters a product. */
typedef struct warpmat_factor {
  warpmat_operand operand; /* a, b, scale-a or scale-b */
  warpmat_element element; /* of a sparse A the stored column */
  warpmat_place place;
  uint64_t bits; /* of the operand's format */
  warpmat_value value;
} warpmat_factor;

/* An addend of a step: a product; the sum of a group of products, times its scale factors; or, without products, C. */
typedef struct warpmat_term {
  size_t size;
  warpmat_value value; /* exact; of unit_sum and integer_sum */
  int64_t kept;        /* the part that is added, in units of 2^unit_exponent; of integer_sum all of it */
  int products, scales;
} warpmat_term;
WARPMAT_API warpmat_status warpmat_explanation_term(const warpmat_explanation* explanation, int step, int index, warpmat_term* term);
/* The two factors of a product of a term, and a scale factor. */
WARPMAT_API warpmat_status warpmat_explanation_product(const warpmat_explanation* explanation, int step, int term, int index,
                                                       warpmat_factor* a, warpmat_factor* b);
WARPMAT_API warpmat_status warpmat_explanation_scale(const warpmat_explanation* explanation, int step, int term, int index,
                                                     warpmat_factor* scale);

/* Where two explanations of an element part: of two GPUs, or of a GPU and a loop in f32. */
typedef struct warpmat_parting {
  size_t size;
  int first, second; /* the first step of each, from 0, after which the sums of the same products differ; both -1: none */
  char text[512];    /* in a sentence or two */
} warpmat_parting;
WARPMAT_API warpmat_status warpmat_explanations_part(const warpmat_explanation* first, const warpmat_explanation* second,
                                                     warpmat_parting* parting, warpmat_error* error);

/* ---- Bank conflicts --------------------------------------------------------------------------------------------------------------------
 */

typedef enum warpmat_bank_access {
  WARPMAT_BANK_LOAD,
  WARPMAT_BANK_STORE,
  WARPMAT_BANK_MATRIX, /* ldmatrix and stmatrix, of 16 bytes; the lanes that address rows */
  WARPMAT_BANK_COPY    /* cp.async */
} warpmat_bank_access;

/* Lanes whose accesses share wavefronts. */
typedef struct warpmat_bank_phase {
  uint32_t lanes;
  int wavefronts;     /* 1 without conflicts */
  uint32_t colliding; /* the lanes that access a bank with the most wavefronts, if there is more than one */
} warpmat_bank_phase;

#define WARPMAT_MOST_BANK_PHASES 4

/* What a warp's access to shared memory takes. explain.h has the rule and what it was compared with. */
typedef struct warpmat_bank_conflicts {
  size_t size;
  int wavefronts; /* of all phases: at least one for each */
  int phases;
  warpmat_bank_phase phase[WARPMAT_MOST_BANK_PHASES];
  const char* evidence; /* "measured" or "assumed" on the target; null without one */
} warpmat_bank_conflicts;

/* `bytes` of each lane: 1, 2, 4, 8 or 16; of a matrix 16, of a copy 4, 8 or 16. `addresses` has 32, multiples of `bytes`; those outside
 * `lanes` are not read. `target` may be null. */
WARPMAT_API warpmat_status warpmat_find_bank_conflicts(warpmat_bank_access access, uint32_t bytes, const uint64_t* addresses,
                                                       uint32_t lanes, const char* target, warpmat_bank_conflicts* conflicts,
                                                       warpmat_error* error);

/* A word that a phase accesses. */
typedef struct warpmat_bank_word {
  int bank;
  uint64_t word;  /* its address / 4 */
  uint32_t lanes; /* that access it */
} warpmat_bank_word;

/* Those of phase `phase`, by bank, then by address. Lists as warpmat_accesses of c.h does. */
WARPMAT_API warpmat_status warpmat_bank_words(warpmat_bank_access access, uint32_t bytes, const uint64_t* addresses, uint32_t lanes,
                                              int phase, warpmat_bank_word* list, size_t capacity, size_t* count, warpmat_error* error);

/* The global memory traffic of a warp's access: sectors of 32 bytes, lines of 128 bytes. Computed, not measured. `bytes` of each lane: 1
 * to 128. */
typedef struct warpmat_global_request {
  size_t size;
  int sectors, lines;
  int least_sectors; /* that the same number of distinct bytes would fill */
} warpmat_global_request;
WARPMAT_API warpmat_status warpmat_find_global_request(uint32_t bytes, const uint64_t* addresses, uint32_t lanes,
                                                       warpmat_global_request* request, warpmat_error* error);

#ifdef __cplusplus
}
#endif
#endif
