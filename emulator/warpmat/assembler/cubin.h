#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpmat {

/// One machine instruction of 128 bits (sm_75 and later), and the line that .loc gave it; 0 where none did.
struct MachineInstruction {
  std::uint64_t low = 0, high = 0;
  int line = 0;
};

/// The instructions of one function, in the order of their addresses.
struct MachineFunction {
  std::string name;
  std::vector<MachineInstruction> instructions;
};

/// The functions of an object file that ptxas wrote with -lineinfo. Throws std::runtime_error where it is none.
std::vector<MachineFunction> read_cubin(std::string_view bytes);

}  // namespace warpmat
