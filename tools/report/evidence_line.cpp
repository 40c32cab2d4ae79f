#include "tools/report/evidence_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/ir/code.h>
#include <warpmat/machine/internals.h>
#include <warpmat/ptx/catalogue/evidence.h>
#include <warpmat/ptx/syntax/module.h>
#include <warpmat/words/words.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "tools/report/compared_results.h"
#include "tools/report/doubts.h"
#include "tools/report/floor.h"
#include "tools/report/lowered_forms.h"

namespace warpmat {
namespace {

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string compared_text(std::uint64_t results, std::string_view of) {
  return results == 0 ? "" : fmt::format("{} results of {} there, none differs", with_commas(results), of);
}

/// Operands that reach below the floor of a unit's alignment may have a weaker label than the rest.
std::string floor_text(const Instruction& instruction) {
  const auto floor = find_floor(instruction.form(), instruction.target().hardware);
  if (!floor || floor->evidence >= instruction.lowering().evidence) return "";
  return fmt::format("terms far below the largest: {}", name(floor->evidence));
}

Labelled labelled_row(const std::string& opcode, const catalogue::Pattern& pattern, Hardware hardware) {
  const catalogue::RowEvidence evidence = catalogue::evidence_of(pattern, hardware);
  const bool choice = pattern.row.semantics == catalogue::Semantics::elect || pattern.row.semantics == catalogue::Semantics::active_mask;
  const bool open = !evidence.open.empty() && !evidence.handle;
  return {opcode,
          evidence.label,
          std::string(evidence.source),
          open ? fmt::format("{}: assumed", evidence.open) : "",
          compared_text(evidence.compared, "it"),
          choice};
}

/// The instructions of a program, each name once.
class Collection {
 public:
  explicit Collection(Hardware hardware) : hardware_(hardware) {}

  void add(Labelled what) {
    if (seen_.insert(what.what).second) all_.push_back(std::move(what));
  }
  /// A statement of the catalogue; others have no row.
  void add_opcode(const std::string& opcode) {
    if (seen_.contains(opcode)) return;
    if (const auto match = catalogue::find_row(opcode)) add(labelled_row(opcode, *match->pattern, hardware_));
  }
  std::vector<Labelled> take() { return std::move(all_); }

