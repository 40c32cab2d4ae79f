#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <warpmat/scalar/kernel.h>
#include <warpmat/tables/form.h>

namespace warpmat::catalogue {

// The catalogue has one row an instruction; adding a scalar instruction is adding a row. Rows of one subject are made by one function,
// `void add_..._rows(std::vector<Row>& rows)`, declared in rows.h.
//
//     {"add(.u32|.s32)",         "d:T = a:T, b:T",               "add.T"},
//     {"mul.wide.s32",           "d:s64 = a:s32, b:s32",         "mul.wide.s32"},
//     {"cvt.rn(.ftz)?.f16.f32",  "d:f16 = a:f32",                "cvt.small.U"},
//     {"setp(.lt|.ge).s32",      "p[|q] = a:s32, b:s32",         "setp.T"},
//     {"addc.cc.u32",            "d:u32, cc = a:u32, b:u32, cc", "addc.T"},
//
// Opcode: the mnemonic and its qualifiers. `(.a|.b)` is one of several, `?` behind a qualifier or a group makes it optional. A statement
// may write qualifiers in any order, as ptxas takes them, but those that fit the same place of the row go there in the order of the text.
// All spellings of a row have one kernel; qualifiers that it does not choose by become modifiers (executable.h).
//
// Operands: results = sources, in the order of the text, each `name:type`. A type is PTX's ("u32", "f16x2", "e4m3x2", "pred", "b128") or T,
// U: the first and second type among the statement's qualifiers. `p` alone is `p:pred`.
//     a:f32*4   four registers in braces                  a:u8+   the register may be wider than the type (cvt, ld, st)
//     d|p       two results of one place, as setp and shfl write them; [|p] where the second is optional
//     cc        the carry of .cc instructions, a predicate that the text does not write
//
// Kernel: what executes the instruction in all 32 lanes, by its name in scalar/kernel.h, whose contract it keeps; T and U stand for the types'
// names. results[i] and sources[i] are the operands in the row's order; an optional one that the text leaves out is a null pointer. A result
// narrower than its register is extended by the machine, with the sign where its type is signed. Numbers in the text are sources like
// registers, in all lanes the same. Lanes that do not execute the statement hold arbitrary values: no function traps, the machine drops
// their results.
using WarpFunction = scalar::Function;

/// What the machine has to do for a row. Rows with `compute` are complete by their kernel; the others are executed by the
/// machine (machine/), which finds what it needs in the statement's qualifiers.
enum class Semantics : std::uint8_t {
  compute,  ///< the kernel, and nothing else
  special,  ///< a special register into all lanes
  pack,     ///< mov between a vector in braces and one register
  load,
  store,
  atomic,  ///< atom and red
  cp_async,
  cp_async_commit,
  cp_async_wait,
  branch,
  branch_table,  ///< brx.idx
  call,
  return_,
  exit,
  trap,
  barrier,       ///< bar, barrier
  warp_barrier,  ///< bar.warp.sync
  shuffle,
  vote,
  match,
  reduce,  ///< redux.sync
  active_mask,
  elect,
  address_space,  ///< cvta, isspacep
  fence,
  sleep,    ///< nanosleep
  nothing,  ///< hints: prefetch, discard, setmaxnreg, ...
  matrix,   ///< a form of the matrix instructions (tables/form.h)
};

/// sm_`baseline` and every later target.
constexpr Requirement since(int baseline, PtxVersion ptx) { return {.baseline = baseline, .ptx = ptx}; }

inline constexpr Requirement any_target = since(1, {1, 0});

struct Row {
  std::string opcode;
  std::string operands;
  std::string kernel = {};  ///< empty where the machine executes the row
  Requirement requirement = any_target;  ///< the targets that have it
  Semantics semantics = Semantics::compute;
};

}  // namespace warpmat::catalogue
