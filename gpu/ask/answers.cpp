#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "gpu/ask/questions.h"

namespace warpmat::ask {
namespace {

constexpr std::array<std::string_view, classes> class_names{"close", "spread", "small", "any", "large C"};
constexpr std::string_view first_words = "warpmat answers 1, questions ";

std::string_view trimmed(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  while (!line.empty() && (line.front() == ' ' || line.front() == '>')) line.remove_prefix(1);  // of a quotation
  return line;
}

template <typename Number>
Number number_of(std::string_view text, int base) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::runtime_error(fmt::format("'{}' is no number of an answer", text));
  return number;
}

Digests digests_of(std::string_view text) {
  Digests digests{};
  constexpr std::size_t digits = 8, each = digits + 1;
  if (text.size() != classes * each - 1) throw std::runtime_error(fmt::format("'{}' is not {} digests", text, classes));
  for (std::size_t i = 0; i < classes; ++i) digests[i] = number_of<std::uint32_t>(text.substr(i * each, digits), 16);
  return digests;
}

Hardware hardware_of(const std::string& capability) {
  std::string wanted = "sm_" + capability;
  std::erase(wanted, '.');
  for (const Target& target : targets())
    if (name(target.hardware) == wanted) return target.hardware;
  throw std::runtime_error(fmt::format("no card of capability {} is known", capability));
}

void add(CardAnswers& card, std::string_view line) {
  const std::size_t colon = line.find(':');
  const auto number = number_of<std::size_t>(line.substr(0, colon), 10);
  if (colon == std::string_view::npos || number >= card.answers.size()) throw std::runtime_error(fmt::format("'{}' is no answer", line));
  const std::string_view text = line.substr(colon + 1);
  if (text != "-") card.answers[number] = digests_of(text);
}

/// What is known of one row of the lowering table.
struct Row {
  const Lowering* lowering = nullptr;
  std::size_t forms = 0, agreeing = 0, missing = 0;
  std::vector<std::string> contradictions;
  std::map<Hardware, std::size_t> refuted;  ///< other hardware, with the forms whose answers its rules do not give
  std::map<Hardware, std::size_t> shared;   ///< with the forms that it has, too
};

std::string classes_that_differ(const Digests& got, const Digests& wanted) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < classes; ++i)
    if (got[i] != wanted[i]) names.emplace_back(class_names[i]);
  return fmt::format("{}", fmt::join(names, ", "));
}

using AllExpected = std::map<Hardware, std::optional<Digests>>;

AllExpected all_expected(std::size_t number) {
  AllExpected found;
  for (const Target& target : targets())
    if (!found.contains(target.hardware)) found[target.hardware] = expected(number, target.hardware);
  return found;
}

void judge(Row& row, const CardAnswers& card, std::size_t number) {
  const Question& question = questions()[number];
  ++row.forms;
  const std::optional<Digests>& got = card.answers[number];
  if (!got) {
    ++row.missing;
    return;
  }
  const AllExpected wanted = all_expected(number);
  std::vector<std::string_view> alike;
  for (const auto& [hardware, digests] : wanted) {
    if (hardware == card.hardware || !digests) continue;
    ++row.shared[hardware];
    if (*digests == *got) alike.push_back(name(hardware));
    if (*digests != *got) ++row.refuted[hardware];
  }
  if (*wanted.at(card.hardware) == *got) {
    ++row.agreeing;
    return;
  }
  row.contradictions.push_back(fmt::format("- `{}`: other bits for the operands {}{}\n", question.form->opcode,
                                           classes_that_differ(*got, *wanted.at(card.hardware)),
                                           alike.empty() ? "" : fmt::format("; they are those of {}", fmt::join(alike, ", "))));
}

std::vector<Row> rows_of(const CardAnswers& card) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < questions().size(); ++i) {
    const Lowering* lowering = find_lowering(*questions()[i].form, card.hardware);
    if (lowering == nullptr) continue;
    auto row = std::ranges::find(rows, lowering, &Row::lowering);
    if (row == rows.end()) {
      rows.emplace_back().lowering = lowering;
      row = rows.end() - 1;
    }
    judge(*row, card, i);
  }
  return rows;
}

std::string verdict(const Row& row) {
  if (!row.contradictions.empty()) return fmt::format("contradicted by {} of {} forms", row.contradictions.size(), row.forms);
  if (row.agreeing == 0) return "not asked";
  return row.missing == 0 ? "confirmed" : fmt::format("confirmed, but {} forms were not asked", row.missing);
}

/// Hardware whose rules the answers refute, of the one that has the same forms.
std::string refuted_text(const Row& row) {
  std::vector<std::string_view> names;
  for (const auto& [hardware, count] : row.refuted) names.push_back(name(hardware));
  return names.empty() ? "" : fmt::format("{}", fmt::join(names, " "));
}

}  // namespace

bool holds_answers(const std::string& text) {
  return text.find(first_words) != std::string::npos;
}

CardAnswers read_answers(const std::string& text) {
  const std::size_t begin = text.find(first_words);
  if (begin == std::string::npos) throw std::runtime_error("the text has no line 'warpmat answers 1', which ask.cu prints");
  std::istringstream lines(text.substr(begin));
  std::string line;
  std::getline(lines, line);
  const auto asked = number_of<std::uint32_t>(trimmed(line).substr(first_words.size()), 16);
  if (asked != digest_of_questions())
    throw std::runtime_error(
        fmt::format("these are answers to other questions ({:08x}) than this version asks ({:08x}): use the version whose "
                    "ask.cu was run",
                    asked, digest_of_questions()));
  CardAnswers card{};
  card.answers.resize(questions().size());
  while (std::getline(lines, line)) {
    const std::string_view words = trimmed(line);
    const std::size_t space = words.find(' ');
    const std::string value(space == std::string_view::npos ? "" : words.substr(space + 1));
    if (words.starts_with("end:")) {
      if (card.capability.empty()) throw std::runtime_error("the answers do not say of which card they are");
      card.hardware = hardware_of(card.capability);
      return card;
    }
    if (words.starts_with("card "))
      card.card = value;
    else if (words.starts_with("capability "))
      card.capability = value;
    else if (words.starts_with("driver "))
      card.driver = value;
    else if (!words.empty())
      add(card, words);
  }
  throw std::runtime_error("the answers are incomplete: their last line, 'end:', is missing");
}

std::string decisions(const CardAnswers& card) {
  const std::vector<Row> rows = rows_of(card);
  const auto asked = std::ranges::count_if(card.answers, [](const auto& answer) { return answer.has_value(); });
  std::string text = fmt::format("# What {} decides of {}\n\nCompute capability {}, driver {}; {} forms, {} results of each\n\n", card.card,
                                 name(card.hardware), card.capability, card.driver, asked, classes * warps);
  text += "| machine instruction | forms | now | with these answers | rules that they refute |\n|---|---|---|---|---|\n";
  std::string contradictions;
  for (const Row& row : rows) {
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.lowering->machine, row.forms, name(label_of(*row.lowering)), verdict(row),
                        refuted_text(row));
    for (const std::string& each : row.contradictions) contradictions += each;
  }
  return contradictions.empty() ? text : text + "\nWhere the card contradicts the tables:\n\n" + contradictions;
}

}  // namespace warpmat::ask