 private:
  Hardware hardware_;
  std::set<std::string> seen_;
  std::vector<Labelled> all_;
};

/// "line 3, add.f32".
std::string statement_text(const code::Program& program, std::uint32_t statement) {
  const syntax::Statement& s = *program.statements[statement];
  return fmt::format("line {}, {}", s.location.line, s.opcode);
}

/// Sums are as the assembler's machine code says; by the rule, as an H200 computed those of random kernels without branches.
void add_contraction(const code::Program& program, Collection& all) {
  const std::string what = "contraction of mul and add";
  const auto is_sum = [](const code::Doubt& doubt) { return doubt.why <= code::Doubt::Why::sum_inferred; };
  if (const auto doubt = std::ranges::find_if(program.doubted, is_sum); doubt != program.doubted.end())
    return all.add({what, Label::assumed,
                    fmt::format("{}: {}, docs/reference/assembler.md", statement_text(program, doubt->statement), doubt_text(doubt->why)),
                    "", ""});
  if (!program.assembler.empty()) return all.add({what, Label::specified, program.assembler, "", ""});
  if (program.contracted.empty()) return;
  const bool compared = program.target->hardware == Hardware::sm_90;
  all.add({what, compared ? Label::measured : Label::assumed,
           compared ? "the rule; H200: random kernels without branches" : "the rule, as ptxas 13.0 has it for sm_90", "", ""});
}

/// Statements that the assembler may make something else of, the first of each kind.
void add_doubts(const code::Program& program, Collection& all) {
  for (const code::Doubt& doubt : program.doubted)
    if (doubt.why > code::Doubt::Why::sum_inferred)
      all.add({fmt::format("statements in doubt: {}", doubt_text(doubt.why)), Label::assumed, statement_text(program, doubt.statement), "",
               ""});
}

/// What the assembler computes beforehand or merges is known where it was compared, and by machine code.
struct FoldedEvidence {
  code::Folded::Kind kind;
  const char *what, *compared;  ///< on sm_90; null: nowhere
};
constexpr std::array folded_evidence{
    FoldedEvidence{code::Folded::Kind::constant, "constants that the assembler computes", "H100: every row, 200 tuples of operands"},
    FoldedEvidence{code::Folded::Kind::divided, "divisions by constants", "H100: every row, 200 tuples of operands"},
    FoldedEvidence{code::Folded::Kind::inverted, "reciprocals that the assembler leaves out", nullptr},
    FoldedEvidence{code::Folded::Kind::scaled, "products with a power of two", "H200: 26 expressions with three sets of flags"}};

void add_folding(const code::Program& program, Collection& all) {
  for (const auto& [kind, what, compared] : folded_evidence) {
    const auto found = std::ranges::find(program.folded, kind, &code::Folded::kind);
    if (found == program.folded.end()) continue;
    const bool measured = compared != nullptr && program.target->hardware == Hardware::sm_90;
    const std::string source = !program.assembler.empty() ? program.assembler : measured ? compared : "as ptxas 13.0 has it for sm_90";
    all.add({what, measured ? Label::measured : Label::assumed, fmt::format("{}: {}", statement_text(program, found->statement), source),
             "", ""});
  }
}

/// What a label says of the instructions that have it, behind their number.
std::string_view counted(Label label) {
  switch (label) {
    case Label::measured: return "measured on the card";
    case Label::specified: return "specified by the PTX ISA";
    case Label::replayed: return "replayed from published outputs";
    case Label::published: return "published in papers";
    case Label::assumed: return "assumed";
  }
  return "";
}

/// "sm_90a (H100)".
std::string target_text(std::string_view target) {
  const Target* const known = find_target(target);
  return known == nullptr ? std::string(target) : fmt::format("{} ({})", target, split(card_names(known->hardware), ',').front());
}

/// The first of `names`, and how many more there are: "a, b, c and 4 more".
std::string first_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 3;
  const std::size_t shown = std::min(most, names.size());
  const std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  return shown == names.size() ? text : fmt::format("{} and {} more", text, names.size() - shown);
}

/// "23 instructions measured on the card, 12 specified by the PTX ISA".
std::string counts_text(const std::vector<Labelled>& all) {
  std::vector<std::string> texts;
  for (const Label label : all_labels) {
    const auto count = std::ranges::count_if(all, [&](const Labelled& l) { return l.label == label && !l.choice; });
    if (count == 0) continue;
    const std::string_view noun = !texts.empty() ? "" : count == 1 ? " instruction" : " instructions";
    texts.push_back(fmt::format("{}{} {}", count, noun, counted(label)));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// What is weaker than the ISA's word and why: "; ex2.approx.f32: assumed (as sm_90, with the same machine instructions)".
std::string weaker_text(const std::vector<Labelled>& all) {
  std::map<std::pair<Label, std::string>, std::vector<std::string>> names;
  for (const Labelled& l : all)
    if (!l.choice && l.label < Label::specified) names[{l.label, l.source}].push_back(l.what);
  std::string text;
  for (const auto& [why, whose] : names) text += fmt::format("; {}: {} ({})", first_of(whose), name(why.first), why.second);
  return text;
}

/// What is open of instructions that are known otherwise: "; NaN payloads: assumed (abs.f32, add.f32)".
std::string remarks_text(const std::vector<Labelled>& all) {
  std::map<std::string, std::vector<std::string>> names;
  for (const Labelled& l : all)
    if (!l.choice && !l.remark.empty()) names[l.remark].push_back(l.what);
  std::string text;
  for (const auto& [what, whose] : names) text += fmt::format("; {} ({})", what, first_of(whose));
  return text;
}

/// "; not counted: elect.sync (which lanes these are, the hardware decides)".
std::string choices_text(const std::vector<Labelled>& all) {
  std::vector<std::string> texts;
  for (const Labelled& l : all)
    if (l.choice) texts.push_back(fmt::format("{} ({}: {})", l.what, name(l.label), l.source));
  return texts.empty() ? "" : fmt::format("; not counted: {}", fmt::join(texts, ", "));
}

/// All that is known of one instruction.
std::string line_of(const Labelled& only) {
  return fmt::format("{}: {} ({}{}{}){}{}", only.what, name(only.label), only.source, only.behind.empty() ? "" : "; ", only.behind,
                     only.remark.empty() ? "" : "; ", only.remark);
}

std::string line_of(const std::vector<Labelled>& all) {
  if (all.size() == 1) return line_of(all.front());
  const std::string counts = counts_text(all), parts = weaker_text(all) + remarks_text(all);
  return (counts.empty() ? "no arithmetic" : counts + (parts.empty() ? "; nothing weaker" : parts)) + choices_text(all);
}

}  // namespace

Labelled labelled(const Instruction& instruction) {
  const Label label = label_of(instruction.lowering());
  const std::uint64_t results = results_behind(label, instruction.form());
  return {instruction.form().opcode, label, std::string(instruction.lowering().source), floor_text(instruction),
          compared_text(results, label == Label::measured ? "this form" : "its formats")};
}

Labelled labelled(const WgmmaForm& form) {
  const Lowering& lowering = lowering_of(form);
  return {form.opcode, label_of(lowering), std::string(lowering.source), "",
          compared_text(compared_results_of_wgmma, "all types of wgmma")};
}

std::vector<Labelled> labelled(const Program& program) {
  Collection all(program.target()->hardware);
  for (const Statement& statement : program.statements()) {
    if (const Instruction* instruction = statement.matrix())
      all.add(labelled(*instruction));
    else
      all.add_opcode(std::string(statement.instruction().opcode()));
  }
  return all.take();
}

std::vector<Labelled> labelled(const Kernel& kernel) {
  return labelled(program_of(kernel));
}

std::vector<Labelled> labelled(const code::Program& program) {
  Collection all(program.target->hardware);
  program.for_each<code::Matrix>([&](const code::Matrix& matrix) { all.add(labelled(matrix.instruction)); });
  program.for_each<code::WarpgroupProduct>([&](const code::WarpgroupProduct& product) { all.add(labelled(product.instruction.form())); });
  add_contraction(program, all);
  add_folding(program, all);
  add_doubts(program, all);
  for (const code::Operation& operation : program.operations) {
    all.add_opcode(program.statements[operation.statement]->opcode);
    if (operation.semantics != catalogue::Semantics::special) continue;
    const code::SpecialRegister special_register = program.of<code::SpecialRegister>(operation);
    if (code::is_hardwares_own(special_register))
      all.add({std::string(code::name(special_register)), Label::assumed, "the number is the hardware's own", "", "", true});
  }
  return all.take();
}

std::vector<Labelled> labelled(const Kernel& kernel, const LaunchResult& result) {
  std::vector<Labelled> all = labelled(kernel);
  const bool compared = program_of(kernel).target->hardware == Hardware::sm_90;
  for (const std::string& statement : result.absent_lanes)
    all.push_back({fmt::format("lanes that take no part, {}", statement), compared ? Label::measured : Label::assumed,
                   compared ? "H100: they give 0" : "PTX leaves undefined what they give; 0 as for sm_90", "", ""});
  return all;
}

std::string evidence_line(std::string_view target, const std::vector<Labelled>& all) {
  return fmt::format("{}: {}", target_text(target), all.empty() ? "nothing ran" : line_of(all));
}

void require_labels(const LabelOptions& options, std::string_view target, const std::vector<Labelled>& all) {
  if (options.require.empty()) return;
  const Label required = std::min(*find_label(options.require), Label::specified);  // what the ISA fixes satisfies every requirement
  std::vector<std::string> weaker;
  for (const Labelled& l : all)
    if (l.label < required) weaker.push_back(line_of(l));
  if (!weaker.empty())
    throw std::runtime_error(fmt::format("--require {}: {}: {}", options.require, target_text(target), first_of(weaker)));
}

void print_evidence(const LabelOptions& options, std::string_view target, const std::vector<Labelled>& all, std::string_view remark) {
  if (!options.quiet) fmt::print(stderr, "warpmat: {}{}\n", evidence_line(target, all), remark);
}

}  // namespace warpmat
