/* Programs in C: PTX text parsed once, run by any number of warps. See c.h for what holds of all functions here. A header of its own:
 * c.h's functions are in the library warpmat::core, these are in warpmat::warpmat. */
#ifndef WARPMAT_C_PROGRAM_H
#define WARPMAT_C_PROGRAM_H

#include <warpmat/c.h>

#ifdef __cplusplus
extern "C" {
#endif

/* PTX statements that a warp executes from first to last. Immutable: many threads may run it at once. */
typedef struct warpmat_program warpmat_program;

/* Parses a program: a list of PTX statements, with or without .version, .target, .reg and .shared. `target` ("sm_90a") goes before the
 * text's own .target; it may be null if the text has one. Null where the text is wrong: `error` says the first thing that is, with line and
 * column. */
WARPMAT_API warpmat_program* warpmat_program_parse(const char* text, const char* target, warpmat_error* error);

/* Frees a program that no warp uses any more. Null is ignored. */
WARPMAT_API void warpmat_program_free(warpmat_program* program);

/* The program's named registers, in the order of their first mention. */
WARPMAT_API int warpmat_program_register_count(const warpmat_program* program);
WARPMAT_API const char* warpmat_program_register_name(const warpmat_program* program, int index);

/* The registers and shared memory of one warp that runs a program. Not to be used by two threads at once. */
typedef struct warpmat_warp warpmat_warp;

/* All registers and memory zero; at least `shared_bytes` bytes of shared memory, from address 0 on. `program` must live as long. Null where
 * there is no memory for it. */
WARPMAT_API warpmat_warp* warpmat_warp_create(const warpmat_program* program, size_t shared_bytes, warpmat_error* error);
WARPMAT_API void warpmat_warp_free(warpmat_warp* warp);

/* The 32 lanes of a register, to read and write; `word` is 1 for the upper half of a 64-bit one. Null if the program has no such register.
 */
WARPMAT_API uint32_t* warpmat_warp_register(warpmat_warp* warp, const char* name, int word);

/* The warp's shared memory and its size. */
WARPMAT_API uint8_t* warpmat_warp_shared(warpmat_warp* warp, size_t* bytes);

/* Runs the program once, with WARPMAT_UNDEFINED_AS_HARDWARE and WARPMAT_REFERENCE_PATH as `flags`. An error names the line; the statements
 * before it have taken effect. */
WARPMAT_API warpmat_status warpmat_warp_run(warpmat_warp* warp, unsigned flags, warpmat_error* error);

#ifdef __cplusplus
}
#endif
#endif
