#pragma once

#include <array>
#include <span>

#include <warpmat/export.h>
#include <warpmat/tables/form.h>
#include <warpmat/warp/warp.h>

namespace warpmat {

/// 32-bit registers in the order in which an operand lists them; a 64-bit register is two, low half first. Each pointer addresses 32
/// consecutive words, lanes 0 to 31; any alignment of a 32-bit word is allowed.
using RegisterList = std::span<std::uint32_t* const>;
using ConstRegisterList = std::span<const std::uint32_t* const>;

/// The behaviour if the ISA leaves it undefined: undefined metadata codes and selectors, ids out of range, nonzero padding of 6- and 4-bit
/// elements.
enum class Undefined : std::uint8_t {
  trap,      ///< throws Trap naming lane and operand
  hardware,  ///< does what was measured on the target's hardware; traps if nothing was measured
};

/// The implementation that computes. Both give the same bits.
enum class Path : std::uint8_t {
  fast,       ///< vector instructions (execute/fast/fast.h); the reference where those decline
  reference,  ///< the execute functions alone (execute/reference/execute.h)
};

/// Options of an Instruction, a program or a runner. Execution needs less than 60 KiB of stack.
struct ExecutionOptions {
  Path path = Path::fast;
  Undefined undefined = Undefined::trap;
};

/// One warp's registers and memory for one instruction. Sources, destination and memory may overlap in any way. An instruction reads all
/// sources before it writes, except where the hardware executes a sequence that does not (execute_split_dot; Part in
/// execute/reference/multiplicands.h).
struct Arguments {
  std::array<ConstRegisterList, operand_name_count> sources;  ///< by OperandName; empty if the form lacks the operand
  RegisterList destination;                                   ///< d, or r of ldmatrix
  SharedMemory* shared = nullptr;                             ///< for ldmatrix and stmatrix
  std::int64_t offset = 0;                                    ///< added to each address of p: PTX's [register+offset]

  ConstRegisterList source(OperandName name) const { return sources[static_cast<std::size_t>(name)]; }
  ConstRegisterList& source(OperandName name) { return sources[static_cast<std::size_t>(name)]; }
};

/// The bits of one element of a fragment, in the low bits of the result. Of several copies it reads the first, as wmma.mma does [H200].
[[nodiscard]] WARPMAT_API std::uint64_t read_element(const Fragment& fragment, ConstRegisterList registers, const Element& element);

/// Replaces one element and its copies; the other bits of their registers are unchanged.
WARPMAT_API void write_element(const Fragment& fragment, RegisterList registers, const Element& element, std::uint64_t bits);

}  // namespace warpmat
