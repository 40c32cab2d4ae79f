#include "tools/report/launch_skeleton.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include <warpmat/launch.h>

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t buffer_bytes = 4096;  // to begin with

/// "A" where the author of the PTX named the parameter, "p0" where nvcc did.
std::string buffer_name(const code::Parameter& parameter, std::size_t index) {
  const std::string name(parameter.name);
  return name.find("_param_") == std::string::npos ? name : fmt::format("p{}", index);
}

Json block_of(const code::Limits& limits) {
  constexpr std::int64_t common_case_threads = 128;
  const std::int64_t* const sizes = limits.required_threads[0] > 0 ? limits.required_threads : limits.max_threads;
  if (sizes[0] <= 0) return Json::array({common_case_threads, 1, 1});
  return Json::array({sizes[0], sizes[1], sizes[2]});
}

/// A value in one line, with spaces after commas and colons.
std::string line(const Json& json) {
  std::string spaced;
  bool quoted = false;
  for (const char c : json.dump()) {
    spaced += c;
    if (c == '"') quoted = !quoted;  // no name here has quotation marks
    if (!quoted && (c == ',' || c == ':')) spaced += ' ';
  }
  return spaced;
}

/// A list, its items a line each.
std::string lines(const Json& list) {
  std::string text;
  for (const Json& item : list) text += fmt::format("{}\n    {}", text.empty() ? "" : ",", line(item));
  return text.empty() ? "[]" : fmt::format("[{}\n  ]", text);
}

Json tensor_map(const std::string& buffer) {
  return {{"buffer", buffer}, {"type", "f16"}, {"dims", {32, 64}}, {"strides", {64}}, {"box", {32, 64}}, {"swizzle", "none"}};
}

}  // namespace

std::string launch_skeleton(const std::filesystem::path& ptx, const std::string& kernel, const code::Program& program) {
  constexpr std::uint32_t map_alignment = 64;
  Json buffers = Json::array(), params = Json::array();
  const bool says_pointers = std::ranges::any_of(program.parameters, &code::Parameter::pointer);
  for (std::size_t i = 0; i < program.parameters.size(); ++i) {
    const code::Parameter& parameter = program.parameters[i];
    const std::string name = buffer_name(parameter, i);
    const bool address = parameter.bytes == 8 && (says_pointers ? parameter.pointer : parameter.type == "u64" || parameter.type == "b64");
    const bool map = parameter.bytes == TensorMap::bytes && parameter.alignment >= map_alignment;
    if (address || map) buffers.push_back({{"name", name}, {"bytes", buffer_bytes}, {"fill", 0}, {"out", name + ".npy"}});
    if (map)
      params.push_back({{"tensormap", tensor_map(name)}});
    else if (address)
      params.push_back({{"buffer", name}});
    else if (parameter.type == "b8" && parameter.bytes != 1)
      params.push_back({{"bytes", std::string(2 * std::size_t{parameter.bytes}, '0')}});
    else
      params.push_back({{std::string(parameter.type), 0}});
  }
  return fmt::format("{{\n  \"ptx\": {},\n  \"kernel\": {},\n  \"grid\": [1, 1, 1],\n  \"block\": {},\n  \"dynamic_shared\": 0,\n",
                     Json(ptx.string()).dump(), Json(kernel).dump(), line(block_of(program.limits))) +
         fmt::format("  \"buffers\": {},\n  \"params\": {}\n}}\n", lines(buffers), lines(params));
}

}  // namespace warpmat
