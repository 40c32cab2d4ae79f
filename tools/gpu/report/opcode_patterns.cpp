#include "tools/gpu/report/opcode_patterns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/tables/opcode.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

namespace warpmat {
namespace {

/// The pattern for exactly the opcodes of both, if one lacks a qualifier that the other has.
std::optional<QualifierList> with_option(const QualifierList& a, const QualifierList& b) {
  const QualifierList &shorter = a.size() < b.size() ? a : b, &longer = a.size() < b.size() ? b : a;
  if (shorter.size() + 1 != longer.size()) return std::nullopt;
  const auto place = std::ranges::mismatch(shorter, longer).in1 - shorter.begin();
  if (!std::equal(shorter.begin() + place, shorter.end(), longer.begin() + place + 1)) return std::nullopt;
  QualifierList both = longer;
  Qualifiers& choices = both[static_cast<std::size_t>(place)];
  choices.insert(choices.begin(), "");
  return both;
}

/// The same if two patterns differ at one place.
std::optional<QualifierList> with_choice(const QualifierList& a, const QualifierList& b) {
  if (a.size() != b.size()) return std::nullopt;
  const auto place = std::ranges::mismatch(a, b).in1 - a.begin();
  if (!std::equal(a.begin() + place + 1, a.end(), b.begin() + place + 1)) return std::nullopt;
  QualifierList both = a;
  Qualifiers& choices = both[static_cast<std::size_t>(place)];
  std::ranges::copy(b[static_cast<std::size_t>(place)], std::back_inserter(choices));
  return both;
}

using Merge = std::optional<QualifierList> (*)(const QualifierList&, const QualifierList&);

/// Merges the first two of `patterns` that can be merged. Returns whether there were any.
bool merge_some(std::vector<QualifierList>& patterns, Merge merge) {
  for (std::size_t i = 0; i < patterns.size(); ++i)
    for (std::size_t j = i + 1; j < patterns.size(); ++j)
      if (const auto both = merge(patterns[i], patterns[j])) {
        patterns[i] = *both;
        patterns.erase(patterns.begin() + static_cast<std::ptrdiff_t>(j));
        return true;
      }
  return false;
}

/// ".f32", ".{s8,u8}", "[.satfinite]", "[.{rn,rz}]".
std::string place_text(const Qualifiers& choices) {
  std::vector<std::string> named;
  std::ranges::copy_if(choices, std::back_inserter(named), [](const std::string& choice) { return !choice.empty(); });
  const std::string text = named.size() == 1 ? "." + named.front() : fmt::format(".{{{}}}", fmt::join(named, ","));
  return named.size() < choices.size() ? "[" + text + "]" : text;
}

}  // namespace

QualifierList pattern_of(const std::string& opcode) {
  QualifierList pattern;
  for (const std::string_view part : parts_of(opcode)) pattern.push_back({std::string(part.substr(part.starts_with('.') ? 1 : 0))});
  return pattern;
}

std::vector<QualifierList> collapse(std::vector<QualifierList> patterns) {
  for (const Merge merge : {with_option, with_choice})
    while (merge_some(patterns, merge)) {
    }
  return patterns;
}

std::string pattern_text(const QualifierList& pattern) {
  std::string text;
  for (const Qualifiers& choices : pattern) text += place_text(choices);
  return text.substr(1);  // no dot before the mnemonic
}

std::size_t opcodes_of(const QualifierList& pattern) {
  std::size_t count = 1;
  for (const Qualifiers& choices : pattern) count *= choices.size();
  return count;
}

std::vector<OpcodePattern> opcode_patterns(const std::vector<std::string>& opcodes) {
  std::vector<QualifierList> patterns;
  for (const std::string& opcode : opcodes) patterns.push_back(pattern_of(opcode));
  std::vector<OpcodePattern> texts;
  for (const QualifierList& pattern : collapse(patterns)) texts.push_back({pattern_text(pattern), opcodes_of(pattern)});
  return texts;
}

}  // namespace warpmat
