#include <warpmat/forms.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <warpmat/numeric/persistent.h>
#include <warpmat/tables/capacity.h>
#include <warpmat/tables/form_row.h>
#include <warpmat/tables/mma_forms.h>
#include <warpmat/tables/nearest_opcode.h>
#include <warpmat/tables/opcode_index.h>
#include <warpmat/tables/opcode_text.h>
#include <warpmat/tables/wmma_forms.h>
#include <warpmat/text.h>

namespace warpmat {
namespace {

std::vector<Form> expand_all() {
  std::vector<FormRow> made;
  made.reserve(1000);  // about as many as there are
  add_mma_forms(made);
  add_wmma_forms(made);
  std::vector<Form> out = forms_of(std::move(made));
  for ([[maybe_unused]] const Form& form : out) assert(!capacity::excess(form));
  return out;
}

const std::vector<Form>& all_forms() {
  static constinit Persistent<std::vector<Form>> all;
  return all.get(expand_all);
}

/// The forms of wmma on sm_70, and the number of each among all_forms(), both in one order.
struct VoltaForms {
  std::vector<Form> forms;
  std::vector<std::size_t> rows;
};

VoltaForms make_volta_forms() {
  std::vector<FormRow> volta_rows;
  add_volta_wmma_forms(volta_rows);
  VoltaForms made{forms_of(std::move(volta_rows)), {}};
  std::size_t number = 0;
  for (const Form& form : made.forms) {
    assert(!capacity::excess(form));
    while (all_forms()[number].opcode != form.opcode) ++number;
    made.rows.push_back(number);
  }
  return made;
}

const VoltaForms& volta_forms() {
  static constinit Persistent<VoltaForms> made;
  return made.get(make_volta_forms);
}

/// The number of `form` in `forms`; nothing if it is in another place.
std::optional<std::size_t> place_in(const std::vector<Form>& forms, const Form& form) {
  if (std::less<>()(&form, forms.data()) || !std::less<>()(&form, forms.data() + forms.size())) return std::nullopt;
  return static_cast<std::size_t>(&form - forms.data());
}

/// By the canonical spelling: most callers use it, and this index is made in a fraction of the time.
using SpellingIndex = std::unordered_map<std::string_view, const Form*>;

const SpellingIndex& spelling_index() {
  static constinit Persistent<SpellingIndex> index;
  return index.get([] {
    SpellingIndex by_spelling(forms().size());
    for (const Form& form : forms()) by_spelling.emplace(form.opcode, &form);
    return by_spelling;
  });
}

/// By the grammar, for every other spelling. Rows have the forms' numbers.
const OpcodeIndex& opcode_index() {
  static constinit Persistent<OpcodeIndex> index;
  return index.get([] {
    OpcodeIndex made;
    for (const Form& form : forms()) {
      OpcodeRow pattern(form.opcode);
      for (OpcodePlace& place : pattern.places)
        if (place.alternatives.front() == ".shared") place.alternatives.emplace_back(".shared::cta");
      made.add(pattern);
    }
    return made;
  });
}

}  // namespace

Operand::Operand(const OperandRow& row)
    : name(row.name),
      kind(row.kind),
      written(row.written),
      in_braces(row.in_braces),
      format(row.format),
      fragment(row.fragment),
      choices(row.choices) {}

OperandRow OperandRow::of(const Operand& operand) {
  return {operand.name, operand.kind, operand.written, operand.in_braces, operand.format, operand.fragment, operand.choices};
}

namespace {

template <typename To, typename From, typename Convert>
std::vector<To> each(const std::vector<From>& all, Convert convert) {
  std::vector<To> out;
  out.reserve(all.size());
  for (const From& one : all) out.push_back(std::invoke(convert, one));
  return out;
}

}  // namespace

Form::Form(FormRow row)
    : mnemonic(row.mnemonic),
      opcode(std::move(row.opcode)),
      requirement(row.requirement),
      operands(each<Operand>(row.operands, &OperandRow::operand)),
      shape(row.shape),
      number(row.number),
      transposed(row.transposed),
      memory_bits(row.memory_bits),
      matrix(row.matrix),
      space(row.space),
      column_major(row.column_major),
      sparsity(row.sparsity),
      kind(row.kind),
      scale_vector(row.scale_vector),
      satfinite(row.satfinite),
      bit_operation(row.bit_operation),
      rounding(row.rounding) {}

FormRow FormRow::of(const Form& form) {
  return {.mnemonic = form.mnemonic,
          .opcode = form.opcode,
          .requirement = form.requirement,
          .operands = each<OperandRow>(form.operands, &OperandRow::of),
          .shape = form.shape,
          .number = form.number,
          .transposed = form.transposed,
          .memory_bits = form.memory_bits,
          .matrix = form.matrix,
          .space = form.space,
          .column_major = form.column_major,
          .sparsity = form.sparsity,
          .kind = form.kind,
          .scale_vector = form.scale_vector,
          .satfinite = form.satfinite,
          .bit_operation = form.bit_operation,
          .rounding = form.rounding};
}

std::vector<Form> forms_of(std::vector<FormRow> rows) {
  std::vector<Form> out;
  out.reserve(rows.size());  // forms are not moved
  for (FormRow& row : rows) out.push_back(std::move(row).form());
  return out;
}

std::string_view name(Mnemonic mnemonic) {
  switch (mnemonic) {
    case Mnemonic::ldmatrix: return "ldmatrix";
    case Mnemonic::stmatrix: return "stmatrix";
    case Mnemonic::movmatrix: return "movmatrix";
    case Mnemonic::mma: return "mma";
    case Mnemonic::wmma_load: return "wmma.load";
    case Mnemonic::wmma_store: return "wmma.store";
    case Mnemonic::wmma_mma: return "wmma.mma";
  }
  return "";
}

std::string_view name(OperandName name) {
  static constexpr std::string_view names[operand_name_count] = {"d",     "a",       "b",     "c", "e", "selector", "scale-a",
                                                                 "ids-a", "scale-b", "ids-b", "r", "p", "stride"};
  return names[static_cast<std::size_t>(name)];
}

std::string_view name(OperandKind kind) {
  static constexpr std::string_view names[] = {"fragment", "address", "selector", "ids", "stride"};
  return names[static_cast<std::size_t>(kind)];
}

std::optional<OperandName> find_operand_name(std::string_view text) {
  for (std::size_t i = 0; i < operand_name_count; ++i)
    if (const auto candidate = static_cast<OperandName>(i); name(candidate) == text) return candidate;
  return std::nullopt;
}

const Operand* Form::find_operand(OperandName operand_name) const {
  const auto found = std::ranges::find(operands, operand_name, &Operand::name);
  return found == operands.end() ? nullptr : &*found;
}

const Operand& Form::operand(OperandName operand_name) const {
  const Operand* found = find_operand(operand_name);
  assert(found != nullptr);
  return *found;
}

int Form::memory_alignment() const {
  const Fragment& fragment = operand(OperandName::r).fragment;
  const auto place_in_memory = [&](const Place& place) {
    constexpr std::uint32_t far = 1 << 16;  // a stride at which rows are never adjacent
    return number_in_memory(fragment.element(place), far);
  };
  const auto follows = [&](const Place& place) { return place_in_memory(place) == place_in_memory({0, 0, 0}) + 1; };
  const int access = std::max(4, memory_bits / 8);                                                            // bytes
  if (matrix == OperandName::c || matrix == OperandName::d) return follows({0, 1, 0}) ? 2 * access : access;  // two at once
  const bool fills_registers = memory_bits >= 32 || follows({0, 0, memory_bits});
  if (space == Space::shared && memory_bits <= 16 && (fills_registers || memory_bits == 16)) return 16;  // LDSM
  return fills_registers || memory_bits == 16 || space == Space::shared ? access : 1;
}

std::span<const Form> forms() {
  return all_forms();
}

std::span<const Form> variants_of_forms() {
  return volta_forms().forms;
}

std::size_t number_of(const Form& form) {
  if (const auto number = place_in(all_forms(), form)) return *number;
  const auto number = place_in(volta_forms().forms, form);
  assert(number);
  return all_forms().size() + *number;
}

const Form& form_on(const Form& form, Hardware hardware) {
  const Form& known = *listed(form);
  if (!moves_matrix(known) && known.mnemonic != Mnemonic::wmma_mma) return known;
  const auto row = place_in(all_forms(), known);
  if (hardware != Hardware::sm_70) return row ? known : all_forms()[volta_forms().rows[*place_in(volta_forms().forms, known)]];
  if (!row) return known;
  const auto found = std::ranges::lower_bound(volta_forms().rows, *row);
  const bool has_variant = found != volta_forms().rows.end() && *found == *row;
  return has_variant ? volta_forms().forms[static_cast<std::size_t>(found - volta_forms().rows.begin())] : known;
}

const Form* listed(const Form& form) {
  if (place_in(all_forms(), form)) return &form;
  const Form* const plain = find_form(form.opcode);
  if (plain == nullptr) return nullptr;
  if (*plain == form) return plain;
  if (place_in(volta_forms().forms, form)) return &form;
  const Form* const volta = &form_on(*plain, Hardware::sm_70);
  return *volta == form ? volta : nullptr;
}

const Form* find_form(std::string_view opcode) {
  if (const auto spelled = spelling_index().find(opcode); spelled != spelling_index().end()) return spelled->second;
  const std::optional<std::size_t> found = opcode_index().find(opcode);
  return found ? &forms()[*found] : nullptr;
}

std::string explain_unknown_form(std::string_view opcode) {
  if (const OpcodeText text = opcode_in(opcode); !text.beside.empty() && !text.opcode.empty()) {
    const std::string rest =
        find_form(text.opcode) != nullptr ? format_text("the opcode is {}", text.opcode) : explain_unknown_form(text.opcode);
    return format_text("'{}' has {} beside the opcode: {}", opcode, text.listed(), rest);
  }
  if (table_of(opcode) != OpcodeTable::forms)
    return format_text("unknown instruction '{}': the matrix instructions are ldmatrix, stmatrix, movmatrix, mma and wmma",
                       mnemonic_of(opcode));
  if (const Form* const form = find_form(name_first(opcode))) return other_order(opcode, form->opcode);
  static constinit Persistent<std::vector<KnownOpcode>> known;
  return explain_unknown(opcode, known.get([] {
    std::vector<KnownOpcode> all;
    for (const Form& form : forms()) all.emplace_back(form.opcode);
    return all;
  }));
}

bool has_feature(const Requirement& r, const Target& target) {
  if (r.baseline != 0 && target.number >= r.baseline) return true;
  const bool specific =
      target.features == Target::Features::architecture || (target.features == Target::Features::family && !r.architecture);
  return specific && std::ranges::find(r.families, target.family) != r.families.end();
}

std::string describe(const Requirement& r) {
  if (r.baseline != 0) return format_text("sm_{} or later", r.baseline);
  std::vector<std::string_view> names;
  for (const Target& target : targets())
    if (has_feature(r, target)) names.push_back(target.name);
  std::ranges::sort(names);
  const std::string_view last = names.back();
  names.pop_back();
  if (names.empty()) return std::string(last);
  return format_text("{} or {}", comma_list(names), last);
}

std::optional<std::string> unmet(const Requirement& r, const Target& target, PtxVersion version) {
  if (!has_feature(r, target)) return format_text("needs {}; the target is {}", describe(r), target.name);
  if (version < r.ptx) return format_text("needs PTX {} or later; the version is {}", to_string(r.ptx), to_string(version));
  return std::nullopt;
}

std::optional<std::string> unavailable(const Form& form, const Target& target, PtxVersion version) {
  const auto rule = unmet(form.requirement, target, version);
  return rule ? std::optional(format_text("{} {}", form.opcode, *rule)) : std::nullopt;
}

bool is_matrix_mnemonic(std::string_view mnemonic) {
  constexpr std::string_view all[] = {"ldmatrix", "stmatrix", "movmatrix", "mma", "wmma"};
  return std::ranges::find(all, mnemonic) != std::end(all);
}

}  // namespace warpmat
