#include "saved_launch.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <warpmat/formats.h>

#include "tools/report/launch_files.h"

namespace warpmat {
namespace {

using namespace programs;

/// An argument, with the buffers whose addresses are in it.
KernelParameter parameter_of(const RecordedLaunch& launch, const std::vector<std::uint8_t>& bytes) {
  KernelParameter parameter{.bytes = bytes, .pointers = {}};
  std::uint64_t address = 0;
  for (std::size_t at = 0; at + sizeof address <= bytes.size(); at += sizeof address) {
    std::memcpy(&address, bytes.data() + at, sizeof address);
    for (std::size_t b = 0; b < launch.buffers.size(); ++b)
      if (address - launch.buffers[b].address < launch.buffers[b].before.bytes)
        parameter.pointers.push_back({at, b, static_cast<std::int64_t>(address - launch.buffers[b].address)});
  }
  return parameter;
}

/// The buffer in which a tensor map's tensor begins.
std::size_t buffer_of(const RecordedLaunch& launch, const TensorMap::Arguments& map) {
  const auto found = std::ranges::find_if(launch.buffers,
                                          [&](const RecordedBuffer& buffer) { return map.address - buffer.address < buffer.before.bytes; });
  return static_cast<std::size_t>(found == launch.buffers.end() ? 0 : found - launch.buffers.begin());
}

}  // namespace

void save_launch(const std::filesystem::path& path, const ArchiveReader& archive, const RecordedLaunch& launch,
                 const Comparison& comparison) {
  KernelLaunch saved{.ptx = archive.read_text(launch.ptx),
                     .entry = launch.kernel,
                     .config = launch.config,
                     .buffers = {},
                     .parameters = {},
                     .assembler_options = launch.assembler_options};
  saved.decisions = decisions_of(archive, Module(saved.ptx), launch, comparison.target);
  for (const RecordedBuffer& buffer : launch.buffers)
    saved.buffers.push_back({buffer.name, archive.read(buffer.before), buffer.address, buffer.variable});
  for (const auto& argument : launch.arguments) saved.parameters.push_back(parameter_of(launch, argument));
  for (const RecordedMap& each : launch.maps) {
    const std::size_t buffer = buffer_of(launch, each.map);
    KernelParameter& parameter = saved.parameters[each.argument];
    std::erase_if(parameter.pointers, [&](const KernelParameter::Pointer& pointer) { return pointer.at - each.at < TensorMap::bytes; });
    parameter.maps.push_back(
        {each.at, each.map, buffer, static_cast<std::int64_t>(each.map.address - launch.buffers[buffer].address), false});
  }
  std::vector<ExpectedBuffer> expected;
  for (const BufferDifference& difference : comparison.buffers) {
    const RecordedBuffer& buffer = launch.buffers[difference.buffer];
    const bool whole = buffer.before.bytes % difference.type.bytes == 0, number = find_format(difference.type.ptx) != nullptr;
    const std::string bits = fmt::format("b{}", whole ? 8 * difference.type.bytes : 8);
    expected.push_back({difference.buffer, archive.read(buffer.after), whole && number ? std::string(difference.type.ptx) : bits});
  }
  write_launch(path, saved, expected);
}

}  // namespace warpmat
