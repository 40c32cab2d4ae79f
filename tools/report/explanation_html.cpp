#include <fmt/core.h>
#include <warpmat/explain/bit_picture.h>
#include <warpmat/explain/words.h>

#include <string>
#include <string_view>
#include <vector>

#include "tools/report/explanation_html.h"
#include "tools/report/markup.h"

namespace warpmat {
namespace {

/// Applies only below an element of class warpmat: notebooks have their own styles.
constexpr std::string_view style = R"(
.warpmat { font: 15px/1.4 system-ui, sans-serif; color: #111; background: #fff; }
.warpmat h1 { font-size: 1.2rem; overflow-wrap: anywhere; }
.warpmat main { display: grid; grid-auto-columns: minmax(0, 1fr); grid-auto-flow: column; gap: 2em; align-items: start; }
.warpmat section { min-width: 0; overflow-x: auto; }
.warpmat table { border-collapse: collapse; font: 12px/1.5 ui-monospace, monospace; }
.warpmat th, .warpmat td { text-align: right; padding: 0 .6em; border-bottom: 1px solid #ddd; white-space: nowrap; }
.warpmat pre { font: 12px/1.3 ui-monospace, monospace; }
.warpmat .parted { border-left: .3em solid #d55e00; padding-left: .6em; }
.warpmat .kept { color: #0072b2; font-weight: bold; }
.warpmat .cut { color: #d55e00; text-decoration: line-through; }
@media (max-width: 60rem) {
  .warpmat main { grid-auto-flow: row; }
}
)";

/// Of the page that explain writes; a notebook chooses its own ground.
constexpr std::string_view dark_style = R"(
@media (prefers-color-scheme: dark) {
  body, .warpmat { color: #ececec; background: #16181c; }
  .warpmat th, .warpmat td { border-color: #454850; }
  .warpmat .kept { color: #8cc4ff; }
  .warpmat .cut { color: #ff9d5c; }
}
)";

std::string paragraph(const std::string& text) {
  return fmt::format("<p>{}</p>\n", escaped(text));
}

std::string table_html(const ProductTable& table) {
  std::string html = "<table><thead><tr>";
  for (const std::string& cell : table.header) html += fmt::format("<th scope=\"col\">{}</th>", escaped(cell));
  html += "</tr></thead><tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (const std::string& cell : row) html += fmt::format("<td>{}</td>", escaped(cell));
    html += "</tr>\n";
  }
  return html + "</tbody></table>\n";
}

std::string picture_html(const BitPicture& picture) {
  std::size_t width = 0;
  for (const BitRow& row : picture.rows) width = std::max(width, row.name.size());
  std::string html = fmt::format("<pre>{:{}}   bits 2^{} to 2^{}, then what is cut\n", "", width, picture.highest, picture.lowest);
  for (const BitRow& row : picture.rows)
    html += fmt::format("{:{}} {} <span class=\"kept\">{}</span>{}{}\n", row.name, width, row.negative ? '-' : '+', row.kept,
                        row.cut.empty() ? "" : fmt::format(" | <span class=\"cut\">{}</span>", row.cut),
                        !row.cut.empty() && picture.more_cut ? "..." : "");
  return html + "</pre>\n";
}

std::string step_html(const Explanation& explanation, std::size_t number, bool parted) {
  const ExplainedStep& step = explanation.steps[number];
  std::string html = fmt::format("<div{}><h3>{}</h3>\n", parted ? " class=\"parted\"" : "", escaped(step_title(explanation, number)));
  const ProductTable products = product_table(explanation, step);
  if (!products.rows.empty()) html += table_html(products);
  if (!products.zeros.empty()) html += paragraph(products.zeros);
  for (const std::string& sentence : alignment_sentences(explanation, step)) html += paragraph(sentence);
  if (step.kind == ExplainedStep::Kind::unit_sum && !step.special && step.largest_exponent != no_floor)
    html += picture_html(bit_picture(step));
  return html + paragraph(result_sentence(explanation, step)) + "</div>\n";
}

std::string section_html(const Explanation& explanation, std::optional<std::size_t> parted) {
  std::string html = fmt::format("<section><h2>{}: {:#x}</h2>\n", escaped(explanation.as), explanation.result);
  for (const std::string& sentence : machine_sentences(explanation)) html += paragraph(sentence);
  for (std::size_t i = 0; i < explanation.steps.size(); ++i) html += step_html(explanation, i, parted == i);
  if (explanation.move)
    for (const std::string& sentence : move_sentences(explanation)) html += paragraph(sentence);
  return html + "</section>\n";
}

}  // namespace

std::string explanation_part_html(const Explanation& explanation, const Explanation* other) {
  const auto part = other == nullptr ? std::nullopt : parting(explanation, *other);
  std::string html = fmt::format("<div class=\"warpmat\"><style>{}</style>\n<h1>{}</h1>\n", style, escaped(what(explanation)));
  if (other != nullptr) html += paragraph(parting_text(explanation, *other));
  html += "<main>\n" + section_html(explanation, part ? std::optional(part->first) : std::nullopt);
  if (other != nullptr) html += section_html(*other, part ? std::optional(part->second) : std::nullopt);
  return html + "</main>\n</div>\n";
}

std::string explanation_html(const Explanation& explanation, const Explanation* other) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/><meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\"/><meta name=\"color-scheme\" content=\"light dark\"/><title>{}</title></head><body>\n{}<style>{}</style>\n"
      "</body></html>\n",
      escaped(what(explanation)), explanation_part_html(explanation, other), dark_style);
}

}  // namespace warpmat
