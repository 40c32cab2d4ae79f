#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include <warpmat/assembler/decisions_file.h>

#include "tools/report/json_file.h"
#include "tools/report/launch_description.h"
#include "tools/report/tensor_map_names.h"

namespace warpmat {
namespace {

using ParsedJson = nlohmann::ordered_json;

using Where = JsonPlace;

std::uint64_t number(const ParsedJson& json, const char* key, std::uint64_t otherwise, const Where& where) {
  if (!json.contains(key)) return otherwise;
  if (!json.at(key).is_number_unsigned()) where.fail(fmt::format("\"{}\" must be a whole number from 0 on", key));
  return json.at(key).get<std::uint64_t>();
}

std::string text(const ParsedJson& json, const char* key, const Where& where) {
  if (!json.contains(key)) return {};
  if (!json.at(key).is_string()) where.fail(fmt::format("\"{}\" must be a text", key));
  return json.at(key).get<std::string>();
}

/// The objects or numbers of a list; none where there is no such key.
const ParsedJson& list(const ParsedJson& json, const char* key, const Where& where) {
  static const ParsedJson none = ParsedJson::array();
  if (!json.contains(key)) return none;
  if (!json.at(key).is_array()) (where / key).fail("a list belongs here: [...]");
  return json.at(key);
}

/// 128, [16, 8], "16,8" or "16x8". Nothing where there is no such key, or null.
std::optional<Dim3> dim3(const ParsedJson& json, const char* key, const Where& where) {
  if (!json.contains(key) || json.at(key).is_null()) return std::nullopt;
  const ParsedJson& given = json.at(key);
  std::vector<std::uint64_t> sizes;
  if (given.is_string()) {
    sizes = parse_sizes(given.get<std::string>()).value_or(sizes);
  } else {
    for (const ParsedJson& size : given.is_array() ? given : ParsedJson::array({given}))
      sizes.push_back(size.is_number_unsigned() ? size.get<std::uint64_t>() : 0);
  }
  const auto size = dim3_of(sizes);
  if (!size) (where / key).fail("a number from 1 on, or up to three of them as [X, Y, Z] or \"X,Y,Z\", belongs here");
  return size;
}

/// [128, 64], "128x64" or 64; empty where there is no such key.
std::vector<std::size_t> shape_of(const ParsedJson& json, const char* key, const Where& where) {
  if (!json.contains(key)) return {};
  const ParsedJson& shape = json.at(key);
  std::vector<std::uint64_t> sizes;
  if (shape.is_string()) sizes = parse_sizes(shape.get<std::string>()).value_or(sizes);
  for (const ParsedJson& size : shape.is_array() ? shape : shape.is_number() ? ParsedJson::array({shape}) : ParsedJson::array()) {
    if (!size.is_number_unsigned()) (where / key).fail("a shape is whole numbers: [128, 64] or \"128x64\"");
    sizes.push_back(size.get<std::uint64_t>());
  }
  if (sizes.empty()) (where / key).fail("a shape is whole numbers: [128, 64] or \"128x64\"");
  return {sizes.begin(), sizes.end()};
}

/// Where a buffer goes: "c.npy", "c.npy:float32:128x64" as in --out, or {"file": "c.npy", "type": "float32", "shape": [128, 64]}.
void read_out(const ParsedJson& json, const std::filesystem::path& folder, LaunchBuffer& buffer, const Where& where) {
  if (json.is_string()) {
    if (!json.get<std::string>().empty()) set_output(json.get<std::string>(), buffer);
  } else {
    where.check_keys(json, {"file", "type", "shape"});
    buffer.out = text(json, "file", where);
    if (buffer.out.empty()) where.fail("an output needs a \"file\"");
    if (const std::string type = text(json, "type", where); !type.empty()) buffer.out_type = output_type(type);
    buffer.out_shape = shape_of(json, "shape", where);
  }
  if (!buffer.out.empty()) buffer.out = folder / buffer.out;
}

/// What `act` returns; an error of it becomes one with its place.
template <typename Act>
auto located(const Where& where, Act act) try {
  return act();
} catch (const std::runtime_error& e) {
  where.fail(e.what());
}

/// The type of a buffer's elements; nothing where there is no such key.
std::optional<ElementType> element_type(const ParsedJson& json, const char* key, const Where& where) {
  const std::string type = text(json, key, where);
  if (type.empty()) return std::nullopt;
  return located(where / key, [&] { return find_buffer_type(type); });
}

/// What a buffer should hold: "c.npy:f32:128x64:2ulp" as in --expect, or {"file": "c.npy", "type": "f32", "shape": [128, 64], "tolerance":
/// "2ulp"}.
ExpectedContents expected_of(const ParsedJson& json, const std::filesystem::path& folder, const Where& where) {
  ExpectedContents expected;
  if (json.is_string()) {
    expected = located(where, [&] { return parse_expected(json.get<std::string>()); });
  } else {
    where.check_keys(json, {"file", "type", "shape", "tolerance"});
    expected.file = text(json, "file", where);
    if (expected.file.empty()) where.fail("an expectation needs a \"file\"");
    expected.type = element_type(json, "type", where);
    expected.shape = shape_of(json, "shape", where);
    if (json.contains("tolerance")) {
      const ParsedJson& said = json.at("tolerance");
      const auto tolerance = parse_tolerance(said.is_string() ? said.get<std::string>() : said.dump());
      if (!tolerance) (where / "tolerance").fail("a tolerance is \"2ulp\", \"1e-3\" (of the number) or \"1e-3+1e-6\"");
      expected.tolerance = *tolerance;
    }
  }
  expected.file = folder / expected.file;
  return expected;
}

/// "values": [1, 2.5, ...], or rows of them.
std::vector<double> values_of(const ParsedJson& json, const Where& where) {
  std::vector<double> values;
  for (const ParsedJson& row : list(json, "values", where))
    for (const ParsedJson& value : row.is_array() ? row : ParsedJson::array({row})) {
      if (!value.is_number()) (where / "values").fail("numbers, or rows of numbers, belong here");
      values.push_back(value.get<double>());
    }
  return values;
}

LaunchBuffer buffer_of(const ParsedJson& json, const std::filesystem::path& folder, const Where& where) {
  where.check_keys(json, {"name", "file", "bytes", "random", "fill", "dtype", "shape", "out", "expect", "address", "variable", "values"});
  LaunchBuffer buffer;
  buffer.name = text(json, "name", where);
  if (buffer.name.empty()) where.fail("a buffer needs a \"name\"");
  if (json.contains("file") + json.contains("bytes") + json.contains("random") + json.contains("values") != 1)
    where.fail("a buffer has either \"file\", \"bytes\", \"random\" or \"values\"");
  if (json.contains("fill") && !json.contains("bytes")) where.fail("\"fill\" is the value of \"bytes\": say how many");
  if (json.contains("file"))
    buffer.source = (folder / text(json, "file", where)).string();
  else if (json.contains("values"))
    buffer.values = values_of(json, where);
  else if (json.contains("random"))
    buffer.source = "random:" + text(json, "random", where);
  else
    buffer.source = fmt::format("fill:{}:{}", number(json, "bytes", 0, where), number(json, "fill", 0, where));
  buffer.type = element_type(json, "dtype", where);
  if (buffer.values && !buffer.type) where.fail("\"values\" need their \"dtype\"");
  buffer.shape = shape_of(json, "shape", where);
  buffer.address = number(json, "address", 0, where);
  if (json.contains("variable") && !json.at("variable").is_boolean()) where.fail("\"variable\" is true or false");
  buffer.variable = json.value("variable", false);
  if (buffer.variable && buffer.address == 0) where.fail("a variable of the module needs an \"address\"");
  if (json.contains("out")) read_out(json.at("out"), folder, buffer, where / "out");
  if (json.contains("expect")) buffer.expected = expected_of(json.at("expect"), folder, where / "expect");
  return buffer;
}

/// The number of the buffer that "buffer" names.
std::size_t buffer_of(const ParsedJson& json, const std::vector<LaunchBuffer>& buffers, const Where& where) {
  const std::string name = text(json, "buffer", where);
  const auto found = std::ranges::find(buffers, name, &LaunchBuffer::name);
  if (found == buffers.end()) where.fail(fmt::format("there is no buffer \"{}\"", name));
  return static_cast<std::size_t>(found - buffers.begin());
}

KernelParameter::Pointer pointer_of(const ParsedJson& json, const std::vector<LaunchBuffer>& buffers, std::size_t size,
                                    const Where& where) {
  where.check_keys(json, {"at", "buffer", "offset"});
  KernelParameter::Pointer pointer{static_cast<std::size_t>(number(json, "at", 0, where)), buffer_of(json, buffers, where), 0};
  if (json.contains("offset")) {
    if (!json.at("offset").is_number_integer()) where.fail("\"offset\" must be a whole number of bytes");
    pointer.offset = json.at("offset").get<std::int64_t>();
  }
  if (size < 8 || pointer.at > size - 8)
    where.fail(fmt::format("an address at byte {} leaves the {} bytes of the parameter", pointer.at, size));
  return pointer;
}

/// The numbers of a list, at most as many as `values` holds; the rest is unchanged.
template <typename T, std::size_t n>
std::size_t read_numbers(const ParsedJson& json, const char* key, std::array<T, n>& values, const Where& where) {
  const ParsedJson list = json.value(key, ParsedJson::array());
  const bool right = list.is_array() && list.size() <= n && std::ranges::all_of(list, [](const ParsedJson& item) {
                       if (!item.is_number_integer()) return false;
                       if (item.is_number_unsigned()) return std::in_range<T>(item.get<std::uint64_t>());
                       return std::in_range<T>(item.get<std::int64_t>());
                     });
  if (!right) where.fail(fmt::format("\"{}\" must be a list of at most {} numbers", key, n));
  for (std::size_t i = 0; i < list.size(); ++i) values[i] = list[i].get<T>();
  return list.size();
}

/// The mode of that name among `names`; the first by default.
template <typename Mode, std::size_t n>
Mode mode_of(const ParsedJson& json, const char* key, const std::array<std::string_view, n>& names, const Where& where) {
  if (!json.contains(key)) return Mode{};
  const std::string written = text(json, key, where);
  const auto found = std::ranges::find(names, written);
  if (found == names.end()) where.fail(fmt::format("\"{}\": there is no '{}', but {}", key, written, fmt::join(names, ", ")));
  return static_cast<Mode>(found - names.begin());
}

/// "im2col": {"lower_corner": [...], "upper_corner": [...], "channels": N, "pixels": N}.
void read_im2col(const ParsedJson& json, TensorMap::Arguments& map, const Where& where) {
  where.check_keys(json, {"lower_corner", "upper_corner", "channels", "pixels"});
  map.mode = TensorMap::Mode::im2col;
  const std::size_t corners = map.rank < 2 ? 0 : map.rank - 2;
  if (read_numbers(json, "lower_corner", map.lower_corner, where) != corners ||
      read_numbers(json, "upper_corner", map.upper_corner, where) != corners)
    where.fail("\"lower_corner\" and \"upper_corner\" have two numbers less than \"dims\"");
  map.channels = static_cast<std::uint32_t>(number(json, "channels", 0, where));
  map.pixels = static_cast<std::uint32_t>(number(json, "pixels", 0, where));
}

/// The arguments of cuTensorMapEncodeTiled, or of cuTensorMapEncodeIm2col.
KernelParameter::Map map_of(const ParsedJson& json, const std::vector<LaunchBuffer>& buffers, const Where& where) {
  where.check_keys(json, {"buffer", "offset", "type", "dims", "strides", "box", "element_strides", "interleave", "swizzle", "l2_promotion",
                          "oob_fill", "im2col"});
  KernelParameter::Map map;
  map.buffer = buffer_of(json, buffers, where);
  map.offset = static_cast<std::int64_t>(number(json, "offset", 0, where));
  const auto type = find_tensor_type(text(json, "type", where));
  if (!type) where.fail(fmt::format("a tensor map has no \"type\" '{}'", text(json, "type", where)));
  TensorMap::Arguments& m = map.map;
  m.type = *type;
  m.rank = static_cast<std::uint32_t>(read_numbers(json, "dims", m.dims, where));
  const bool tile = !json.contains("im2col");
  const bool right =
      read_numbers(json, "strides", m.strides, where) + 1 == m.rank && read_numbers(json, "box", m.box, where) == (tile ? m.rank : 0);
  if (!tile) read_im2col(json.at("im2col"), m, where / "im2col");
  const std::size_t element_strides = read_numbers(json, "element_strides", m.element_strides, where);
  if (!right || (element_strides != 0 && element_strides != m.rank))
    where.fail(
        "a tensor map has as many \"box\" and \"element_strides\" as \"dims\", and one of \"strides\" less; with \"im2col\" it has no "
        "\"box\"");
  m.interleave = mode_of<TensorMap::Interleave>(json, "interleave", interleave_names, where);
  m.set_swizzle(mode_of<int>(json, "swizzle", swizzle_names, where));
  m.l2_promotion = mode_of<TensorMap::L2Promotion>(json, "l2_promotion", promotion_names, where);
  m.fill = mode_of<TensorMap::Fill>(json, "oob_fill", fill_names, where);
  if (const auto problem = TensorMap::problem(m)) where.fail("tensor map: " + *problem);
  return map;
}

/// {"bytes": "0a0b...", "pointers": [...], "tensormaps": [...]}: a struct.
KernelParameter struct_of(const ParsedJson& json, const std::vector<LaunchBuffer>& buffers, const Where& where) {
  where.check_keys(json, {"bytes", "pointers", "tensormaps"});
  KernelParameter parameter = parse_parameter("bytes:" + text(json, "bytes", where), {});
  std::size_t index = 0;
  for (const ParsedJson& pointer : list(json, "pointers", where))
    parameter.pointers.push_back(pointer_of(pointer, buffers, parameter.bytes.size(), (where / "pointers")[index++]));
  index = 0;
  for (const ParsedJson& item : list(json, "tensormaps", where)) {
    const Where place = (where / "tensormaps")[index++];
    place.check_keys(item, {"at", "map"});
    KernelParameter::Map map = map_of(item.value("map", ParsedJson::object()), buffers, place / "map");
    map.at = number(item, "at", 0, place);
    if (parameter.bytes.size() < TensorMap::bytes || map.at > parameter.bytes.size() - TensorMap::bytes)
      place.fail(fmt::format("a tensor map at byte {} leaves the {} bytes of the parameter", map.at, parameter.bytes.size()));
    parameter.maps.push_back(map);
  }
  return parameter;
}

KernelParameter parameter_of(const ParsedJson& json, const std::vector<LaunchBuffer>& buffers, const Where& where) {
  if (!json.is_object() || json.empty()) where.fail("a parameter is an object such as {\"s32\": 128} or {\"buffer\": \"A\"}");
  if (json.contains("tensormap")) {
    where.check_keys(json, {"tensormap"});
    return {std::vector<std::uint8_t>(TensorMap::bytes), {}, {map_of(json.at("tensormap"), buffers, where / "tensormap")}};
  }
  if (json.contains("tensormap_pointer")) {
    where.check_keys(json, {"tensormap_pointer"});
    KernelParameter::Map map = map_of(json.at("tensormap_pointer"), buffers, where / "tensormap_pointer");
    map.by_pointer = true;
    return {std::vector<std::uint8_t>(8), {}, {map}};
  }
  if (json.contains("buffer")) return {std::vector<std::uint8_t>(8), {pointer_of(json, buffers, 8, where)}};
  if (json.contains("bytes")) return struct_of(json, buffers, where);
  const std::string& type = json.begin().key();
  const ParsedJson& value = json.begin().value();
  if (!is_parameter_type(type))
    where.check_keys(json, {"buffer", "offset", "bytes", "pointers", "tensormaps", "tensormap", "tensormap_pointer",
                            "s8",     "s16",    "s32",   "s64",      "u8",         "u16",       "u32",
                            "u64",    "b8",     "b16",   "b32",      "b64",        "f16",       "bf16",
                            "f32",    "f64"});
  if (json.size() != 1 || !value.is_number()) where.fail("a number is {\"TYPE\": VALUE}, such as {\"f32\": 0.5}");
  try {
    return {number_bytes(type, value.dump()), {}, {}, type + ":" + value.dump()};
  } catch (const std::runtime_error& e) {
    where.fail(e.what());
  }
}

}  // namespace

namespace {

LaunchDescription launch_of(const JsonFile& file, const std::filesystem::path& folder) {
  const ParsedJson& json = file.json();
  const Where where{&file, ""};
  where.check_keys(json, {"ptx", "kernel", "assembler", "assembler_options", "decisions", "grid", "block", "cluster", "dynamic_shared",
                          "buffers", "params", "gemm"});
  LaunchDescription launch;
  if (const std::string ptx = text(json, "ptx", where); !ptx.empty()) launch.ptx = folder / ptx;
  launch.kernel = text(json, "kernel", where);
  launch.products = parse_products(text(json, "gemm", where));
  launch.assembler = text(json, "assembler", where);
  if (!launch.assembler.empty() && launch.assembler != "ptxas" && launch.assembler != "rule")
    where.fail(fmt::format("\"assembler\" is \"{}\"; it may be \"ptxas\" or \"rule\"", launch.assembler));
  launch.assembler_options = text(json, "assembler_options", where);
  if (const std::string decisions = text(json, "decisions", where); !decisions.empty()) {
    launch.decisions = read_decisions(folder / decisions);
    if (!launch.decisions) where.fail(fmt::format("\"decisions\": {} has no decisions of an assembler, as --save writes them", decisions));
  }
  launch.config.grid = dim3(json, "grid", where).value_or(Dim3{});
  launch.block = dim3(json, "block", where);
  launch.config.block = launch.block.value_or(Dim3{});
  launch.config.cluster = dim3(json, "cluster", where).value_or(Dim3{});
  const std::uint64_t shared = number(json, "dynamic_shared", 0, where);
  if (shared > UINT32_MAX) where.fail("\"dynamic_shared\" is beyond every GPU's shared memory");
  launch.config.shared_bytes = static_cast<std::uint32_t>(shared);
  std::size_t index = 0;
  for (const ParsedJson& buffer : list(json, "buffers", where))
    launch.buffers.push_back(buffer_of(buffer, folder, (where / "buffers")[index++]));
  index = 0;
  for (const ParsedJson& parameter : list(json, "params", where))
    launch.parameters.push_back(parameter_of(parameter, launch.buffers, (where / "params")[index++]));
  return launch;
}

}  // namespace

LaunchDescription read_launch(const std::filesystem::path& path) {
  const JsonFile file(path);
  LaunchDescription launch = launch_of(file, path.parent_path());
  if (launch.ptx.empty()) Where{&file, ""}.fail("\"ptx\" must name the file of the kernel");
  return launch;
}

LaunchDescription parse_launch(const std::string& name, const std::string& text) {
  return launch_of(JsonFile(name, text), {});
}

void fill_from_triton(const std::filesystem::path& path, LaunchDescription& description) {
  const JsonFile file(path);
  const ParsedJson& json = file.json();
  const Where where{&file, ""};
  if (!json.contains("num_warps")) return;  // another program's file
  if (description.kernel.empty()) description.kernel = text(json, "name", where);
  if (!description.block) {
    description.block = Dim3{.x = static_cast<std::uint32_t>(32 * number(json, "num_warps", 1, where))};
    description.config.block = *description.block;
  }
  if (description.config.shared_bytes == 0) description.config.shared_bytes = static_cast<std::uint32_t>(number(json, "shared", 0, where));
  if (description.config.cluster == Dim3{}) description.config.cluster.x = static_cast<std::uint32_t>(number(json, "num_ctas", 1, where));
}

}  // namespace warpmat
