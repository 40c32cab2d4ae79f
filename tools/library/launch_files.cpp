#include "tools/library/launch_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/library/npy.h"
#include "tools/library/output_file.h"

namespace warpmat {

using Json = nlohmann::ordered_json;

namespace {

Json buffer_json(const std::filesystem::path& folder, const std::string& name, const KernelBuffer& buffer) {
  const bool one_value = std::ranges::all_of(buffer.bytes, [&](std::uint8_t byte) { return byte == buffer.bytes.front(); });
  if (one_value) return {{"name", buffer.name}, {"bytes", buffer.bytes.size()}, {"fill", buffer.bytes.empty() ? 0 : buffer.bytes.front()}};
  NpyArray array = NpyArray::zeros(DType::uint8, {buffer.bytes.size()});
  std::ranges::copy(std::as_bytes(std::span(buffer.bytes)), array.bytes.begin());
  const std::string file = fmt::format("{}.{}.npy", name, buffer.name);
  write_npy(folder / file, array);
  return {{"name", buffer.name}, {"file", file}};
}

Json parameter_json(const KernelLaunch& launch, const KernelParameter& parameter) {
  std::string hex;
  for (const std::uint8_t byte : parameter.bytes) hex += fmt::format("{:02x}", byte);
  Json pointers = Json::array();
  for (const KernelParameter::Pointer& pointer : parameter.pointers)
    pointers.push_back({{"at", pointer.at}, {"buffer", launch.buffers[pointer.buffer].name}, {"offset", pointer.offset}});
  return {{"bytes", hex}, {"pointers", pointers}};
}

Json sizes(const Dim3& size) {
  return Json::array({size.x, size.y, size.z});
}

}  // namespace

void write_launch(const std::filesystem::path& path, const KernelLaunch& launch) {
  const std::string file = path.filename().string(), name = file.substr(0, file.find('.'));
  const std::filesystem::path folder = path.parent_path();
  write_file(folder / (name + ".ptx"), {launch.ptx});
  Json json{{"ptx", name + ".ptx"},
            {"kernel", launch.entry},
            {"grid", sizes(launch.config.grid)},
            {"block", sizes(launch.config.block)},
            {"dynamic_shared", launch.config.shared_bytes},
            {"buffers", Json::array()},
            {"params", Json::array()}};
  for (const KernelBuffer& buffer : launch.buffers) json["buffers"].push_back(buffer_json(folder, name, buffer));
  for (const KernelParameter& parameter : launch.parameters) json["params"].push_back(parameter_json(launch, parameter));
  write_file(path, {json.dump(1), "\n"});
}

}  // namespace warpmat
