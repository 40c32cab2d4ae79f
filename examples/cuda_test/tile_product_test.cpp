#include <warpmat/formats.h>
#include <warpmat/launch.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "catch.h"

using namespace warpmat;

namespace {

std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::uint16_t> to_f16(const std::vector<float>& values) {
  std::vector<std::uint16_t> bits;
  for (const float value : values) bits.push_back(static_cast<std::uint16_t>(from_double(Format::f16, value)));
  return bits;
}

/// The first elements that differ, a line each: "row 1, column 0 holds 3, expected 5". Empty where none does.
std::string differences(const std::vector<float>& result, const std::vector<float>& expected, std::size_t columns) {
  constexpr std::size_t max_lines = 8;
  std::string lines;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < result.size(); ++i)
    if (result[i] != expected[i] && ++wrong <= max_lines)
      lines += "row " + std::to_string(i / columns) + ", column " + std::to_string(i % columns) + " holds " + std::to_string(result[i]) +
               ", expected " + std::to_string(expected[i]) + "\n";
  return wrong == 0 ? "" : std::to_string(wrong) + " elements differ:\n" + lines;
}

}  // namespace

TEST_CASE("tile_product multiplies two tiles") {
  constexpr std::size_t rows = 16, depth = 16, columns = 8;
  std::vector<float> a(rows * depth), b(depth * columns), expected(rows * columns);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 31) - 15;  // small whole numbers: all sums are exact
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 13) - 6;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t k = 0; k < depth; ++k) expected[i * columns + j] += a[i * depth + k] * b[k * columns + j];

  const Module module(text_of(TILE_PRODUCT_PTX));
  DeviceMemory memory;
  const std::uint64_t a_address = memory.allocate(to_f16(a), "a"), b_address = memory.allocate(to_f16(b), "b");
  const std::uint64_t c_address = memory.allocate(expected.size() * sizeof(float), "c");
  LaunchOptions options;
  options.checks.races = true;
  launch(Kernel(module, "tile_product"), {.grid = {1}, .block = {32}}, memory, {a_address, b_address, c_address}, options);
  CHECK(differences(memory.read<float>(c_address, expected.size()), expected, columns) == "");
}
