#include <warpmat/ptx/catalogue/catalogue.h>
#include <warpmat/text.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include <warpmat/ptx/catalogue/rows.h>
#include <warpmat/ptx/catalogue/video_selectors.h>
#include <warpmat/scalar/by_instruction_set.h>
#include <warpmat/tables/nearest_opcode.h>
#include <warpmat/tables/opcode_index.h>
#include <warpmat/wgmma.h>

namespace warpmat::catalogue {
namespace {

/// The names of a row's operands (row.h) that say more than which one it is.
OperandPattern::Role role_of(std::string_view name) {
  using enum OperandPattern::Role;
  return name == "address" ? address : name == "lut" ? number : name == "cc" ? carry : data;
}

/// "a:f32*4", "p", "d:T+".
OperandPattern parse_operand(std::string_view text, bool result) {
  OperandPattern operand;
  operand.result = result;
  const std::size_t colon = text.find(':');
  operand.name = text.substr(0, colon);
  operand.role = role_of(operand.name);
  std::string_view type = colon == std::string_view::npos ? "pred" : text.substr(colon + 1);
  if (const std::size_t star = type.find('*'); star != std::string_view::npos) {
    operand.count = type.substr(star + 1) == "v" ? 0 : std::stoi(std::string(type.substr(star + 1)));
    type = type.substr(0, star);
  }
  if (type.ends_with('+')) {
    operand.may_be_wider = true;
    type.remove_suffix(1);
  }
  if (type == "T" || type == "U") {
    operand.type_index = type == "U";
  } else if (operand.type = find_ptx_type(type); operand.type == nullptr) {
    throw std::logic_error(format_text("no type '{}' for operand '{}' of a row", type, text));
  }
  return operand;
}

std::vector<OperandPattern> parse_operands(std::string_view text) {
  std::vector<OperandPattern> operands;
  bool result = text.find('=') != std::string_view::npos, paired = false, optional = false;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find_first_of(" ,=|[]"), text.size());
    if (length > 0) {
      operands.push_back(parse_operand(text.substr(0, length), result));
      operands.back().paired = paired;
      operands.back().optional = optional;
      paired = false;
      text.remove_prefix(length);
      continue;
    }
    if (text.front() == '=') result = false;
    if (text.front() == '|') paired = true;
    if (text.front() == '[') optional = true;
    if (text.front() == ']') optional = false;
    text.remove_prefix(1);
  }
  return operands;
}

/// The rows, the grammar's index of them, in which they have their numbers, and what their qualifiers mean.
struct Index {
  std::vector<Pattern> patterns;
  OpcodeIndex opcodes;
  std::unordered_map<std::string_view, QualifierMeaning> meanings;

  Index() {
    std::vector<Row> rows;
    add_basic_rows(rows);
    add_integer_rows(rows);
    add_float_rows(rows);
    add_approximate_rows(rows);
    add_compare_rows(rows);
    add_convert_rows(rows);
    add_video_rows(rows);
    add_machine_rows(rows);
    add_async_rows(rows);
    add_tensor_memory_rows(rows);
    add_texture_rows(rows);
    for (Row& row : rows) patterns.emplace_back(std::move(row));
    for (const Pattern& pattern : patterns) opcodes.add(pattern);
    opcodes.for_each_qualifier([&](std::string_view qualifier) { meanings.emplace(qualifier, meaning_of(qualifier)); });
  }
};

constinit scalar::ByInstructionSet<std::unique_ptr<const Index>> indices;

const Index& index() {
  return *indices.get([] { return std::make_unique<const Index>(); });
}

bool is_type(std::string_view qualifier) {
  return find_ptx_type(qualifier.substr(1)) != nullptr;
}

/// The name of the kernel that the opcode itself names: what all spellings have, and T and U for the types.
std::string named_kernel(const Pattern& pattern) {
  std::string name = pattern.mnemonic;
  constexpr std::array types{".T", ".U"};
  std::size_t next = 0;
  for (const OpcodePlace& place : pattern.places) {
    if (is_type(place.alternatives.front()) && next < types.size())
      name += types[next++];
    else if (!place.optional && place.alternatives.size() == 1)
      name += place.alternatives.front();
  }
  return name;
}

}  // namespace

Pattern::Pattern(Row row_) : OpcodeRow(row_.opcode), row(std::move(row_)), name(find_name(mnemonic)), hidden(mnemonic.starts_with('%')) {
  if (row.semantics == Semantics::compute && row.function == nullptr && row.kernel.empty()) row.kernel = named_kernel(*this);
  operands = parse_operands(row.operands);
  if (places.size() > Qualifiers::most) throw std::logic_error(format_text("row {} has too many qualifiers", row.opcode));
  most_operands = static_cast<std::size_t>(
      std::ranges::count_if(operands, [](const OperandPattern& operand) { return !operand.implicit() && !operand.paired; }));
}

