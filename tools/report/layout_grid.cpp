#include "tools/report/layout_grid.h"

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "tools/report/svg.h"

namespace warpmat {
namespace {

std::string matrix_name(const LayoutGrid& grid, std::size_t matrix) {
  return grid.matrices.size() > 1 ? grid.matrices[matrix] : "";
}

/// Which colour a cell has.
int number_of(const LayoutGrid& grid, const GridCell& cell, GridColour colour) {
  constexpr std::uint32_t chunk = 16, chunks = 8;  // bytes that lie in four banks, and how many are in all 32
  constexpr int shades = 4;                        // numbers that share a hue
  if (grid.places == GridPlaces::memory) return shades * static_cast<int>(cell.address / chunk % chunks);
  return colour == GridColour::lane ? cell.lane : cell.reg;
}

const GridCell& cell_at(const LayoutGrid& grid, std::size_t matrix, int row, int column) {
  return grid.cells[matrix][static_cast<std::size_t>(row * grid.columns + column)];
}

}  // namespace

std::string cell_text(const LayoutGrid& grid, const GridCell& cell) {
  const std::string bit = grid.whole ? "" : fmt::format(".{}", cell.bit);
  switch (grid.places) {
    case GridPlaces::registers:
    case GridPlaces::tensor: return fmt::format("{}:{}{}", cell.lane, cell.reg, bit);
    case GridPlaces::rows: return fmt::format("{}{}", cell.lane, bit);
    case GridPlaces::warpgroup: return fmt::format("{}:{}:{}{}", cell.warp, cell.lane, cell.reg, bit);
    case GridPlaces::memory: return fmt::format("{:#x}{}", cell.address, bit);
  }
  return "";
}

std::string grid_csv(const LayoutGrid& grid) {
  const bool memory = grid.places == GridPlaces::memory, warpgroup = grid.places == GridPlaces::warpgroup,
             tensor = grid.places == GridPlaces::tensor;
  std::string out = fmt::format("matrix,row,column,{}bit,element_bits\n", memory      ? "address,"
                                                                          : warpgroup ? "warp,lane,register,"
                                                                          : tensor    ? "lane,tensor_column,"
                                                                                      : "lane,register,");
  for (std::size_t matrix = 0; matrix < grid.cells.size(); ++matrix)
    for (const GridCell& cell : grid.cells[matrix]) {
      const std::string reg = grid.places == GridPlaces::rows ? "" : std::to_string(cell.reg);
      const std::string place = memory      ? std::to_string(cell.address)
                                : warpgroup ? fmt::format("{},{},{}", cell.warp, cell.lane, reg)
                                            : fmt::format("{},{}", cell.lane, reg);
      out += fmt::format("{},{},{},{},{},{}\n", matrix, cell.row, cell.column, place, cell.bit, grid.element_bits);
    }
  return out;
}

std::string grid_markdown(const LayoutGrid& grid) {
  std::string out = fmt::format("{}\n{}{}Known: {}.\n", grid.title, grid.remark, grid.remark.empty() ? "" : "\n", grid.known);
  for (std::size_t matrix = 0; matrix < grid.cells.size(); ++matrix) {
    if (grid.matrices.size() > 1) out += fmt::format("\n{}:\n", matrix_name(grid, matrix));
    out += "\n| |";
    for (int column = 0; column < grid.columns; ++column) out += fmt::format(" {} |", column);
    out += "\n|---|";
    for (int column = 0; column < grid.columns; ++column) out += "---|";
    for (int row = 0; row < grid.rows; ++row) {
      out += fmt::format("\n| **{}** |", row);
      for (int column = 0; column < grid.columns; ++column)
        out += fmt::format(" {} |", cell_text(grid, cell_at(grid, matrix, row, column)));
    }
    out += "\n";
  }
  return out;
}

std::string grid_colour(int number) {
  struct Colour {
    double red, green, blue;
  };
  constexpr std::array<Colour, 8> hues{
      {{86, 180, 233}, {230, 159, 0}, {0, 158, 115}, {204, 121, 167}, {240, 228, 66}, {0, 114, 178}, {213, 94, 0}, {150, 150, 150}}};
  constexpr std::array<double, 4> white = {0.75, 0.58, 0.87, 0.45};  // shares of it, in an order in which neighbours differ
  const Colour& hue = hues[static_cast<std::size_t>(number / 4 % 8)];
  const double share = white[static_cast<std::size_t>(number % 4)];
  const auto mixed = [&](double channel) { return static_cast<int>(channel + (255 - channel) * share); };
  return fmt::format("{:02X}{:02X}{:02X}", mixed(hue.red), mixed(hue.green), mixed(hue.blue));
}

// ---- SVG ----------------------------------------------------------------------------------------------------------------------------

namespace {

constexpr int cell_width = 46, cell_height = 30, margin = 36, heading = 22, gap = 18;

/// The two lines of text in a cell.
std::pair<std::string, std::string> svg_lines(const LayoutGrid& grid, const GridCell& cell) {
  const std::string reg = fmt::format("r{}{}", cell.reg, grid.whole ? "" : fmt::format(".{}", cell.bit));
  switch (grid.places) {
    case GridPlaces::registers: return {fmt::format("T{}", cell.lane), reg};
    case GridPlaces::tensor: return {fmt::format("L{}", cell.lane), fmt::format("c{}", reg.substr(1))};
    case GridPlaces::rows: return {fmt::format("T{}", cell.lane), fmt::format("bit {}", cell.bit)};
    case GridPlaces::warpgroup: return {fmt::format("w{} T{}", cell.warp, cell.lane), reg};
    case GridPlaces::memory:
      return {fmt::format("{:#x}", cell.address),
              grid.whole ? fmt::format("bank {}", cell.address / 4 % 32) : fmt::format("bit {}", cell.bit)};
  }
  return {};
}

/// What the letters in the cells mean.
std::string_view svg_legend(const LayoutGrid& grid) {
  switch (grid.places) {
    case GridPlaces::registers: return "T: the lane, r: register and lowest bit";
    case GridPlaces::tensor: return "L: the lane, c: column of tensor memory and lowest bit";
    case GridPlaces::rows: return "T: the lane that holds the row's address";
    case GridPlaces::warpgroup: return "w: the warp, T: the lane, r: register and lowest bit";
    case GridPlaces::memory: return "address of the element's first byte; cells of a colour lie in the same four banks";
  }
  return "";
}

std::string svg_cell(const LayoutGrid& grid, const GridCell& cell, GridColour colour, int top) {
  const int x = margin + cell.column * cell_width, y = top + cell.row * cell_height, middle = x + cell_width / 2;
  const auto [upper, lower] = svg_lines(grid, cell);
  return svg_rectangle(x, y, cell_width, cell_height, grid_colour(number_of(grid, cell, colour))) +
         svg_text(middle, y + 13, 12, "middle", upper) + svg_text(middle, y + 25, 10, "middle", lower);
}

std::string svg_matrix(const LayoutGrid& grid, std::size_t matrix, GridColour colour, int top) {
  std::string out;
  if (grid.matrices.size() > 1) out += svg_text(margin, top - heading + 4, 13, "start", matrix_name(grid, matrix));
  for (int column = 0; column < grid.columns; ++column)
    out += svg_text(margin + column * cell_width + cell_width / 2, top - 5, 10, "middle", std::to_string(column));
  for (int row = 0; row < grid.rows; ++row) out += svg_text(margin - 6, top + row * cell_height + 19, 10, "end", std::to_string(row));
  for (const GridCell& cell : grid.cells[matrix]) out += svg_cell(grid, cell, colour, top);
  return out;
}

}  // namespace

std::string grid_svg(const LayoutGrid& grid, GridColour colour) {
  const int matrix_height = grid.rows * cell_height + 2 * heading + gap;
  const int width = std::max(2 * margin + grid.columns * cell_width, 900);
  const int top = margin + 2 * heading - 6, height = top + matrix_height * static_cast<int>(grid.cells.size());
  std::string out = svg_begin(width, height, grid.title);
  out += svg_text(margin, 20, 14, "start", grid.title);
  out += svg_text(
      margin, 38, 11, "start",
      fmt::format("{}; {}", svg_legend(grid), grid.remark.empty() ? "numbers above and at the left: column and row" : grid.remark));
  for (std::size_t matrix = 0; matrix < grid.cells.size(); ++matrix)
    out += svg_matrix(grid, matrix, colour, top + heading + static_cast<int>(matrix) * matrix_height);
  return out + "</svg>\n";
}

// ---- LaTeX --------------------------------------------------------------------------------------------------------------------------

namespace {

/// `text` as characters of a LaTeX document.
std::string latex_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("_#%&{}$").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string grid_latex(const LayoutGrid& grid, GridColour colour) {
  std::string out =
      "\\documentclass[border=4pt,varwidth=\\maxdimen]{standalone}\n\\usepackage[table]{xcolor}\n\\begin{document}"
      "\\sffamily\\footnotesize\n"
      "\\setlength{\\tabcolsep}{2pt}\n";
  out += fmt::format("{}\\par\n{}{}Known: {}.\\par\n", latex_escaped(grid.title), latex_escaped(grid.remark),
                     grid.remark.empty() ? "" : "\\par\n", latex_escaped(grid.known));
  for (std::size_t matrix = 0; matrix < grid.cells.size(); ++matrix) {
    if (grid.matrices.size() > 1) out += latex_escaped(matrix_name(grid, matrix)) + "\\par\n";
    out += fmt::format("\\begin{{tabular}}{{r*{{{}}}{{c}}}}\n", grid.columns);
    for (int column = 0; column < grid.columns; ++column) out += fmt::format(" & {}", column);
    out += " \\\\\n";
    for (int row = 0; row < grid.rows; ++row) {
      out += std::to_string(row);
      for (int column = 0; column < grid.columns; ++column) {
        const GridCell& cell = cell_at(grid, matrix, row, column);
        out += fmt::format(" & \\cellcolor[HTML]{{{}}}{}", grid_colour(number_of(grid, cell, colour)), cell_text(grid, cell));
      }
      out += " \\\\\n";
    }
    out += "\\end{tabular}\\par\n";
  }
  return out + "\\end{document}\n";
}

std::string grid_text(const LayoutGrid& grid, const std::string& format, GridColour colour) {
  if (format == "csv") return grid_csv(grid);
  if (format == "markdown") return grid_markdown(grid);
  return format == "svg" ? grid_svg(grid, colour) : grid_latex(grid, colour);
}

}  // namespace warpmat
