#include "layout_tensor.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/explain/table.h>
#include <nlohmann/json.hpp>

#include <warpmat/execute/tcgen05.h>
#include <warpmat/lower/tensor_statement.h>
#include <warpmat/ptx/catalogue/catalogue.h>
#include <warpmat/warp.h>

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;
using catalogue::Match;

constexpr const char* published_places = "published (PTX ISA 9.1 section 9.7.16, its figures as CuTe has them); no card was compared";

/// A grid of `rows` by `columns` whose cells are what `cell_of(row, column)` says.
template <typename CellOf>
void fill(LayoutGrid& grid, int rows, int columns, CellOf cell_of) {
  grid.known = published_places;
  grid.rows = rows;
  grid.columns = columns;
  grid.cells.emplace_back();
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      GridCell cell = cell_of(row, column);
      cell.row = row;
      cell.column = column;
      grid.cells.back().push_back(cell);
    }
}

// ---- ld and st

Transfer shown_transfer(const std::string& opcode, const Match& match) {
  Transfer transfer = code::tensor_transfer_of(match);
  if (transfer.registers() > max_transfer_registers)
    throw std::invalid_argument(
        fmt::format("{} would move {} registers; {} are the most", opcode, transfer.registers(), max_transfer_registers));
  transfer.second_columns = std::int64_t{transfer.repeats} * (transfer.halves ? 2 : 1);  // the second rectangle, shown behind the first
  return transfer;
}

LayoutGrid transfer_grid(const std::string& opcode, const Match& match) {
  const Transfer transfer = shown_transfer(opcode, match);
  const int halves = transfer.halves ? 2 : 1;
  const int columns = transfer.repeats * transfer.shape->columns * halves * (transfer.shape->has_second ? 2 : 1);
  LayoutGrid grid{.whole = !transfer.halves, .element_bits = 32 / halves};
  grid.title = fmt::format(
      "Operand r of {}: rows are lanes of tensor memory, columns its columns, both from the address on; cells are "
      "threads and registers",
      opcode);
  if (transfer.shape->has_second)
    grid.remark = fmt::format("Columns from {} on are those of the second rectangle, which immHalfSplitoff places.", columns / 2);
  std::vector<GridCell> places(static_cast<std::size_t>(transfer.shape->lanes * columns));
  for (int thread = 0; thread < warp_size; ++thread)
    for (int reg = 0; reg < transfer.registers(); ++reg)
      for (int half = 0; half < halves; ++half) {
        const TensorCell at = transfer.place(thread, reg, half);
        GridCell& cell = places[static_cast<std::size_t>(at.lane * columns + at.column)];
        cell.lane = thread;
        cell.reg = reg;
        cell.bit = 16 * half;
      }
  fill(grid, transfer.shape->lanes, columns, [&](int row, int column) { return places[static_cast<std::size_t>(row * columns + column)]; });
  return grid;
}

// ---- mma

GridCell tensor_cell(TensorCell at, int bit) {
  GridCell cell;
  cell.lane = at.lane;
  cell.reg = at.column;
  cell.bit = bit;
  return cell;
}

LayoutGrid d_grid(const TensorProduct& product) {
  LayoutGrid grid{.whole = true, .element_bits = 32};
  const DataPath& path = *product.path;
  fill(grid, path.rows, product.shape.n, [&](int row, int column) {
    const int part = column / product.d_columns();
    return tensor_cell({path.first_lane(part) + path.lane(row), column % product.d_columns()}, 0);
  });
  return grid;
}

LayoutGrid a_grid(const TensorProduct& product) {
  const Fragment& fragment = product.tile->operand(OperandName::a).fragment;
  LayoutGrid grid{.whole = fragment.element_bits() == 32, .element_bits = fragment.element_bits()};
  fill(grid, product.path->rows, product.k96() ? product.shape.k : product.tile->stored_k(), [&](int row, int k) {
    const int bit = k * fragment.element_bits();
    return tensor_cell({product.path->lane(row), bit / 32}, bit % 32 + fragment.payload_shift());
  });
  return grid;
}

