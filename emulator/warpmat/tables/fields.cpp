#include <warpmat/forms.h>

#include <warpmat/numeric/persistent.h>
#include <warpmat/tables/field_table.h>
#include <warpmat/tables/opcode.h>
#include <warpmat/text.h>

namespace warpmat {
namespace {

using F = OpcodeFields;

constexpr QualifierRow qualifier_rows[] = {
    {"kind::", &F::kind},         {"sp::ordered_metadata", &F::sparsity},
    {"sp", &F::sparsity},         {"scale_vec::", &F::scale_vec},
    {"rn", &F::rounding},         {"rz", &F::rounding},
    {"rm", &F::rounding},         {"rp", &F::rounding},
    {"shared", &F::space},        {"global", &F::space},
    {"xor", &F::operation},       {"and", &F::operation},
    {"x1", &F::number},           {"x2", &F::number},
    {"x4", &F::number},           {"trans", &F::trans},
    {"satfinite", &F::satfinite},
};

bool is_shape(std::string_view part) {
  return part.size() > 3 && part[0] == 'm' && part[1] >= '0' && part[1] <= '9';
}

/// Stores `part` where it belongs; types of memory one after the other.
void add_part(F& fields, std::string_view part) {
  if (add_qualifier(qualifier_rows, part, fields)) return;
  if (is_shape(part))
    fields.shape = part;
  else if (part == "row" || part == "col")
    (fields.layout_a.empty() ? fields.layout_a : fields.layout_b) = part;
  else if (part != "sync" && part != "aligned" && part != "popc" && part != "block_scale")
    fields.type.append(fields.type.empty() ? "" : ".").append(part);
}

/// The format of an operand's elements; empty if there is none.
std::string format_of(const Form& form, OperandName operand) {
  const Operand* const found = form.find_operand(operand);
  return found != nullptr && found->format ? std::string(name(*found->format)) : std::string();
}

/// The table of `forms`, whose refusals are those of unavailable().
template <typename Forms>
FieldTable table_of(const Forms& forms, FieldTable::Refusal refusal) {
  std::vector<FieldTable::Entry> entries;
  for (const auto& form : forms) entries.push_back({fields_of(form), form.opcode});
  return FieldTable(std::move(entries), refusal);
}

}  // namespace

const FieldTable& form_fields() {
  static constinit Persistent<FieldTable> table;
  return table.get([] { return table_of(forms(), [](std::size_t i, const Target& target) { return unavailable(forms()[i], target); }); });
}

const FieldTable& wgmma_fields() {
  static constinit Persistent<FieldTable> table;
  return table.get(
      [] { return table_of(wgmma_forms(), [](std::size_t i, const Target& target) { return unavailable(wgmma_forms()[i], target); }); });
}

OpcodeFields fields_of(const Form& form) {
  F fields;
  fields.mnemonic = name_of(form.opcode);
  for (std::string_view rest = std::string_view(form.opcode).substr(fields.mnemonic.size()); !rest.empty();)
    add_part(fields, take_part(rest).substr(1));
  if (!multiplies(form.mnemonic)) return fields;
  fields.type.clear();  // the types of operands, which have fields of their own
  fields.d = format_of(form, OperandName::d);
  fields.a = format_of(form, OperandName::a);
  fields.b = format_of(form, OperandName::b);
  fields.c = format_of(form, OperandName::c);
  fields.scale_type = format_of(form, OperandName::scale_a);
  return fields;
}

OpcodeFields fields_of(const WgmmaForm& form) {
  F fields;
  fields.mnemonic = "wgmma.mma_async";
  fields.shape = format_text("m{}n{}k{}", form.shape.m, form.shape.n, form.shape.k);
  fields.d = fields.c = format_of(*form.tile, OperandName::d);
  fields.a = format_of(*form.tile, OperandName::a);
  fields.b = format_of(*form.tile, OperandName::b);
  if (form.sparse()) fields.sparsity = "sp";
  if (form.tile->bit_operation == BitOperation::bit_and) fields.operation = "and";
  if (form.tile->satfinite) fields.satfinite = "satfinite";
  return fields;
}

}  // namespace warpmat
