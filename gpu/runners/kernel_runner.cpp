#include "gpu/runners/kernel_runner.h"

#include <algorithm>
#include <cstring>

namespace warpmat {

std::vector<std::uint8_t> KernelParameter::placed(const std::vector<std::uint64_t>& addresses) const {
  std::vector<std::uint8_t> out = bytes;
  for (const Pointer& pointer : pointers) {
    const std::uint64_t address = addresses.at(pointer.buffer) + static_cast<std::uint64_t>(pointer.offset);
    std::memcpy(out.data() + pointer.at, &address, sizeof address);
  }
  return out;
}

KernelAnswer EmulatorKernelRunner::run(const KernelLaunch& launch) {
  if (module_ == nullptr || text_ != launch.ptx) {
    module_ = std::make_unique<Module>(launch.ptx);
    text_ = launch.ptx;
  }
  const Kernel kernel(*module_, launch.entry, {.target = target_.name});
  DeviceMemory memory;
  std::vector<std::uint64_t> addresses;
  for (const KernelBuffer& buffer : launch.buffers) addresses.push_back(memory.allocate(buffer.bytes, buffer.name));
  std::vector<Argument> arguments;
  for (const KernelParameter& parameter : launch.parameters) arguments.emplace_back(parameter.placed(addresses));
  KernelAnswer answer;
  answer.printed = warpmat::launch(kernel, launch.config, memory, arguments, options_).printed;
  for (std::size_t i = 0; i < addresses.size(); ++i)
    answer.buffers.push_back(memory.read<std::uint8_t>(addresses[i], launch.buffers[i].bytes.size()));
  return answer;
}

}  // namespace warpmat
