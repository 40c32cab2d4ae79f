#include "gpu/programs/recorded_launch.h"

#include <fmt/core.h>

#include <algorithm>
#include <concepts>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include <warpmat/machine/tensor_map_bytes.h>

namespace warpmat::programs {
namespace {

using Json = nlohmann::ordered_json;

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::vector<std::uint8_t> bytes_of(const std::string& text) {
  if (text.size() % 2 != 0) throw std::runtime_error("an odd number of hexadecimal digits");
  std::vector<std::uint8_t> bytes(text.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

/// Refuses what T does not hold, which get() would convert.
template <std::integral T>
T number_of(const Json& json) {
  const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                              : json.is_number_integer() && std::in_range<T>(json.get<std::int64_t>());
  if (!fits) throw std::runtime_error(fmt::format("{} is no whole number of {} bits", json.dump(), 8 * sizeof(T)));
  return json.get<T>();
}

Json json_of(const Content& content) {
  return {{"bytes", content.bytes}, {"blocks", to_text(content.blocks)}};
}
Content content_of(const Json& json) {
  return {number_of<std::uint64_t>(json.at("bytes")), parse_hashes(json.at("blocks").get<std::string>())};
}

Json json_of(const Dim3& size) {
  return {size.x, size.y, size.z};
}
Dim3 size_of(const Json& json) {
  return {number_of<std::uint32_t>(json.at(0)), number_of<std::uint32_t>(json.at(1)), number_of<std::uint32_t>(json.at(2))};
}

/// "after" and "again" are there only where they tell something new.
Json json_of(const RecordedBuffer& buffer) {
  Json json{{"name", buffer.name}, {"variable", buffer.variable}, {"address", buffer.address}, {"before", json_of(buffer.before)}};
  if (buffer.after != buffer.before) json["after"] = json_of(buffer.after);
  if (buffer.again) json["again"] = json_of(*buffer.again);
  return json;
}

RecordedBuffer buffer_of(const Json& json) {
  RecordedBuffer buffer{.name = json.at("name").get<std::string>(),
                        .variable = json.at("variable").get<bool>(),
                        .address = number_of<std::uint64_t>(json.at("address")),
                        .before = content_of(json.at("before")),
                        .after = {},
                        .again = {}};
  buffer.after = json.contains("after") ? content_of(json.at("after")) : buffer.before;
  if (json.contains("again")) buffer.again = content_of(json.at("again"));
  const auto fits = [&](const Content& content) { return content.bytes == buffer.before.bytes; };
  if (!fits(buffer.after) || (buffer.again && !fits(*buffer.again))) throw std::runtime_error("a buffer changes its size");
  return buffer;
}

/// The map as warpmat encodes it: 128 bytes, whose layout tensor_map_arguments() knows.
Json json_of(const RecordedMap& map) {
  return {{"argument", map.argument}, {"at", map.at}, {"map", hex(tensor_map_bytes(map.map))}};
}

RecordedMap map_of(const Json& json) {
  const auto map = tensor_map_arguments(bytes_of(json.at("map").get<std::string>()));
  if (!map) throw std::runtime_error("128 bytes are no tensor map");
  return {number_of<std::size_t>(json.at("argument")), number_of<std::size_t>(json.at("at")), *map};
}

RecordedLaunch launch_of(const Json& json) {
  RecordedLaunch launch{.number = number_of<std::uint64_t>(json.at("number")),
                        .kernel = json.at("kernel").get<std::string>(),
                        .ptx = content_of(json.at("ptx")),
                        .assembler_options = json.value("assembler_options", std::string()),
                        .machine_code = {},
                        .config = {.grid = size_of(json.at("grid")),
                                   .block = size_of(json.at("block")),
                                   .shared_bytes = number_of<std::uint32_t>(json.at("shared_bytes")),
                                   .cluster = size_of(json.at("cluster"))},
                        .cooperative = json.at("cooperative").get<bool>(),
                        .arguments = {},
                        .maps = {},
                        .buffers = {},
                        .twice = json.at("twice").get<bool>(),
                        .printed = {},
                        .seconds = json.at("seconds").get<double>()};
  if (json.contains("machine_code")) launch.machine_code = content_of(json.at("machine_code"));
  for (const Json& argument : json.at("arguments")) launch.arguments.push_back(bytes_of(argument.get<std::string>()));
  for (const Json& map : json.at("maps")) {
    launch.maps.push_back(map_of(map));
    const RecordedMap& last = launch.maps.back();
    if (last.argument >= launch.arguments.size() || launch.arguments[last.argument].size() < TensorMap::bytes ||
        last.at > launch.arguments[last.argument].size() - TensorMap::bytes)
      throw std::runtime_error("a tensor map leaves its argument");
  }
  for (const Json& buffer : json.at("buffers")) launch.buffers.push_back(buffer_of(buffer));
  if (json.contains("printed")) {
    const std::vector<std::uint8_t> printed = bytes_of(json.at("printed").get<std::string>());
    launch.printed.emplace(printed.begin(), printed.end());
  }
  return launch;
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_line(const RecordedProgram& program) {
  return text_of({{"line", "program"}, {"device", program.device}, {"target", program.target}});
}

std::string to_line(const SkippedLaunches& launch) {
  return text_of(
      {{"line", "skipped"}, {"process", launch.process}, {"kernel", launch.kernel}, {"reason", launch.reason}, {"count", launch.count}});
}

std::string to_line(const RecordedLaunch& launch) {
  Json json{{"line", "launch"},
            {"number", launch.number},
            {"kernel", launch.kernel},
            {"ptx", json_of(launch.ptx)},
            {"grid", json_of(launch.config.grid)},
            {"block", json_of(launch.config.block)},
            {"cluster", json_of(launch.config.cluster)},
            {"shared_bytes", launch.config.shared_bytes},
            {"cooperative", launch.cooperative},
            {"arguments", Json::array()},
            {"maps", Json::array()},
            {"buffers", Json::array()},
            {"twice", launch.twice},
            {"seconds", launch.seconds}};
  if (!launch.assembler_options.empty()) json["assembler_options"] = launch.assembler_options;
  if (launch.machine_code) json["machine_code"] = json_of(*launch.machine_code);
  for (const auto& argument : launch.arguments) json["arguments"].push_back(hex(argument));
  for (const RecordedMap& map : launch.maps) json["maps"].push_back(json_of(map));
  for (const RecordedBuffer& buffer : launch.buffers) json["buffers"].push_back(json_of(buffer));
  if (launch.printed)  // any bytes, not text alone
    json["printed"] = hex({reinterpret_cast<const std::uint8_t*>(launch.printed->data()), launch.printed->size()});
  return text_of(json);
}

ArchiveLine parse_line(std::string_view text) {
  ArchiveLine line;
  try {
    const Json json = Json::parse(text);
    const auto kind = json.at("line").get<std::string>();
    if (kind == "program") line.program = {json.at("device").get<std::string>(), json.at("target").get<std::string>()};
    if (kind == "launch") line.launch = launch_of(json);
    if (kind == "skipped")
      line.skipped = {number_of<int>(json.at("process")), json.at("kernel").get<std::string>(), json.at("reason").get<std::string>(),
                      number_of<std::uint64_t>(json.at("count"))};
  } catch (const std::exception& e) {
    throw std::runtime_error(fmt::format("a line of the archive is wrong: {}", e.what()));
  }
  return line;
}

}  // namespace warpmat::programs
