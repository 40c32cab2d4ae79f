#pragma once

#include <warpmat/matrices.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/report/element_array.h"

namespace warpmat {

/// The type of a buffer's elements: a format of PTX or NumPy's name of one ("f16", "float16", "bf16", "int32"), or plain bits ("b16",
/// "u16", "uint32"). Throws std::runtime_error that lists the types.
ElementType find_buffer_type(std::string_view text);

/// What a buffer should hold after a launch: FILE[:TYPE][:SHAPE][:TOLERANCE].
struct ExpectedContents {
  std::filesystem::path file;  ///< .npy, or another: the bytes as they are in memory
  std::optional<ElementType> type{};
  std::vector<std::size_t> shape{};  ///< empty: that of the .npy file
  Reading reading = Reading::by_dtype;
  Tolerance tolerance{};
};

/// FILE:f32:128x128:2ulp. Behind the file come a type, a shape, "values" or "bits" of a .npy file, and a tolerance, each if need be: "2ulp"
/// (units in the last place), "1e-3" (of the expected number) or "1e-3+1e-6" (of the number, and an absolute difference beside it). Throws
/// std::runtime_error.
ExpectedContents parse_expected(const std::string& text);

/// "2ulp", "1e-3" or "1e-3+1e-6"; nothing of other texts.
std::optional<Tolerance> parse_tolerance(std::string_view text);

/// Expected contents, read: the bytes as they should lie in the buffer.
struct ReadExpectation {
  ElementType type;
  std::vector<std::size_t> shape;
  std::vector<std::uint8_t> bytes;
};

/// Reads the file for buffer `name` of `size` bytes. `type` and `shape` are what is known of the buffer, where `expected` does not say
/// them. Throws std::runtime_error where the file's contents are no such elements, or are more or fewer than the buffer's.
ReadExpectation read_expected(const ExpectedContents& expected, std::string_view name, std::size_t size,
                              const std::optional<ElementType>& type, const std::vector<std::size_t>& shape);

}  // namespace warpmat
