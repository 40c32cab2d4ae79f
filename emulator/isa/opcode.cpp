#include <warpmat/isa/opcode.h>

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include <warpmat/numeric/format.h>

namespace warpmat {
namespace {

constexpr std::array<std::string_view, 12> scalar_types{"b8",  "b16", "b32", "b64", "u16",   "u32",
                                                        "u64", "s16", "s64", "f16x2", "bf16x2", "pred"};

std::vector<std::string> split(std::string_view opcode) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t dot = opcode.find('.');
    parts.emplace_back(opcode.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    opcode.remove_prefix(dot + 1);
  }
}

/// Qualifiers of one class keep their order; classes mix freely. Types are a class, and so are layouts, the operations of .b1, and the
/// formats of a decompressing load; the rest are alone in theirs.
std::string_view qualifier_class(const std::string& qualifier) {
  if (find_format(qualifier) != nullptr || std::ranges::find(scalar_types, qualifier) != scalar_types.end()) return "~type";
  if (qualifier == "row" || qualifier == "col") return "~layout";
  if (qualifier == "xor" || qualifier == "and" || qualifier == "popc") return "~reduction";
  if (qualifier == "b8x16" || qualifier == "b6x16_p32" || qualifier == "b4x16_p64") return "~load format";
  return qualifier;
}

/// What `from` has and `without` lacks, as ".x .y"; a qualifier that occurs twice counts twice.
std::vector<std::string> difference(OpcodeKey from, OpcodeKey without) {
  std::ranges::sort(from);
  std::ranges::sort(without);
  std::vector<std::string> rest;
  std::ranges::set_difference(from, without, std::back_inserter(rest));
  return rest;
}

std::string dotted(const std::vector<std::string>& qualifiers) {
  std::string text;
  for (const std::string& q : qualifiers) text += (text.empty() ? "." : " .") + q;
  return text;
}

}  // namespace

OpcodeKey opcode_key(std::string_view opcode) {
  OpcodeKey parts = split(opcode);
  for (std::string& part : parts)
    if (part == "shared::cta") part = "shared";
  std::stable_sort(parts.begin() + 1, parts.end(),
                   [](const std::string& a, const std::string& b) { return qualifier_class(a) < qualifier_class(b); });
  return parts;
}

std::string explain_unknown(std::string_view opcode, std::span<const std::string> known) {
  const OpcodeKey wanted = opcode_key(opcode);
  std::string_view nearest;
  std::vector<std::string> missing, extra;
  for (const std::string& candidate : known) {
    const OpcodeKey key = opcode_key(candidate);
    if (key.front() != wanted.front()) continue;
    std::vector<std::string> m = difference(key, wanted), e = difference(wanted, key);
    if (!nearest.empty() && m.size() + e.size() >= missing.size() + extra.size()) continue;
    nearest = candidate;
    missing = std::move(m);
    extra = std::move(e);
  }
  if (missing.empty() && extra.empty()) return fmt::format("the types or layouts of '{}' are in another order than in {}", opcode, nearest);
  std::string change;
  if (!extra.empty()) change += fmt::format(" without {}", dotted(extra));
  if (!missing.empty()) change += fmt::format("{} with {}", change.empty() ? "" : " and", dotted(missing));
  return fmt::format("no such form of {}; the nearest is {}: the same{}", wanted.front(), nearest, change);
}

}  // namespace warpmat
