#include <warpmat/tables/opcode.h>

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

/// What `from` has and `without` lacks, both sorted; a qualifier that occurs twice counts twice.
std::vector<std::string> difference(const OpcodeKey& from, const OpcodeKey& without) {
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

namespace {

/// How much two opcodes differ by these qualifiers. Another shape is another instruction, so it counts double.
std::size_t weight(const std::vector<std::string>& qualifiers) {
  const auto is_shape = [](const std::string& q) { return q.size() > 1 && q[0] == 'm' && q[1] >= '0' && q[1] <= '9'; };
  return qualifiers.size() + static_cast<std::size_t>(std::ranges::count_if(qualifiers, is_shape));
}

}  // namespace

KnownOpcode::KnownOpcode(std::string_view spelling) : opcode(spelling), sorted(opcode_key(spelling)) {
  mnemonic = sorted.front();
  std::ranges::sort(sorted);
}

std::string explain_unknown(std::string_view opcode, std::span<const KnownOpcode> known) {
  const KnownOpcode wanted(opcode);
  const KnownOpcode* nearest = nullptr;
  std::vector<std::string> missing, extra;
  for (const KnownOpcode& candidate : known) {
    if (candidate.mnemonic != wanted.mnemonic) continue;
    std::vector<std::string> m = difference(candidate.sorted, wanted.sorted), e = difference(wanted.sorted, candidate.sorted);
    if (nearest != nullptr && weight(m) + weight(e) >= weight(missing) + weight(extra)) continue;
    nearest = &candidate;
    missing = std::move(m);
    extra = std::move(e);
  }
  if (missing.empty() && extra.empty()) return fmt::format("the qualifiers of '{}' are in another order than in {}", opcode, nearest->opcode);
  std::string change;
  if (!extra.empty()) change += fmt::format(" without {}", dotted(extra));
  if (!missing.empty()) change += fmt::format("{} with {}", change.empty() ? "" : " and", dotted(missing));
  return fmt::format("no such form of {}; the nearest is {}: the same{}", wanted.mnemonic, nearest->opcode, change);
}

}  // namespace warpmat
