#include <warpmat/explain.h>

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/explain/bit_picture.h>
#include <warpmat/explain/table.h>
#include <warpmat/explain/words.h>

namespace warpmat {
namespace {

/// The rows of bits, under a line that names the first column, E's, and the last column that is kept.
std::string picture_text(const BitPicture& picture) {
  std::size_t width = 0;
  for (const BitRow& row : picture.rows) width = std::max(width, row.name.size());
  const std::string first = fmt::format("2^{}", picture.highest), last = fmt::format("2^{}", picture.lowest);
  const std::size_t columns = picture.rows.front().kept.size();
  const std::size_t gap = columns > first.size() + last.size() ? columns - first.size() - last.size() : 1;
  std::string text = fmt::format("  {:{}}   {}{:{}}{} | cut\n", "", width, first, "", gap, last);
  for (const BitRow& row : picture.rows) {
    text += fmt::format("  {:{}} {} {}", row.name, width, row.negative ? '-' : '+', row.kept);
    if (!row.cut.empty()) text += fmt::format(" | {}{}", row.cut, picture.more_cut ? "..." : "");
    text += '\n';
  }
  return text;
}

std::string step_text(const Explanation& explanation, std::size_t number) {
  const ExplainedStep& step = explanation.steps[number];
  std::string text = step_title(explanation, number) + '\n';
  const ProductTable products = product_table(explanation, step);
  if (!products.rows.empty()) {
    Table table(products.header, Table::Align::right);
    for (const auto& row : products.rows) table.add(row);
    text += table.text();
  }
  if (!products.zeros.empty()) text += products.zeros + '\n';
  for (const std::string& sentence : alignment_sentences(explanation, step)) text += sentence + '\n';
  if (step.kind == ExplainedStep::Kind::unit_sum && !step.special && step.largest_exponent != no_floor)
    text += picture_text(bit_picture(step));
  return text + result_sentence(explanation, step) + '\n';
}

std::string one_text(const Explanation& explanation) {
  std::string text = fmt::format("{}\nas {}: {:#x}\n", what(explanation), explanation.as, explanation.result);
  for (const std::string& sentence : machine_sentences(explanation)) text += sentence + '\n';
  for (std::size_t i = 0; i < explanation.steps.size(); ++i) text += '\n' + step_text(explanation, i);
  if (explanation.move)
    for (const std::string& sentence : move_sentences(explanation)) text += sentence + '\n';
  return text;
}

}  // namespace

std::string explanation_text(const Explanation& explanation, const Explanation* other) {
  if (other == nullptr) return one_text(explanation);
  return fmt::format("{}\n{}\n{}\n", one_text(explanation), one_text(*other), parting_text(explanation, *other));
}

std::string parting_text(const Explanation& first, const Explanation& second) {
  const std::string both = fmt::format("{} and {}", first.as, second.as);
  const auto part = parting(first, second);
  if (!part && first.result == second.result) return fmt::format("{} agree: {:#x}.", both, first.result);
  if (!part) return fmt::format("{} differ: {:#x} and {:#x}.", both, first.result, second.result);
  const ExplainedStep &one = first.steps[part->first], &other = second.steps[part->second];
  return fmt::format("{} part after step {} of {} and step {} of {}: {} and {}. The results are {:#x} and {:#x}.", both, part->first + 1,
                     first.steps.size(), part->second + 1, second.steps.size(), bits_text(one.format, one.result),
                     bits_text(other.format, other.result), first.result, second.result);
}

}  // namespace warpmat
