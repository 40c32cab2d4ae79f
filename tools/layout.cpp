#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/isa/form.h>
#include <warpmat/warp/warp.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.h"
#include "table.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string opcode, operand;
  std::optional<int> row, column, matrix, lane, reg;
  bool json = false;
};

const Form& known_form(const std::string& opcode) {
  if (const Form* form = find_form(opcode)) return *form;
  throw std::invalid_argument(explain_unknown_opcode(opcode));
}

const Operand& fragment_operand(const Form& form, const std::string& wanted) {
  std::vector<std::string_view> names;
  for (const Operand& operand : form.operands) {
    if (operand.kind != OperandKind::fragment) continue;
    if (name(operand.name) == wanted) return operand;
    names.push_back(name(operand.name));
  }
  throw std::invalid_argument(fmt::format("{} has no fragment {}; --operand can be {}", form.opcode, wanted, fmt::join(names, ", ")));
}

/// `value` if it is from 0 to count - 1.
int checked(const char* option, int value, int count, const Form& form, const Operand& operand) {
  if (value >= 0 && value < count) return value;
  throw std::invalid_argument(
      fmt::format("--{} must be 0 to {} for operand {} of {}; it is {}", option, count - 1, name(operand.name), form.opcode, value));
}

/// The elements that register `reg` of `lane` holds, from its low bits to its high bits.
std::vector<Element> held(const Fragment& f, int lane, int reg) {
  std::vector<Element> elements;
  for (int i = 0; i < f.elements_per_register(); ++i) elements.push_back(f.element({lane, reg, i * f.element_bits}));
  return elements;
}

bool fills_register(const Fragment& f) {
  return f.element_bits == f.register_bits;
}

// ---- One question -------------------------------------------------------------------------------------------------------------------

/// "row 1, column 2: lane 5, register 0, bits 16 to 31"
std::string sentence(const Fragment& f, const Element& e) {
  const Place p = f.place(e);
  const std::string matrix = f.matrices() > 1 ? fmt::format("matrix {}, ", e.matrix) : "";
  const int last = p.bit + f.element_bits - 1;
  const std::string bits = last == p.bit ? fmt::format("bit {}", p.bit) : fmt::format("bits {} to {}", p.bit, last);
  return fmt::format("{}row {}, column {}: lane {}, register {}, {}\n", matrix, e.row, e.column, p.lane, p.reg, bits);
}

Json element_json(const Fragment& f, const Element& e) {
  const Place p = f.place(e);
  return {{"matrix", e.matrix},
          {"row", e.row},
          {"column", e.column},
          {"lane", p.lane},
          {"register", p.reg},
          {"bit", p.bit},
          {"element_bits", f.element_bits}};
}

std::string answer(const Fragment& f, const std::vector<Element>& elements, bool json) {
  Json array = Json::array();
  std::string text;
  for (const Element& e : elements) {
    array.push_back(element_json(f, e));
    text += sentence(f, e);
  }
  return json ? array.dump(2) + '\n' : text;
}

// ---- The whole fragment -------------------------------------------------------------------------------------------------------------

/// "5:1.16": lane, register and, where a register holds more than one element, the element's lowest bit.
std::string place_cell(const Fragment& f, const Element& e) {
  const Place p = f.place(e);
  return fills_register(f) ? fmt::format("{}:{}", p.lane, p.reg) : fmt::format("{}:{}.{}", p.lane, p.reg, p.bit);
}

std::string matrix_table(const Fragment& f, int matrix) {
  std::vector<std::string> header{""};
  for (int column = 0; column < f.columns(); ++column) header.push_back(std::to_string(column));
  Table table(header, Table::Align::right);
  for (int row = 0; row < f.rows(); ++row) {
    std::vector<std::string> cells{std::to_string(row)};
    for (int column = 0; column < f.columns(); ++column) cells.push_back(place_cell(f, {row, column, matrix}));
    table.add(std::move(cells));
  }
  return table.text();
}

/// "2,8 2,9": row and column of each element, low bits first; "1:2,8" in matrix 1 of several.
std::string held_cell(const Fragment& f, int lane, int reg) {
  std::vector<std::string> texts;
  for (const Element& e : held(f, lane, reg))
    texts.push_back(f.matrices() > 1 ? fmt::format("{}:{},{}", e.matrix, e.row, e.column) : fmt::format("{},{}", e.row, e.column));
  return fmt::format("{}", fmt::join(texts, " "));
}

std::string lane_table(const Fragment& f) {
  std::vector<std::string> header{"lane"};
  for (int reg = 0; reg < f.registers(); ++reg) header.push_back(fmt::format("register {}", reg));
  Table table(header, Table::Align::right);
  for (int lane = 0; lane < lanes; ++lane) {
    std::vector<std::string> cells{std::to_string(lane)};
    for (int reg = 0; reg < f.registers(); ++reg) cells.push_back(held_cell(f, lane, reg));
    table.add(std::move(cells));
  }
  return table.text();
}

