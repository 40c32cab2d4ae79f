#include <warpmat/tables/field_table.h>

#include <algorithm>
#include <array>
#include <iterator>

#include <warpmat/text.h>

namespace warpmat {
namespace {

using F = OpcodeFields;

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
    {"cta_group", &F::cta_group, true},
    {"multicast", &F::multicast, true},
    {"format", &F::format, false},
    {"pack", &F::pack, false},
    {"weights", &F::weights, false},
    {"shift_a", &F::shift_a, false},
    {"absolute", &F::absolute, false},
    {"nan", &F::nan, false},
};

/// Of more values than these a message lists the first ones and the last: a wgmma has 32 widths.
constexpr std::size_t most_values = 12, first_values = 5;

bool matches(const FieldRow& row, const F& wanted, const F& has) {
  const std::string& value = wanted.*row.member;
  return (row.empty_is_any && value.empty()) || value == has.*row.member;
}

bool matches(const F& wanted, const F& has) {
  return std::ranges::all_of(rows_of_fields, [&](const FieldRow& row) { return matches(row, wanted, has); });
}

/// The one field that does not match; nullptr if none does not, or several.
const FieldRow* only_mismatch(const F& wanted, const F& has) {
  const FieldRow* found = nullptr;
  for (const FieldRow& row : rows_of_fields) {
    if (matches(row, wanted, has)) continue;
    if (found != nullptr) return nullptr;
    found = &row;
  }
  return found;
}

/// "a = f16", "no a".
std::string said(const FieldRow& row, const std::string& value) {
  return value.empty() ? format_text("no {}", row.name) : format_text("{} = {}", row.name, value);
}

/// The fields that a question says: "mnemonic = mma, a = f16".
std::string said(const F& wanted) {
  std::string all;
  for (const FieldRow& row : rows_of_fields)
    if (!(wanted.*row.member).empty()) all += (all.empty() ? "" : ", ") + said(row, wanted.*row.member);
  return all.empty() ? "no field at all" : all;
}

}  // namespace

std::span<const FieldRow> field_rows() {
  return rows_of_fields;
}

bool add_qualifier(std::span<const QualifierRow> rows, std::string_view part, OpcodeFields& fields) {
  const auto found = std::ranges::find_if(
      rows, [&](const QualifierRow& row) { return row.text.ends_with("::") ? part.starts_with(row.text) : part == row.text; });
  if (found == rows.end()) return false;
  fields.*found->member = found->text.ends_with("::") ? part.substr(found->text.size()) : part;
  return true;
}

std::vector<std::size_t> FieldTable::find(const OpcodeFields& wanted, const Target& target) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (matches(wanted, entries_[i].fields) && !refusal_(i, target)) found.push_back(i);
  return found;
}

std::vector<std::size_t> FieldTable::find_mnemonic(std::string_view mnemonic) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (mnemonic.empty() || entries_[i].fields.mnemonic == mnemonic) found.push_back(i);
  return found;
}

std::string FieldTable::values_of(const FieldRow& row, std::span<const std::size_t> entries) const {
  std::vector<std::string> values;
  for (const std::size_t i : entries) {
    const std::string& value = entries_[i].fields.*row.member;
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  }
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool left_out = values.size() > most_values && i >= first_values && i + 1 < values.size();
    if (left_out && i > first_values) continue;
    text += (text.empty() ? "" : ", ") + (left_out ? "..." : values[i].empty() ? "none" : values[i]);
  }
  return values.size() > most_values ? text + format_text(" ({} values)", values.size()) : text;
}

std::string FieldTable::explain_several(std::span<const std::size_t> found) const {
  std::string differ;
  for (const FieldRow& row : rows_of_fields) {
    const std::string values = values_of(row, found);
    if (values.find(", ") != std::string::npos) differ += format_text("{}{} ({})", differ.empty() ? "" : " and ", row.name, values);
  }
  return format_text("{} forms have these fields, such as {} and {}: say {}", found.size(), entries_[found[0]].opcode,
                     entries_[found[1]].opcode, differ);
}

std::string FieldTable::unknown_values(const OpcodeFields& wanted) const {
  std::string text;
  std::vector<std::size_t> of_mnemonic = find_mnemonic(wanted.mnemonic);
  if (of_mnemonic.empty()) of_mnemonic = find_mnemonic("");
  for (const FieldRow& row : rows_of_fields) {
    const std::string& value = wanted.*row.member;
    const bool known = std::ranges::any_of(of_mnemonic, [&](std::size_t i) { return entries_[i].fields.*row.member == value; });
    if (!value.empty() && !known) text += format_text("; {} may be: {}", row.name, values_of(row, of_mnemonic));
  }
  return text;
}

FieldTable::Explanation FieldTable::explain(const OpcodeFields& wanted, const Target& target) const {
  if (const std::vector<std::size_t> found = find(wanted, target); !found.empty()) return {Problem::several, explain_several(found)};
  std::array<std::vector<std::size_t>, std::size(rows_of_fields)> but_one;  // entries that match but for this field
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (matches(wanted, entries_[i].fields)) return {Problem::unavailable, *refusal_(i, target)};
    const FieldRow* const row = only_mismatch(wanted, entries_[i].fields);
    if (row != nullptr && !refusal_(i, target)) but_one[static_cast<std::size_t>(row - rows_of_fields)].push_back(i);
  }
  const std::string text = format_text("{} has no form with {}", target.name, said(wanted));
  std::string others;
  for (const FieldRow& row : rows_of_fields)
    if (const auto& found = but_one[static_cast<std::size_t>(&row - rows_of_fields)]; !found.empty())
      others += format_text("; with another {} there is: {}", row.name, values_of(row, found));
  if (others.empty()) others = unknown_values(wanted);
  return {Problem::unknown, text + (others.empty() ? ", nor where one field is another" : others)};
}

}  // namespace warpmat
