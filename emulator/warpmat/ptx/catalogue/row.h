#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <warpmat/tables/form.h>

namespace warpmat::catalogue {

// The catalogue has one row an instruction; adding a scalar instruction is adding a row. Rows of one subject are made by one function,
// `void add_..._rows(std::vector<Row>& rows)`, declared in rows.h.
//
//     rows.push_back({"add(.u32|.s32)",          "d:T = a:T, b:T",               each_lane<add_u32>});
//     rows.push_back({"mul.wide.s32",            "d:s64 = a:s32, b:s32",         each_lane<multiply_wide_s32>});
//     rows.push_back({"cvt.rn(.ftz)?.f16.f32",   "d:f16 = a:f32",                each_lane<...>});   // one function for both spellings
//     rows.push_back({"setp.lt.s32",             "p = a:s32, b:s32",             each_lane<less_s32>});
//     rows.push_back({"addc.cc.u32",             "d:u32, cc = a:u32, b:u32, cc", each_lane<add_with_carry>});
//
// Opcode: the mnemonic and its qualifiers. `(.a|.b)` is one of several, `?` behind a qualifier or a group makes it optional. A statement
// may write qualifiers in any order, as ptxas takes them, but those that fit the same place of the row go there in the order of the text.
// All spellings of a row have one function; where a qualifier changes what is computed, there are several rows.
//
// Operands: results = sources, in the order of the text, each `name:type`. A type is PTX's ("u32", "f16x2", "e4m3x2", "pred", "b128") or T,
// U: the first and second type among the statement's qualifiers. `p` alone is `p:pred`.
//     a:f32*4   four registers in braces                  a:u8+   the register may be wider than the type (cvt, ld, st)
//     a:f32*v   as many as .v2, .v4 or .v8 says, else one
//     d|p       two results of one place, as setp and shfl write them; [|p] where the second is optional
//     address   the text writes it in brackets: [%rd1+16]
//     cc        the carry of .cc instructions, a predicate that the text does not write
//
// Function: executes the instruction in all 32 lanes. results[i] and sources[i] are the operands in the row's order, each
//     up to 32 bits   std::uint32_t[32], aligned to 64 bytes: the value in the low bits;
//     64 bits         std::uint64_t[32], aligned to 64 bytes;
//     128 bits        two std::uint64_t[32], one behind the other, low halves first;
//     pred            one LaneMask.
// Sources narrower than 32 bits: bits above the type are arbitrary, the function ignores them. Results narrower than 32 bits: the function
// writes the bits above the type as zero; the machine extends the sign where a signed result goes to a wider register. Numbers in the text
// are sources like registers, in all lanes the same. A result may be the very same array as a source, never one that overlaps it in part:
// read lane i before you write lane i, in one loop over the lanes. Lanes that do not execute the statement hold arbitrary values: no
// function traps, the machine drops their results. No allocation, no state.
using WarpFunction = void (*)(void* const* results, const void* const* sources);

// Kernel: instead of a function, the name of a kernel of scalar/kernel.h, where T and U stand for the types' names: "add.T". A kernel is
// called with the operands as a function is, an optional result that the text leaves out being a null pointer, and with what the
// statement's qualifiers say; executable() gives both. Such rows are written as tables of KernelRow (kernel_row.h).

/// What the machine has to do for a row. Rows with `compute` and `select` are complete by their function; the others are executed by the
/// machine (machine/), which finds what it needs in the statement's qualifiers.
enum class Semantics : std::uint8_t {
  compute,  ///< the function, and nothing else
  select,   ///< selp: of the first two sources only the one that the third chooses counts
  special,  ///< a special register into all lanes
  load,
  store,
  atomic,  ///< atom and red
  cp_async,
  cp_async_commit,
  cp_async_wait,  ///< cp.async.wait_group and .wait_all
  branch,
  branch_table,  ///< brx.idx
  call,
  return_,
  exit,
  trap,
  absent,        ///< ptxas takes it, the machine does not have it: a trap that names it
  stack,         ///< alloca, stacksave, stackrestore
  barrier,       ///< bar, barrier
  warp_barrier,  ///< bar.warp.sync
  exchange,      ///< shfl, vote, match, redux
  active_mask,
  elect,
  address_space,  ///< cvta, isspacep
  fence,
  sleep,          ///< nanosleep
  max_registers,  ///< setmaxnreg
  nothing,        ///< hints: prefetch, discard, ...
  matrix,         ///< a form of the matrix instructions (tables/form.h)
  wgmma,          ///< wgmma.mma_async (tables/wgmma.h)
  wgmma_fence,
  wgmma_commit,
  wgmma_wait,
  mbarrier,
  bulk_copy,        ///< cp.async.bulk, cp.reduce.async.bulk and their .tensor
  bulk_commit,      ///< cp.async.bulk.commit_group
  bulk_wait,        ///< cp.async.bulk.wait_group
  cluster_barrier,  ///< barrier.cluster
  cluster_rank,     ///< mapa and getctarank
  proxy_fence,      ///< fence.proxy.async
  tensor_map,       ///< tensormap.replace and tensormap.cp_fenceproxy
};

/// Whether the function of the row is all that it does.
inline constexpr bool computes(Semantics semantics) {
  return semantics == Semantics::compute || semantics == Semantics::select;
}

struct Row {
  std::string opcode;
  std::string operands;
  WarpFunction function = nullptr;
  Semantics semantics = Semantics::compute;
  Requirement requirement{.baseline = 1, .ptx = {1, 0}};  ///< the targets that have it
  std::string kernel = {};  ///< see Kernel above; empty where there is a function, or the machine executes the row
};

}  // namespace warpmat::catalogue
