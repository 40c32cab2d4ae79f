#include "gpu/runners/scalar_case.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include <fmt/core.h>

#include <warpmat/ptx/catalogue/video_selectors.h>

namespace warpmat {
namespace {

using catalogue::Match;
using catalogue::OperandPattern;
using catalogue::Pattern;

ValueKind kind_of(const DataType& type) {
  if (type.is_predicate()) return ValueKind::predicate;
  if (type.name.starts_with("f16")) return ValueKind::f16;
  if (type.name.starts_with("bf16")) return ValueKind::bf16;
  if (type.name == "f32" || type.name == "tf32") return ValueKind::f32;
  if (type.name == "f64") return ValueKind::f64;
  if (type.bits == 8 || type.is_floating()) return ValueKind::i8;  // including packed small formats
  if (type.bits == 16 || type.name.ends_with("16x2")) return ValueKind::i16;
  return type.bits == 64 ? ValueKind::i64 : ValueKind::i32;
}

ScalarOperand operand(const Match& match, const OperandPattern& pattern) {
  const DataType& type = match.type_of(pattern);
  // Uses the widest register that is allowed, so that the GPU shows how it fills the upper bits.
  const int bits = type.is_predicate() ? 1 : pattern.may_be_wider ? std::max(type.bits, 32) : type.bits;
  return {&type, kind_of(type), bits, pattern.implicit(), pattern.paired, pattern.count};
}

/// Calls `use` with every spelling of a pattern.
template <typename Use>
void for_each_spelling(const Pattern& pattern, std::size_t place, const std::string& opcode, Use use) {
  if (place == pattern.places.size()) return use(opcode);
  if (pattern.places[place].optional) for_each_spelling(pattern, place + 1, opcode, use);
  for (const std::string& qualifier : pattern.places[place].alternatives) for_each_spelling(pattern, place + 1, opcode + qualifier, use);
}

/// Tables of lop3 that, with random operands, expose every wrong table: each entry alone, each missing, and common ones.
constexpr std::array<int, 20> tables{0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xfe, 0xfd,
                                     0xfb, 0xf7, 0xef, 0xdf, 0xbf, 0x7f, 0x96, 0xe8, 0xca, 0x1a};

}  // namespace

std::string_view name(ScalarClass operand_class) {
  constexpr std::array<std::string_view, scalar_classes> names{"random", "special", "ordinary", "extreme", "exhaustive"};
  return names[static_cast<std::size_t>(operand_class)];
}

std::string ScalarOperand::register_type() const {
  if (is_predicate()) return "pred";
  return type->name == "f32" || type->name == "f64" ? std::string(type->name) : fmt::format("b{}", register_bits);
}

std::string ScalarCase::numbered_statement() const {
  std::vector<std::string> result_names, source_names;
  for (std::size_t i = 0; i < results.size(); ++i) result_names.push_back(fmt::format("%d{}", i));
  for (std::size_t i = 0; i < sources.size(); ++i) source_names.push_back(fmt::format("%s{}", i));
  return statement(result_names, source_names);
}

std::string ScalarCase::title() const {
  std::string text = opcode;
  for (std::size_t i = 0; i < behind.size(); ++i)
    if (!before[i].empty() || !behind[i].empty()) text += fmt::format(" {}{}{}", before[i], "dabc"[i], behind[i]);
  return immediate.empty() ? text : fmt::format("{} {}", text, immediate);
}

std::string ScalarCase::statement(std::span<const std::string> result_texts, std::span<const std::string> source_texts) const {
  const auto decorated = [](const std::vector<std::string>& decorations, std::size_t operand) {
    return operand < decorations.size() ? std::string_view(decorations[operand]) : std::string_view();
  };
  std::string text = opcode + " ", separator;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].carry) continue;
    text += fmt::format("{}{}{}", results[i].paired ? "|" : separator, result_texts[i], decorated(behind, i));
    separator = ", ";
  }
  for (std::size_t i = 0; i < sources.size();) {
    const auto count = static_cast<std::size_t>(sources[i].vector);
    if (sources[i].carry) {
      ++i;
      continue;
    }
    std::string registers;
    for (std::size_t k = i; k < i + count; ++k)
      registers += fmt::format("{}{}{}{}", k == i ? "" : ", ", decorated(before, results.size() + k), source_texts[k],
                               decorated(behind, results.size() + k));
    if (!immediate.empty() && i == immediate_place) registers = immediate;
    text += ", " + (count > 1 ? "{" + registers + "}" : registers);
    i += count;
  }
  return text + ";";
}

