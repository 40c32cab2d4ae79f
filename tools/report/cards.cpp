#include "tools/report/cards.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <warpmat/ptx/catalogue/evidence.h>
#include <warpmat/tables/cards.h>
#include <warpmat/wgmma.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/report/lowered_forms.h"

namespace warpmat {
namespace {

/// The common name of forms with the same evidence: "data movement", "fp8", "sparse f16".
std::string common_name(const Form& form) {
  if (!multiplies(form.mnemonic) && !moves_matrix(form)) return "data movement";
  if (form.mnemonic != Mnemonic::mma) return "wmma";
  const Format format = form.format(OperandName::a);
  const std::string sparse = form.sparsity == Sparsity::dense ? "" : "sparse ";
  if (form.shape == Shape{8, 8, 4} && format == Format::f16) return "m8n8k4";
  if (form.scale_vector != 0) return sparse + "block scaling";
  if (is_integer(row(format))) return sparse + "integers";
  if (row(format).bits == 8) return sparse + "fp8";
  return row(format).bits < 8 ? sparse + "fp6 and fp4" : sparse + std::string(name(format));
}

/// The same for a scalar instruction; empty if it computes nothing.
std::string common_name(const catalogue::Pattern& row) {
  if (row.hidden || row.row.kernel.empty()) return "";
  if (row.mnemonic.starts_with('v')) return "video instructions";
  if (row.row.opcode.find(".approx") != std::string::npos || row.row.opcode.find(".full") != std::string::npos)
    return "approximate functions";
  return row.row.opcode.find(".rs") != std::string::npos ? "stochastic rounding" : "scalar arithmetic";
}

/// Everything on some target of `hardware`: its kind and its label.
std::vector<std::pair<std::string, Label>> known(Hardware hardware) {
  std::vector<std::pair<std::string, Label>> all;
  for (const Form& form : forms())
    if (const Lowering* lowering = find_lowering(form, hardware)) all.emplace_back(common_name(form), label_of(*lowering));
  if (hardware == Hardware::sm_90)
    for (const WgmmaForm& form : wgmma_forms()) all.emplace_back("wgmma", label_of(lowering_of(form)));
  for (const catalogue::Pattern& row : catalogue::patterns()) {
    const auto has = [&](const Target& t) { return t.hardware == hardware && has_feature(row.row.requirement, t); };
    if (!common_name(row).empty() && std::ranges::any_of(targets(), has))
      all.emplace_back(common_name(row), catalogue::evidence_of(row, hardware).label);
  }
  return all;
}

/// "replayed: f16, bf16, tf32", the strongest label first.
std::string known_text(Hardware hardware) {
  std::vector<std::string> texts;
  const auto all = known(hardware);
  for (const Label label : all_labels) {
    std::vector<std::string> kinds;
    for (const auto& [kind, of_kind] : all)
      if (of_kind == label && std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
    if (!kinds.empty()) texts.push_back(fmt::format("**{}**: {}", name(label), fmt::join(kinds, ", ")));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace

std::string card_table() {
  std::string text = "| card | hardware | what is known, from strong to weak |\n|---|---|---|\n";
  for (const Cards& c : all_cards()) text += fmt::format("| {} | {} | {} |\n", c.names, name(c.hardware), known_text(c.hardware));
  return text;
}

}  // namespace warpmat
