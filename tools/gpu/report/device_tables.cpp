#include "tools/gpu/report/device_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include <warpmat/forms.h>
#include <warpmat/warp.h>
#include <warpmat/wgmma.h>

namespace warpmat {
namespace {

/// The number of `row` in `rows`, to which it is added if it is new.
std::size_t number_of(std::vector<std::string>& rows, const std::string& row) {
  const auto found = std::ranges::find(rows, row);
  if (found != rows.end()) return static_cast<std::size_t>(found - rows.begin());
  rows.push_back(row);
  return rows.size() - 1;
}

std::string format_text_of(const FormatRow& f) {
  const char* const specials = f.specials == Specials::ieee ? "ieee" : f.specials == Specials::one_nan ? "one_nan" : "none";
  return fmt::format("{{{}, {}, {}, {}, {}, Specials::{}, {}}}", f.bits, f.is_signed, f.exponent_bits, f.fraction_bits, f.ignored_low_bits,
                     specials, f.has_zero);
}

std::string bit_text(const Element& e) {
  const auto bit = [](const char* axis, int number) { return fmt::format("{{Axis::{}, {}}}", axis, log2_exact(number)); };
  if (e.row != 0) return bit("row", e.row);
  if (e.column != 0) return bit("column", e.column);
  return e.matrix != 0 ? bit("matrix", e.matrix) : "{Axis::copy, 0}";
}

/// The element at each place with one bit names that bit.
std::string fragment_text(const Fragment& f) {
  const int inside = f.inside_bits(), size = inside + Fragment::lane_bits + log2_exact(f.registers());
  std::vector<std::string> bits;
  for (int i = 0; i < size; ++i) {
    const int place = 1 << i, in_register = place & ((1 << inside) - 1);
    bits.push_back(
        bit_text(f.element({place >> inside & (warp_size - 1), place >> (inside + Fragment::lane_bits), in_register * f.element_bits()})));
  }
  return fmt::format("{{{}, {}, {}, {}, {}, {}, {{{}}}}}", f.element_bits(), f.register_bits(), f.payload_bits(), f.payload_shift(), inside,
                     size, fmt::join(bits, ", "));
}

const char* arithmetic_name(Semantics semantics) {
  switch (semantics) {
    case Semantics::dot:
    case Semantics::m8n8k4_dot: return "dot";  // of four products, one step
    case Semantics::split_dot: return "split_dot";
    case Semantics::grouped_dot: return "grouped_dot";
    case Semantics::f64_chain: return "f64_chain";
    case Semantics::m8n8k4_fma: return "m8n8k4_fma";
    case Semantics::integer_dot: return "integer_dot";
    case Semantics::bit_dot: return "bit_dot";
    default: return "none";
  }
}

std::string lowering_text(const Lowering* lowering) {
  if (lowering == nullptr) return "{Arithmetic::none, 0, 0, 0, 0, 0}";
  const DotModel none{"", 0, 0, 0, 0, 0};
  const DotModel& m = lowering->model == nullptr ? none : *lowering->model;
  return fmt::format("{{Arithmetic::{}, {}, {}, {}, {}, {}}}", arithmetic_name(lowering->semantics), m.step_bytes, m.fraction_bits,
                     m.result_fraction_bits, m.floor_f32, m.floor_f16);
}

const char* rounding_name(Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest_even: return "nearest_even";
    case Rounding::toward_zero: return "toward_zero";
    case Rounding::down: return "down";
    case Rounding::up: return "up";
  }
  return "";
}

const char* operation_name(BitOperation operation) {
  return operation == BitOperation::none ? "none" : operation == BitOperation::bit_xor ? "bit_xor" : "bit_and";
}

/// "mma.sp::ordered_metadata.sync" as an enumerator: mma_sp_ordered_metadata_sync.
std::string enumerator(std::string opcode) {
  for (std::size_t at = opcode.find("::"); at != std::string::npos; at = opcode.find("::")) opcode.replace(at, 2, "_");
  std::ranges::replace(opcode, '.', '_');
  return opcode;
}

/// In the order of the targets, which is that of the enumeration.
std::vector<Hardware> all_hardware() {
  std::vector<Hardware> all;
  for (const Target& target : targets())
    if (all.empty() || all.back() != target.hardware) all.push_back(target.hardware);
  return all;
}

class Tables {
 public:
  void add(const Form& form, const std::string& opcode, const auto& lowering_on) {
    std::vector<std::size_t> of_hardware;
    for (const Hardware hardware : all_hardware()) of_hardware.push_back(number_of(lowerings_, lowering_text(lowering_on(hardware))));
    const std::size_t set = number_of(sets_, fmt::format("{{{}}}", fmt::join(of_hardware, ", ")));
    const bool sparse = form.sparsity != Sparsity::dense;
    const int group = sparse ? form.shape.k / form.operand(OperandName::e).fragment.columns() : 0;
    // Statements, for the order in which new fragments are numbered.
    const int d = fragment(form, OperandName::d), a = fragment(form, OperandName::a), b = fragment(form, OperandName::b),
              c = fragment(form, OperandName::c), e = fragment(form, OperandName::e), scale_a = fragment(form, OperandName::scale_a),
              scale_b = fragment(form, OperandName::scale_b);
    opcodes_.push_back(enumerator(opcode));
    forms_.push_back(fmt::format(
        "{{{}, {}, {}, {}, Format::{}, Format::{}, Format::{}, Format::{}, {}, {}, {}, {}, {}, {}, Format::{}, {}, {}, BitOperation::{}, "
        "Rounding::{}, {}, {}, {}}}",
        form.shape.m, form.shape.n, form.shape.k, form.stored_k(), name(form.format(OperandName::d)), name(form.format(OperandName::a)),
        name(form.format(OperandName::b)), name(form.format(OperandName::c)), d, a, b, c, e, group, scale_format(form), form.scale_vector,
        form.satfinite, operation_name(form.bit_operation), rounding_name(form.rounding), set, scale_a, scale_b));
  }

