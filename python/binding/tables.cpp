#include <fmt/core.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <warpmat/formats.h>
#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/layout.h>
#include <warpmat/lower/tensor_fields.h>
#include <warpmat/matrices.h>
#include <warpmat/tables/field_table.h>
#include <warpmat/version.h>
#include <warpmat/wgmma.h>

#include <algorithm>
#include <map>
#include <span>
#include <stdexcept>

#include "python/binding/module.h"
#include "python/binding/swizzle_bytes.h"
#include "python/binding/tasks.h"
#include "tools/report/answering_opcode.h"
#include "tools/report/compared_results.h"
#include "tools/report/evidence_line.h"
#include "tools/report/layout_text.h"
#include "tools/report/lowered_forms.h"
#include "tools/report/meant_forms.h"

namespace warpmat::python {

namespace py = pybind11;

namespace {

// ---- Forms and targets --------------------------------------------------------------------------------------------------------------

/// The form as `target_name` has it; without one, as later hardware has it.
const Form& form_of(std::string_view opcode, std::optional<std::string> target_name) {
  const Form* const form = find_form(opcode);
  if (form == nullptr) throw std::invalid_argument(explain_unknown_instruction(opcode, InstructionKind::matrix));
  if (!target_name) return *form;
  const Target& on = target(*target_name);
  if (const auto reason = unavailable(*form, on)) throw std::invalid_argument(*reason);
  return form_on(*form, on.hardware);
}

std::string_view kind_name(Sparsity sparsity) {
  return sparsity == Sparsity::dense ? "dense" : sparsity == Sparsity::sparse ? "sparse" : "sparse_ordered";
}

/// The opcode that `fields`, by their names in field_rows(), mean on a target.
std::string find_opcode(std::string_view target_name, const std::map<std::string, std::string>& fields) {
  const Target& on = target(target_name);
  OpcodeFields wanted;
  for (const FieldRow& row : field_rows())
    if (const auto found = fields.find(std::string(row.name)); found != fields.end()) wanted.*row.member = found->second;
  const bool of_warpgroup = wanted.mnemonic.starts_with("wgmma"), of_tensor_memory = wanted.mnemonic.starts_with("tcgen05");
  const FieldTable& table = of_warpgroup ? wgmma_fields() : of_tensor_memory ? code::tensor_fields() : form_fields();
  const std::vector<std::size_t> found = table.find(wanted, on);
  if (found.size() != 1) throw std::invalid_argument(table.explain(wanted, on).text);
  return table.entries()[found.front()].opcode;
}

std::string find_opcode_of_sass(std::string_view sass, std::string_view target_name) {
  const Target& on = target(target_name);
  if (const Form* const form = find_sass(sass, on)) return form->opcode;
  if (const WgmmaForm* const form = find_wgmma_sass(sass)) {
    if (const auto reason = unavailable(*form, on)) throw std::invalid_argument(*reason);
    return form->opcode;
  }
  throw std::invalid_argument(explain_unknown_sass(sass, on));
}

std::vector<std::string> opcodes(std::optional<std::string> target_name) {
  const Target* only = target_name ? &target(*target_name) : nullptr;
  std::vector<std::string> out;
  for (const Form& form : forms())
    if (only == nullptr || !unavailable(form, *only)) out.push_back(form.opcode);
  return out;
}

void bind_forms(py::module_& module) {
  py::class_<Operand>(module, "Operand")
      .def_property_readonly("name", [](const Operand& o) { return name(o.name); })
      .def_property_readonly("kind", [](const Operand& o) { return name(o.kind); })
      .def_readonly("written", &Operand::written)
      .def_property_readonly("format",
                             [](const Operand& o) { return o.format ? std::optional<std::string_view>(name(*o.format)) : std::nullopt; })
      .def_property_readonly("registers", &Operand::registers)
      .def_property_readonly("words", &Operand::words)
      .def_property_readonly("register_bits", [](const Operand& o) { return o.fragment.register_bits(); })
      .def_property_readonly("element_bits", [](const Operand& o) { return o.fragment.element_bits(); })
      .def_property_readonly("payload_bits", [](const Operand& o) { return o.fragment.payload_bits(); })
      .def_property_readonly("payload_shift", [](const Operand& o) { return o.fragment.payload_shift(); })
      .def_property_readonly("matrices", [](const Operand& o) { return o.fragment.matrices(); })
      .def_property_readonly("rows", [](const Operand& o) { return o.fragment.rows(); })
      .def_property_readonly("columns", [](const Operand& o) { return o.fragment.columns(); })
      .def_property_readonly("copies", [](const Operand& o) { return o.fragment.copies(); })
      .def_readonly("choices", &Operand::choices);

  py::class_<Form>(module, "Form")
      .def_readonly("opcode", &Form::opcode)
      .def_property_readonly("mnemonic", [](const Form& f) { return name(f.mnemonic); })
      .def_property_readonly("multiplies", [](const Form& f) { return multiplies(f.mnemonic); })
      .def_property_readonly("shape",
                             [](const Form& f) {
                               return std::array{f.shape.m, f.shape.n, f.shape.k};
                             })
      .def_property_readonly("sparsity", [](const Form& f) { return kind_name(f.sparsity); })
      .def_readonly("scale_vector", &Form::scale_vector)
      .def_property_readonly("metadata_group", [](const Form& f) { return f.sparsity == Sparsity::dense ? 0 : metadata_group(f); })
      .def_property_readonly("operands", [](const Form& f) {
        py::list operands;
        for (const Operand& operand : f.operands) operands.append(py::cast(&operand, py::return_value_policy::reference));
        return operands;
      });

  module.def(
      "opcode_meant",
      [](const std::string& spelling) {
        std::string note;
        return opcode_meant(spelling, note);
      },
      py::arg("spelling"));
  module.def("find_form", &form_of, py::arg("opcode"), py::arg("target") = py::none(), py::return_value_policy::reference);
  module.def("find_opcode", &find_opcode, py::arg("target"), py::arg("fields"));
  module.def("find_sass", &find_opcode_of_sass, py::arg("name"), py::arg("target"));
  module.def("opcodes", &opcodes, py::arg("target") = py::none());
  module.def("targets", [] {
    std::vector<std::string_view> names;
    for (const Target& target : targets()) names.push_back(target.name);
    return names;
  });
}

// ---- Evidence -----------------------------------------------------------------------------------------------------------------------

py::dict evidence_fields(const Target& on, std::string_view machine, const Labelled& known, std::uint64_t results) {
  py::dict out;
  out["opcode"] = known.what;
  out["target"] = on.name;
  out["hardware"] = name(on.hardware);
  out["label"] = name(known.label);
  out["meaning"] = meaning(known.label);
  out["machine"] = machine;
  out["source"] = known.source;
  out["results"] = results;
  out["line"] = evidence_line(on.name, {known});
  return out;
}

/// The evidence for a form's bits on a target: label, its meaning, hardware, machine instructions, source, number of compared results, and
/// the line that tools print.
py::dict evidence(std::string_view opcode, std::string_view target_name) {
  if (const WgmmaForm* form = find_wgmma(opcode)) {
    const Target& on = target(target_name);
    if (const auto problem = unavailable(*form, on)) throw std::invalid_argument(*problem);
    return evidence_fields(on, lowering_of(*form).machine, labelled(*form), compared_results_of_wgmma);
  }
  const Instruction instruction(opcode, target_name);
  const Labelled known = labelled(instruction);
  py::dict out = evidence_fields(instruction.target(), machine_name(instruction.form(), instruction.lowering()), known,
                                 results_behind(known.label, instruction.form()));
  const LayoutLabel layout = layout_label(instruction.form(), instruction.target().hardware);
  out["layout_label"] = name(layout.label);
  out["layout_source"] = layout.source;
  return out;
}

std::vector<std::string_view> label_names() {
  std::vector<std::string_view> names;
  for (const Label label : all_labels) names.insert(names.begin(), name(label));
  return names;
}

// ---- Formats ------------------------------------------------------------------------------------------------------------------------

py::list formats() {
  py::list out;
  for (const FormatRow& f : format_rows())
    out.append(py::make_tuple(f.name, f.bits, f.is_signed, f.exponent_bits, f.fraction_bits, f.specials != Specials::none));
  return out;
}

Format format_of(std::string_view text) {
  if (const FormatRow* found = find_format(text)) return found->format;
  std::string names;
  for (const FormatRow& f : format_rows()) names += fmt::format("{}{}", names.empty() ? "" : ", ", f.name);
  throw std::invalid_argument(fmt::format("unknown format '{}': there are {}", text, names));
}

using Doubles = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Codes = py::array_t<std::uint64_t, py::array::c_style | py::array::forcecast>;

/// Calls work(i) for all `count` elements; Ctrl-C can end it.
template <typename Work>
void for_elements(py::ssize_t count, Work work) {
  constexpr py::ssize_t at_once = 1 << 16;
  run_tasks(static_cast<std::size_t>((count + at_once - 1) / at_once), 1, [&](std::size_t task, const Worker&) {
    const py::ssize_t first = static_cast<py::ssize_t>(task) * at_once, end = std::min(count, first + at_once);
    for (py::ssize_t i = first; i < end; ++i) work(i);
  });
}

py::array_t<std::uint64_t> encode_all(std::string_view format_name, const Doubles& values) {
  const Format format = format_of(format_name);
  py::array_t<std::uint64_t> codes(values.size());
  std::uint64_t* const out = codes.mutable_data();
  const double* const in = values.data();
  for_elements(values.size(), [&](py::ssize_t i) { out[i] = from_double(format, in[i]); });
  return codes;
}

py::array_t<double> decode_all(std::string_view format_name, const Codes& codes) {
  const Format format = format_of(format_name);
  py::array_t<double> values(codes.size());
  double* const out = values.mutable_data();
  const std::uint64_t* const in = codes.data();
  for_elements(codes.size(), [&](py::ssize_t i) { out[i] = to_double(format, in[i]); });
  return values;
}

// ---- Layouts ------------------------------------------------------------------------------------------------------------------------

const Operand& fragment_operand(const Form& form, std::string_view operand_name) {
  std::string names;
  for (const Operand& operand : form.operands) {
    if (operand.kind != OperandKind::fragment) continue;
    if (name(operand.name) == operand_name) return operand;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name(operand.name));
  }
  throw std::invalid_argument(fmt::format("{} has no matrix '{}': there are {}", form.opcode, operand_name, names));
}

using Numbers = py::array_t<std::int32_t>;

/// lane, register and bit of each element, int32 [copies][matrices][rows][columns].
py::tuple places(const Form& form, std::string_view operand) {
  const Fragment& f = fragment_operand(form, operand).fragment;
  const std::vector<py::ssize_t> shape{f.copies(), f.matrices(), f.rows(), f.columns()};
  Numbers lane(shape), reg(shape), bit(shape);
  py::ssize_t i = 0;
  for (int copy = 0; copy < f.copies(); ++copy)
    for (int matrix = 0; matrix < f.matrices(); ++matrix)
      for (int row = 0; row < f.rows(); ++row)
        for (int column = 0; column < f.columns(); ++column, ++i) {
          const Place place = f.place({row, column, matrix}, copy);
          lane.mutable_data()[i] = place.lane;
          reg.mutable_data()[i] = place.reg;
          bit.mutable_data()[i] = place.bit + f.payload_shift();
        }
  return py::make_tuple(lane, reg, bit);
}

/// matrix, row and column of the element at each place, int32 [registers][lanes][elements of a register].
py::tuple elements(const Form& form, std::string_view operand) {
  const Fragment& f = fragment_operand(form, operand).fragment;
  const std::vector<py::ssize_t> shape{f.registers(), warp_size, f.elements_per_register()};
  Numbers matrix(shape), row(shape), column(shape);
  py::ssize_t i = 0;
  for (int reg = 0; reg < f.registers(); ++reg)
    for (int lane = 0; lane < warp_size; ++lane)
      for (int inside = 0; inside < f.elements_per_register(); ++inside, ++i) {
        const Element element = f.element({lane, reg, inside * f.element_bits()});
        matrix.mutable_data()[i] = element.matrix;
        row.mutable_data()[i] = element.row;
        column.mutable_data()[i] = element.column;
      }
  return py::make_tuple(matrix, row, column);
}

/// The number of the lowest bit of each element of a matrix in memory, int64 [rows][columns].
py::array_t<std::int64_t> memory_bits(std::string_view layout_text, int rows, int columns, int element_bits) {
  const MemoryLayout layout = MemoryLayout::parse(layout_text);
  py::array_t<std::int64_t> out(std::vector<py::ssize_t>{rows, columns});
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      out.mutable_at(row, column) = static_cast<std::int64_t>(layout.bit(row, column, columns, element_bits));
  return out;
}

void bind_layouts(py::module_& module) {
  module.def("places", &places, py::arg("form"), py::arg("operand"));
  module.def(
      "answering_opcode",
      [](const std::string& spelling, const std::string& operand) { return answering_opcode(spelling, operand).opcode; },
      py::arg("spelling"), py::arg("operand"));
  module.def(
      "layout_text", [](const Form& form, std::string_view name) { return layout_text(form, fragment_operand(form, name)); },
      py::arg("form"), py::arg("operand"));
  module.def("elements", &elements, py::arg("form"), py::arg("operand"));
  module.def("memory_bits", &memory_bits, py::arg("layout"), py::arg("rows"), py::arg("columns"), py::arg("element_bits"));
  module.def(
      "encode_descriptor",
      [](std::uint32_t start, std::uint32_t leading, std::uint32_t stride, int base_offset, int swizzle) {
        return MatrixDescriptor({start, leading, stride, base_offset, swizzle_of(swizzle)}).encode();
      },
      py::arg("start"), py::arg("leading"), py::arg("stride"), py::arg("base_offset"), py::arg("swizzle"));
  module.def(
      "decode_descriptor",
      [](std::uint64_t bits) {
        const MatrixDescriptor d = MatrixDescriptor::decode(bits);
        return py::make_tuple(d.start(), d.leading(), d.stride(), d.base_offset(), bytes_of(d.swizzle()));
      },
      py::arg("bits"));
  module.def(
      "descriptor_address",
      [](std::uint64_t bits, bool k_major, std::uint32_t line, std::uint32_t byte) {
        return MatrixDescriptor::decode(bits).address(k_major ? Major::k : Major::mn, line, byte);
      },
      py::arg("bits"), py::arg("k_major"), py::arg("line"), py::arg("byte"));
}

// ---- Sparse A -----------------------------------------------------------------------------------------------------------------------

void check_sparse(const Form& form) {
  if (form.sparsity == Sparsity::dense) throw std::invalid_argument(fmt::format("{} has no sparse A: that is for mma.sp", form.opcode));
}

/// The metadata codes of dense matrices [cases][m][k] of A, and the column of each stored element: uint8 [cases][m][groups] and int64
/// [cases][m][k / 2]. `values` are the elements as numbers.
py::tuple compress_a(const Form& form, const Doubles& values) {
  check_sparse(form);
  const py::ssize_t cases = values.shape(0);
  const auto m = static_cast<int>(values.shape(1)), k = static_cast<int>(values.shape(2));
  const int group = metadata_group(form);
  py::array_t<std::uint8_t> metadata(std::vector<py::ssize_t>{cases, m, k / group});
  py::array_t<std::int64_t> columns(std::vector<py::ssize_t>{cases, m, k / 2});
  const auto from = values.unchecked<3>();
  auto codes_out = metadata.mutable_unchecked<3>();
  auto columns_out = columns.mutable_unchecked<3>();
  run_tasks(static_cast<std::size_t>(cases), 1, [&](std::size_t number, const Worker&) {
    const auto i = static_cast<py::ssize_t>(number);
    numbers::Matrix dense(m, k);
    for (int row = 0; row < m; ++row)
      for (int column = 0; column < k; ++column) dense(row, column) = from(i, row, column);
    const numbers::Matrix codes = numbers::compress_groups(form, dense).metadata;
    for (int row = 0; row < m; ++row)
      for (int g = 0; g < k / group; ++g) {
        const auto code = static_cast<std::uint8_t>(codes(row, g));
        codes_out(i, row, g) = code;
        for (int stored = 0; stored < group / 2; ++stored)
          columns_out(i, row, g * group / 2 + stored) = g * group + metadata_column(group, code, stored);
      }
  });
  return py::make_tuple(metadata, columns);
}

/// The column of each stored element, int64 [cases][m][k / 2], from codes [cases][m][groups].
py::array_t<std::int64_t> stored_columns(const Form& form, const py::array_t<std::uint8_t, py::array::c_style>& metadata) {
  check_sparse(form);
  const int m = form.shape.m, k = form.shape.k, group = metadata_group(form);
  py::array_t<std::int64_t> columns(std::vector<py::ssize_t>{metadata.shape(0), m, k / 2});
  for (py::ssize_t i = 0; i < metadata.shape(0); ++i)
    for (int row = 0; row < m; ++row)
      for (int g = 0; g < k / group; ++g) {
        const unsigned code = metadata.at(i, row, g);
        if (!valid_metadata(form, code))
          throw std::invalid_argument(fmt::format("row {}, group {}: {:#x} is no metadata of {}, which has {}", row, g, code, form.opcode,
                                                  describe_valid_metadata(form)));
        for (int stored = 0; stored < group / 2; ++stored)
          columns.mutable_at(i, row, g * group / 2 + stored) = g * group + metadata_column(group, code, stored);
      }
  return columns;
}

// ---- Packed rows --------------------------------------------------------------------------------------------------------------------

RowPacking packing_of(std::string_view text) {
  for (const RowPacking packing : {RowPacking::b8x16, RowPacking::b6x16_p32, RowPacking::b4x16_p64})
    if (name(packing) == text) return packing;
  throw std::invalid_argument(fmt::format("there is no packing '{}': b8x16, b6x16_p32 and b4x16_p64", text));
}

/// uint8 [rows][columns] of a matrix of as many elements.
py::array_t<std::uint8_t> pack(std::string_view packing, std::string_view format, const Doubles& values) {
  if (values.ndim() != 2) throw std::invalid_argument("a matrix has two dimensions");
  numbers::Matrix matrix(static_cast<int>(values.shape(0)), static_cast<int>(values.shape(1)));
  for (int row = 0; row < matrix.rows(); ++row)
    for (int column = 0; column < matrix.columns(); ++column) matrix(row, column) = values.at(row, column);
  const std::vector<std::uint8_t> bytes = numbers::pack_rows(packing_of(packing), format_of(format), matrix);
  py::array_t<std::uint8_t> out(std::vector<py::ssize_t>{values.shape(0), values.shape(1)});
  std::ranges::copy(bytes, out.mutable_data());
  return out;
}

py::array_t<double> unpack(std::string_view packing, std::string_view format, const py::array_t<std::uint8_t, py::array::c_style>& rows) {
  if (rows.ndim() != 2) throw std::invalid_argument("packed rows have two dimensions");
  const std::span bytes(rows.data(), static_cast<std::size_t>(rows.size()));
  const numbers::Matrix matrix = numbers::unpack_rows(packing_of(packing), format_of(format), bytes, static_cast<int>(rows.shape(1)));
  py::array_t<double> out(std::vector<py::ssize_t>{rows.shape(0), rows.shape(1)});
  for (int row = 0; row < matrix.rows(); ++row)
    for (int column = 0; column < matrix.columns(); ++column) out.mutable_at(row, column) = matrix(row, column);
  return out;
}

}  // namespace

void bind_tables(py::module_& module) {
  module.attr("version") = fmt::format("{}.{}.{}", WARPMAT_VERSION_MAJOR, WARPMAT_VERSION_MINOR, WARPMAT_VERSION_PATCH);
  bind_forms(module);
  bind_layouts(module);
  module.def("evidence", &evidence, py::arg("opcode"), py::arg("target"));
  module.def("labels", &label_names);
  module.def("formats", &formats);
  module.def("encode", &encode_all, py::arg("format"), py::arg("values"));
  module.def("decode", &decode_all, py::arg("format"), py::arg("codes"));
  module.def("pack_rows", &pack, py::arg("packing"), py::arg("format"), py::arg("values"));
  module.def("unpack_rows", &unpack, py::arg("packing"), py::arg("format"), py::arg("rows"));
  module.def("compress", &compress_a, py::arg("form"), py::arg("values"));
  module.def("stored_columns", &stored_columns, py::arg("form"), py::arg("metadata"));
}

}  // namespace warpmat::python
