#include "tools/lab/report/evidence_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/tables/form.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "tools/report/offers.h"
#include "tools/lab/report/opcode_patterns.h"
#include "tools/lab/report/wgmma_families.h"

namespace warpmat {
namespace {

/// What the sweeps compared of one form on one hardware.
struct Compared {
  std::uint64_t outputs = 0, mismatches = 0;
  std::set<std::string> classes;
};

using ByForm = std::map<std::string, Compared>;  ///< by opcode
using ByHardware = std::map<std::string, ByForm>;

ByHardware sums(const std::vector<SweepFile>& sweeps) {
  ByHardware all;
  for (const SweepFile& sweep : sweeps)
    for (const SweepFile::Row& row : sweep.rows) {
      Compared& compared = all[sweep.source.hardware][row.form];
      compared.outputs += row.outputs;
      compared.mismatches += row.mismatches;
      compared.classes.insert(row.operand_class);
    }
  return all;
}

/// "4 x NVIDIA H200 | sm_90a | 580.159.04, assembler …": who compared, all GPUs being of one hardware.
std::string source_text(const RunSource& source) {
  const GpuInfo& first = source.gpus.front();
  const std::string cards = source.gpus.size() > 1 ? fmt::format("{} x {}", source.gpus.size(), first.card) : first.card;
  return fmt::format("{} | {} | {}, assembler {} | {} | {}", cards, source.target, first.driver, first.assembler, source.date, source.seed);
}

std::string time_text(const RunSource& source) {
  return fmt::format("{:.0f} s{}", source.seconds, source.complete ? "" : ", incomplete");
}

std::string sweeps_text(const std::vector<SweepFile>& sweeps) {
  std::string text =
      "\n## Sweeps\n\nA sweep runs every form of a target on a GPU and on the emulator, over classes of operands, and compares every "
      "register.\n\n"
      "| card | target | driver | date | seed | cases a class | outputs compared | mismatches | time "
      "|\n|---|---|---|---|---|---|---|---|---|\n";
  for (const SweepFile& sweep : sweeps)
    text += fmt::format("| {} | {} | {} | {} | {} |\n", source_text(sweep.source), sweep.cases_per_class, sweep.outputs(),
                        sweep.mismatches(), time_text(sweep.source));
  return text;
}

std::string fuzz_text(const std::vector<FuzzFile>& runs) {
  std::string text =
      "\n## Random programs\n\nEach is run by some warps on both; all registers and the shared memory are compared.\n\n"
      "| card | target | driver | date | seed | programs | kind | statements | outputs compared | programs that differ | time |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const FuzzFile& run : runs)
    text +=
        fmt::format("| {} | {} from {} on | {}, {} warps | {} | {} | {} | {} |\n", source_text(run.source), run.counts.programs, run.first,
                    run.kind, run.warps, run.counts.statements, run.counts.outputs, run.counts.differing_programs, time_text(run.source));
  return text;
}

/// "sm_90: 16640000 in 1 classes, 0 mismatches"; "never" where no sweep had the form.
std::string compared_text(const std::string& opcode, const ByHardware& all) {
  std::vector<std::string> texts;
  for (const auto& [hardware, found] : all)
    if (const auto it = found.find(opcode); it != found.end())
      texts.push_back(fmt::format("{}: {} in {} class{}, {} mismatches", hardware, it->second.outputs, it->second.classes.size(),
                                  it->second.classes.size() == 1 ? "" : "es", it->second.mismatches));
  return texts.empty() ? "never" : fmt::format("{}", fmt::join(texts, "; "));
}

/// "published sm_75; replayed sm_80": how a form's bits are known where no sweep compared them.
std::string elsewhere_text(const Form& form, const ByHardware& all) {
  std::vector<Offer> others;
  for (const Offer& offer : offers(form)) {
    const auto hardware = all.find(std::string(name(offer.hardware)));
    if (hardware == all.end() || !hardware->second.contains(form.opcode)) others.push_back(offer);
  }
  return evidence_text(others);
}

/// Forms of which the same is said, in the order of their first.
std::string forms_text(const ByHardware& all) {
  std::vector<std::pair<std::string, std::vector<std::string>>> lines;
  const auto add = [&](const std::string& opcode, const std::string& elsewhere) {
    const std::string rest = fmt::format("{} | {}", compared_text(opcode, all), elsewhere);
    const auto same = std::ranges::find(lines, rest, [](const auto& line) { return line.first; });
    (same == lines.end() ? lines.emplace_back(rest, std::vector<std::string>{}) : *same).second.push_back(opcode);
  };
  for (const Form& form : forms()) add(form.opcode, elsewhere_text(form, all));
  std::string text =
      "\n## Forms\n\nFor each form, the outputs that were compared by this project, and how the bits are known on the hardware that it "
      "never ran on. A line\n"
      "stands for as many forms as its second column says; the outputs are those of each of them. The labels are explained in\n"
      "[support.md](support.md), and what published data can and cannot tell in [published.md](published.md).\n\n"
      "| form | forms | compared, each | elsewhere |\n|---|---|---|---|\n";
  for (const auto& [rest, opcodes] : lines)
    for (const OpcodePattern& pattern : opcode_patterns(opcodes))
      text += fmt::format("| `{}` | {} | {} |\n", pattern.text, pattern.opcodes, rest);
  return text;
}

/// Forms of wgmma, a line for all widths of one type; nothing where no sweep had one.
std::string wgmma_text(const ByHardware& all) {
  std::string lines;
  for (const WgmmaFamily& family : wgmma_families())
    for (const auto& [hardware, found] : all) {
      Compared sum;
      std::size_t forms = 0;
      for (const WgmmaForm* form : family.forms)
        if (const auto it = found.find(form->opcode); it != found.end()) {
          ++forms;
          sum.outputs += it->second.outputs;
          sum.mismatches += it->second.mismatches;
          sum.classes.insert(it->second.classes.begin(), it->second.classes.end());
        }
      if (forms != 0)
        lines += fmt::format("| `{}` | {} of {} | {}: {} in {} classes, {} mismatches |\n", family.pattern, forms, family.forms.size(),
                             hardware, sum.outputs, sum.classes.size(), sum.mismatches);
    }
  if (lines.empty()) return {};
  return fmt::format(
      "\n## wgmma\n\nA case is a warpgroup's product with operands in registers or in shared memory, at random descriptors; it counts as "
      "the products "
      "of 16\nrows by 8 columns that it consists of. {}\n\n| form | widths | compared, all together |\n|---|---|---|\n{}",
      wgmma_widths, lines);
}

}  // namespace

std::string evidence_page(const std::vector<SweepFile>& sweeps, const std::vector<FuzzFile>& fuzz_runs) {
  std::string text = "# Evidence\n\nWritten by `warpmat evidence` from the JSON of `warpmat diff` and `warpmat fuzz`; do not edit.\n";
  if (!sweeps.empty()) text += sweeps_text(sweeps);
  if (!fuzz_runs.empty()) text += fuzz_text(fuzz_runs);
  return text + forms_text(sums(sweeps)) + wgmma_text(sums(sweeps));
}

}  // namespace warpmat