int Match::vector() const {
  return has(".v2") ? 2 : has(".v4") ? 4 : has(".v8") ? 8 : 1;
}

const DataType& Match::type_of(const OperandPattern& operand) const {
  if (operand.type != nullptr) return *operand.type;
  const auto i = static_cast<std::size_t>(operand.type_index);
  if (i >= types.size()) throw std::logic_error(format_text("row {} has no type number {}", pattern->row.opcode, i));
  return *types[i];
}

bool takes_integers_alone(const Match& match, const OperandPattern& operand) {
  constexpr std::array others{Name::mul, Name::mad, Name::slct};  // what is wide of mul and mad, and c of slct
  const bool has_own_type = operand.type != nullptr || match.is(Name::redux);
  return has_own_type && match.type_of(operand).type_class == DataType::Class::integer &&
         std::ranges::find(others, match.name()) == others.end() && !is_video(match);
}

std::span<const Pattern> patterns() {
  return index().patterns;
}

std::string in_order(const Match& match) {
  return warpmat::in_order(*match.pattern, match.qualifiers);
}

std::optional<Match> find_row(std::string_view opcode, std::size_t operands) {
  if (table_of(opcode) != OpcodeTable::rows)
    return std::nullopt;  // a program of matrix instructions alone needs no index, which takes milliseconds
  const std::vector<std::string_view> parts = parts_of(opcode);
  const auto& [patterns, opcodes, meanings] = index();
  // The first row that has the types in this order: cvt.sat.s16.u16 and cvt.sat.u16.s16 have the same qualifiers.
  const std::optional<std::size_t> first = opcodes.find(parts);
  if (!first) return std::nullopt;
  std::optional<std::size_t> row = first;
  while (row && patterns[*row].most_operands < operands) row = opcodes.find(parts, *row + 1);
  Match match{.pattern = &patterns[row.value_or(*first)], .qualifiers = {parts.begin() + 1, parts.end()}, .opcode = opcode};
  match.spelling.name = match.name();
  match.meanings.reserve(match.qualifiers.size());
  for (const std::string_view qualifier : match.qualifiers) {
    const QualifierMeaning& meaning = *match.meanings.emplace_back(&meanings.find(qualifier)->second);
    if (meaning.type != nullptr) match.types.push_back(meaning.type);
    match.spelling.qualifiers.add(meaning.qualifier);
  }
  return match;
}

namespace {

/// Instructions that are refused on purpose, by the beginning of the opcode.
struct Refusal {
  std::string_view begin, reason;
  std::string_view has = {};  ///< only opcodes with this qualifier, or the beginning of one
};

constexpr std::array refusals{
    Refusal{"sured.", "warpmat has no reductions on surfaces"},
    Refusal{"sust.p", "warpmat stores to surfaces without conversion, by sust.b"},
};

constexpr std::array absences{
    Refusal{"multimem.", "no H200 has this type, whose answers the machine follows"},
    Refusal{"st.async", "no H200 has this form, whose answers the machine follows"},
    Refusal{"red.async", "no H200 has this form, whose answers the machine follows"},
    Refusal{"cp.", "no H200 has this form, whose answers the machine follows"},
};

}  // namespace

std::string_view why_absent(std::string_view opcode) {
  const auto found = std::ranges::find_if(absences, [&](const Refusal& refusal) { return opcode.starts_with(refusal.begin); });
  return found == absences.end() ? "the machine does not have it" : found->reason;
}

std::string explain_unknown_row(std::string_view opcode) {
  for (const Refusal& refusal : refusals)
    if (opcode.starts_with(refusal.begin) && opcode.find(refusal.has) != std::string_view::npos)
      return format_text("'{}' is not executed: {}", opcode, refusal.reason);
  if (table_of(opcode) == OpcodeTable::wgmma) return explain_unknown_wgmma(opcode);
  const std::vector<std::string_view> parts = parts_of(opcode);
  const auto& [patterns, opcodes, meanings] = index();
  std::vector<const OpcodeRow*> rows;
  for (const std::size_t row : opcodes.rows_of(parts.front())) rows.push_back(&patterns[row]);
  if (rows.empty())
    return format_text("'{}' is not an instruction that warpmat executes: 'warpmat list' and 'warpmat list --scalar' name those", opcode);
  if (const std::optional<std::size_t> row = opcodes.find(parts, 0, OrderRule::types_alone))
    return other_order(opcode, warpmat::in_order(patterns[*row], std::span(parts).subspan(1)));
  return format_text("'{}' is not a form that warpmat executes; the nearest is {}", opcode, nearest_spelling(opcode, rows));
}

}  // namespace warpmat::catalogue
