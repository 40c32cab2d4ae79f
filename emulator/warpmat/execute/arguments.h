#pragma once

#include <array>
#include <span>

#include <warpmat/export.h>
#include <warpmat/tables/form.h>
#include <warpmat/warp/warp.h>

namespace warpmat {

class Events;

/// 32-bit registers in the order in which an operand lists them; a 64-bit register is two, low half first. Each points to the words of
/// lanes 0 to 31, one behind the other; they may lie wherever a 32-bit word may.
using RegisterList = std::span<std::uint32_t* const>;
using ConstRegisterList = std::span<const std::uint32_t* const>;

/// What an instruction does where the ISA leaves its behaviour undefined: metadata codes and selectors that are not defined, ids out of
/// range, padding of 6- and 4-bit elements that is not zero.
enum class Undefined : std::uint8_t {
  trap,      ///< throws Trap naming lane and operand
  hardware,  ///< does what the target's hardware was measured to do; where nobody measured, it traps all the same
};

/// Who computes. Both give the same bits.
enum class Path : std::uint8_t {
  fast,       ///< vector instructions (execute/fast/fast.h), and the reference for what those decline
  reference,  ///< the execute functions alone (execute/reference/execute.h)
};

/// How instructions are executed, by an Instruction, a program or a runner. Less than 60 KiB of stack are enough.
struct ExecutionOptions {
  Path path = Path::fast;
  Undefined undefined = Undefined::trap;
};

/// One warp's registers and memory for one instruction. Sources, destination and memory may overlap in any way: an instruction reads
/// everything before it writes anything, except where the hardware executes it as a sequence that does not (execute_split_dot; Part in
/// execute/reference/multiplicands.h).
struct Arguments {
  std::array<ConstRegisterList, operand_name_count> sources;  ///< by OperandName; empty where the form has no such operand
  RegisterList destination;                                   ///< d, or r of ldmatrix
  SharedMemory* shared = nullptr;                             ///< for ldmatrix and stmatrix
  std::int64_t offset = 0;                                    ///< added to each address of p: the [register+offset] of PTX
  Events* events = nullptr;                                   ///< where the reference counts what happens (numeric/events.h)

  ConstRegisterList source(OperandName name) const { return sources[static_cast<std::size_t>(name)]; }
  ConstRegisterList& source(OperandName name) { return sources[static_cast<std::size_t>(name)]; }
};

/// The bits of one element of a fragment, in the low bits of the result; of copies the first, which is the one that wmma.mma reads [H200].
[[nodiscard]] WARPMAT_API std::uint64_t read_element(const Fragment& fragment, ConstRegisterList registers, const Element& element);

/// Replaces one element, and its copies; the other bits of their registers stay.
WARPMAT_API void write_element(const Fragment& fragment, RegisterList registers, const Element& element, std::uint64_t bits);

}  // namespace warpmat
