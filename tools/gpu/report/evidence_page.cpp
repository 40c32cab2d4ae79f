#include "tools/gpu/report/evidence_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/forms.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>

#include "tools/gpu/report/opcode_patterns.h"
#include "tools/gpu/report/wgmma_families.h"
#include "tools/report/lowered_forms.h"

namespace warpmat {
namespace {

/// The results that the sweeps compared of one form on one hardware.
struct Compared {
  std::uint64_t outputs = 0, mismatches = 0;
  std::set<std::string> classes;
};

using ByForm = std::map<std::string, Compared>;  ///< by opcode
using ByHardware = std::map<std::string, ByForm>;

ByHardware sums(const std::vector<RunResult>& sweeps) {
  ByHardware all;
  for (const RunResult& sweep : sweeps)
    for (const auto& [name, counts] : sweep.rows) {
      const std::size_t form = name.find(' ');
      Compared& compared = all[sweep.hardware][name.substr(0, form)];
      compared.outputs += counts.at(1);
      compared.mismatches += counts.at(2);
      compared.classes.insert(name.substr(form + 1));
    }
  return all;
}

/// "4 x NVIDIA H200 | sm_90a | 580.159.04, assembler …": the GPUs of a run, all of one hardware.
std::string source_text(const RunResult& run) {
  const GpuInfo& first = run.gpus.front();
  const std::string cards = run.gpus.size() > 1 ? fmt::format("{} x {}", run.gpus.size(), first.card) : first.card;
  return fmt::format("{} | {} | {}, assembler {} | {} | {}", cards, run.target, first.driver, first.assembler, run.date,
                     run.property("seed"));
}

std::string time_text(const RunResult& run) {
  return fmt::format("{:.0f} s{}", run.seconds, run.complete ? "" : ", incomplete");
}

std::string sweeps_text(const std::vector<RunResult>& sweeps) {
  std::string text =
      "\n## Sweeps\n\nA sweep runs every form of a target on a GPU and on the emulator, over classes of operands, and compares every "
      "register.\n\n"
      "| card | target | driver | date | seed | cases a class | outputs compared | mismatches | time "
      "|\n|---|---|---|---|---|---|---|---|---|\n";
  for (const RunResult& sweep : sweeps)
    text += fmt::format("| {} | {} | {} | {} | {} |\n", source_text(sweep), sweep.range.count, sweep.total("outputs"), sweep.wrong(),
                        time_text(sweep));
  return text;
}

std::string fuzz_text(const std::vector<RunResult>& runs) {
  std::string text =
      "\n## Random programs\n\nEach is run by some warps on both; all registers and the shared memory are compared.\n\n"
      "| card | target | driver | date | seed | programs | kind | statements | outputs compared | programs that differ | time |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const RunResult& run : runs)
    text += fmt::format("| {} | {} from {} on | {}, {} warps | {} | {} | {} | {} |\n", source_text(run), run.total("programs"),
                        run.range.first, run.property("programs"), run.property("warps"), run.total("statements"), run.total("outputs"),
                        run.wrong(), time_text(run));
  return text;
}

/// "sm_90: 16640000 in 1 classes, 0 mismatches"; "never" if no sweep had the form.
std::string compared_text(const std::string& opcode, const ByHardware& all) {
  std::vector<std::string> texts;
  for (const auto& [hardware, found] : all)
    if (const auto it = found.find(opcode); it != found.end())
      texts.push_back(fmt::format("{}: {} in {} class{}, {} mismatches", hardware, it->second.outputs, it->second.classes.size(),
                                  it->second.classes.size() == 1 ? "" : "es", it->second.mismatches));
  return texts.empty() ? "never" : fmt::format("{}", fmt::join(texts, "; "));
}

/// "published sm_75; replayed sm_80": a form's evidence on hardware without sweeps.
std::string elsewhere_text(const Form& form, const ByHardware& all) {
  std::vector<LoweredForm> others;
  for (const LoweredForm& lowered : lowered_forms(form)) {
    const auto hardware = all.find(std::string(name(lowered.hardware)));
    if (hardware == all.end() || !hardware->second.contains(form.opcode)) others.push_back(lowered);
  }
  return evidence_text(others);
}

/// Forms with the same text, in the order of their first.
std::string forms_text(const ByHardware& all) {
  std::vector<std::pair<std::string, std::vector<std::string>>> lines;
  const auto add = [&](const std::string& opcode, const std::string& elsewhere) {
    const std::string rest = fmt::format("{} | {}", compared_text(opcode, all), elsewhere);
    const auto same = std::ranges::find(lines, rest, [](const auto& line) { return line.first; });
    (same == lines.end() ? lines.emplace_back(rest, std::vector<std::string>{}) : *same).second.push_back(opcode);
  };
  for (const Form& form : forms()) add(form.opcode, elsewhere_text(form, all));
  std::string text =
      "\n## Forms\n\nFor each form, the outputs that this project compared, and how the bits are known on other hardware. A line stands "
      "for as many\n"
      "forms as its second column says, with so many outputs each. [support.md](support.md) explains the labels.\n\n"
      "| form | forms | compared, each | elsewhere |\n|---|---|---|---|\n";
  for (const auto& [rest, opcodes] : lines)
    for (const OpcodePattern& pattern : opcode_patterns(opcodes))
      text += fmt::format("| `{}` | {} | {} |\n", pattern.text, pattern.opcodes, rest);
  return text;
}

/// Forms of wgmma, a line for all widths of one type; nothing if no sweep had one.
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
      "\n## wgmma\n\nA case is a warpgroup's product with operands in registers or in shared memory, at random descriptors. It counts as "
      "its "
      "products of 16\nrows by 8 columns. {}\n\n| form | widths | compared, all together |\n|---|---|---|\n{}",
      wgmma_widths, lines);
}

