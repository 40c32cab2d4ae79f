#include "tools/lab/report/coverage_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "gpu/lab/mutants/refute.h"
#include "gpu/lab/rules/reach.h"
#include "tools/gpu/report/form_selection.h"
#include "tools/gpu/report/opcode_patterns.h"

namespace warpmat {
namespace {

constexpr std::size_t page_warps = 20, block_scale_warps = 120, sparse_fp8_warps = 60;

/// A region of a group of forms, with the classes that reached it.
struct Line {
  Event event;
  std::size_t first, last;  ///< numbers
  std::string text;         ///< the classes, or why there are none
};

/// Forms whose regions are the same.
struct Group {
  std::vector<TestedForm> forms;
  std::vector<std::size_t> rows;  ///< of all their classes
};

/// The properties that distinguish groups: each region's reach, and the instruction's name and formats.
std::string key_of(const TestedForm& tested, const Target& target) {
  const Form& form = arithmetic_of(tested);
  const Lowering& lowering = lowering_of(tested, target);
  std::string key = tested.opcode().substr(0, tested.opcode().find(".sync"));
  if (form.find_operand(OperandName::a) != nullptr && form.find_operand(OperandName::d) != nullptr)
    key += fmt::format(" {}", name(form.operand(OperandName::d).format.value_or(Format::b1)));
  for (std::size_t i = 0; i < event_count; ++i)
    for (std::size_t number = 0; number < numbers_of(static_cast<Event>(i)); ++number) {
      const Reach r = reach(form, lowering, static_cast<Event>(i), number);
      key += r.concerns ? fmt::format("/{}", r.reason) : "-";
    }
  return key;
}

std::vector<Group> groups_of(std::span<const CoverageRow> rows, const Target& target) {
  std::vector<std::pair<std::string, Group>> groups;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string key = key_of(rows[i].form, target);
    auto found = std::ranges::find(groups, key, [](const auto& entry) { return entry.first; });
    if (found == groups.end()) found = groups.insert(found, {key, {}});
    Group& group = found->second;
    if (group.forms.empty() || group.forms.back() != rows[i].form) group.forms.push_back(rows[i].form);
    group.rows.push_back(i);
  }
  std::vector<Group> all;
  for (auto& [key, group] : groups) all.push_back(std::move(group));
  return all;
}

/// "cancel far (tiny)": the classes that reach a region in every form of the group, and in brackets those that reach it in some.
std::string classes_text(std::span<const CoverageRow> rows, const Group& group, Event event, std::size_t number) {
  std::string every, some;
  for (const OperandClass& operand_class : operand_classes()) {
    std::size_t of = 0, reached = 0;
    for (const std::size_t i : group.rows) {
      if (rows[i].operand_class != &operand_class) continue;
      ++of;
      reached += rows[i].events.count(event, number) != 0;
    }
    if (reached == 0) continue;
    std::string& text = reached == of ? every : some;
    text += fmt::format("{}{}", text.empty() ? "" : " ", operand_class.name);
  }
  if (some.empty()) return every;
  return fmt::format("{}{}({})", every, every.empty() ? "" : " ", some);
}

std::vector<Line> lines_of(std::span<const CoverageRow> rows, const Group& group, const Target& target) {
  std::vector<Line> lines;
  const Form& form = arithmetic_of(group.forms.front());
  const Lowering& lowering = lowering_of(group.forms.front(), target);
  for (std::size_t i = 0; i < event_count; ++i) {
    const auto event = static_cast<Event>(i);
    for (std::size_t number = 0; number < numbers_of(event); ++number) {
      const Reach r = reach(form, lowering, event, number);
      if (!r.concerns) continue;
      const std::string text = r.reachable() ? classes_text(rows, group, event, number) : fmt::format("cannot be: {}", r.reason);
      const bool same = !lines.empty() && lines.back().event == event && lines.back().last + 1 == number && lines.back().text == text;
      if (same) {
        lines.back().last = number;
      } else {
        lines.push_back({event, number, number, text});
      }
    }
  }
  return lines;
}

std::string bits_text(std::span<const CoverageRow> rows, const Group& group, const Target& target) {
  WrittenBits written;
  std::size_t seen = 0, all = 0;
  for (const TestedForm& form : group.forms) {
    WrittenBits of_form;
    for (const std::size_t i : group.rows)
      if (rows[i].form == form) of_form.add(rows[i].written);
    seen += of_form.seen();
    all += of_form.all();
  }
  if (seen == all) return fmt::format("both values of all {} bits", all / 2);
  return fmt::format("{} of {} values; {}", seen, all, constant_bits(group.forms.front(), target));
}

std::string region_text(const Line& line) {
  const std::string text = region_name(line.event, line.first);
  if (line.first == line.last || numbers_of(line.event) == 2) return text;
  return fmt::format("{} to {}", text, line.last);
}

std::string group_text(std::span<const CoverageRow> rows, const Group& group, const Target& target) {
  std::vector<QualifierList> patterns;
  for (const TestedForm& form : group.forms) patterns.push_back(pattern_of(form.opcode()));
  std::string text;
  for (const QualifierList& pattern : collapse(patterns)) text += fmt::format("`{}`  \n", pattern_text(pattern));
  text += "\n| region | classes that reach it |\n|---|---|\n";
  for (const Line& line : lines_of(rows, group, target))
    text += fmt::format("| {} | {} |\n", region_text(line), line.text.empty() ? "**none**" : line.text);
  return text + fmt::format("| lanes, registers and bits written | {} |\n\n", bits_text(rows, group, target));
}

constexpr const char* introduction = R"(# Coverage: which regions the compared operands reach

Written by `warpmat coverage --page`; do not edit.

A region is a place where one rule decides the bits: a term one bit below the last bit that a unit keeps, a sum on the middle of two results. A count of
compared outputs proves nothing about a region without operands: 102,385,920,000 random outputs did not show the floor of f16 results. So the
reference counts the regions that the cases of `warpmat diff` reach.

[`gpu/lab/rules/reach.cpp`](../../gpu/lab/rules/reach.cpp) derives from the formats' widths and the unit's numbers which regions operands can reach. A test fails where
a region that can be reached is empty, and where a case reaches a region that the rule excludes.

Here {} warps of each form and class are drawn, {} of block-scaled forms, {} of sparse fp8 forms of wgmma with f16 results, and four times as many of the classes
`powers` and `ladder`. A sweep draws thousands.
)";

