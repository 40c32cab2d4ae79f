#include <fmt/core.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <warpmat/instruction.h>
#include <warpmat/wgmma.h>

#include <stdexcept>

#include "python/binding/module.h"
#include "python/binding/swizzle_bytes.h"
#include "tools/report/layout_text.h"

// Layouts of wgmma: registers of four warps, and matrices in shared memory behind descriptors.

namespace warpmat::python {

namespace py = pybind11;

namespace {

const WgmmaForm& form_of(std::string_view opcode) {
  if (const WgmmaForm* form = find_wgmma(opcode)) return *form;
  throw std::invalid_argument(explain_unknown_instruction(opcode, InstructionKind::warpgroup));
}

OperandName operand_of(const WgmmaForm& form, std::string_view text, bool in_memory) {
  const auto found = find_operand_name(text);
  const bool right = in_memory ? found == OperandName::a || found == OperandName::b
                               : found == OperandName::d || found == OperandName::a || (found == OperandName::e && form.sparse());
  if (right) return *found;
  throw std::invalid_argument(fmt::format("{} has no operand '{}' in {}", form.opcode, text,
                                          in_memory       ? "shared memory: there are a and b"
                                          : form.sparse() ? "registers: there are d, a and e"
                                                          : "registers: there are d and a"));
}

/// warp, lane, register and bit of each element, int32 [matrices][rows][columns]; then registers of a lane, bits of a register, bits of an
/// element.
py::tuple wgmma_places(std::string_view opcode, std::string_view operand) {
  const WgmmaForm& form = form_of(opcode);
  const OperandName name = operand_of(form, operand, false);
  const Fragment& fragment = form.tile->operand(name).fragment;
  const TiledLayout layout = register_layout(form, name);
  const int matrices = fragment.matrices();
  const auto rows = static_cast<py::ssize_t>(layout.size_from(LayoutAxis::row));
  const auto columns = static_cast<py::ssize_t>(layout.size_from(LayoutAxis::column));
  const std::vector<py::ssize_t> shape{matrices, rows, columns};
  py::array_t<std::int32_t> warp(shape), lane(shape), reg(shape), bit(shape);
  py::ssize_t i = 0;
  Point point;
  for (int matrix = 0; matrix < matrices; ++matrix)
    for (py::ssize_t row = 0; row < rows; ++row)
      for (py::ssize_t column = 0; column < columns; ++column, ++i) {
        point[LayoutAxis::row] = static_cast<std::uint32_t>(row);
        point[LayoutAxis::column] = static_cast<std::uint32_t>(column);
        if (matrices > 1) point[LayoutAxis::matrix] = static_cast<std::uint32_t>(matrix);
        const Point place = layout(point);
        warp.mutable_data()[i] = static_cast<std::int32_t>(place[LayoutAxis::warp]);
        lane.mutable_data()[i] = static_cast<std::int32_t>(place[LayoutAxis::lane]);
        reg.mutable_data()[i] = static_cast<std::int32_t>(place[LayoutAxis::reg]);
        bit.mutable_data()[i] = static_cast<std::int32_t>(place[LayoutAxis::bit]) + fragment.payload_shift();
      }
  return py::make_tuple(warp, lane, reg, bit, layout.size_to(LayoutAxis::reg), fragment.register_bits(), fragment.element_bits());
}

Major major_of(const WgmmaForm& form, bool k_major) {
  if (k_major || form.transposes()) return k_major ? Major::k : Major::mn;
  throw std::invalid_argument(fmt::format("{} has K-major operands alone; only 16-bit types may be MN-major", form.opcode));
}

/// The bits of the descriptor of an operand whose bytes follow `start` without gaps.
std::uint64_t wgmma_descriptor(std::string_view opcode, std::string_view operand, bool k_major, int swizzle, std::uint32_t start) {
  const WgmmaForm& form = form_of(opcode);
  const MatrixLines lines = matrix_lines(form, operand_of(form, operand, true), major_of(form, k_major));
  return compact_descriptor(lines, swizzle_of(swizzle), start).encode();
}

/// The number of the lowest bit of each element, counted from address 0 of shared memory: int64 [rows][columns].
py::array_t<std::int64_t> wgmma_memory_bits(std::string_view opcode, std::string_view operand, bool k_major, std::uint64_t descriptor) {
  const WgmmaForm& form = form_of(opcode);
  const OperandName name = operand_of(form, operand, true);
  const Major major = major_of(form, k_major);
  const MatrixDescriptor decoded = MatrixDescriptor::decode(descriptor);
  const MatrixExtent extent = matrix_extent(form, name);
  py::array_t<std::int64_t> out(std::vector<py::ssize_t>{extent.rows, extent.columns});
  for (int row = 0; row < extent.rows; ++row)
    for (int column = 0; column < extent.columns; ++column) {
      const MemoryPlace place = memory_place(form, name, major, decoded, row, column);
      out.mutable_at(row, column) = std::int64_t{8} * place.address + place.bit;
    }
  return out;
}

std::vector<std::string_view> wgmma_opcodes() {
  std::vector<std::string_view> names;
  for (const WgmmaForm& form : wgmma_forms()) names.push_back(form.opcode);
  return names;
}

}  // namespace

void bind_wgmma(py::module_& module) {
  module.def("wgmma_opcodes", &wgmma_opcodes);
  module.def(
      "wgmma_opcode", [](std::string_view opcode) { return form_of(opcode).opcode; }, py::arg("opcode"));
  module.def(
      "wgmma_layout_text",
      [](std::string_view opcode, std::string_view operand) {
        const WgmmaForm& form = form_of(opcode);
        return layout_text(form, operand_of(form, operand, false));
      },
      py::arg("opcode"), py::arg("operand"));
  module.def("wgmma_places", &wgmma_places, py::arg("opcode"), py::arg("operand"));
  module.def("wgmma_descriptor", &wgmma_descriptor, py::arg("opcode"), py::arg("operand"), py::arg("k_major"), py::arg("swizzle"),
             py::arg("start"));
  module.def("wgmma_memory_bits", &wgmma_memory_bits, py::arg("opcode"), py::arg("operand"), py::arg("k_major"), py::arg("descriptor"));
}

}  // namespace warpmat::python
