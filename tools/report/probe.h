#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tools/report/element_array.h"
#include "tools/report/launch_description.h"

namespace warpmat {

// A probe of a kernel that multiplies matrices: A with a number in each element and B the identity, then the other way round. What arrives
// in C shows which element of A, and of B, the product read in the place of each: permutations show without any expectation.

/// A matrix of the product, as it lies in its buffer: row by row, of `rows` and `columns`.
struct ProbedMatrix {
  std::string buffer;
  Format format;
  bool transposed = false;  ///< in the product
  std::size_t rows = 0, columns = 0;
};

/// C = A * B: C has a.rows and b.columns, where neither is transposed.
struct Probe {
  ProbedMatrix c, a, b;
};

/// "C=A*B^T:128x128x64": M, N and K. A:bf16 says the type of a buffer whose dtype and source do not. Throws std::runtime_error where the
/// text is another, a type is not known, or a buffer has another size.
Probe parse_probe(const std::string& text, const LaunchDescription& description, const PreparedLaunch& prepared);

/// Launches with these bytes in buffers, and returns those of C's afterwards.
using ProbeLaunch = std::function<std::vector<std::uint8_t>(const std::map<std::string, std::vector<std::uint8_t>>& contents)>;

struct ProbeResult {
  bool right = false;
  std::string text;  ///< at most 15 lines
};
ProbeResult probe(const Probe& probe, const ProbeLaunch& launch);

}  // namespace warpmat
