#pragma once

#include <warpmat/tables/form.h>

#include <string>
#include <vector>

namespace warpmat {

// A layout as tables and pictures: what the formats of `warpmat layout --format` draw. Whoever has matrices whose elements lie at places of
// some kind fills a LayoutGrid and can have it in all of them.

/// Where one element lies. What the numbers count, LayoutGrid says.
struct GridCell {
  int row = 0, column = 0;
  int lane = 0;  ///< that holds the element, or the address of its row
  int part = 0;  ///< which register, or 0 of a row in memory
  int bit = 0;   ///< the element's lowest bit in that register or row
};

struct LayoutGrid {
  std::string title{};                  ///< "Operand a of mma...: 16 rows and ..."
  std::string remark{};                 ///< what rows and columns count, or empty
  std::string part_word{};              ///< "register" or "row"
  std::vector<std::string> matrices{};  ///< the name of each, where there are several: "selector 0"
  int rows = 0, columns = 0;            ///< of each matrix
  bool whole = false;                   ///< an element fills its register, and bits say nothing
  int element_bits = 0;
  std::vector<std::vector<GridCell>> cells{};  ///< of each matrix, row by row
};

/// What cells of the same colour have in common.
enum class GridColour { lane, part };

/// "5:1.16": lane, register and bit; of a row in memory lane and bit.
std::string cell_text(const LayoutGrid& grid, const GridCell& cell);

std::string grid_csv(const LayoutGrid& grid);
std::string grid_markdown(const LayoutGrid& grid);
/// A picture with a title, numbered rows and columns, and in each cell its lane and register as text, so that no colour need be told from
/// another.
std::string grid_svg(const LayoutGrid& grid, GridColour colour);
/// A document of LaTeX (class standalone, package xcolor) with the same table.
std::string grid_latex(const LayoutGrid& grid, GridColour colour);

/// The background of a cell, "RRGGBB": light enough for black text in print; neighbouring numbers differ in lightness, those four apart in
/// hue, after the palette of Okabe and Ito, which the colour-blind can tell apart.
std::string grid_colour(int number);

}  // namespace warpmat
