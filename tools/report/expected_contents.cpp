#include "tools/report/expected_contents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/words/words.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "tools/report/input_file.h"
#include "tools/report/launch_description.h"
#include "tools/report/npy.h"

namespace warpmat {
namespace {

[[noreturn]] void refuse_expected(const std::string& message) {
  throw std::runtime_error(message);
}

/// NumPy's names and PTX's of types that element_array.h calls otherwise.
constexpr std::pair<std::string_view, std::string_view> types_of_names[] = {
    {"float16", "f16"}, {"float32", "f32"}, {"float64", "f64"}, {"bfloat16", "bf16"}, {"int8", "s8"}, {"uint8", "u8"}, {"int32", "s32"},
    {"uint16", "b16"},  {"uint32", "b32"},  {"uint64", "b64"},  {"u16", "b16"},       {"u32", "b32"}, {"u64", "b64"},
};

std::optional<ElementType> type_of_name(std::string_view text) {
  for (const auto& [other, ours] : types_of_names)
    if (text == other) return find_element_type(ours);
  try {
    return find_element_type(text);
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

std::size_t elements_of_shape(const std::vector<std::size_t>& shape) {
  std::size_t count = 1;
  for (const std::size_t size : shape)
    if (__builtin_mul_overflow(count, size, &count))
      refuse_expected(fmt::format("a shape of {} has too many elements", fmt::join(shape, "x")));
  return count;
}

std::size_t bytes_of_elements(const ElementType& type, std::size_t count) {
  return (count * static_cast<std::size_t>(type.bits) + 7) / 8;
}

void put_bits(std::vector<std::uint8_t>& bytes, std::size_t index, int width, std::uint64_t bits) {
  for (int b = 0; b < width; ++b) {
    const std::size_t at = index * static_cast<std::size_t>(width) + static_cast<std::size_t>(b);
    bytes[at / 8] = static_cast<std::uint8_t>(bytes[at / 8] | (bits >> b & 1) << at % 8);
  }
}

}  // namespace

ElementType find_buffer_type(std::string_view text) {
  if (const auto known = type_of_name(text)) return *known;
  return find_element_type(text);  // says which there are
}

std::optional<Tolerance> parse_tolerance(std::string_view text) {
  const auto number = [](std::string_view digits) {
    const auto value = number_of<double>(digits);
    return value && *value >= 0 ? value : std::nullopt;
  };
  if (text.ends_with("ulp")) {
    const auto units = number(text.substr(0, text.size() - 3));
    return units ? std::optional(Tolerance{*units, 0, 0}) : std::nullopt;
  }
  for (std::size_t plus = text.find('+'); plus != std::string_view::npos; plus = text.find('+', plus + 1)) {
    const auto relative = number(text.substr(0, plus)), absolute = number(text.substr(plus + 1));  // not the '+' of 1e+3
    if (relative && absolute) return Tolerance{0, *relative, *absolute};
  }
  const auto relative = number(text);
  return relative ? std::optional(Tolerance{0, *relative, 0}) : std::nullopt;
}

ExpectedContents parse_expected(const std::string& text) {
  WordReader words(text, "expectation", "write FILE[:TYPE][:SHAPE][:TOLERANCE], such as C.npy:f32:128x128:2ulp");
  ExpectedContents expected{.file = words.until(':')};
  if (expected.file.empty()) words.refuse(text, "it has no file");
  bool toleranced = false;
  while (!words.ended()) {
    const std::string_view part = words.until(':');
    if (const auto type = type_of_name(part); type && !expected.type) {
      expected.type = type;
    } else if (const auto reading = find_reading(part)) {
      expected.reading = *reading;
    } else if (const auto shape = parse_sizes(part); shape && expected.shape.empty() && !toleranced) {
      expected.shape.assign(shape->begin(), shape->end());
    } else if (const auto tolerance = parse_tolerance(part); tolerance && !toleranced) {
      expected.tolerance = *tolerance;
      toleranced = true;
    } else {
      words.refuse(part, fmt::format("'{}' is no type (f32, f16, bf16, s32, e4m3, b16, ...), shape (128x128) or tolerance (2ulp, 1e-3, "
                                     "1e-3+1e-6)",
                                     part));
    }
  }
  return expected;
}

ReadExpectation read_expected(const ExpectedContents& expected, std::string_view name, std::size_t size,
                              const std::optional<ElementType>& type, const std::vector<std::size_t>& shape) {
  const std::string file = expected.file.string(), place = fmt::format("--expect {}={}", name, file);
  ReadExpectation read{
      expected.type ? *expected.type : type.value_or(ElementType{std::nullopt, 0}), expected.shape.empty() ? shape : expected.shape, {}};
  if (!file.ends_with(".npy")) {
    if (read.type.bits == 0 || read.shape.empty())
      refuse_expected(fmt::format("{}: a file of plain bytes needs a type and a shape, such as {}:f32:128x128", place, file));
    const std::string bytes = read_file(expected.file);
    read.bytes.assign(bytes.begin(), bytes.end());
    if (read.bytes.size() != bytes_of_elements(read.type, elements_of_shape(read.shape)))
      refuse_expected(fmt::format("{}: it has {} bytes; {} elements of {} are {}", place, read.bytes.size(), fmt::join(read.shape, " x "),
                                  warpmat::name(read.type), bytes_of_elements(read.type, elements_of_shape(read.shape))));
  } else {
    const NpyArray array = read_npy(expected.file);
    if (read.type.bits == 0) {
      const auto of_dtype = type_of_name(warpmat::name(array.dtype));
      if (!of_dtype)
        refuse_expected(
            fmt::format("{}: its dtype {} does not say the buffer's type: append one, such as :s32", place, warpmat::name(array.dtype)));
      read.type = *of_dtype;
    }
    if (read.shape.empty()) read.shape = array.shape.empty() ? std::vector<std::size_t>{1} : array.shape;
    const std::size_t count = elements_of_shape(read.shape);
    const bool turned = array.shape.size() == read.shape.size() && array.shape != read.shape;
    if (turned || count != elements_of_shape(array.shape))
      refuse_expected(fmt::format("{}: it is {}, not {}", place, describe(array), fmt::join(read.shape, "x")));
    const ElementReader reader(array.dtype, read.type, expected.reading, fmt::format("{}:{}", place, warpmat::name(read.type)));
    read.bytes.resize(bytes_of_elements(read.type, count));
    for (std::size_t i = 0; i < count; ++i) put_bits(read.bytes, i, read.type.bits, reader.bits(array.bytes, i));
  }
  if (read.bytes.size() != size)
    refuse_expected(fmt::format("{}: buffer {} has {} bytes; {} elements of {} are {}", place, name, size, fmt::join(read.shape, " x "),
                                warpmat::name(read.type), read.bytes.size()));
  return read;
}

}  // namespace warpmat
