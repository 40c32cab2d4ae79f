#include <fmt/core.h>
#include <fmt/ranges.h>
#include <warpmat/forms.h>

#include <algorithm>
#include <numeric>

#include "gpu/ask/questions.h"
#include "gpu/ask/sources.h"

namespace warpmat::ask {
namespace {

constexpr const char* introduction =
    R"(// ask.cu: what does your card's matrix unit compute? Written by `warpmat record --program`; do not edit.
//
//   nvcc -o ask ask.cu && ./ask
//
// It runs each matrix instruction of the card, sm_70 or later, on operands that it draws, and prints a digest of each result: one text to paste
// into an issue of warpmat. `warpmat evidence FILE` says what the text decides. It takes seconds, and any nvcc from 11.3 on: the card's driver
// assembles the instructions.

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

)";

/// The capabilities that targets have, oldest first.
std::vector<Hardware> all_hardware() {
  std::vector<Hardware> all;
  for (const Target& target : targets())
    if (std::ranges::find(all, target.hardware) == all.end()) all.push_back(target.hardware);
  return all;
}

int number_of(PtxVersion version) {
  return version.major * 10 + version.minor;
}

std::string cards_text() {
  std::string text = "struct Card {\n  int capability;\n  const char* target;\n  int version;  // of PTX\n};\nconst Card cards[] = {\n";
  for (const Hardware hardware : all_hardware()) {
    const Target& target = asking_target(hardware);
    text += fmt::format("    {{{}, \"{}\", {}}},\n", name(hardware).substr(3), target.name,
                        number_of(std::max(target.since, PtxVersion{6, 5})));
  }
  return text + "};\n\n";
}

std::string elements_text(const Elements& e) {
  return fmt::format("{{'{}', {}, {}, {}, {}, {}, {}, {}, 0x{:x}}}", e.role, e.register_bits, e.bits, e.payload, e.shift, e.exponent,
                     e.fraction, e.is_signed, e.codes);
}

/// A bit for each capability that has the form, in the order of `cards`.
unsigned cards_of(const Form& form) {
  unsigned bits = 0;
  const std::vector<Hardware> all = all_hardware();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (find_lowering(form, all[i]) != nullptr && !unavailable(form, asking_target(all[i]))) bits |= 1U << i;
  return bits;
}

/// The kinds of elements that questions have, each once.
class ElementTable {
 public:
  std::size_t number_of(const Elements& e) {
    const std::string text = elements_text(e);
    const auto found = std::ranges::find(texts_, text);
    const auto number = static_cast<std::size_t>(found - texts_.begin());
    if (found == texts_.end()) texts_.push_back(text);
    return number;
  }
  std::string text() const { return fmt::format("const Elements elements[] = {{\n    {},\n}};\n\n", fmt::join(texts_, ",\n    ")); }

 private:
  std::vector<std::string> texts_;
};

std::string row_text(const Question& question, ElementTable& elements) {
  std::string groups;
  for (const Question::Group& group : question.groups)
    groups += fmt::format("{}{{\"{}\", {}, {}}}", groups.empty() ? "" : ", ", group.stem, group.count, elements.number_of(group.elements));
  return fmt::format("    {{\"{}\",\n     {}, 0x{:x}, {{{}}}}},\n", question.statement, number_of(question.form->requirement.ptx),
                     cards_of(*question.form), groups);
}

}  // namespace

std::string ask_program() {
  std::string operands(operands_source());
  operands.erase(0, operands.find("// The operands"));
  std::string text = introduction + operands + "\nusing namespace warpmat::ask;\n\n" + cards_text();
  ElementTable elements;
  std::string rows;
  for (const Question& question : questions()) rows += row_text(question, elements);
  text += elements.text();
  text +=
      "struct Group {\n  const char* stem;\n  int count;     // of registers; 0 ends the groups\n  int elements;  // which of them\n};\n"
      "struct Row {\n  const char* statement;\n  int version;     // of PTX\n  unsigned cards;  // a bit for each of `cards`\n"
      "  Group groups[8];\n};\n";
  text += fmt::format("const unsigned questions_digest = 0x{:08x};\nconst int row_count = {};\nconst Row rows[row_count] = {{\n{}}};\n",
                      digest_of_questions(), questions().size(), rows);
  return text + std::string(host_source());
}

}  // namespace warpmat::ask