std::string layout_text(const Form& form, const Operand& operand) {
  const Fragment& f = operand.fragment;
  const std::string several = f.matrices() > 1 ? fmt::format("{} matrices of ", f.matrices()) : "";
  std::string out = fmt::format("Operand {} of {}: {}{} rows and {} columns of {}-bit elements in {} {}-bit {}\n", name(operand.name),
                                form.opcode, several, f.rows(), f.columns(), f.element_bits, f.registers(), f.register_bits,
                                f.registers() == 1 ? "register" : "registers");
  const char* const places = fills_register(f) ? "lane:register" : "lane:register.bit, the lowest of the element";
  for (int matrix = 0; matrix < f.matrices(); ++matrix) {
    const std::string which = f.matrices() > 1 ? fmt::format(" of matrix {}", matrix) : "";
    out += fmt::format("\nRow and column{} -> {}\n{}", which, places, matrix_table(f, matrix));
  }
  out += fmt::format("\nLane and register -> {}row,column{}\n{}", f.matrices() > 1 ? "matrix:" : "",
                     fills_register(f) ? "" : " of each element, low bits first", lane_table(f));
  return out;
}

std::string layout_json(const Form& form, const Operand& operand) {
  const Fragment& f = operand.fragment;
  Json elements = Json::array();
  for (int matrix = 0; matrix < f.matrices(); ++matrix)
    for (int row = 0; row < f.rows(); ++row)
      for (int column = 0; column < f.columns(); ++column) elements.push_back(element_json(f, {row, column, matrix}));
  Json by_lane = Json::array();
  for (int lane = 0; lane < lanes; ++lane) {
    Json registers = Json::array();
    for (int reg = 0; reg < f.registers(); ++reg) {
      Json inside = Json::array();
      for (const Element& e : held(f, lane, reg)) inside.push_back({{"matrix", e.matrix}, {"row", e.row}, {"column", e.column}});
      registers.push_back(std::move(inside));
    }
    by_lane.push_back(std::move(registers));
  }
  const Json all{{"opcode", form.opcode},
                 {"operand", name(operand.name)},
                 {"format", operand.format ? Json(name(*operand.format)) : Json(fmt::format("b{}", f.element_bits))},
                 {"element_bits", f.element_bits},
                 {"register_bits", f.register_bits},
                 {"registers", f.registers()},
                 {"matrices", f.matrices()},
                 {"rows", f.rows()},
                 {"columns", f.columns()},
                 {"elements", std::move(elements)},
                 {"lanes", std::move(by_lane)}};
  return all.dump(2) + '\n';
}

std::string layout(const Options& options) {
  const Form& form = known_form(options.opcode);
  const Operand& operand = fragment_operand(form, options.operand);
  const Fragment& f = operand.fragment;
  if (options.row) {
    const int row = checked("row", *options.row, f.rows(), form, operand);
    const int column = checked("column", *options.column, f.columns(), form, operand);
    const int matrix = checked("matrix", options.matrix.value_or(0), f.matrices(), form, operand);
    return answer(f, {{row, column, matrix}}, options.json);
  }
  if (options.lane) {
    const int lane = checked("lane", *options.lane, lanes, form, operand);
    const int reg = checked("register", *options.reg, f.registers(), form, operand);
    return answer(f, held(f, lane, reg), options.json);
  }
  return options.json ? layout_json(form, operand) : layout_text(form, operand);
}

constexpr const char* footer = R"(Registers are numbered as PTX writes them in the operand's braces; a 64-bit register counts as one.

Examples:
  warpmat layout mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 --operand a
  warpmat layout mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 --operand a --row 9 --column 2
  warpmat layout ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 --operand r --lane 5 --register 3
  warpmat layout movmatrix.sync.aligned.m8n8.trans.b16 --operand d --json)";

}  // namespace

void add_layout(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("layout", "Print which lane and register hold which element of an operand, both ways");
  const auto options = std::make_shared<Options>();
  command->add_option("OPCODE", options->opcode, "The instruction with its qualifiers; 'warpmat list' shows all")->required();
  command->add_option("--operand", options->operand, "The operand, as PTX names it: a, b, c, d or r")->required()->type_name("NAME");
  CLI::Option* const row = command->add_option("--row", options->row, "With --column: where this element lies")->type_name("I");
  CLI::Option* const column = command->add_option("--column", options->column, "With --row: where this element lies")->type_name("J");
  CLI::Option* const matrix =
      command->add_option("--matrix", options->matrix, "With --row: in which of several matrices (default 0)")->type_name("Q");
  CLI::Option* const lane = command->add_option("--lane", options->lane, "With --register: which elements it holds")->type_name("L");
  CLI::Option* const reg = command->add_option("--register", options->reg, "With --lane: which elements it holds")->type_name("R");
  row->needs(column)->excludes(lane);
  column->needs(row);
  matrix->needs(row);
  lane->needs(reg);
  reg->needs(lane);
  command->add_flag("--json", options->json, "Print JSON instead of tables");
  command->footer(footer);
  command->callback([options] { fmt::print("{}", layout(*options)); });
}

}  // namespace warpmat
