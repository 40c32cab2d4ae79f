// The text output of a WarpPlace: tables, elements, places of elements.

#include <fmt/core.h>
#include <warpmat/explain/table.h>
#include <warpmat/formats.h>

#include <algorithm>

#include "tools/report/element_source.h"
#include "tools/report/warp_place.h"

namespace warpmat {
namespace {

constexpr std::size_t default_columns = 16;

/// A table of lanes by registers.
std::string registers_text(const WarpPlace& place, const std::vector<std::uint64_t>& elements) {
  std::vector<std::string> header{"lane"};
  for (const NamedRegister* r : place.registers()) header.push_back(r->name);
  Table table(header, Table::Align::right);
  const std::size_t per_register = elements.size() / (place.registers().size() * warp_size);
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    std::vector<std::string> cells{std::to_string(lane)};
    for (std::size_t r = 0; r < place.registers().size(); ++r) {
      std::string cell;
      for (std::size_t i = 0; i < per_register; ++i)
        cell += (i == 0 ? "" : " ") + place.show_element(elements[(r * warp_size + lane) * per_register + i]);
      cells.push_back(cell);
    }
    table.add(cells);
  }
  return table.text();
}

/// A table of rows by columns.
std::string grid_text(const WarpPlace& place, const std::vector<std::uint64_t>& elements) {
  const std::size_t columns = place.shape().size() == 2 ? place.shape()[1] : default_columns;
  std::vector<std::string> header{""};
  for (std::size_t j = 0; j < columns; ++j) header.push_back(std::to_string(j));
  Table table(header, Table::Align::right);
  for (std::size_t i = 0; i < elements.size(); i += columns) {
    std::vector<std::string> cells{std::to_string(i / columns)};
    for (std::size_t j = i; j < std::min(i + columns, elements.size()); ++j) cells.push_back(place.show_element(elements[j]));
    table.add(cells);
  }
  return table.text();
}

}  // namespace

std::string WarpPlace::show_element(std::uint64_t bits) const {
  return element_text(name_.reading == Reading::bits ? ElementType{std::nullopt, type_.bits} : type_, bits);
}

std::string WarpPlace::show(const Warp& warp) const {
  const std::vector<std::uint64_t> elements = read(warp);
  return text_ + "\n" + (kind_ == Kind::registers ? registers_text(*this, elements) : grid_text(*this, elements));
}

std::string WarpPlace::describe_element(std::size_t index) const {
  const auto extents = shape();
  if (kind_ != Kind::registers)
    return extents.size() == 2 ? fmt::format("row {}, column {}", index / extents[1], index % extents[1])
                               : fmt::format("element {}", index);
  const std::size_t per_register = extents.size() == 3 ? extents[2] : 1;
  const std::string text =
      fmt::format("lane {}, register {}", index / per_register % warp_size, registers_[index / per_register / warp_size]->name);
  return per_register == 1 ? text : fmt::format("{}, element {}", text, index % per_register);
}

std::string place_help() {
  return "A PLACE is NAME[:FORMAT][:bits|:values][:COLUMNS], where NAME is\n"
         "  a shared variable    tile:f16:8      its elements as f16, 8 in a row; see --layout\n"
         "  registers            d0,d1:f32       a table of lanes; without FORMAT their bits\n"
         "  a matrix operand     mma.0.a         operand a of the first mma as the logical matrix; 0.a: of the first matrix instruction;\n"
         "                                       x.a: of the statement with the label x:\n"
         "  of a sparse mma      mma.0.sparse-a  the dense A, which becomes operands a and e; mma.0.e: the metadata codes, rows by groups\n"
         "  scale factors        mma.0.scale-a   rows by factors, for the ids of the statement; mma.0.scale-b: factors by columns\n"
         "A FORMAT is one of PTX's, or x8, x16, x32 ... for plain bits; :bits prints and writes a format's bit patterns.\n";
}

}  // namespace warpmat
