#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include <warpmat/forms.h>

namespace warpmat::catalogue {

// The catalogue has one row per instruction; adding a scalar instruction is adding a row. One function makes the rows of one subject: `void
// add_..._rows(std::vector<Row>& rows)`, declared in rows.h.
//
//     rows.push_back({"add(.u32|.s32)",          "d:T = a:T, b:T",               each_lane<add_u32>});
//     rows.push_back({"mul.wide.s32",            "d:s64 = a:s32, b:s32",         each_lane<multiply_wide_s32>});
//     rows.push_back({"cvt.rn(.ftz)?.f16.f32",   "d:f16 = a:f32",                each_lane<...>});   // one function for both spellings
//     rows.push_back({"setp.lt.s32",             "p = a:s32, b:s32",             each_lane<less_s32>});
//     rows.push_back({"addc.cc.u32",             "d:u32, cc = a:u32, b:u32, cc", each_lane<add_with_carry>});
//
// Opcode: the mnemonic and its qualifiers. `(.a|.b)` is one of several; `?` after a qualifier or a group makes it optional. A statement may
// write qualifiers in any order, as ptxas accepts them. Those that match the same place of the row are used in the order of the text. All
// spellings of a row have one function; if a qualifier changes the computation, there are several rows.
//
// Operands: results = sources, in the order of the text, each `name:type`. A type is PTX's ("u32", "f16x2", "e4m3x2", "pred", "b128"), or T
// or U: the first and second type among the statement's qualifiers. `p` alone is `p:pred`.
//     a:f32*4   four registers in braces                  a:u8+   the register may be wider than the type (cvt, ld, st)
//     a:f32*v   as many as .v2, .v4 or .v8 says, else one
//     d|p       two results at one place, as in setp and shfl; [|p] if the second is optional
//     address   in brackets in the text: [%rd1+16]
//     lut       a number: the table of lop3
//     cc        the carry of .cc instructions, a predicate that is not written in the text
//
// Function: executes the instruction in all 32 lanes. results[i] and sources[i] are the operands in the row's order, each
//     up to 32 bits   std::uint32_t[32], aligned to 64 bytes: the value in the low bits;
//     64 bits         std::uint64_t[32], aligned to 64 bytes;
//     128 bits        two consecutive std::uint64_t[32], low halves first;
//     pred            one LaneMask.
// Sources narrower than 32 bits: bits above the type are arbitrary, and the function ignores them. Results narrower than 32 bits: the
// function zero-extends them; the machine sign-extends a signed result in a wider register. Immediates are sources like registers, the same
// in all lanes. A result may be the same array as a source, never one that overlaps it partially: in one loop over the lanes, read lane i
// before you write lane i. Lanes that do not execute the statement hold arbitrary values: functions never trap, and the machine drops those
// results. No allocation, no state.
using WarpFunction = void (*)(void* const* results, const void* const* sources);

// Kernel: instead of a function, the name of a kernel of scalar/kernel.h, with T and U for the types' names. Rows name one only where their
// opcode does not, by what all its spellings have: add(.rn|.rz)?.f32 has add.T. It is called with operands, and modifiers from qualifiers;
// executable() returns both. An optional result that the text leaves out is a null pointer. Such rows are KernelRow's (kernel_row.h).

/// The machine's part in executing a row. The function alone executes rows with `compute` and `select`. The machine (machine/) executes all
/// others, using the statement's qualifiers.
enum class Semantics : std::uint8_t {
#define WARPMAT_OPERATION(name, payload, maker, facts) name,
#define WARPMAT_STATEMENT(name, maker) name,
#include <warpmat/ptx/catalogue/operations.inc>
};

/// What passes and the machine ask of operations: a set of bits.
using Facts = std::uint8_t;
namespace fact {
inline constexpr Facts none = 0;
inline constexpr Facts reads_sources_alone = 1;  ///< no other registers
inline constexpr Facts ends_block = 2;           ///< what follows is another block
inline constexpr Facts leaves = 4;               ///< the lanes leave the function
inline constexpr Facts between_lanes = 8;        ///< lanes of a warp tell each other something, or wait for those that they name
inline constexpr Facts of_operations[]{
#define WARPMAT_OPERATION(name, payload, maker, facts) facts,
#include <warpmat/ptx/catalogue/operations.inc>
};
}  // namespace fact

/// Whether one of those facts is true of an operation.
inline constexpr bool has(Semantics semantics, Facts facts) {
  const auto number = static_cast<std::size_t>(semantics);
  return number < std::size(fact::of_operations) && (fact::of_operations[number] & facts) != 0;
}

/// Whether the row's function executes it completely.
inline constexpr bool computes(Semantics semantics) {
  return semantics == Semantics::compute || semantics == Semantics::select;
}

struct Row {
  std::string opcode;
  std::string operands;
  WarpFunction function = nullptr;
  Semantics semantics = Semantics::compute;
  Requirement requirement{.baseline = 1, .ptx = {1, 0}};
  std::string kernel = {};          ///< see Kernel above; empty where there is a function, or the machine executes the row
  std::uint8_t video_elements = 0;  ///< of a video instruction: 1, 2 or 4; 0 of all others
  /// Of a conversion: the number of the type, 0 of T or 1 of U, from which on its small format is sought. 1 where both have one.
  std::uint8_t format_from = 0;
};

}  // namespace warpmat::catalogue
