#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/report/layout_grid.h"

namespace warpmat {

/// A tile in shared memory for 'warpmat layout': the 64 bits of its descriptor, or their fields.
struct TileOptions {
  std::optional<std::uint64_t> descriptor;
  std::string major = "k";                              ///< "k" or "mn"
  std::string swizzle;                                  ///< "none", "32", "64", "128"
  std::optional<std::uint32_t> start, leading, stride;  ///< bytes
  std::optional<int> base_offset;

  /// Whether the question is about shared memory.
  bool given = false;
};

/// A question to 'warpmat layout'.
struct LayoutOptions {
  std::string opcode, operand, target;
  std::optional<int> row, column, matrix, warp, lane, reg;
  TileOptions tile;
  std::string format = "text";  ///< text, json, csv, markdown, svg or latex
  GridColour colour = GridColour::lane;
  bool by_address = false;  ///< with svg, for an operand in shared memory: memory in order of addresses
  bool formulas = false, cute = false, linear_layout = false;

  bool json() const { return format == "json"; }
  /// One of the formats of grid_text().
  bool picture() const { return !json() && format != "text"; }
};

}  // namespace warpmat
