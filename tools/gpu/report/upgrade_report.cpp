#include "tools/gpu/report/upgrade_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/explain/table.h>
#include <warpmat/forms.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "gpu/recordings/found_layout.h"
#include "tools/gpu/report/opcode_patterns.h"

namespace warpmat {
namespace {

using enum Replayed::Outcome;

/// The verdict of the answers on one form.
struct FormResult {
  std::map<std::string, std::size_t> agreeing;  ///< answers that agree, by class: one for each variant of the program
  std::set<std::string> differing;              ///< classes
};

/// A row of the lowering table with the verdict of its forms' answers.
struct RowResult {
  const Lowering* lowering = nullptr;
  std::size_t forms = 0;                  ///< of the hardware
  std::size_t proved = 0;                 ///< agree in every class that applies to them
  std::size_t contradicted = 0;           ///< differ in some class
  std::size_t differing_classes = 0;      ///< of all its forms
  std::vector<std::string> not_recorded;  ///< forms without answers for some class, and without a difference
};

std::map<std::string, FormResult> by_form(const Recording& recording, const std::vector<Replayed>& results) {
  std::map<std::string, FormResult> forms;
  for (std::size_t i = 0; i < results.size(); ++i) {
    FormResult& form = forms[recording.answers[i].opcode];
    if (results[i].outcome == agrees) ++form.agreeing[recording.answers[i].operand_class];
    if (results[i].outcome == differs) form.differing.insert(recording.answers[i].operand_class);
  }
  return forms;
}

bool all_classes_agree(const Form& form, const FormResult& result) {
  return std::ranges::all_of(operand_classes(), [&](const OperandClass& operand_class) {
    if (!applies(operand_class, form)) return true;
    const auto agreeing = result.agreeing.find(std::string(operand_class.name));
    return agreeing != result.agreeing.end() && agreeing->second == recorded_variants(form, operand_class).size();
  });
}

void add(RowResult& row, const Form& form, const FormResult* result) {
  ++row.forms;
  if (result != nullptr && !result->differing.empty()) {
    ++row.contradicted;
    row.differing_classes += result->differing.size();
  } else if (result != nullptr && all_classes_agree(form, *result)) {
    ++row.proved;
  } else {
    row.not_recorded.push_back(form.opcode);
  }
}

/// In the order of the forms.
std::vector<RowResult> rows_of(Hardware hardware, const std::map<std::string, FormResult>& results) {
  std::vector<RowResult> rows;
  for (const Form& form : forms()) {
    const Lowering* lowering = find_lowering(form, hardware);
    if (lowering == nullptr) continue;
    auto row = std::ranges::find(rows, lowering, &RowResult::lowering);
    if (row == rows.end()) {
      rows.emplace_back().lowering = lowering;
      row = rows.end() - 1;
    }
    const auto result = results.find(form.opcode);
    add(*row, form, result == results.end() ? nullptr : &result->second);
  }
  return rows;
}

std::string verdict(const RowResult& row) {
  if (row.contradicted != 0) return fmt::format("contradicted: {} classes of {} forms differ", row.differing_classes, row.contradicted);
  if (row.proved == 0) return "nothing: no form has all answers";
  if (row.proved < row.forms) return fmt::format("agrees, but {} forms lack answers", row.not_recorded.size());
  return row.lowering->evidence == Evidence::measured ? "measured, again" : "measured";
}

std::string source_text(const Provenance& p) {
  std::string text = fmt::format("{}, compute capability {}, driver {}, assembler {}; {}, seed {}, recorded {}", p.card,
                                 p.compute_capability, p.driver, p.assembler, p.target, p.seed, p.date);
  return p.complete ? text : text + "; incomplete";
}

std::string contradictions_text(const Recording& recording, const std::vector<Replayed>& results) {
  std::string text;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i].outcome == differs)
      text += fmt::format("- `{}`, class {}: {} of {} blocks; {}\n", recording.answers[i].opcode, recording.answers[i].operand_class,
                          results[i].different_blocks, results[i].blocks, results[i].detail);
  return text.empty() ? "" : "\nWhere the card contradicts the emulator:\n\n" + text;
}

/// For loads of wmma that contradict the emulator: the card's layout, which the ISA leaves open.
std::string layouts_text(const Recording& recording, const std::vector<Replayed>& results) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> forms;  // by the card's layout and the emulator's
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Form* form = find_form(recording.answers[i].opcode);
    if (results[i].outcome != differs || form->mnemonic != Mnemonic::wmma_load) continue;
    const std::optional<Fragment> found = layout_of_loads(recording.provenance, recording.answers[i]);
    const std::string text = found ? layout_text(*form, *found) : "no permutation of index bits, or no examples in the file";
    forms[{text, layout_text(*form, form->operand(OperandName::r).fragment)}].push_back(form->opcode);
  }
  std::string text;
  for (const auto& [layouts, opcodes] : forms) {
    text += fmt::format("- {}; the emulator has {}\n", layouts.first, layouts.second);
    for (const OpcodePattern& pattern : opcode_patterns(opcodes)) text += fmt::format("  - {} x `{}`\n", pattern.opcodes, pattern.text);
  }
  if (text.empty()) return text;
  return "\nWhere the card's wmma.load puts elements (element inside the register | lane | register, lowest bits first):\n\n" + text;
}

std::string not_recorded_text(const std::vector<RowResult>& rows) {
  std::vector<std::string> missing;
  for (const RowResult& row : rows) missing.insert(missing.end(), row.not_recorded.begin(), row.not_recorded.end());
  if (missing.empty()) return "";
  std::string text = "\nForms without answers for every class of operands:\n\n";
  for (const OpcodePattern& pattern : opcode_patterns(missing)) text += fmt::format("- {} x `{}`\n", pattern.opcodes, pattern.text);
  return text;
}

/// The answers that were not compared, and why: each reason once.
std::string not_compared_text(const std::vector<Replayed>& results) {
  std::map<std::string, std::size_t> reasons;
  for (const Replayed& result : results)
    if (result.outcome != agrees && result.outcome != differs) ++reasons[result.detail];
  std::string text;
  for (const auto& [reason, count] : reasons) text += fmt::format("- {} classes: {}\n", count, reason);
  return text.empty() ? "" : "\nNot compared:\n\n" + text;
}

}  // namespace

std::string upgrade_report(const Recording& recording, const std::vector<Replayed>& results) {
  const Provenance& provenance = recording.provenance;
  std::size_t outputs = 0;
  for (const Replayed& result : results) outputs += result.outputs;
  const Target* target = find_target(provenance.target);
  if (target == nullptr) return fmt::format("# {}\n\nThis build has no target {}.\n", source_text(provenance), provenance.target);
  const auto forms = by_form(recording, results);
  const std::vector<RowResult> rows = rows_of(target->hardware, forms);
  std::string text = fmt::format("# What a {} says of {}\n\n{}\n{} forms, {} classes, {} outputs compared\n\n", provenance.card,
                                 name(target->hardware), source_text(provenance), forms.size(), results.size(), outputs);
  text += "| machine instruction | forms | now | source | with these answers |\n|---|---|---|---|---|\n";
  for (const RowResult& row : rows)
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.lowering->machine, row.forms, name(label_of(*row.lowering)),
                        row.lowering->source, verdict(row));
  return text + contradictions_text(recording, results) + layouts_text(recording, results) + not_compared_text(results) +
         not_recorded_text(rows);
}

}  // namespace warpmat
