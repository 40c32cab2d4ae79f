#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpmat {

// A layout as tables and pictures: the formats of `warpmat layout --format`. Fill a LayoutGrid with the places of matrices' elements to get
// all of them.

/// What kind of place the cells name.
enum class GridPlaces {
  registers,  ///< of a warp: lane, register, bit
  rows,       ///< in memory, of ldmatrix and stmatrix: the lane that holds the row's address, and the bit of the row
  warpgroup,  ///< registers of a warpgroup: warp, lane, register, bit
  memory,     ///< shared memory: address, and of elements below a byte the bit
  tensor,     ///< tensor memory: lane, column (GridCell::reg), bit
};

/// The place of one element; GridPlaces says which numbers are used.
struct GridCell {
  int row = 0, column = 0;
  int warp = 0, lane = 0, reg = 0;
  int bit = 0;                ///< the element's lowest bit in its register, row or byte
  std::uint32_t address = 0;  ///< of the element's first byte
};

struct LayoutGrid {
  GridPlaces places = GridPlaces::registers;
  std::string title{};                  ///< "Operand a of mma...: 16 rows and ..."
  std::string remark{};                 ///< what rows and columns count, or empty
  std::string known{};                  ///< the evidence: "measured sm_90; replayed sm_80"
  std::vector<std::string> matrices{};  ///< the name of each, where there are several: "selector 0"
  int rows = 0, columns = 0;            ///< of each matrix
  bool whole = false;                   ///< an element fills its register or whole bytes, and bits say nothing
  int element_bits = 0;
  std::vector<std::vector<GridCell>> cells{};  ///< of each matrix, row by row
};

/// The meaning of equal colours; in shared memory it is always the four banks.
enum class GridColour { lane, reg };

/// "5:1.16": lane, register and bit; "1:5:1.16" with the warp first; lane and bit for a row in memory; the address for shared memory.
std::string cell_text(const LayoutGrid& grid, const GridCell& cell);

std::string grid_csv(const LayoutGrid& grid);
std::string grid_markdown(const LayoutGrid& grid);
/// A picture with a title, numbered rows and columns, and in each cell its place as text, so that no colour need be told from
/// another.
std::string grid_svg(const LayoutGrid& grid, GridColour colour);
/// A document of LaTeX (class standalone, package xcolor) with the same table.
std::string grid_latex(const LayoutGrid& grid, GridColour colour);

/// One of these by its name: "csv", "markdown", "svg" or "latex".
std::string grid_text(const LayoutGrid& grid, const std::string& format, GridColour colour);

/// The background of a cell, "RRGGBB": light enough for black text in print. Neighbouring numbers differ in lightness, those four apart in
/// hue, by the palette of Okabe and Ito, which is safe for the colour-blind.
std::string grid_colour(int number);

}  // namespace warpmat