LayoutGrid metadata_grid(const TensorProduct& product) {
  const bool wide = metadata_columns(product) == 1;
  LayoutGrid grid{.element_bits = 4};
  fill(grid, product.path->rows, wide ? 8 : 16, [&](int row, int group) {
    const MetadataPlace place = metadata_place(*product.path, wide, row, group);
    return tensor_cell({place.cell.lane, place.cell.column + (wide ? product.selector : 0)}, place.bit);
  });
  return grid;
}

LayoutGrid scale_grid(const TensorProduct& product, OperandName operand) {
  const bool of_a = operand == OperandName::scale_a;
  const int lines = of_a ? product.path->rows : product.shape.n / product.path->parts;
  LayoutGrid grid{.element_bits = 8};
  fill(grid, lines, product.scale_vector, [&](int line, int factor) {
    const ScalePlace place = scale_place(line, lines, factor, of_a ? product.scale_a_byte : product.scale_b_byte, 0);
    return tensor_cell(place.cell, place.byte * 8);
  });
  return grid;
}

LayoutGrid product_grid(const std::string& opcode, const LayoutOptions& options) {
  const TensorProduct product = tensor_product_of(opcode, options.tile.descriptor);
  std::vector<std::string_view> names{"d", "a"};
  if (product.sparse()) names.push_back("e");
  if (product.scale_vector != 0) names.insert(names.end(), {"scale-a", "scale-b"});
  if (std::ranges::find(names, options.operand) == names.end())
    throw std::invalid_argument(
        fmt::format("{} has no operand {} in tensor memory; --operand can be {}", opcode, options.operand, fmt::join(names, ", ")));
  const bool scales = options.operand.starts_with("scale");
  LayoutGrid grid = options.operand == "d"         ? d_grid(product)
                    : options.operand == "a"       ? a_grid(product)
                    : options.operand == "e"       ? metadata_grid(product)
                    : options.operand == "scale-a" ? scale_grid(product, OperandName::scale_a)
                                                   : scale_grid(product, OperandName::scale_b);
  grid.places = GridPlaces::tensor;
  const Shape& shape = product.shape;
  grid.title = fmt::format(
      "Operand {} of {} with m{}n{}k{}, data path layout {}: cells are lanes and columns of tensor memory, from the "
      "address on",
      options.operand, opcode, shape.m, shape.n, shape.k, product.path->name);
  if (product.group == 2) grid.remark = "Rows of one of the two blocks; the other has the rest at the same places. ";
  if (scales) grid.remark += "Rows are rows of A or columns of B. Each quarter of the lanes has a copy.";
  if (options.operand == "e") grid.remark += "Columns are groups: their codes of 4 bits.";
  if (!scales && options.operand != "d" && product.path->parts > 1)
    grid.remark += fmt::format("The lanes from {} on have a copy.", product.path->first_lane(1));
  return grid;
}

// ---- Output

std::string sentence(const LayoutGrid& grid, const GridCell& cell) {
  const std::string bits = grid.whole ? "" : fmt::format(", bits {} to {}", cell.bit, cell.bit + grid.element_bits - 1);
  const bool tensor = grid.places == GridPlaces::tensor;
  return fmt::format("row {}, column {}: lane {}, {} {}{}\n", cell.row, cell.column, cell.lane,
                     tensor ? "column of tensor memory" : "register", cell.reg, bits);
}

Json json_of(const LayoutGrid& grid, const GridCell& cell) {
  return {{"row", cell.row},   {"column", cell.column},
          {"lane", cell.lane}, {grid.places == GridPlaces::tensor ? "tensor_column" : "register", cell.reg},
          {"bit", cell.bit},   {"element_bits", grid.element_bits}};
}

