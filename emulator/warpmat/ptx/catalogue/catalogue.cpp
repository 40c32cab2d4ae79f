#include <warpmat/ptx/catalogue/catalogue.h>
#include <warpmat/text.h>

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include <warpmat/ptx/catalogue/rows.h>
#include <warpmat/ptx/catalogue/video_selectors.h>
#include <warpmat/scalar/by_instruction_set.h>
#include <warpmat/tables/opcode.h>
#include <warpmat/wgmma.h>

namespace warpmat::inline v0_1::catalogue {
namespace {

constexpr std::size_t most_places = 64;  // of a row, a bit each in fits()

/// The length of the qualifier that begins at `text[0]`, a dot. The next dot ends it.
std::size_t qualifier_length(std::string_view text) {
  return std::min(text.find_first_of(".()|?", 1), text.size());
}

std::vector<std::string_view> split_opcode(std::string_view opcode) {
  std::vector<std::string_view> parts;
  parts.reserve(8);  // most have fewer
  do {
    const std::size_t length = std::min(opcode.find('.', 1), opcode.size());
    parts.push_back(opcode.substr(0, length));
    opcode.remove_prefix(length);
  } while (!opcode.empty());
  return parts;
}

/// Removes one qualifier or group from the front of `text`.
Pattern::Place take_place(std::string_view& text) {
  Pattern::Place place{{}, false};
  const bool group = text.front() == '(';
  do {
    if (group) text.remove_prefix(1);
    const std::size_t length = qualifier_length(text);
    place.alternatives.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  } while (group && text.starts_with('|'));
  if (group) text.remove_prefix(1);
  if (text.starts_with('?')) {
    place.optional = true;
    text.remove_prefix(1);
  }
  return place;
}

/// "a:f32*4", "p", "d:T+".
OperandPattern parse_operand(std::string_view text, bool result) {
  OperandPattern operand;
  operand.result = result;
  const std::size_t colon = text.find(':');
  operand.name = text.substr(0, colon);
  operand.implicit = operand.name == "cc";
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

struct Index {
  std::vector<Pattern> patterns;
  std::map<std::string, std::vector<const Pattern*>, std::less<>> by_mnemonic;

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
    for (const Pattern& pattern : patterns) by_mnemonic[pattern.mnemonic].push_back(&pattern);
  }
};

constinit scalar::ByInstructionSet<std::unique_ptr<const Index>> indices;

const Index& index() {
  return *indices.get([] { return std::make_unique<const Index>(); });
}

/// Whether every qualifier matches a place and every place that is not optional is filled.
bool fits(const Pattern& pattern, std::span<const std::string_view> qualifiers) {
  const std::vector<Pattern::Place>& places = pattern.places;
  if (qualifiers.size() > places.size()) return false;
  std::uint64_t filled = 0;  // a bit for each place
  for (const std::string_view qualifier : qualifiers) {
    std::size_t i = 0;
    while (i < places.size() &&
           ((filled >> i & 1) != 0 || std::ranges::find(places[i].alternatives, qualifier) == places[i].alternatives.end()))
      ++i;
    if (i == places.size()) return false;
    filled |= std::uint64_t{1} << i;
  }
  for (std::size_t i = 0; i < places.size(); ++i)
    if ((filled >> i & 1) == 0 && !places[i].optional) return false;
  return true;
}

bool is_type(std::string_view qualifier) {
  return find_ptx_type(qualifier.substr(1)) != nullptr;
}

/// The name of the kernel that the opcode itself names: what all spellings have, and T and U for the types.
std::string named_kernel(const Pattern& pattern) {
  std::string name = pattern.mnemonic;
  constexpr std::array types{".T", ".U"};
  std::size_t next = 0;
  for (const Pattern::Place& place : pattern.places) {
    if (is_type(place.alternatives.front()) && next < types.size())
      name += types[next++];
    else if (!place.optional && place.alternatives.size() == 1)
      name += place.alternatives.front();
  }
  return name;
}

// Names of instructions that have a qualifier, which stands first (ptxas 13.0; each was tried).
constexpr std::array<std::string_view, 15> names{"mul.lo",  "mul.hi",  "mul.wide", "mad.lo", "mad.hi",   "mad.wide", "madc.lo", "madc.hi",
                                                 "dp2a.lo", "dp2a.hi", "shf.l",    "shf.r",  "div.full", "bar.warp", "cvta.to"};

/// Whether no such qualifier stands behind another.
bool begins_with_name(const Pattern& pattern, std::span<const std::string_view> qualifiers) {
  return std::ranges::none_of(qualifiers.subspan(std::min<std::size_t>(qualifiers.size(), 1)), [&](std::string_view qualifier) {
    return std::ranges::any_of(names, [&](std::string_view name) {
      return name.size() == pattern.mnemonic.size() + qualifier.size() && name.starts_with(pattern.mnemonic) && name.ends_with(qualifier);
    });
  });
}

/// Whether the types among the qualifiers are in the order of their places.
bool has_types_in_order(const Pattern& pattern, std::span<const std::string_view> qualifiers) {
  auto place = pattern.places.begin();
  for (const std::string_view qualifier : qualifiers) {
    if (!is_type(qualifier)) continue;
    place = std::ranges::find_if(place, pattern.places.end(), [&](const Pattern::Place& p) {
      return std::ranges::find(p.alternatives, qualifier) != p.alternatives.end();
    });
    if (place == pattern.places.end()) return false;
    ++place;
  }
  return true;
}

}  // namespace

Pattern::Pattern(Row row_) : row(std::move(row_)) {
  std::string_view rest = row.opcode;
  mnemonic = rest.substr(0, rest.find_first_of(".("));
  rest.remove_prefix(mnemonic.size());
  name = find_name(mnemonic);
  hidden = mnemonic.starts_with('%');
  while (!rest.empty()) places.push_back(take_place(rest));
  if (places.size() > most_places) throw std::logic_error(format_text("row {} has more than {} places", row.opcode, most_places));
  if (row.semantics == Semantics::compute && row.function == nullptr && row.kernel.empty()) row.kernel = named_kernel(*this);
  operands = parse_operands(row.operands);
  most_operands = static_cast<std::size_t>(
      std::ranges::count_if(operands, [](const OperandPattern& operand) { return !operand.implicit && !operand.paired; }));
}

int Match::vector() const {
  return has(Qualifier::v2) ? 2 : has(Qualifier::v4) ? 4 : has(Qualifier::v8) ? 8 : 1;
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
  std::vector<std::string_view> left = match.qualifiers;
  std::string opcode = match.pattern->mnemonic;
  for (const Pattern::Place& place : match.pattern->places) {
    const auto found =
        is_type(place.alternatives.front()) ? std::ranges::find_if(left, is_type) : std::ranges::find_first_of(left, place.alternatives);
    if (found == left.end()) continue;
    opcode += *found;
    left.erase(found);
  }
  return opcode;
}

std::optional<Match> find_row(std::string_view opcode, std::size_t operands) {
  const std::vector<std::string_view> parts = split_opcode(opcode);
  const auto& by_mnemonic = index().by_mnemonic;
  const auto rows = by_mnemonic.find(parts.front());
  if (rows == by_mnemonic.end()) return std::nullopt;
  const auto qualifiers = std::span(parts).subspan(1);
  // The first row that has their types in this order: cvt.sat.s16.u16 and cvt.sat.u16.s16 have the same qualifiers.
  const Pattern* found = nullptr;
  for (const Pattern* pattern : rows->second)
    if ((found == nullptr || (found->most_operands < operands && pattern->most_operands >= operands)) && fits(*pattern, qualifiers) &&
        has_types_in_order(*pattern, qualifiers) && begins_with_name(*pattern, qualifiers))
      found = pattern;
  if (found == nullptr) return std::nullopt;
  Match match{found, {qualifiers.begin(), qualifiers.end()}, {}, opcode};
  for (const std::string_view qualifier : qualifiers) {
    if (const DataType* type = find_ptx_type(qualifier.substr(1))) match.types.push_back(type);
    if (const auto known = find_qualifier(qualifier)) match.known_qualifiers.set(static_cast<std::size_t>(*known));
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
    Refusal{"multimem.", "multimem addresses are memory of several GPUs, and warpmat has one"},
    Refusal{"st.async", "no H200 has this form, whose answers the machine follows"},
    Refusal{"red.async", "no H200 has this form, whose answers the machine follows"},
    Refusal{"cp.", "no H200 has this form, whose answers the machine follows"},
};

/// What a row has in common with an opcode that it does not spell.
struct Likeness {
  Likeness(const Pattern& pattern, std::span<const std::string_view> qualifiers);

  std::string spelling;     ///< with the most of the qualifiers; at places without any of them it shows all alternatives
  std::string nearest;      ///< the same with the nearest alternative there
  std::size_t unknown = 0;  ///< qualifiers that the row does not have
};

Likeness::Likeness(const Pattern& pattern, std::span<const std::string_view> qualifiers)
    : spelling(pattern.mnemonic), nearest(pattern.mnemonic) {
  std::vector<std::string_view> left(qualifiers.begin(), qualifiers.end());
  std::vector<const Pattern::Place*> unfilled;
  for (const Pattern::Place& place : pattern.places) {
    const auto given = std::ranges::find_first_of(left, place.alternatives);
    if (given != left.end()) {
      spelling += *given;
      nearest += *given;
      left.erase(given);
    } else if (!place.optional) {
      spelling += place.alternatives.size() == 1 ? place.alternatives.front() : format_text("({})", joined(place.alternatives, "|"));
      unfilled.push_back(&place);
    }
  }
  unknown = left.size();
  for (const Pattern::Place* place : unfilled) nearest += nearest_part(place->alternatives, left);
}

}  // namespace

std::string_view why_absent(std::string_view opcode) {
  const auto found = std::ranges::find_if(absences, [&](const Refusal& refusal) { return opcode.starts_with(refusal.begin); });
  return found == absences.end() ? "the machine does not have it" : found->reason;
}

std::string explain_unknown_row(std::string_view opcode) {
  for (const Refusal& refusal : refusals)
    if (opcode.starts_with(refusal.begin) && opcode.find(refusal.has) != std::string_view::npos)
      return format_text("'{}' is not executed: {}", opcode, refusal.reason);
  if (opcode.starts_with("wgmma.mma_async")) return explain_unknown_wgmma(opcode);
  const std::vector<std::string_view> parts = split_opcode(opcode);
  const auto rows = index().by_mnemonic.find(parts.front());
  if (rows == index().by_mnemonic.end())
    return format_text("'{}' is not an instruction that warpmat executes: 'warpmat list' and 'warpmat list --scalar' name those", opcode);
  const auto qualifiers = std::span(parts).subspan(1);
  for (const Pattern* pattern : rows->second)
    if (fits(*pattern, qualifiers) && has_types_in_order(*pattern, qualifiers))
      return other_order(opcode, in_order({pattern, {qualifiers.begin(), qualifiers.end()}, {}}));
  // The row with the most of the qualifiers, and the nearest of those.
  const KnownOpcode wanted(opcode);
  std::optional<Likeness> nearest;
  double least = 0;
  for (const Pattern* pattern : rows->second) {
    Likeness like(*pattern, qualifiers);
    const double far = distance(wanted, KnownOpcode(like.nearest));
    if (nearest && std::pair(like.unknown, far) >= std::pair(nearest->unknown, least)) continue;
    nearest = std::move(like);
    least = far;
  }
  return format_text("'{}' is not a form that warpmat executes; the nearest is {}", opcode, nearest->spelling);
}

}  // namespace warpmat::inline v0_1::catalogue