std::string introduction_text() {
  return fmt::format(introduction, page_warps, block_scale_warps, sparse_fp8_warps);
}

std::string regions_text() {
  std::string text = "\n| region | meaning |\n|---|---|\n";
  for (std::size_t i = 0; i < event_count; ++i)
    text += fmt::format("| {} | {} |\n", name(static_cast<Event>(i)), meaning(static_cast<Event>(i)));
  return text;
}

}  // namespace

std::string coverage_text(std::span<const CoverageRow> rows, const Target& target) {
  std::string text;
  for (const Group& group : groups_of(rows, target)) text += group_text(rows, group, target);
  return text;
}

std::vector<CoveragePart> coverage_parts() {
  struct Part {
    const char *target, *forms;
    std::size_t warps = page_warps;
  };
  // For wmma.mma the forms whose A is stored in rows and B in columns, for wgmma the narrowest: the others multiply the same tiles.
  constexpr Part list[] = {{"sm_90a", R"(^(?!wgmma|wmma\.mma\.sync\.aligned\.(row\.row|col)))"},
                           {"sm_90a", "^wgmma(?!.*m64n8k64.f16).*m64n8k"},
                           {"sm_90a", "^wgmma.*m64n8k64.f16", sparse_fp8_warps},
                           {"sm_89", "^mma.*e[45]m"},
                           {"sm_80", "^mma.*m16.*(f16|bf16|tf32)"},
                           {"sm_70", "^mma"},
                           {"sm_120a", "block_scale.(f32.e4m3.e4m3|scale_vec::4X.*ue4m3|scale_vec::2X.*e2m1)", block_scale_warps}};
  std::vector<CoveragePart> parts;
  for (const Part& p : list) {
    const Target& t = target(p.target);
    CoveragePlan plan{select_tested_forms(t, p.forms), &t, p.warps};
    std::vector<CoverageRow> rows = cover(plan);
    parts.push_back({std::move(plan), std::move(rows)});
  }
  return parts;
}

std::string coverage_page(std::span<const CoveragePart> parts) {
  std::string text = introduction_text() + "\nA class in brackets reaches the region in some of the forms.\n" + regions_text();
  for (const CoveragePart& part : parts) {
    text += fmt::format("\n## {}: {} forms\n\n", part.plan.target->name, part.plan.forms.size());
    text += coverage_text(part.rows, *part.plan.target);
  }
  while (text.ends_with("\n\n")) text.pop_back();
  text += "\n## Mutants\n\n" + known_limits_markdown();
  return text;
}

}  // namespace warpmat
