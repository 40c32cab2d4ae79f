#pragma once

#include <warpmat/forms.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/ask/operands.h"

namespace warpmat::ask {

/// A product that ask.cu lets a card compute, and how its operands are drawn.
struct Question {
  /// An operand's registers, "%a0" and so on, of which there are `count`.
  struct Group {
    std::string stem;
    int count;
    Elements elements;
  };

  const Form* form;
  std::string statement;      ///< with the registers' names
  std::vector<Group> groups;  ///< in PTX's order
};

using Digests = std::array<std::uint32_t, classes>;

/// All questions: each mma, and of wmma.mma those whose factors lie by rows and by columns. Their numbers are their places.
const std::vector<Question>& questions();

/// What tells one list of questions from another.
std::uint32_t digest_of_questions();

/// The target that asks on cards with `hardware`: the one with all features.
const Target& asking_target(Hardware hardware);

/// The digests that the tables give for question `number` on `hardware`; none where it has no such form.
std::optional<Digests> expected(std::size_t number, Hardware hardware);

/// The program ask.cu, which asks every question that the card has.
std::string ask_program();

/// What a card answered: the text that ask.cu prints.
struct CardAnswers {
  std::string card, capability, driver;
  Hardware hardware;
  std::vector<std::optional<Digests>> answers;  ///< by number; none of what was not asked
};

/// Reads the text, also from the middle of other text. Throws std::runtime_error for text that is none, incomplete, or of other questions.
CardAnswers read_answers(const std::string& text);

/// Whether text has such answers.
bool holds_answers(const std::string& text);

/// What the answers decide of each row of the lowering table. Markdown.
std::string decisions(const CardAnswers& card);

}  // namespace warpmat::ask
