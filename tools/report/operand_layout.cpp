#include "tools/report/operand_layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include <warpmat/forms.h>

#include "tools/report/lowered_forms.h"

namespace warpmat {

bool has_layout(const Form& form, const Operand& operand) {
  return operand.kind == OperandKind::fragment || (is_address(operand) && !moves_matrix(form));
}

std::string format_text(const Operand& operand) {
  return operand.format ? std::string(name(*operand.format)) : fmt::format("b{}", operand.fragment.element_bits());
}

std::string_view matrix_word(const Form& form, const Operand& operand) {
  if (operand.name == OperandName::e) return "selector";
  if (operand.name == OperandName::scale_a || operand.name == OperandName::scale_b) return "ids";
  return multiplies(form.mnemonic) ? "product" : "matrix";
}

std::string matrix_text(const Form& form, const Operand& operand, int matrix) {
  const std::string text = fmt::format("{} {}", matrix_word(form, operand), matrix);
  if (matrix_word(form, operand) != "ids") return text;
  const int byte_ids = 4 / form.scale_vector;
  return fmt::format("{} = {{{}, {}}}", text, matrix % byte_ids * form.scale_vector, matrix / byte_ids);
}

std::string_view layout_remark(const Form& form, const Operand& operand) {
  switch (operand.name) {
    case OperandName::r:
      if (moves_matrix(form)) return "Rows and columns are those of the matrix in memory.";
      return "Rows and columns are those of the matrices in memory.";
    case OperandName::p: return "Rows and columns are those of the matrices in memory.";
    case OperandName::e: return "Row i, column j is the code of the j-th group of row i of A, for each value of the selector.";
    case OperandName::scale_a:
      return "Row i, column j is the scale factor of the j-th block of row i of A; the ids are {byte-id, thread-id}.";
    case OperandName::scale_b:
      return "Row i, column j is the scale factor of the i-th block of column j of B; the ids are {byte-id, thread-id}.";
    case OperandName::a: return form.sparsity == Sparsity::dense ? "" : "Columns are those of the stored elements, half of A's.";
    case OperandName::d:
      return form.mnemonic == Mnemonic::movmatrix ? "Rows and columns are those of the matrix that operand a holds." : "";
    default: return "";
  }
}

std::string_view layout_remark(const WgmmaForm& form, OperandName operand) {
  return layout_remark(*form.tile, form.tile->operand(operand));
}

std::string known_text(const Form& form) {
  const std::vector<LoweredForm> all = lowered_forms(form);
  std::vector<LoweredForm> like_this;
  std::ranges::copy_if(all, std::back_inserter(like_this), [&](const LoweredForm& o) { return form_on(form, o.hardware) == form; });
  if (like_this.size() == all.size() || like_this.size() != 1) return evidence_text(like_this);
  const Hardware hardware = like_this.front().hardware;
  const LayoutLabel label = layout_label(form, hardware);
  return fmt::format("{} {}: {}", name(label.label), name(hardware), label.source);
}

std::string known_text(const WgmmaForm& form) {
  return fmt::format("{} {}", name(label_of(lowering_of(form))), name(Hardware::sm_90));
}

// ---- Grids --------------------------------------------------------------------------------------------------------------------------

namespace {

/// Calls `cell` for every element, by matrix and row.
template <typename CellOf>
void fill(LayoutGrid& grid, int matrices, CellOf cell) {
  for (int matrix = 0; matrix < matrices; ++matrix) {
    auto& cells = grid.cells.emplace_back();
    for (int row = 0; row < grid.rows; ++row)
      for (int column = 0; column < grid.columns; ++column) cells.push_back(cell(Element{row, column, matrix}));
  }
}

}  // namespace

LayoutGrid layout_grid(const Form& form, const Operand& operand) {
  const Fragment& f = operand.fragment;
  const bool rows = is_address(operand);
  LayoutGrid grid;
  grid.places = rows ? GridPlaces::rows : GridPlaces::registers;
  grid.title = fmt::format("Operand {} of {}", name(operand.name), form.opcode);
  grid.remark = layout_remark(form, operand);
  grid.known = known_text(form);
  grid.rows = rows ? form.shape.m : f.rows();
  grid.columns = rows ? form.shape.n : f.columns();
  grid.element_bits = rows ? form.memory_bits : f.element_bits();
  grid.whole = !rows && f.element_bits() == f.register_bits();
  const int matrices = rows ? form.number : f.matrices();
  for (int matrix = 0; matrix < matrices; ++matrix) grid.matrices.push_back(matrix_text(form, operand, matrix));
  fill(grid, matrices, [&](const Element& e) {
    GridCell cell{.row = e.row, .column = e.column};
    if (rows) {
      cell.lane = form.row_place(e).lane;
      cell.bit = form.row_place(e).bit;
    } else {
      const Place p = f.place(e);
      cell.lane = p.lane;
      cell.reg = p.reg;
      cell.bit = lowest_bit(f, p);
    }
    return cell;
  });
  return grid;
}

LayoutGrid layout_grid(const WgmmaForm& form, OperandName operand) {
  const Operand& of_tile = form.tile->operand(operand);
  const TiledLayout layout = register_layout(form, operand);
  LayoutGrid grid;
  grid.places = GridPlaces::warpgroup;
  grid.title = fmt::format("Operand {} of {}", name(operand), form.opcode);
  grid.remark = layout_remark(form, operand);
  grid.known = known_text(form);
  grid.rows = static_cast<int>(layout.size_from(LayoutAxis::row));
  grid.columns = static_cast<int>(layout.size_from(LayoutAxis::column));
  grid.element_bits = of_tile.fragment.element_bits();
  grid.whole = of_tile.fragment.element_bits() == of_tile.fragment.register_bits();
  const int matrices = of_tile.fragment.matrices();
  for (int matrix = 0; matrix < matrices; ++matrix) grid.matrices.push_back(matrix_text(*form.tile, of_tile, matrix));
  fill(grid, matrices, [&](const Element& e) {
    Point point;
    point[LayoutAxis::row] = static_cast<std::uint32_t>(e.row);
    point[LayoutAxis::column] = static_cast<std::uint32_t>(e.column);
    if (matrices > 1) point[LayoutAxis::matrix] = static_cast<std::uint32_t>(e.matrix);
    const Point place = layout(point);
    const auto of = [&](LayoutAxis axis) { return static_cast<int>(place[axis]); };
    return GridCell{.row = e.row,
                    .column = e.column,
                    .warp = of(LayoutAxis::warp),
                    .lane = of(LayoutAxis::lane),
                    .reg = of(LayoutAxis::reg),
                    .bit = of(LayoutAxis::bit)};
  });
  return grid;
}

LayoutGrid memory_grid(const WgmmaForm& form, OperandName operand, Major major, const MatrixDescriptor& descriptor) {
  const MatrixExtent extent = matrix_extent(form, operand);
  LayoutGrid grid;
  grid.places = GridPlaces::memory;
  grid.title =
      fmt::format("Operand {} of {} in shared memory, {}-major, {}", name(operand), form.opcode, major == Major::k ? "K" : "MN",
                  descriptor.swizzle() == Swizzle::none ? "no swizzle" : fmt::format("swizzle of {} bytes", descriptor.line_bytes()));
  grid.remark = operand == OperandName::a ? layout_remark(form, operand) : "";
  grid.known = known_text(form);
  grid.rows = extent.rows;
  grid.columns = extent.columns;
  grid.element_bits = row(form.tile->format(operand)).bits;
  grid.whole = grid.element_bits % 8 == 0;
  grid.matrices.emplace_back();
  fill(grid, 1, [&](const Element& e) {
    const MemoryPlace place = memory_place(form, operand, major, descriptor, e.row, e.column);
    return GridCell{.row = e.row, .column = e.column, .bit = place.bit, .address = place.address};
  });
  return grid;
}

}  // namespace warpmat