std::string answer(const LayoutGrid& grid, const std::vector<GridCell>& cells, bool json) {
  if (cells.empty()) throw std::invalid_argument("no element lies there; " + grid.title);
  std::string text;
  Json array = Json::array();
  for (const GridCell& cell : cells) {
    text += sentence(grid, cell);
    array.push_back(json_of(grid, cell));
  }
  return json ? array.dump(2) + '\n' : text;
}

std::string whole_grid(const LayoutGrid& grid) {
  std::vector<std::string> header{""};
  for (int column = 0; column < grid.columns; ++column) header.push_back(std::to_string(column));
  Table table(header, Table::Align::right);
  for (int row = 0; row < grid.rows; ++row) {
    std::vector<std::string> cells{std::to_string(row)};
    for (int column = 0; column < grid.columns; ++column)
      cells.push_back(cell_text(grid, grid.cells.front()[static_cast<std::size_t>(row * grid.columns + column)]));
    table.add(std::move(cells));
  }
  return fmt::format("{}\n{}{}Known: {}.\n\nRow and column -> {}\n{}", grid.title, grid.remark, grid.remark.empty() ? "" : "\n", grid.known,
                     grid.places == GridPlaces::tensor ? (grid.whole ? "lane:column" : "lane:column.bit")
                                                       : (grid.whole ? "thread:register" : "thread:register.bit"),
                     table.text());
}

}  // namespace

TensorProduct tensor_product_of(const std::string& opcode, std::optional<std::uint64_t> descriptor) {
  const auto match = catalogue::find_row(opcode);
  if (!match || !opcode.starts_with("tcgen05.mma")) throw std::invalid_argument(catalogue::explain_unknown_row(opcode));
  if (!descriptor)
    throw std::invalid_argument(
        fmt::format("the sizes and types of {} are in its instruction descriptor: --descriptor has its 32 bits, as {:#x} of m128n64 of f16",
                    opcode, 0x08100010));
  if (*descriptor >> 32 != 0) throw std::invalid_argument(fmt::format("an instruction descriptor has 32 bits; it is {:#x}", *descriptor));
  TensorVariant variant = code::tensor_variant_of(*match);
  variant.has_k96 = true;
  const DecodedTensorProduct decoded =
      decode_tensor_product(code::tensor_kind_of(*match), variant, static_cast<std::uint32_t>(*descriptor));
  if (decoded.problem) throw std::invalid_argument(*decoded.problem);
  return decoded.product;
}

std::string tensor_layout(const LayoutOptions& options) {
  const auto match = catalogue::find_row(options.opcode);
  const bool transfers = match && (match->has(".ld") || match->has(".st")), multiplies = match && match->has(".mma");
  if (!transfers && !multiplies)
    throw std::invalid_argument(match ? fmt::format("{} has no layout: tcgen05.ld, .st and .mma have", options.opcode)
                                      : catalogue::explain_unknown_row(options.opcode));
  if (options.formulas || options.cute || options.linear_layout)
    throw std::invalid_argument("formulas and notations are of one warp's operands in registers, not of tensor memory");
  if (transfers && options.operand != "r")
    throw std::invalid_argument(fmt::format("{} has no operand {}; --operand can be r", options.opcode, options.operand));
  const LayoutGrid grid = transfers ? transfer_grid(options.opcode, *match) : product_grid(options.opcode, options);
  const auto cells_where = [&](auto fits) {
    std::vector<GridCell> cells;
    std::ranges::copy_if(grid.cells.front(), std::back_inserter(cells), fits);
    return cells;
  };
  if (options.row)
    return answer(grid, cells_where([&](const GridCell& c) { return c.row == *options.row && c.column == *options.column; }),
                  options.json());
  if (options.lane)
    return answer(grid, cells_where([&](const GridCell& c) { return c.lane == *options.lane && c.reg == *options.reg; }), options.json());
  if (options.json()) return answer(grid, grid.cells.front(), true);
  return options.picture() ? grid_text(grid, options.format, options.colour) : whole_grid(grid);
}

}  // namespace warpmat