  std::string text() const {
    std::string out =
        "#pragma once\n\n// Written by 'warpmat support --device-tables' from the tables of the CPU; "
        "tests/tools/device_tables_test.cpp compares.\n// clang-format off\n\n"
        "#include <warpmat/device/types.h>\n\nnamespace warpmat::device {\n\n";
    std::vector<std::string> names, rows, hardware;
    for (const FormatRow& f : format_rows()) {
      names.emplace_back(f.name);
      rows.push_back(format_text_of(f));
    }
    for (const Hardware h : all_hardware()) hardware.emplace_back(name(h));
    out += fmt::format("enum class Format : unsigned char {{ {} }};\n\n", fmt::join(names, ", "));
    out += array("FormatRow", "format_rows", rows);
    out +=
        fmt::format("/// The GPU whose bits are computed.\nenum class Hardware : unsigned char {{ {} }};\n\n", fmt::join(hardware, ", "));
    out += array("Fragment", "fragments", fragments_);
    out += array("Lowering", "lowerings", lowerings_);
    out += fmt::format("/// Indices of `lowerings`, by hardware.\ninline constexpr unsigned char lowering_sets[][{}] = {{\n    {}}};\n\n",
                       all_hardware().size(), fmt::join(sets_, ",\n    "));
    out += "/// PTX's opcodes, with _ for . and ::.\nenum class Opcode : unsigned short {\n  " +
           fmt::format("{}", fmt::join(opcodes_, ",\n  ")) + "\n};\n\n";
    out += fmt::format("inline constexpr int form_count = {};\n\n", forms_.size());
    out += array("Form", "forms", forms_);
    return out + "}  // namespace warpmat::device\n";
  }

 private:
  static std::string array(const char* type, const char* name, const std::vector<std::string>& rows) {
    return fmt::format("inline constexpr {} {}[] = {{\n    {}}};\n\n", type, name, fmt::join(rows, ",\n    "));
  }

  int fragment(const Form& form, OperandName name) {
    const Operand* const operand = form.find_operand(name);
    return operand == nullptr ? -1 : static_cast<int>(number_of(fragments_, fragment_text(operand->fragment)));
  }

  static std::string_view scale_format(const Form& form) {
    return name(form.scale_vector == 0 ? Format::ue8m0 : form.format(OperandName::scale_a));
  }

  std::vector<std::string> fragments_, lowerings_, sets_, opcodes_, forms_;
};

}  // namespace

std::string device_tables() {
  Tables tables;
  for (const Form& form : forms())
    if (multiplies(form.mnemonic)) tables.add(form, form.opcode, [&](Hardware hardware) { return find_lowering(form, hardware); });
  // Of wgmma the product of 16 rows by 8 columns, of which all wider ones consist.
  std::vector<const Form*> tiles;
  for (const WgmmaForm& form : wgmma_forms()) {
    if (std::ranges::find(tiles, form.tile) != tiles.end()) continue;
    tiles.push_back(form.tile);
    tables.add(*form.tile, "wgmma_tile" + form.tile->opcode.substr(3),
               [&](Hardware hardware) { return hardware == Hardware::sm_90 ? &lowering_of(form) : nullptr; });
  }
  return tables.text();
}

}  // namespace warpmat
