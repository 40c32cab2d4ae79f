#include <warpmat/wgmma.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace warpmat {
namespace {

/// The warps of a warpgroup hold consecutive rows.
const LinearLayout& warps() {
  static const LinearLayout layout = LinearLayout::identity({{LayoutAxis::row, 2}}, {{LayoutAxis::warp, 2}});
  return layout;
}

}  // namespace

TiledLayout register_layout(const WgmmaForm& form, OperandName operand) {
  LinearLayout tile = form.tile->operand(operand).fragment.layout() * warps();
  if (operand != OperandName::d) return {std::move(tile), {}};
  return {std::move(tile), {{LayoutAxis::column, LayoutAxis::reg, static_cast<std::uint32_t>(form.tiles())}}};
}

MatrixExtent matrix_extent(const WgmmaForm& form, OperandName operand) {
  if (operand == OperandName::b) return {form.shape.k, form.shape.n};
  return {form.shape.m, operand == OperandName::a ? form.tile->stored_k() : form.shape.n};
}

MatrixLines matrix_lines(const WgmmaForm& form, OperandName operand, Major major) {
  const MatrixExtent extent = matrix_extent(form, operand);
  const bool lines_are_rows = (operand == OperandName::a) == (major == Major::k);
  const int lines = lines_are_rows ? extent.rows : extent.columns, along = lines_are_rows ? extent.columns : extent.rows;
  return {major, static_cast<std::uint32_t>(lines), static_cast<std::uint32_t>(along * row(form.tile->format(operand)).bits / 8)};
}

MatrixDescriptor compact_descriptor(const MatrixLines& matrix, Swizzle swizzle, std::uint32_t start) {
  MatrixDescriptor::Fields d{.start = start, .swizzle = swizzle};
  d.stride = 8 * MatrixDescriptor::line_bytes(swizzle);
  d.leading = d.stride * (matrix.lines / 8);
  if (matrix.major == Major::mn && swizzle == Swizzle::none) std::swap(d.stride, d.leading);
  if (swizzle != Swizzle::none) d.base_offset = static_cast<int>(start >> 7 & 7);
  return MatrixDescriptor(d);
}

MemoryPlace memory_place(const WgmmaForm& form, OperandName operand, Major major, const MatrixDescriptor& descriptor, int row, int column) {
  const auto bits = static_cast<std::uint32_t>(warpmat::row(form.tile->format(operand)).bits);
  const bool along_columns = (operand == OperandName::a) == (major == Major::k);
  const auto line = static_cast<std::uint32_t>(along_columns ? row : column);
  const std::uint32_t bit = static_cast<std::uint32_t>(along_columns ? column : row) * bits;
  return {descriptor.address(major, line, bit / 8), static_cast<int>(bit % 8)};
}

}  // namespace warpmat