namespace {

/// A case of `match` without selectors; `with_optional` includes optional sources.
ScalarCase plain_case(const Match& match, const std::string& opcode, bool with_optional) {
  ScalarCase made{opcode, {}, 0, {}, {}, {}, {}, catalogue::executable(match)};
  for (const OperandPattern& p : match.pattern->operands) {
    if (p.optional && !p.result && !with_optional) continue;
    auto& list = p.result ? made.results : made.sources;
    if (p.name == "lut") made.immediate_place = list.size();
    for (int i = 0; i < p.count; ++i) list.push_back(operand(match, p));
  }
  return made;
}

struct Selection {
  std::array<std::string_view, 4> before, behind;  ///< of d, a, b, c
};

/// Selectors that cover every part of a register: those of scalar instructions, of two and of four elements, and vmad's minus.
const std::vector<Selection>& selections(std::string_view mnemonic) {
  static const std::vector<Selection> scalar{{{}, {}},     {{}, {"", "b0", "h1"}},   {{}, {"", "h0", "b3"}}, {{}, {"", "b2", "b1"}},
                                             {{}, {"h1"}}, {{}, {"b2", "b1", "h0"}}, {{}, {"b0", "", "b2"}}, {{}, {"h0", "h1", "b3"}}};
  static const std::vector<Selection> two{{{}, {}}, {{}, {"h0"}}, {{}, {"h1", "h02", "h31"}}, {{}, {"", "h33", "h20"}}};
  static const std::vector<Selection> four{{{}, {}}, {{}, {"b0"}}, {{}, {"b31", "b0246", "b7531"}}, {{}, {"b210", "b4444", "b3012"}}};
  static const std::vector<Selection> multiply{{{}, {}}, {{}, {"", "b1", "h1"}}, {{"", "-"}, {}}, {{"", "", "", "-"}, {"", "h0", "b3"}}};
  if (mnemonic == "vmad") return multiply;
  return mnemonic.back() == '2' ? two : mnemonic.back() == '4' ? four : scalar;
}

/// The cases of a video instruction: one for each selection it supports.
void add_video_cases(const Match& match, const std::string& opcode, std::vector<ScalarCase>& cases) {
  for (const Selection& selection : selections(match.pattern->mnemonic)) {
    const bool merges = !selection.behind[0].empty();
    const bool has_second = match.has(".add") || match.has(".min") || match.has(".max");
    ScalarCase made = plain_case(match, opcode, merges || has_second);
    scalar::Video& video = made.executable.modifiers.video;
    bool fits = true;
    for (std::size_t i = 0; i < 4; ++i) {
      made.before.emplace_back(selection.before[i]);
      made.behind.push_back(selection.behind[i].empty() ? "" : fmt::format(".{}", selection.behind[i]));
      if (!selection.behind[i].empty()) fits = fits && catalogue::set_selector(video, match, static_cast<int>(i), selection.behind[i]);
      if (!selection.before[i].empty()) fits = fits && catalogue::negate_operand(video, match, static_cast<int>(i));
    }
    if (fits) cases.push_back(std::move(made));
  }
}

}  // namespace

std::vector<ScalarCase> scalar_cases(const Target& target, PtxVersion version) {
  std::vector<ScalarCase> cases;
  std::set<std::string> seen;
  const auto add = [&](const Pattern& pattern, const std::string& opcode) {
    const std::optional<Match> match = catalogue::find_row(opcode);
    if (!match || match->pattern != &pattern || !seen.insert(opcode).second) return;
    if (catalogue::is_video(*match)) return add_video_cases(*match, opcode, cases);
    ScalarCase made = plain_case(*match, opcode, true);
    if (!opcode.starts_with("lop3")) return cases.push_back(std::move(made));
    for (const int table : tables) {
      made.immediate = fmt::format("{:#04x}", table);
      cases.push_back(made);
    }
  };
  for (const Pattern& pattern : catalogue::patterns()) {
    if (pattern.hidden || pattern.row.kernel.empty() || unmet(pattern.row.requirement, target, version)) continue;
    for_each_spelling(pattern, 0, pattern.mnemonic, [&](const std::string& opcode) { add(pattern, opcode); });
  }
  return cases;
}

}  // namespace warpmat
