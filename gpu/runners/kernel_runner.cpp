#include "gpu/runners/kernel_runner.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace warpmat {

std::vector<std::uint8_t> KernelParameter::placed(const std::vector<std::uint64_t>& addresses, const Encode& encode,
                                                  const Place& place) const {
  std::vector<std::uint8_t> out = bytes;
  for (const Pointer& pointer : pointers) {
    const std::uint64_t address = addresses.at(pointer.buffer) + static_cast<std::uint64_t>(pointer.offset);
    std::memcpy(out.data() + pointer.at, &address, sizeof address);
  }
  for (const Map& item : maps) {
    TensorMap::Arguments map = item.map;
    map.address = addresses.at(item.buffer) + static_cast<std::uint64_t>(item.offset);
    const TensorMap::Encoded encoded = encode(map);
    if (item.by_pointer) {
      const std::uint64_t address = place(encoded);
      std::memcpy(out.data() + item.at, &address, sizeof address);
    } else {
      std::ranges::copy(encoded, out.begin() + static_cast<std::ptrdiff_t>(item.at));
    }
  }
  return out;
}

Argument KernelParameter::placed_in(DeviceMemory& memory, const std::vector<std::uint64_t>& addresses) const {
  const auto place = [&](const TensorMap::Encoded& map) { return memory.allocate(std::span<const std::uint8_t>(map), "tensor map"); };
  return Argument(placed(
      addresses, [](const TensorMap::Arguments& map) { return TensorMap(map).encode(); }, place));
}

Module EmulatorKernelRunner::module_of(const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    if (module_ && text_ == text) return *module_;
  }
  Module module(text);
  const std::lock_guard lock(mutex_);
  module_ = module;
  text_ = text;
  return module;
}

KernelAnswer EmulatorKernelRunner::run(const KernelLaunch& launch) {
  const KernelOptions options{
      .target = target_.name, .assembler_options = launch.assembler_options, .decisions = launch.decisions ? &*launch.decisions : nullptr};
  return run(launch, Kernel(module_of(launch.ptx), launch.entry, options));
}

KernelAnswer EmulatorKernelRunner::run(const KernelLaunch& launch, const Kernel& kernel) const {
  DeviceMemory memory;
  std::vector<std::uint64_t> addresses;
  std::map<std::string, std::uint64_t> variables;
  for (const KernelBuffer& buffer : launch.buffers) {
    if (buffer.address != 0) memory.place(buffer.address, buffer.bytes, buffer.name);
    addresses.push_back(buffer.address != 0 ? buffer.address : memory.allocate(buffer.bytes, buffer.name));
    if (buffer.variable) variables[buffer.name] = buffer.address;
  }
  if (!variables.empty()) place_variables(kernel, memory, variables);
  std::vector<Argument> arguments;
  for (const KernelParameter& parameter : launch.parameters) arguments.push_back(parameter.placed_in(memory, addresses));
  KernelAnswer answer;
  answer.printed = warpmat::launch(kernel, launch.config, memory, arguments, options_).printed;
  for (std::size_t i = 0; i < addresses.size(); ++i)
    answer.buffers.push_back(memory.read<std::uint8_t>(addresses[i], launch.buffers[i].bytes.size()));
  return answer;
}

}  // namespace warpmat
