#include "layout_wgmma.h"

#include <array>
#include <map>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/explain/table.h>
#include <nlohmann/json.hpp>

#include <warpmat/warp.h>
#include <warpmat/wgmma.h>

#include "tools/report/operand_layout.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

/// Operand d, a or e in the registers of a warpgroup.
class Registers {
 public:
  Registers(const WgmmaForm& form, OperandName operand)
      : form_(form), operand_(operand), fragment_(form.tile->operand(operand).fragment), layout_(register_layout(form, operand)) {
    for (int m = 0; m < matrices(); ++m)
      for (int r = 0; r < size(LayoutAxis::row); ++r)
        for (int c = 0; c < size(LayoutAxis::column); ++c) back_[key(place(r, c, m))] = element(r, c, m);
  }

  int size(LayoutAxis axis) const {
    return static_cast<int>(axis == LayoutAxis::row || axis == LayoutAxis::column || axis == LayoutAxis::matrix ? layout_.size_from(axis)
                                                                                                                : layout_.size_to(axis));
  }
  int matrices() const { return fragment_.matrices(); }

  Point place(int r, int c, int m) const { return layout_(element(r, c, m)); }

  /// The elements in a register, from its low bits to its high bits.
  std::vector<Point> held(int in_warp, int in_lane, int in_reg) const {
    std::vector<Point> elements;
    for (int i = 0; i < fragment_.elements_per_register(); ++i) {
      Point place;
      place[LayoutAxis::warp] = static_cast<std::uint32_t>(in_warp);
      place[LayoutAxis::lane] = static_cast<std::uint32_t>(in_lane);
      place[LayoutAxis::reg] = static_cast<std::uint32_t>(in_reg);
      if (fragment_.elements_per_register() > 1) place[LayoutAxis::bit] = static_cast<std::uint32_t>(i * fragment_.element_bits());
      elements.push_back(back_.at(key(place)));
    }
    return elements;
  }

  bool fills_register() const { return fragment_.element_bits() == fragment_.register_bits(); }
  int element_bits() const { return fragment_.element_bits(); }

  /// `value` if it is from 0 to count - 1.
  int checked(const char* option, int value, int count) const {
    if (value >= 0 && value < count) return value;
    throw std::invalid_argument(
        fmt::format("--{} must be 0 to {} for operand {} of {}; it is {}", option, count - 1, name(operand_), form_.opcode, value));
  }

  std::string title() const {
    std::string text = fmt::format("Operand {} of {}: ", name(operand_), form_.opcode);
    if (matrices() > 1) text += fmt::format("selector 0 to {}, each of ", matrices() - 1);
    text +=
        fmt::format("{} rows and {} columns of {}-bit elements in {} 32-bit register{} of each lane of four warps\n", size(LayoutAxis::row),
                    size(LayoutAxis::column), element_bits(), size(LayoutAxis::reg), size(LayoutAxis::reg) == 1 ? "" : "s");
    if (const std::string_view remark = layout_remark(form_, operand_); !remark.empty()) text += fmt::format("{}\n", remark);
    text += fmt::format("Known: {}.\n", known_text(form_));
    return text;
  }

 private:
  using Key = std::array<std::uint32_t, 4>;  ///< warp, lane, register, bit

  static Key key(const Point& place) {
    return {place[LayoutAxis::warp], place[LayoutAxis::lane], place[LayoutAxis::reg], place[LayoutAxis::bit]};
  }

  Point element(int r, int c, int m) const {
    Point point;
    point[LayoutAxis::row] = static_cast<std::uint32_t>(r);
    point[LayoutAxis::column] = static_cast<std::uint32_t>(c);
    if (matrices() > 1) point[LayoutAxis::matrix] = static_cast<std::uint32_t>(m);
    return point;
  }

  const WgmmaForm& form_;
  OperandName operand_;
  Fragment fragment_;
  TiledLayout layout_;
  std::map<Key, Point> back_;
};

Json element_json(const Registers& r, const Point& e) {
  const Point p =
      r.place(static_cast<int>(e[LayoutAxis::row]), static_cast<int>(e[LayoutAxis::column]), static_cast<int>(e[LayoutAxis::matrix]));
  return {{"matrix", e[LayoutAxis::matrix]}, {"row", e[LayoutAxis::row]},       {"column", e[LayoutAxis::column]},
          {"warp", p[LayoutAxis::warp]},     {"lane", p[LayoutAxis::lane]},     {"register", p[LayoutAxis::reg]},
          {"bit", p[LayoutAxis::bit]},       {"element_bits", r.element_bits()}};
}

/// "row 17, column 2: warp 1, lane 5, register 0, bits 16 to 31"
std::string sentence(const Registers& r, const Point& e) {
  const Point p =
      r.place(static_cast<int>(e[LayoutAxis::row]), static_cast<int>(e[LayoutAxis::column]), static_cast<int>(e[LayoutAxis::matrix]));
  const std::string which = r.matrices() > 1 ? fmt::format("selector {}, ", e[LayoutAxis::matrix]) : "";
  const int last = static_cast<int>(p[LayoutAxis::bit]) + r.element_bits() - 1;
  const std::string bits =
      r.element_bits() == 1 ? fmt::format("bit {}", p[LayoutAxis::bit]) : fmt::format("bits {} to {}", p[LayoutAxis::bit], last);
  return fmt::format("{}row {}, column {}: warp {}, lane {}, register {}, {}\n", which, e[LayoutAxis::row], e[LayoutAxis::column],
                     p[LayoutAxis::warp], p[LayoutAxis::lane], p[LayoutAxis::reg], bits);
}

