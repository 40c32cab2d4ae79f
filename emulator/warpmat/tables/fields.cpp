#include <warpmat/tables/fields.h>

#include <algorithm>

#include <warpmat/numeric/persistent.h>
#include <warpmat/tables/opcode.h>
#include <warpmat/text.h>

namespace warpmat::inline v0_1 {
namespace {

using F = FormFields;

// Types, shapes and layouts are open where a question does not say them: most instructions have one. A qualifier that is not said is not
// there.
constexpr FieldRow rows_of_fields[] = {
    {"mnemonic", &F::mnemonic, true},
    {"shape", &F::shape, true},
    {"d", &F::d, true},
    {"a", &F::a, true},
    {"b", &F::b, true},
    {"c", &F::c, true},
    {"type", &F::type, true},
    {"layout_a", &F::layout_a, true},
    {"layout_b", &F::layout_b, true},
    {"kind", &F::kind, false},
    {"sparsity", &F::sparsity, false},
    {"scale_vec", &F::scale_vec, false},
    {"scale_type", &F::scale_type, true},
    {"rounding", &F::rounding, false},
    {"space", &F::space, false},
    {"operation", &F::operation, true},
    {"number", &F::number, true},
    {"trans", &F::trans, false},
    {"satfinite", &F::satfinite, false},
};

/// A qualifier that is a field by itself: exactly this text, or, if it ends in "::", what follows.
struct QualifierRow {
  std::string_view text;
  std::string F::*member;
};
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
void add_qualifier(F& fields, const std::string& part) {
  for (const QualifierRow& row : qualifier_rows) {
    if (row.text.ends_with("::") ? !part.starts_with(row.text) : part != row.text) continue;
    fields.*row.member = row.text.ends_with("::") ? part.substr(row.text.size()) : part;
    return;
  }
  if (is_shape(part))
    fields.shape = part;
  else if (part == "row" || part == "col")
    (fields.layout_a.empty() ? fields.layout_a : fields.layout_b) = part;
  else if (part != "sync" && part != "aligned" && part != "popc" && part != "block_scale")
    fields.type += (fields.type.empty() ? "" : ".") + part;
}

/// The format of an operand's elements; empty if there is none.
std::string format_of(const Form& form, OperandName operand) {
  const Operand* const found = form.find_operand(operand);
  return found != nullptr && found->format ? std::string(name(*found->format)) : std::string();
}

const std::vector<F>& all_fields() {
  static constinit Persistent<std::vector<F>> all;
  return all.get([] {
    std::vector<F> made;
    for (const Form& form : forms()) made.push_back(fields_of(form));
    return made;
  });
}

bool matches(const F& wanted, const F& has, const FieldRow* except) {
  return std::ranges::all_of(rows_of_fields, [&](const FieldRow& row) {
    const std::string& value = wanted.*row.member;
    return &row == except || (row.empty_is_any && value.empty()) || value == has.*row.member;
  });
}

std::vector<const Form*> forms_but(const F& wanted, const Target& target, const FieldRow* except) {
  std::vector<const Form*> found;
  for (std::size_t i = 0; i < forms().size(); ++i)
    if (matches(wanted, all_fields()[i], except) && !unavailable(forms()[i], target)) found.push_back(&forms()[i]);
  return found;
}

/// "a = f16", "no a".
std::string said(const FieldRow& row, const std::string& value) {
  return value.empty() ? format_text("no {}", row.name) : format_text("{} = {}", row.name, value);
}

/// The values that `found` have of a field: "f16, bf16".
std::string values_of(const FieldRow& row, const std::vector<const Form*>& found) {
  std::vector<std::string> values;
  for (const Form* form : found) {
    const std::string value = fields_of(*form).*row.member;
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  }
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + (value.empty() ? std::string("none") : value);
  return text;
}

std::string explain_several(const std::vector<const Form*>& found) {
  std::string differ;
  for (const FieldRow& row : rows_of_fields) {
    const std::string values = values_of(row, found);
    if (values.find(", ") != std::string::npos) differ += format_text("{}{} ({})", differ.empty() ? "" : " and ", row.name, values);
  }
  return format_text("{} forms have these fields, such as {} and {}: say {}", found.size(), found[0]->opcode, found[1]->opcode, differ);
}

}  // namespace

std::span<const FieldRow> field_rows() {
  return rows_of_fields;
}

FormFields fields_of(const Form& form) {
  F fields;
  const OpcodeKey key = opcode_key(form.opcode);
  fields.mnemonic = key.front();
  for (std::size_t i = 1; i < key.size(); ++i) add_qualifier(fields, key[i]);
  if (!multiplies(form.mnemonic)) return fields;
  fields.type.clear();  // the types of operands, which have fields of their own
  fields.d = format_of(form, OperandName::d);
  fields.a = format_of(form, OperandName::a);
  fields.b = format_of(form, OperandName::b);
  fields.c = format_of(form, OperandName::c);
  fields.scale_type = format_of(form, OperandName::scale_a);
  return fields;
}

std::vector<const Form*> find_forms(const FormFields& wanted, const Target& target) {
  return forms_but(wanted, target, nullptr);
}

std::string explain_fields(const FormFields& wanted, const Target& target) {
  if (const std::vector<const Form*> found = find_forms(wanted, target); found.size() > 1) return explain_several(found);
  std::string asked;
  for (const FieldRow& row : rows_of_fields)
    if (!(wanted.*row.member).empty()) asked += (asked.empty() ? "" : ", ") + said(row, wanted.*row.member);
  const std::string beginning = format_text("{} has no form with {}", target.name, asked.empty() ? "no field at all" : asked);
  for (const FieldRow& row : rows_of_fields)
    if (const std::vector<const Form*> found = forms_but(wanted, target, &row); !found.empty())
      return format_text("{}; with another {} there is: {}", beginning, row.name, values_of(row, found));
  return format_text("{}, nor where one field is another", beginning);
}

}  // namespace warpmat::inline v0_1
