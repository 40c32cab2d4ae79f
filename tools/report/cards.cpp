#include "tools/report/cards.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <warpmat/ptx/catalogue/evidence.h>
#include <warpmat/wgmma.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/report/lowered_forms.h"
#include "tools/report/split.h"

namespace warpmat {
namespace {

struct Cards {
  Hardware hardware;
  std::string_view names;
};

using enum Hardware;

constexpr Cards cards[] = {
    {sm_90, "H100, H200, GH200"},
    {sm_80, "A100, A30"},
    {sm_86, "RTX 30, A2, A10, A40"},
    {sm_89, "RTX 40, L4, L40S"},
    {sm_100, "B200, GB200"},
    {sm_103, "B300, GB300"},
    {sm_120, "RTX 50, RTX PRO 6000"},
    {sm_121, "DGX Spark"},
    {sm_110, "Jetson Thor"},
    {sm_87, "Jetson Orin"},
    {sm_88, "further Ampere (sm_88)"},
    {sm_75, "T4, RTX 20"},
    {sm_70, "V100"},
};

/// The row of `hardware`. Throws where there is none.
constexpr const Cards& row_of(Hardware hardware) {
  for (const Cards& row : cards)
    if (row.hardware == hardware) return row;
  throw std::logic_error("a hardware without a row of cards");
}

static_assert([] {
  for (int number = 0; number <= static_cast<int>(sm_121); ++number) static_cast<void>(row_of(static_cast<Hardware>(number)));
  return std::size(cards) == static_cast<std::size_t>(sm_121) + 1;
}());  // each has one row

/// "rtx4090" of "NVIDIA GeForce RTX 4090": small letters and digits, without the maker's and the series' names.
std::string plain_name(std::string_view card) {
  std::string plain;
  for (const char c : card)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view word : {"nvidia", "geforce", "tesla", "quadro"})
    if (plain.starts_with(word)) plain.erase(0, word.size());
  return plain;
}

/// Whether `card` is what a row calls `name`: the same, or of a series such as "RTX 40" the number of a card, "4090" or "rtx4070ti".
bool names_card(std::string_view name, std::string_view card) {
  constexpr std::string_view series = "rtx";
  constexpr std::size_t series_digits = 2, card_digits = 4;
  if (plain_name(name) == card) return true;
  std::string digits = plain_name(name);
  if (!digits.starts_with(series) || digits.size() != series.size() + series_digits) return false;
  digits.erase(0, series.size());
  if (card.starts_with(series)) card.remove_prefix(series.size());
  const std::string_view number = card.substr(0, std::min(card.find_first_not_of("0123456789"), card.size()));
  return number.size() == card_digits && number.starts_with(digits);
}

/// The common name of forms with the same evidence: "data movement", "fp8", "sparse f16".
std::string kind_of(const Form& form) {
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
std::string kind_of(const catalogue::Pattern& row) {
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
    if (const Lowering* lowering = find_lowering(form, hardware)) all.emplace_back(kind_of(form), label_of(*lowering));
  if (hardware == Hardware::sm_90)
    for (const WgmmaForm& form : wgmma_forms()) all.emplace_back("wgmma", label_of(lowering_of(form)));
  for (const catalogue::Pattern& row : catalogue::patterns()) {
    const auto has = [&](const Target& t) { return t.hardware == hardware && has_feature(row.row.requirement, t); };
    if (!kind_of(row).empty() && std::ranges::any_of(targets(), has))
      all.emplace_back(kind_of(row), catalogue::evidence_of(row, hardware).label);
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

std::string_view card_names(Hardware hardware) {
  return row_of(hardware).names;
}

std::string_view target_of_card(std::string_view card) {
  const std::string plain = plain_name(card);
  for (const Cards& row : cards)
    for (const std::string& name : split(row.names, ','))
      if (!plain.empty() && names_card(name, plain)) {
        std::string_view best;
        for (const Target& target : targets())
          if (target.hardware == row.hardware && (best.empty() || target.features == Target::Features::architecture)) best = target.name;
        return best;
      }
  return {};
}

std::string card_table() {
  std::string text = "| card | hardware | what is known, from strong to weak |\n|---|---|---|\n";
  for (const Cards& c : cards) text += fmt::format("| {} | {} | {} |\n", c.names, name(c.hardware), known_text(c.hardware));
  return text;
}

}  // namespace warpmat
