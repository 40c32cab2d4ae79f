#include "layout_wgmma.h"

#include <array>
#include <map>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <warpmat/warp.h>
#include <warpmat/wgmma.h>

#include "tools/report/layout_text.h"
#include "tools/report/operand_layout.h"
#include "tools/report/warpgroup_registers.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

/// `value` if it is from 0 to count - 1.
int checked(const WarpgroupRegisters& r, const char* option, int value, int count) {
  if (value >= 0 && value < count) return value;
  throw std::invalid_argument(
      fmt::format("--{} must be 0 to {} for operand {} of {}; it is {}", option, count - 1, name(r.operand()), r.form().opcode, value));
}

Json element_json(const WarpgroupRegisters& r, const Point& e) {
  const Point p =
      r.place(static_cast<int>(e[LayoutAxis::row]), static_cast<int>(e[LayoutAxis::column]), static_cast<int>(e[LayoutAxis::matrix]));
  return {{"matrix", e[LayoutAxis::matrix]}, {"row", e[LayoutAxis::row]},       {"column", e[LayoutAxis::column]},
          {"warp", p[LayoutAxis::warp]},     {"lane", p[LayoutAxis::lane]},     {"register", p[LayoutAxis::reg]},
          {"bit", p[LayoutAxis::bit]},       {"element_bits", r.element_bits()}};
}

/// "row 17, column 2: warp 1, lane 5, register 0, bits 16 to 31"
std::string sentence(const WarpgroupRegisters& r, const Point& e) {
  const Point p =
      r.place(static_cast<int>(e[LayoutAxis::row]), static_cast<int>(e[LayoutAxis::column]), static_cast<int>(e[LayoutAxis::matrix]));
  const std::string which = r.matrices() > 1 ? fmt::format("selector {}, ", e[LayoutAxis::matrix]) : "";
  const int last = static_cast<int>(p[LayoutAxis::bit]) + r.element_bits() - 1;
  const std::string bits =
      r.element_bits() == 1 ? fmt::format("bit {}", p[LayoutAxis::bit]) : fmt::format("bits {} to {}", p[LayoutAxis::bit], last);
  return fmt::format("{}row {}, column {}: warp {}, lane {}, register {}, {}\n", which, e[LayoutAxis::row], e[LayoutAxis::column],
                     p[LayoutAxis::warp], p[LayoutAxis::lane], p[LayoutAxis::reg], bits);
}

std::string answer(const WarpgroupRegisters& r, const std::vector<Point>& elements, bool json) {
  Json array = Json::array();
  std::string text;
  for (const Point& e : elements) {
    array.push_back(element_json(r, e));
    text += sentence(r, e);
  }
  return json ? array.dump(2) + '\n' : text;
}

Json all_json(const WgmmaForm& form, OperandName operand, const WarpgroupRegisters& r) {
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
  const WarpgroupRegisters r(form, operand);
  if (options.row) {
    Point e;
    e[LayoutAxis::row] = static_cast<std::uint32_t>(checked(r, "row", *options.row, r.size(LayoutAxis::row)));
    e[LayoutAxis::column] = static_cast<std::uint32_t>(checked(r, "column", *options.column, r.size(LayoutAxis::column)));
    e[LayoutAxis::matrix] = static_cast<std::uint32_t>(checked(r, "matrix", options.matrix.value_or(0), r.matrices()));
    return answer(r, {e}, options.json());
  }
  if (options.lane)
    return answer(r,
                  r.held(checked(r, "warp", options.warp.value_or(0), WgmmaForm::warps), checked(r, "lane", *options.lane, warp_size),
                         checked(r, "register", *options.reg, r.size(LayoutAxis::reg))),
                  options.json());
  if (options.picture()) return grid_text(layout_grid(form, operand), options.format, options.colour);
  if (options.json()) return all_json(form, operand, r).dump(2) + '\n';
  return layout_text(form, operand);
}

}  // namespace warpmat
