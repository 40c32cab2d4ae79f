#include "gpu/lab/constants/constant_runner.h"

namespace warpmat {

std::vector<std::uint64_t> EmulatorConstantRunner::run(const std::string& entry, std::span<const std::uint64_t> operands,
                                                       std::size_t results) {
  DeviceMemory memory;
  const std::uint64_t from = memory.allocate(std::vector(operands.begin(), operands.end()), "operands");
  const std::uint64_t to = memory.allocate(std::vector<std::uint64_t>(results), "results");
  launch(Kernel(*module_, entry, {.target = target_.name}), {.grid = {1}, .block = {32}}, memory, {to, from});
  return memory.read<std::uint64_t>(to, results);
}

}  // namespace warpmat