std::string answer(const Registers& r, const std::vector<Point>& elements, bool json) {
  Json array = Json::array();
  std::string text;
  for (const Point& e : elements) {
    array.push_back(element_json(r, e));
    text += sentence(r, e);
  }
  return json ? array.dump(2) + '\n' : text;
}

std::string element_table(const Registers& r, int which) {
  std::vector<std::string> header{""};
  for (int c = 0; c < r.size(LayoutAxis::column); ++c) header.push_back(std::to_string(c));
  Table table(header, Table::Align::right);
  for (int i = 0; i < r.size(LayoutAxis::row); ++i) {
    std::vector<std::string> cells{std::to_string(i)};
    for (int c = 0; c < r.size(LayoutAxis::column); ++c) {
      const Point p = r.place(i, c, which);
      cells.push_back(fmt::format("{}:{}:{}{}", p[LayoutAxis::warp], p[LayoutAxis::lane], p[LayoutAxis::reg],
                                  r.fills_register() ? "" : fmt::format(".{}", p[LayoutAxis::bit])));
    }
    table.add(std::move(cells));
  }
  return table.text();
}

std::string lane_table(const Registers& r) {
  std::vector<std::string> header{"warp", "lane"};
  for (int i = 0; i < r.size(LayoutAxis::reg); ++i) header.push_back(fmt::format("register {}", i));
  Table table(header, Table::Align::right);
  for (int w = 0; w < WgmmaForm::warps; ++w)
    for (int l = 0; l < warp_size; ++l) {
      std::vector<std::string> cells{std::to_string(w), std::to_string(l)};
      for (int i = 0; i < r.size(LayoutAxis::reg); ++i) {
        std::vector<std::string> texts;
        for (const Point& e : r.held(w, l, i))
          texts.push_back(fmt::format("{}{},{}", r.matrices() > 1 ? fmt::format("{}:", e[LayoutAxis::matrix]) : "", e[LayoutAxis::row],
                                      e[LayoutAxis::column]));
        cells.push_back(fmt::format("{}", fmt::join(texts, " ")));
      }
      table.add(std::move(cells));
    }
  return table.text();
}

Json all_json(const WgmmaForm& form, OperandName operand, const Registers& r) {
  Json elements = Json::array();
  for (int m = 0; m < r.matrices(); ++m)
    for (int i = 0; i < r.size(LayoutAxis::row); ++i)
      for (int c = 0; c < r.size(LayoutAxis::column); ++c) {
        Point e;
        e[LayoutAxis::row] = static_cast<std::uint32_t>(i);
        e[LayoutAxis::column] = static_cast<std::uint32_t>(c);
        e[LayoutAxis::matrix] = static_cast<std::uint32_t>(m);
        elements.push_back(element_json(r, e));
      }
  return {{"opcode", form.opcode},
          {"operand", name(operand)},
          {"warps", WgmmaForm::warps},
          {"element_bits", r.element_bits()},
          {"registers", r.size(LayoutAxis::reg)},
          {"matrices", r.matrices()},
          {"rows", r.size(LayoutAxis::row)},
          {"columns", r.size(LayoutAxis::column)},
          {"known", known_text(form)},
          {"elements", std::move(elements)}};
}

/// The operand `wanted` if it is d, a or e, which are in registers.
OperandName operand_in_registers(const WgmmaForm& form, const std::string& wanted) {
  const auto operand = find_operand_name(wanted);
  if (operand == OperandName::d || operand == OperandName::a || (operand == OperandName::e && form.sparse())) return *operand;
  throw std::invalid_argument(fmt::format("{} has no registers of operand {}; --operand can be d, a{}, and in shared memory a, b",
                                          form.opcode, wanted, form.sparse() ? ", e" : ""));
}

}  // namespace

std::string wgmma_registers(const WgmmaForm& form, const LayoutOptions& options) {
  const OperandName operand = operand_in_registers(form, options.operand);
  const Registers r(form, operand);
  if (options.row) {
    Point e;
    e[LayoutAxis::row] = static_cast<std::uint32_t>(r.checked("row", *options.row, r.size(LayoutAxis::row)));
    e[LayoutAxis::column] = static_cast<std::uint32_t>(r.checked("column", *options.column, r.size(LayoutAxis::column)));
    e[LayoutAxis::matrix] = static_cast<std::uint32_t>(r.checked("matrix", options.matrix.value_or(0), r.matrices()));
    return answer(r, {e}, options.json());
  }
  if (options.lane)
    return answer(r,
                  r.held(r.checked("warp", options.warp.value_or(0), WgmmaForm::warps), r.checked("lane", *options.lane, warp_size),
                         r.checked("register", *options.reg, r.size(LayoutAxis::reg))),
                  options.json());
  if (options.picture()) return grid_text(layout_grid(form, operand), options.format, options.colour);
  if (options.json()) return all_json(form, operand, r).dump(2) + '\n';
  std::string out = r.title();
  for (int m = 0; m < r.matrices(); ++m)
    out += fmt::format("\nRow and column{} -> warp:lane:register{}\n{}", r.matrices() > 1 ? fmt::format(" of selector {}", m) : "",
                       r.fills_register() ? "" : ".bit, the lowest of the element", element_table(r, m));
  return out + fmt::format("\nWarp, lane and register -> {}row,column{}\n{}", r.matrices() > 1 ? "selector:" : "",
                           r.fills_register() ? "" : " of each element, low bits first", lane_table(r));
}

}  // namespace warpmat
