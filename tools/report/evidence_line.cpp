#include "tools/report/evidence_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/machine/internals.h>
#include <warpmat/ptx/catalogue/evidence.h>
#include <warpmat/ptx/program/code.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "tools/report/compared_results.h"
#include "tools/report/doubts.h"
#include "tools/report/floor.h"
#include "tools/report/lowered_forms.h"

namespace warpmat {
namespace {

/// An instruction with the weakest label, preferably one with a remark.
const Labelled* weakest(const std::vector<Labelled>& all) {
  const auto found = std::ranges::min_element(all, {}, [](const Labelled& l) { return std::pair(l.label, l.remark.empty()); });
  return found == all.end() ? nullptr : &*found;
}

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string compared_text(std::uint64_t results, std::string_view of) {
  return results == 0 ? "" : fmt::format(" ({} results of {} there, none differs)", with_commas(results), of);
}

/// Operands that reach below the floor of a unit's alignment may have a weaker label than the rest.
std::string floor_text(const Instruction& instruction) {
  const auto floor = find_floor(instruction.form(), instruction.target().hardware);
  if (!floor || floor->evidence >= instruction.lowering().evidence) return "";
  return fmt::format("; terms far below the largest: {}", name(floor->evidence));
}

Labelled labelled_row(const std::string& opcode, const catalogue::Pattern& pattern, Hardware hardware) {
  const catalogue::RowEvidence evidence = catalogue::evidence_of(pattern, hardware);
  const bool choice = pattern.row.semantics == catalogue::Semantics::elect || pattern.row.semantics == catalogue::Semantics::active_mask;
  return {opcode,
          evidence.label,
          std::string(evidence.source),
          evidence.open.empty() ? "" : fmt::format("; {}: assumed", evidence.open),
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

/// " (add.f64: which of two NaNs it is: assumed)": what was not so on a GPU of an instruction that was compared, of the first that has
/// such.
std::string exception_text(const std::vector<Labelled>& all) {
  const auto found = std::ranges::find_if(all, [](const Labelled& l) { return l.label == Label::measured && l.remark.starts_with("; "); });
  return found == all.end() ? "" : fmt::format(" ({}: {})", found->what, found->remark.substr(2));
}

/// "; beside it elect.sync: assumed (which lanes these are, the hardware decides), 3 specified, 1 measured", for everything except `least`.
std::string others_text(const std::vector<Labelled>& all, const Labelled& least) {
  std::vector<std::string> texts;
  const auto is_named = [&](const Labelled& l) { return l.choice && &l != &least; };
  for (const Labelled& l : all)
    if (is_named(l)) texts.push_back(fmt::format("{}: {} ({})", l.what, name(l.label), l.source));
  for (const Label label : all_labels) {
    const auto count = std::ranges::count_if(all, [&](const Labelled& l) { return l.label == label && !is_named(l) && &l != &least; });
    if (count != 0) texts.push_back(fmt::format("{} {}{}", count, name(label), label == Label::measured ? exception_text(all) : ""));
  }
  return texts.empty() ? "" : fmt::format("; beside it {}", fmt::join(texts, ", "));
}

std::string line_of(std::string_view target, const std::vector<Labelled>& all, const Labelled& least) {
  return fmt::format("{}: {}{}: {}{}; {} ({}){}{}", target, name(least.label), all.size() == 1 ? "" : " at the weakest",
                     meaning(least.label), least.behind, least.what, least.source, least.remark, others_text(all, least));
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
  const code::Program& program = program_of(kernel);
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
  const auto arithmetic =
      std::ranges::min_element(all, {}, [](const Labelled& l) { return std::tuple(l.choice, l.label, l.remark.empty()); });
  if (arithmetic != all.end()) return line_of(target, all, *arithmetic);
  return fmt::format("{}: nothing ran", target);
}

void require_labels(const LabelOptions& options, std::string_view target, const std::vector<Labelled>& all) {
  const Labelled* least = weakest(all);
  if (options.require.empty() || least == nullptr || least->label == Label::specified || least->label >= *find_label(options.require))
    return;
  throw std::runtime_error(fmt::format("--require {}: {}", options.require, line_of(target, all, *least)));
}

void print_evidence(const LabelOptions& options, std::string_view target, const std::vector<Labelled>& all, std::string_view remark) {
  if (!options.quiet) fmt::print(stderr, "warpmat: {}{}\n", evidence_line(target, all), remark);
}

}  // namespace warpmat
