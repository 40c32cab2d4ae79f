#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <warpmat/files/output_file.h>
#include <warpmat/tables/opcode.h>
#include "commands.h"

#include "tools/command_line/handed_commands.h"
#include "tools/gpu/report/device_tables.h"
#include "tools/gpu/report/opcode_patterns.h"
#include "tools/gpu/report/wgmma_families.h"
#include "tools/report/cards.h"
#include "tools/report/lowered_forms.h"

namespace warpmat {
namespace {

struct SupportOptions {
  std::string output;
  bool device_tables = false;
};

// ---- The page ---------------------------------------------------------------------------------------------------------------------------

/// "`HMMA.16816` measured sm_90; replayed sm_80": each machine instruction with the hardware that executes it.
std::string lowerings_text(const Form& form) {
  std::vector<std::pair<std::string, std::vector<LoweredForm>>> by_machine;
  for (const LoweredForm& o : lowered_forms(form)) {
    const std::string machine = machine_name(form, *o.lowering);
    auto found = std::ranges::find(by_machine, machine, [](const auto& entry) { return entry.first; });
    if (found == by_machine.end()) found = by_machine.insert(found, {machine, {}});
    found->second.push_back(o);
  }
  std::vector<std::string> texts;
  for (const auto& [machine, found] : by_machine) texts.push_back(fmt::format("`{}` {}", machine, evidence_text(found)));
  return fmt::format("{}", fmt::join(texts, "<br>"));
}

/// "mma", "mma.sp .kind::f8f6f4": the part before .sync, and the kind.
std::string section_of(const Form& form) {
  std::string title = form.opcode.substr(0, form.opcode.find(".sync"));
  for (const std::string_view part : parts_of(form.opcode))
    if (part.starts_with(".kind::")) title += fmt::format(" {}", part);
  return title;
}

/// Forms whose lines agree except for the opcode.
struct Line {
  std::string rest;
  std::vector<std::string> opcodes;
};

struct Section {
  std::string title;
  std::vector<Line> lines;
};

/// The element of `all` whose `member` is `value`, added at the end if there is none.
template <typename T>
T& found_or_added(std::vector<T>& all, std::string T::*member, const std::string& value) {
  const auto found = std::ranges::find(all, value, member);
  return found != all.end() ? *found : all.emplace_back(T{value, {}});
}

std::vector<Section> sections() {
  std::vector<Section> all;
  for (const Form& form : forms()) {
    const std::string rest =
        fmt::format("{} | {} | {}", target_text(form.requirement), to_string(form.requirement.ptx), lowerings_text(form));
    Section& section = found_or_added(all, &Section::title, section_of(form));
    found_or_added(section.lines, &Line::rest, rest).opcodes.push_back(form.opcode);
  }
  return all;
}

std::string section_text(const Section& section) {
  std::string text =
      fmt::format("\n## {}\n\n| opcode | forms | needs | PTX | machine instruction, and how its bits are known |\n|---|---|---|---|---|\n",
                  section.title);
  for (const Line& line : section.lines)
    for (const OpcodePattern& pattern : opcode_patterns(line.opcodes))
      text += fmt::format("| `{}` | {} | {} |\n", pattern.text, pattern.opcodes, line.rest);
  return text;
}

/// wgmma, a line for all widths of one type.
std::string wgmma_section() {
  std::string text = fmt::format(
      "\n## wgmma.mma_async\n\nA warpgroup executes them, in kernels (`warpmat launch`). {}\n\n"
      "| opcode | forms | needs | PTX | machine instruction, and how its bits are known |\n|---|---|---|---|---|\n",
      wgmma_widths);
  for (const WgmmaFamily& family : wgmma_families()) {
    const WgmmaForm& form = *family.forms.front();
    const Lowering& lowering = lowering_of(form);
    text += fmt::format("| `{}` | {} | sm_90a | {} | `{}` {} {} |\n", family.pattern, family.forms.size(), to_string(form.ptx),
                        lowering.machine, name(label_of(lowering)), name(Hardware::sm_90));
  }
  return text;
}

/// "| sm_90a | 90 | 90 | 0 | 0 | 0 |": the forms of a target, all and by evidence.
std::string target_row(const Target& target) {
  std::map<Label, int> counts;
  int all = 0;
  for (const Form& form : forms())
    for (const LoweredForm& o : lowered_forms(form, &target)) {
      ++counts[label_of(*o.lowering)];
      ++all;
    }
  for (const WgmmaForm& form : wgmma_forms()) {
    if (unavailable(form, target)) continue;
    ++counts[label_of(lowering_of(form))];
    ++all;
  }
  std::string text = fmt::format("| {} | {}", target.name, all);
  for (const Label label : all_labels) text += fmt::format(" | {}", counts[label]);
  return text + " |\n";
}

constexpr const char* introduction = R"(# What is supported

Written by `warpmat support` from the tables of forms and lowerings; do not edit. There are {} forms. A form is an instruction with all its qualifiers.

Labels say how the result's bits are known on a hardware:

| label | meaning |
|---|---|
{}
`(floor published)` after a label concerns only the smallest exponent of the alignment ([numerics.md](numerics.md)): the operands behind the label did
not reach it.

A line below stands for as many forms as its second column says: `{{s8,u8}}` is one of the two, `[.satfinite]` is optional. A form exists from the
named target and PTX version on; `a/f` means only targets with one of these suffixes. The last column has the machine instruction that the assembler
makes of the form, and the hardware with their labels. `warpmat list --target T` prints the source of each label, and each form's operands.

Forms of each target, and the number of forms with each label:

| target | forms |)";

std::string support_text() {
  std::string labels;
  for (const Label label : all_labels) labels += fmt::format("| {} | {} |\n", name(label), meaning(label));
  std::string text = fmt::format(introduction, forms().size() + wgmma_forms().size(), labels);
  for (const Label label : all_labels) text += fmt::format(" {} |", name(label));
  text += "\n|---|---|---|---|---|---|---|\n";
  for (const Target& target : targets()) text += target_row(target);
  text += "\n## Cards\n\nHow the bits of each card are known. A row names everything that the card has.\n\n" + card_table();
  for (const Section& section : sections()) text += section_text(section);
  return text + wgmma_section();
}

void support(const SupportOptions& options) {
  const std::string text = options.device_tables ? device_tables() : support_text();
  if (options.output.empty()) {
    fmt::print("{}", text);
  } else {
    write_file(options.output, {text});
  }
}

}  // namespace

void add_support(Command app) {
  const auto options = std::make_shared<SupportOptions>();
  const Command command = add_handed_subcommand(app, "support");
  command.add_option("--output", options->output, "Write to this file instead of standard output").type_name("FILE");
  command.add_flag("--device-tables", options->device_tables, "Write the tables of the header for GPUs instead of the page");
  command.footer(
      "Examples:\n  warpmat support --output support.md\n"
      "  warpmat support --device-tables --output emulator/warpmat/device/tables.h");
  command.callback([options] { support(*options); });
}

}  // namespace warpmat
