#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/explain/table.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <warpmat/ptx/catalogue/catalogue.h>
#include <warpmat/ptx/catalogue/evidence.h>
#include <warpmat/wgmma.h>

#include "commands.h"
#include "tools/report/compared_results.h"
#include "tools/report/lowered_forms.h"
#include "tools/report/meant_forms.h"
#include "tools/report/operand_layout.h"
#include "tools/report/pattern.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

struct ListOptions {
  std::string target;
  std::vector<std::string> filters;
  bool json = false;
  bool scalar = false, approximate = false;
};

/// "d 32 f32, a 4 f16 or descriptor, b descriptor f16, scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b"
std::string operands_text(const WgmmaForm& form) {
  const auto format = [&](OperandName operand) { return name(form.tile->format(operand)); };
  std::string text = fmt::format("d {} {}, a {} {} or descriptor, b descriptor {}", form.d_registers(), format(OperandName::d),
                                 form.a_registers(), format(OperandName::a), format(OperandName::b));
  if (form.sparse()) text += ", e 1 b4, selector";
  text += ", scale-d";
  if (form.negates()) text += ", imm-scale-a, imm-scale-b";
  return text + (form.transposes() ? ", imm-trans-a, imm-trans-b" : "");
}

/// "d 4 f32, a 4 f16, b 2 f16, c 4 f32"
std::string operands_text(const Form& form) {
  std::vector<std::string> texts;
  for (const Operand& o : form.operands) {
    texts.push_back(o.kind == OperandKind::fragment ? fmt::format("{} {} {}", name(o.name), o.registers(), format_text(o))
                                                    : fmt::format("{} {}", name(o.name), name(o.kind)));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// The source of the evidence, and that for the floor.
std::string source_text(const LoweredForm& lowered) {
  std::string text(lowered.lowering->source);
  if (lowered.floor && lowered.floor->source != text) text += fmt::format("; floor: {}", lowered.floor->source);
  return text;
}

/// Null if no operands reach a floor.
Json floor_json(const std::optional<Floor>& floor) {
  if (!floor) return nullptr;
  const Json exponent = floor->exponent == no_floor ? Json(nullptr) : Json(floor->exponent);
  return {{"exponent", exponent}, {"evidence", name(floor->evidence)}, {"source", floor->source}};
}

constexpr const char* wgmma_target = "sm_90a";

/// What is listed: names in which each filter, a regular expression, matches somewhere, whatever the case.
class Filter {
 public:
  explicit Filter(const std::vector<std::string>& filters) {
    for (const std::string& filter : filters) expressions_.emplace_back(filter, Pattern::Case::ignored);
  }

  bool takes(const std::string& opcode, const std::set<std::string>& machine_names = {}) const {
    return std::ranges::all_of(expressions_, [&](const Pattern& expression) {
      const auto matches = [&](const std::string& name) { return expression.found_in(name); };
      return matches(opcode) || std::ranges::any_of(machine_names, matches);
    });
  }

 private:
  std::vector<Pattern> expressions_;
};

std::vector<const Form*> listed_forms(const Target* only, const Filter& filter) {
  std::vector<const Form*> listed;
  for (const Form& form : forms())
    if ((only == nullptr || !unavailable(form, *only)) && filter.takes(form.opcode, machine_names(form, only))) listed.push_back(&form);
  return listed;
}

std::vector<const WgmmaForm*> listed_wgmma(const Target* only, const Filter& filter) {
  std::vector<const WgmmaForm*> listed;
  for (const WgmmaForm& form : wgmma_forms())
    if ((only == nullptr || !unavailable(form, *only)) && filter.takes(form.opcode)) listed.push_back(&form);
  return listed;
}

std::string list_text(const Target* only, const Filter& filter) {
  std::vector<std::string> header{"opcode", "needs", "PTX", "operands: registers, format"};
  if (only == nullptr)
    header.emplace_back("evidence");
  else
    header.insert(header.end(), {"machine", "evidence", "source"});
  Table table(header);
  for (const Form* listed : listed_forms(only, filter)) {
    const Form& form = *listed;
    const std::vector<LoweredForm> found = lowered_forms(form, only);
    std::vector<std::string> row{form.opcode, target_text(form.requirement), to_string(form.requirement.ptx), operands_text(form)};
    if (only == nullptr) {
      row.push_back(evidence_text(found));
    } else {
      const Lowering& l = *found.front().lowering;
      row.insert(row.end(), {machine_name(form, l), evidence_label(found.front()), source_text(found.front())});
    }
    table.add(std::move(row));
  }
  for (const WgmmaForm* listed : listed_wgmma(only, filter)) {
    const WgmmaForm& form = *listed;
    const Lowering& l = lowering_of(form);
    std::vector<std::string> row{form.opcode, wgmma_target, to_string(form.ptx), operands_text(form)};
    if (only == nullptr)
      row.push_back(fmt::format("{} {}", name(label_of(l)), name(Hardware::sm_90)));
    else
      row.insert(row.end(), {std::string(l.machine), std::string(name(label_of(l))), std::string(l.source)});
    table.add(std::move(row));
  }
  return table.text();
}

Json operand_json(const Operand& o) {
  if (o.kind == OperandKind::address || o.kind == OperandKind::stride)
    return {{"name", name(o.name)}, {"kind", name(o.kind)}, {"written", o.written}, {"registers", o.registers()}};
  if (o.kind != OperandKind::fragment) return {{"name", name(o.name)}, {"kind", name(o.kind)}, {"choices", o.choices}};
  const Fragment& f = o.fragment;
  return {{"name", name(o.name)},
          {"kind", name(o.kind)},
          {"written", o.written},
          {"registers", o.registers()},
          {"register_bits", f.register_bits()},
          {"format", format_text(o)},
          {"element_bits", f.element_bits()},
          {"rows", f.rows()},
          {"columns", f.columns()},
          {"matrices", f.matrices()}};
}

Json form_json(const Form& form, const std::vector<LoweredForm>& found) {
  Json operands = Json::array(), lowerings = Json::array();
  for (const Operand& o : form.operands) operands.push_back(operand_json(o));
  for (const LoweredForm& o : found)
    lowerings.push_back({{"hardware", name(o.hardware)},
                         {"machine", machine_name(form, *o.lowering)},
                         {"evidence", name(label_of(*o.lowering))},
                         {"source", o.lowering->source},
                         {"layout_evidence", name(layout_label(form, o.hardware).label)},
                         {"layout_source", layout_label(form, o.hardware).source},
                         {"compared", results_behind(label_of(*o.lowering), form)},
                         {"floor", floor_json(o.floor)}});
  const Json requires_json{{"target", target_text(form.requirement)}, {"ptx", to_string(form.requirement.ptx)}};
  return {{"opcode", form.opcode}, {"requires", requires_json}, {"operands", std::move(operands)}, {"lowerings", std::move(lowerings)}};
}

/// The operands of a matrix: a and b also or only in memory.
Json wgmma_json(const WgmmaForm& form) {
  const auto operand = [&](OperandName which, int registers, bool descriptor) {
    const Fragment& f = form.tile->operand(which).fragment;
    const bool is_d = which == OperandName::d, is_b = which == OperandName::b;
    return Json{{"name", name(which)},
                {"kind", registers == 0 ? "descriptor"
                         : descriptor   ? "fragment or descriptor"
                                        : "fragment"},
                {"written", is_d},
                {"registers", registers},
                {"format", format_text(form.tile->operand(which))},
                {"element_bits", f.element_bits()},
                {"rows", is_b ? form.shape.k : form.shape.m},
                {"columns", is_d || is_b ? form.shape.n : f.columns()}};
  };
  Json operands = Json::array({operand(OperandName::d, form.d_registers(), false), operand(OperandName::a, form.a_registers(), true),
                               operand(OperandName::b, 0, true)});
  if (form.sparse()) operands.push_back(operand(OperandName::e, 1, false));
  const Lowering& l = lowering_of(form);
  return {{"opcode", form.opcode},
          {"requires", {{"target", wgmma_target}, {"ptx", to_string(form.ptx)}}},
          {"warps", WgmmaForm::warps},
          {"operands", std::move(operands)},
          {"lowerings",
           Json::array(
               {{{"hardware", name(Hardware::sm_90)}, {"machine", l.machine}, {"evidence", name(label_of(l))}, {"source", l.source}}})}};
}

std::string list_json(const Target* only, const Filter& filter) {
  Json all = Json::array();
  for (const Form* form : listed_forms(only, filter)) all.push_back(form_json(*form, lowered_forms(*form, only)));
  for (const WgmmaForm* form : listed_wgmma(only, filter)) all.push_back(wgmma_json(*form));
  return all.dump(2) + '\n';
}

// ---- scalar and machine instructions ------------------------------------------------------------------------------------------------

/// Hardware on which a row has the same evidence.
struct Known {
  catalogue::RowEvidence evidence;
  std::vector<std::string_view> hardware;
};

/// "specified (NaN payloads assumed)".
std::string label_text(const catalogue::RowEvidence& evidence) {
  return evidence.open.empty() ? std::string(name(evidence.label)) : fmt::format("{} ({}: assumed)", name(evidence.label), evidence.open);
}

/// For all hardware that has the row, or for `only`, the strongest label first.
std::vector<Known> known(const catalogue::Pattern& row, const Target* only) {
  std::vector<Known> all;
  std::vector<Hardware> seen;
  for (const Target& target : targets()) {
    if ((only != nullptr && only != &target) || !has_feature(row.row.requirement, target)) continue;
    if (std::ranges::find(seen, target.hardware) != seen.end()) continue;
    seen.push_back(target.hardware);
    const catalogue::RowEvidence evidence = catalogue::evidence_of(row, target.hardware);
    auto found = std::ranges::find_if(all, [&](const Known& k) { return k.evidence.label == evidence.label; });
    if (found == all.end()) found = all.insert(all.end(), {evidence, {}});
    found->hardware.push_back(name(target.hardware));
  }
  std::ranges::stable_sort(all, std::greater<>(), [](const Known& k) { return k.evidence.label; });
  return all;
}

std::string needs_text(const Requirement& requirement) {
  return has_feature(requirement, targets().front()) ? "all" : target_text(requirement);
}

std::string rows_text(const std::vector<const catalogue::Pattern*>& rows, const Target* only) {
  Table table({"instruction", "needs", "PTX", "evidence", "source"});
  for (const catalogue::Pattern* row : rows)
    for (const Known& k : known(*row, only))
      table.add({row->row.opcode, needs_text(row->row.requirement), to_string(row->row.requirement.ptx),
                 fmt::format("{} {}", label_text(k.evidence), fmt::join(k.hardware, " ")), std::string(k.evidence.source)});
  return table.text();
}

std::string rows_json(const std::vector<const catalogue::Pattern*>& rows, const Target* only) {
  Json all = Json::array();
  for (const catalogue::Pattern* row : rows) {
    Json evidence = Json::array();
    for (const Known& k : known(*row, only))
      for (const std::string_view hardware : k.hardware)
        evidence.push_back({{"hardware", hardware},
                            {"evidence", name(k.evidence.label)},
                            {"source", k.evidence.source},
                            {"open", k.evidence.open},
                            {"compared", k.evidence.compared}});
    if (evidence.empty()) continue;
    const Json requires_json{{"target", needs_text(row->row.requirement)}, {"ptx", to_string(row->row.requirement.ptx)}};
    all.push_back({{"opcode", row->row.opcode}, {"requires", requires_json}, {"known", std::move(evidence)}});
  }
  return all.dump(2) + '\n';
}

/// Whether `row` is the one that a filter spells in full: "add.rn.f32", where the row's own name is a pattern of spellings.
bool spells(const std::vector<std::string>& filters, const catalogue::Pattern& row) {
  return std::ranges::any_of(filters, [&](const std::string& filter) {
    const auto match = catalogue::find_row(filter);
    return match && match->pattern == &row;
  });
}

/// The rows of the catalogue that a statement can spell.
std::vector<const catalogue::Pattern*> listed_rows(bool approximate_alone, const std::vector<std::string>& filters) {
  std::vector<const catalogue::Pattern*> rows;
  const Filter filter(filters);
  for (const catalogue::Pattern& row : catalogue::patterns()) {
    const bool approximate = row.row.opcode.find(".approx") != std::string::npos || row.row.opcode.find(".full") != std::string::npos;
    if (!row.mnemonic.starts_with('%') && (approximate || !approximate_alone) && (filter.takes(row.row.opcode) || spells(filters, row)))
      rows.push_back(&row);
  }
  return rows;
}

/// Whether a row is tcgen05.mma, whose sizes and types are in a register.
bool multiplies_matrices(const catalogue::Pattern* row) {
  return row->row.opcode.starts_with("tcgen05.mma");
}

[[noreturn]] void refuse_filters(const ListOptions& options, bool in_other_table) {
  const std::string wanted = fmt::format("{}", fmt::join(options.filters, "' and '"));
  const bool scalar = options.scalar || options.approximate;
  if (in_other_table)
    throw std::runtime_error(fmt::format("'{}' is in no {}; 'warpmat list{}' has it", wanted,
                                         scalar ? "scalar instruction" : "matrix instruction", scalar ? "" : " --scalar"));
  throw std::runtime_error(
      fmt::format("'{}' is in no opcode and no machine instruction's name{}: a filter is a part of one, such as "
                  "m16n8k32 or 'mma.*e4m3'",
                  wanted, options.target.empty() ? "" : " of " + options.target));
}

void list(const ListOptions& options) {
  const Target* const only = options.target.empty() ? nullptr : &target(options.target);
  const Filter filter(options.filters);
  const auto forms_listed = [&] { return !listed_forms(only, filter).empty() || !listed_wgmma(only, filter).empty(); };
  if (options.scalar || options.approximate) {
    const auto rows = listed_rows(options.approximate, options.filters);
    if (rows.empty()) refuse_filters(options, forms_listed());
    fmt::print("{}", options.json ? rows_json(rows, only) : rows_text(rows, only));
    return;
  }
  if (!options.filters.empty() && !forms_listed()) {
    const auto rows = listed_rows(false, options.filters);
    if (rows.empty() || !std::ranges::all_of(rows, multiplies_matrices)) refuse_filters(options, !rows.empty());
    fmt::print("{}", options.json ? rows_json(rows, only) : rows_text(rows, only));  // tcgen05.mma has no form of its own
    return;
  }
  fmt::print("{}", options.json ? list_json(only, filter) : list_text(only, filter));
}

std::string list_footer() {
  std::string text = "Evidence, from strong to weak, of a form's bits on a hardware:\n";
  for (const Label label : all_labels) text += fmt::format("  {:9}  {}\n", name(label), meaning(label));
  return text + R"(
Examples:
  warpmat list
  warpmat list m16n8k32 e4m3
  warpmat list HMMA.16816 --target sm_80
  warpmat list tcgen05.mma --target sm_100a
  warpmat list --scalar --target sm_90
  warpmat list --json | jq -r '.[].opcode')";
}

}  // namespace

void add_list(Command app) {
  const Command command = app.add_subcommand("list", "List every form: what it needs, its operands, and how its bits are known");
  const auto options = std::make_shared<ListOptions>();
  command.add_option("FILTER", options->filters,
                     "Only instructions with this in their name, in PTX or SASS: a regular expression; of several all match");
  command.add_option("--target", options->target, "Only forms that this target has, with its machine instruction: sm_80, sm_90a, ...")
      .type_name("T");
  command.add_flag("--json", options->json, "Print JSON instead of a table");
  command.add_flag("--scalar", options->scalar, "The scalar and machine instructions instead: add, cvt, ld, shfl, ...");
  command.add_flag("--approximate", options->approximate, "Of those the approximate ones alone: ex2.approx, div.full, ...");
  command.footer(list_footer());
  command.callback([options] { list(*options); });
}

}  // namespace warpmat