constexpr std::string_view published_text = R"(
## What published outputs can and cannot prove

A row of the lowering table has the label `replayed` on a hardware if the emulator returns the outputs that others published of it, bit for bit. They are 44,000
results, 1,000 of each of 44 kinds, in [tests/vectors/published](../../tests/vectors/published/README.md). The test *mma returns what published outputs of real GPUs say* compares
all of them, by both paths. The label is as good as the region of these data. `warpmat evidence tests/vectors/published` prints what they refute.

Operands are normally distributed around 0, C is uniform between 0 and 1.

| format of A and B | exponents | zeros | subnormals |
|---|---|---|---|
| f16 | -14 to 2 | 0 of 32,000 | 2 |
| bf16 | -16 to 2 | 0 of 32,000 | 0 |
| tf32 | -13 to 1 | 0 of 8,000 | 0 |
| e4m3 | -6 to 2 | 102 of 64,000 | 663 |
| e5m2 | -14 to 2 | 0 of 64,000 | 2 |

In every step the largest exponent E lies between -4 and 2. Results have exponents from -14 to 4. There is no NaN, no infinity, no zero that matters, no overflow, and
no subnormal result.

**So these data prove nothing about** floors of the alignment, because results are the same with and without them; NaNs and infinities; the sign of zeros; overflow;
subnormal results. Each format was run in one shape, and other shapes are assumed to compute alike. Sparse forms, integers, f64 and block scaling are absent.

The table says how many of 1,000 results a neighbour of the emulator's model gets wrong: the least and the most over the GPUs. The figures come from a separate model in
exact rational arithmetic, which gets none wrong, like the emulator. These data cannot tell a neighbour with 0 from the model.

| neighbour | f16 to f32 | bf16 to f32 | tf32 to f32 | fp8 to f32, Ada | f16 to f16 | fp8 to f16, Ada |
|---|---|---|---|---|---|---|
| two fraction bits fewer | 499 to 763 | 288 to 463 | 281 to 561 | 727 to 799 | 0 to 1 | 242 to 370 |
| one fraction bit fewer | 231 to 494 | 98 to 212 | 87 to 248 | 448 to 529 | **0** | 75 to 141 |
| one fraction bit more | 101 to 250 | 29 to 83 | 34 to 98 | 230 to 307 | **0** | 36 to 53 |
| two fraction bits more | 133 to 301 | 36 to 101 | 42 to 129 | 305 to 378 | **0** | 42 to 65 |
| one fraction bit fewer in the result | 358 to 467 | 419 to 471 | 422 to 446 | 439 to 495 | | |
| terms cut downward, not toward zero | 145 to 186 | 5 to 10 | 25 to 72 | 126 to 263 | 0 to 1 | 33 to 67 |
| terms rounded to nearest, not cut | 139 to 280 | 41 to 95 | 36 to 129 | 334 to 387 | **0** | 28 to 61 |
| products normalised before the alignment | 73 to 185 | 27 to 75 | 29 to 98 | 66 to 109 | **0** | 5 to 14 |
| results rounded to nearest; of f16, toward zero | 120 to 361 | 227 to 345 | 214 to 301 | **0** | 484 to 527 | 497 to 575 |
| steps of half the length | 164 to 318 | 133 to 195 | 186 to 219 | 133 to 205 | 243 to 281 | 240 to 317 |
| steps of twice the length | | | | 130 to 222 | | 244 to 248 |

Two conclusions follow. The f32 results of the same unit prove the number of fraction bits of f16 results, and how terms are cut. Ada's fp8 is an exception: its 13 bits
show in f16 too. And if the result keeps no more bits than the sum, as for Ada's fp8 to f32, the data do not show its rounding. The unit for f16 computes fp8 of H100, H200
and B200 in two halves. Their results were compared, but the table has no neighbours of that computation.

`measured` has no such gap: recorded answers come from classes of operands for each of these regions ([recording.md](recording.md)).
)";

}  // namespace

std::string_view published_section() {
  return published_text;
}

std::string evidence_page(const std::vector<RunResult>& runs) {
  std::vector<RunResult> sweeps, fuzz_runs;
  for (const RunResult& run : runs) {
    if ((run.run != "diff" && run.run != "fuzz") || run.gpus.empty())
      throw std::runtime_error(
          fmt::format("the page has runs of 'diff' and 'fuzz' with a GPU, not of '{}': 'warpmat merge' adds it up", run.run));
    (run.run == "diff" ? sweeps : fuzz_runs).push_back(run);
  }
  std::string text = "# Evidence\n\nWritten by `warpmat evidence` from the JSON of `warpmat diff` and `warpmat fuzz`; do not edit.\n";
  if (!sweeps.empty()) text += sweeps_text(sweeps);
  if (!fuzz_runs.empty()) text += fuzz_text(fuzz_runs);
  return text + forms_text(sums(sweeps)) + wgmma_text(sums(sweeps)) + std::string(published_section());
}

}  // namespace warpmat
