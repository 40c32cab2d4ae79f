#include <warpmat/lower/tensor_fields.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <warpmat/lower/tensor_statement.h>
#include <warpmat/numeric/persistent.h>
#include <warpmat/ptx/catalogue/catalogue.h>
#include <warpmat/ptx/catalogue/restrictions.h>

namespace warpmat::code {
namespace {

using catalogue::Pattern;
using F = OpcodeFields;

constexpr QualifierRow qualifier_rows[] = {
    {"cta_group::", &F::cta_group},
    {"kind::", &F::kind},
    {"scale_vec::", &F::scale_vec},
    {"block16", &F::scale_vec},
    {"block32", &F::scale_vec},
    {"sp", &F::sparsity},
    {"ws", &F::weights},
    {"ashift", &F::shift_a},
    {"warpx4", &F::multicast},
    {"warpx2::02_13", &F::multicast},
    {"warpx2::01_23", &F::multicast},
    {"b8x16.b4x16_p64", &F::format},
    {"b8x16.b6x16_p32", &F::format},
    {"pack::", &F::pack},
    {"unpack::", &F::pack},
    {"min", &F::operation},
    {"max", &F::operation},
    {"abs", &F::absolute},
    {"NaN", &F::nan},
    {"b32", &F::type},
    {"f32", &F::type},
    {"u32", &F::type},
    {"s32", &F::type},
};
/// The same at every statement of its name.
constexpr std::array without_field{"sync", "aligned", "down", "block_scale"};
/// Statements, with what stands behind tcgen05 in their mnemonic.
constexpr std::array statements{".mma", ".cp", ".shift", ".ld.red", ".ld", ".st"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Stores a part of an opcode, without its dot, where it belongs; false if it belongs nowhere.
bool add_part(std::string_view part, F& fields) {
  if (add_qualifier(qualifier_rows, part, fields)) return true;
  if (std::ranges::find(without_field, part) != without_field.end()) return true;
  const bool number = part.size() > 1 && part[0] == 'x' && is_digit(part[1]);
  if (!number && !is_digit(part[0])) return false;
  (number ? fields.number : fields.shape) = part;
  return true;
}

/// Every spelling of a row: one alternative of each place.
std::vector<std::string> spellings(const Pattern& pattern) {
  std::vector<std::string> all{pattern.mnemonic};
  for (const OpcodePlace& place : pattern.places) {
    if (place.alternatives.front().starts_with(".collector")) continue;
    const bool may_be_absent = place.optional && place.alternatives.front() != ".aligned";
    std::vector<std::string> longer;
    for (const std::string& beginning : all) {
      if (may_be_absent) longer.push_back(beginning);
      for (const std::string& alternative : place.alternatives) longer.push_back(beginning + alternative);
    }
    all = std::move(longer);
  }
  return all;
}

/// The fields of `opcode`; nothing for statements that touch no tensor memory.
std::optional<F> fields_of(std::string_view opcode) {
  constexpr std::string_view family = "tcgen05";
  std::string_view rest = opcode.substr(family.size());
  const auto* const name =
      std::ranges::find_if(statements, [&](std::string_view m) { return rest.starts_with(m) && rest.substr(m.size()).starts_with('.'); });
  if (name == statements.end()) return std::nullopt;
  rest.remove_prefix(std::string_view(*name).size());
  F fields;
  fields.mnemonic = std::string(family) + *name;
  while (!rest.empty()) {
    // The formats of a copy are two qualifiers.
    const std::size_t from = rest.starts_with(".b8x16.") ? std::string_view(".b8x16").size() : 0;
    const std::size_t end = std::min(rest.find('.', from + 1), rest.size());
    if (!add_part(rest.substr(1, end - 1), fields)) throw std::logic_error("a qualifier of tcgen05 has no field");
    rest.remove_prefix(end);
  }
  return fields;
}

FieldTable make_table() {
  std::vector<FieldTable::Entry> entries;
  for (const Pattern& pattern : catalogue::patterns()) {
    if (pattern.mnemonic != "tcgen05") continue;
    for (std::string& opcode : spellings(pattern))
      if (const std::optional<F> fields = fields_of(opcode)) entries.push_back({*fields, std::move(opcode)});
  }
  return FieldTable(std::move(entries), [](std::size_t i, const Target& target) -> std::optional<std::string> {
    const std::string& opcode = tensor_fields().entries()[i].opcode;
    const auto match = catalogue::find_row(opcode);
    if (!match) throw std::logic_error("the catalogue does not spell its own opcode");
    if (auto refused = catalogue::refusal(*match, target, newest_ptx)) return refused;
    return describe_tensor_statement(*match, target).problem;
  });
}

}  // namespace

const FieldTable& tensor_fields() {
  static constinit Persistent<FieldTable> table;
  return table.get(make_table);
}

}  // namespace warpmat::code
