#include "tools/report/launch_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include <warpmat/assembler/decisions_file.h>
#include <warpmat/files/output_file.h>

#include "tools/report/expected_contents.h"
#include "tools/report/npy.h"
#include "tools/report/tensor_map_names.h"

namespace warpmat {

using Json = nlohmann::ordered_json;

namespace {

Json buffer_json(const std::filesystem::path& folder, const std::string& name, const KernelBuffer& buffer) {
  const bool one_value = std::ranges::all_of(buffer.bytes, [&](std::uint8_t byte) { return byte == buffer.bytes.front(); });
  Json json{{"name", buffer.name}};
  if (buffer.address != 0) json["address"] = buffer.address;
  if (buffer.variable) json["variable"] = true;
  if (one_value) {
    json["bytes"] = buffer.bytes.size();
    json["fill"] = buffer.bytes.empty() ? 0 : buffer.bytes.front();
    return json;
  }
  NpyArray array = NpyArray::zeros(DType::uint8, {buffer.bytes.size()});
  std::ranges::copy(std::as_bytes(std::span(buffer.bytes)), array.bytes.begin());
  const std::string file = fmt::format("{}.{}.npy", name, buffer.name);
  write_npy(folder / file, array);
  json["file"] = file;
  return json;
}

Json expectation_json(const std::filesystem::path& folder, const std::string& name, const std::string& buffer,
                      const ExpectedBuffer& expected) {
  const std::string file = fmt::format("{}.{}.expected", name, buffer);
  write_file(folder / file, {std::string_view(reinterpret_cast<const char*>(expected.bytes.data()), expected.bytes.size())});
  const std::size_t element = static_cast<std::size_t>(find_buffer_type(expected.type).bits) / 8;
  return {{"file", file}, {"type", expected.type}, {"shape", {expected.bytes.size() / element}}};
}

template <typename T, std::size_t n>
Json first(const std::array<T, n>& values, std::size_t count) {
  return Json(std::vector<T>(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count)));
}

Json map_json(const KernelLaunch& launch, const KernelParameter::Map& written) {
  const TensorMap::Arguments& map = written.map;
  Json json{{"buffer", launch.buffers[written.buffer].name},
            {"offset", written.offset},
            {"type", name(map.type)},
            {"dims", first(map.dims, map.rank)},
            {"strides", first(map.strides, map.rank - 1)},
            {"element_strides", first(map.element_strides, map.rank)},
            {"interleave", interleave_names[static_cast<std::size_t>(map.interleave)]},
            {"swizzle", swizzle_names[static_cast<std::size_t>(map.swizzle_number())]},
            {"l2_promotion", promotion_names[static_cast<std::size_t>(map.l2_promotion)]},
            {"oob_fill", fill_names[static_cast<std::size_t>(map.fill)]}};
  if (map.mode == TensorMap::Mode::tile) {
    json["box"] = first(map.box, map.rank);
  } else {
    json["im2col"] = {{"lower_corner", first(map.lower_corner, map.rank - 2)},
                      {"upper_corner", first(map.upper_corner, map.rank - 2)},
                      {"channels", map.channels},
                      {"pixels", map.pixels}};
  }
  return json;
}

Json parameter_json(const KernelLaunch& launch, const KernelParameter& parameter) {
  if (parameter.maps.size() == 1 && parameter.maps.front().by_pointer)
    return {{"tensormap_pointer", map_json(launch, parameter.maps.front())}};
  std::string hex;
  for (const std::uint8_t byte : parameter.bytes) hex += fmt::format("{:02x}", byte);
  Json pointers = Json::array();
  for (const KernelParameter::Pointer& pointer : parameter.pointers)
    pointers.push_back({{"at", pointer.at}, {"buffer", launch.buffers[pointer.buffer].name}, {"offset", pointer.offset}});
  Json maps = Json::array();
  for (const KernelParameter::Map& map : parameter.maps) maps.push_back({{"at", map.at}, {"map", map_json(launch, map)}});
  return {{"bytes", hex}, {"pointers", pointers}, {"tensormaps", maps}};
}

Json sizes(const Dim3& size) {
  return Json::array({size.x, size.y, size.z});
}

}  // namespace

void write_launch(const std::filesystem::path& path, const KernelLaunch& launch, const std::vector<ExpectedBuffer>& expected) {
  const std::string file = path.filename().string(), name = file.substr(0, file.find('.'));
  const std::filesystem::path folder = path.parent_path();
  write_file(folder / (name + ".ptx"), {launch.ptx});
  Json json{{"ptx", name + ".ptx"},
            {"kernel", launch.entry},
            {"grid", sizes(launch.config.grid)},
            {"block", sizes(launch.config.block)},
            {"cluster", sizes(launch.config.cluster)},
            {"dynamic_shared", launch.config.shared_bytes},
            {"buffers", Json::array()},
            {"params", Json::array()}};
  if (!launch.assembler_options.empty()) json["assembler_options"] = launch.assembler_options;
  if (launch.decisions) {
    json["decisions"] = name + ".assembler";
    write_file(folder / (name + ".assembler"), {decisions_text(*launch.decisions)});
  }
  for (const KernelBuffer& buffer : launch.buffers) json["buffers"].push_back(buffer_json(folder, name, buffer));
  for (const ExpectedBuffer& each : expected)
    json["buffers"][each.buffer]["expect"] = expectation_json(folder, name, launch.buffers[each.buffer].name, each);
  for (const KernelParameter& parameter : launch.parameters) json["params"].push_back(parameter_json(launch, parameter));
  write_file(path, {json.dump(1), "\n"});
}

}  // namespace warpmat
