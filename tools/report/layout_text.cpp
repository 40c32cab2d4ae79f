#include "tools/report/layout_text.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <warpmat/explain/table.h>
#include <warpmat/warp.h>

#include "tools/report/operand_layout.h"
#include "tools/report/warpgroup_registers.h"

namespace warpmat {

bool fills_register(const Fragment& f) {
  return f.element_bits() == f.register_bits();
}

std::vector<Element> held(const Fragment& f, int lane, int reg) {
  std::vector<Element> elements;
  for (int i = 0; i < f.elements_per_register(); ++i) elements.push_back(f.element({lane, reg, i * f.element_bits()}));
  return elements;
}

std::string bits_of_row(const Form& form, int column) {
  const int first = form.row_place({0, column, 0}).bit, end = first + form.memory_bits;
  if (form.memory_bits % 8 != 0) return fmt::format("bits {} to {}", first, end - 1);
  return form.memory_bits == 8 ? fmt::format("byte {}", first / 8) : fmt::format("bytes {} to {}", first / 8, end / 8 - 1);
}

std::vector<Element> addressed(const Form& form, int lane) {
  std::vector<Element> elements;
  for (int column = 0; column < form.shape.n; ++column) elements.push_back({lane % form.shape.m, column, lane / form.shape.m});
  return elements;
}

namespace {

/// "5:1.16": lane, register and, if a register holds more than one element, the element's lowest bit.
std::string place_cell(const Fragment& f, const Element& e) {
  const Place p = f.place(e);
  return fills_register(f) ? fmt::format("{}:{}", p.lane, p.reg) : fmt::format("{}:{}.{}", p.lane, p.reg, lowest_bit(f, p));
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
  for (int lane = 0; lane < warp_size; ++lane) {
    std::vector<std::string> cells{std::to_string(lane)};
    for (int reg = 0; reg < f.registers(); ++reg) cells.push_back(held_cell(f, lane, reg));
    table.add(std::move(cells));
  }
  return table.text();
}

/// "16 rows and 8 columns of 16-bit elements in 2 32-bit registers"; for several matrices "matrix 0 to 3, each of 8 rows and ...".
std::string size_text(const Form& form, const Operand& operand) {
  const Fragment& f = operand.fragment;
  std::string text;
  if (f.matrices() > 1) text = fmt::format("{} 0 to {}, each of ", matrix_word(form, operand), f.matrices() - 1);
  text += fmt::format("{} rows and {} columns of {}-bit elements", f.rows(), f.columns(), f.payload_bits());
  if (f.payload_bits() != f.element_bits()) text += fmt::format(" (in {} bits each)", f.element_bits());
  return text + fmt::format(" in {} {}-bit {}", f.registers(), f.register_bits(), f.registers() == 1 ? "register" : "registers");
}

std::string title(const Form& form, const Operand& operand, const std::string& what) {
  const std::string_view more = layout_remark(form, operand);
  return fmt::format("Operand {} of {}: {}\n{}{}Known: {}.\n", name(operand.name), form.opcode, what, more, more.empty() ? "" : "\n",
                     known_text(form));
}

std::string fragment_text(const Form& form, const Operand& operand) {
  const Fragment& f = operand.fragment;
  std::string out = title(form, operand, size_text(form, operand));
  const char* const places = fills_register(f) ? "lane:register" : "lane:register.bit, the lowest of the element";
  for (int matrix = 0; matrix < f.matrices(); ++matrix) {
    const std::string which = f.matrices() > 1 ? fmt::format(" of {}", matrix_text(form, operand, matrix)) : "";
    out += fmt::format("\nRow and column{} -> {}\n{}", which, places, matrix_table(f, matrix));
  }
  const std::string number = f.matrices() > 1 ? fmt::format("{}:", matrix_word(form, operand)) : "";
  return out + fmt::format("\nLane and register -> {}row,column{}\n{}", number, fills_register(f) ? "" : " of each element, low bits first",
                           lane_table(f));
}

std::string rows_text(const Form& form, const Operand& operand) {
  Table by_lane({"lane", "matrix", "row"}, Table::Align::right);
  for (int lane = 0; lane < form.rows_in_memory(); ++lane) {
    const Element first = addressed(form, lane).front();
    by_lane.add({std::to_string(lane), std::to_string(first.matrix), std::to_string(first.row)});
  }
  Table by_column({"column", "place"});
  for (int column = 0; column < form.shape.n; ++column) by_column.add({std::to_string(column), bits_of_row(form, column)});

  std::string out =
      title(form, operand, fmt::format("addresses of {} rows of {} bytes in shared memory", form.rows_in_memory(), Form::row_bytes));
  out += fmt::format("\nLane -> matrix and row whose address it holds\n{}", by_lane.text());
  if (form.rows_in_memory() < warp_size)
    out += fmt::format("Addresses in lanes {} to {} are ignored; up to sm_75 they must be valid.\n", form.rows_in_memory(), warp_size - 1);
  out += fmt::format("\nColumn -> its bytes or bits of the row, low bits first\n{}", by_column.text());
  const int used = form.shape.n * form.memory_bits / 8;
  if (used < Form::row_bytes) out += fmt::format("Bytes {} to {} of a row are padding.\n", used, Form::row_bytes - 1);
  return out;
}

std::string title(const WarpgroupRegisters& r) {
  std::string text = fmt::format("Operand {} of {}: ", name(r.operand()), r.form().opcode);
  if (r.matrices() > 1) text += fmt::format("selector 0 to {}, each of ", r.matrices() - 1);
  text +=
      fmt::format("{} rows and {} columns of {}-bit elements in {} 32-bit register{} of each lane of four warps\n", r.size(LayoutAxis::row),
                  r.size(LayoutAxis::column), r.element_bits(), r.size(LayoutAxis::reg), r.size(LayoutAxis::reg) == 1 ? "" : "s");
  if (const std::string_view remark = layout_remark(r.form(), r.operand()); !remark.empty()) text += fmt::format("{}\n", remark);
  text += fmt::format("Known: {}.\n", known_text(r.form()));
  return text;
}

std::string element_table(const WarpgroupRegisters& r, int which) {
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

std::string lane_table(const WarpgroupRegisters& r) {
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

}  // namespace

std::string layout_text(const Form& form, const Operand& operand) {
  return is_address(operand) ? rows_text(form, operand) : fragment_text(form, operand);
}

std::string layout_text(const WgmmaForm& form, OperandName operand) {
  const WarpgroupRegisters r(form, operand);
  std::string out = title(r);
  for (int m = 0; m < r.matrices(); ++m)
    out += fmt::format("\nRow and column{} -> warp:lane:register{}\n{}", r.matrices() > 1 ? fmt::format(" of selector {}", m) : "",
                       r.fills_register() ? "" : ".bit, the lowest of the element", element_table(r, m));
  return out + fmt::format("\nWarp, lane and register -> {}row,column{}\n{}", r.matrices() > 1 ? "selector:" : "",
                           r.fills_register() ? "" : " of each element, low bits first", lane_table(r));
}

}  // namespace warpmat
