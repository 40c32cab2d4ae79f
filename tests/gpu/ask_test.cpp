#include "gpu/ask/questions.h"

#include <warpmat/forms.h>

#include "test.h"

namespace warpmat::ask_test {
namespace {

/// The text of a card that has the bits of `hardware`, and says that it is `capability`.
std::string text_of(Hardware hardware, const std::string& capability, Hardware asked) {
  std::string text = fmt::format("> ```\r\n> warpmat answers 1, questions {:08x}\r\n> card A card\n> capability {}\n> driver 13000\n",
                                 ask::digest_of_questions(), capability);
  for (std::size_t i = 0; i < ask::questions().size(); ++i) {
    if (find_lowering(*ask::questions()[i].form, asked) == nullptr) continue;
    const auto digests = ask::expected(i, hardware);
    text += fmt::format("{}:", i);
    for (std::size_t c = 0; digests && c < ask::classes; ++c) text += fmt::format("{}{:08x}", c == 0 ? "" : ".", (*digests)[c]);
    text += digests ? "\n" : "-\n";
  }
  return text + "end: all\n> ```\nThanks!\n";
}

std::string decisions(const std::string& text) {
  return ask::decisions(ask::read_answers(text));
}

/// The line of the table for a machine instruction.
std::string row_of(const std::string& page, const std::string& machine) {
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("| `" + machine + "`")) return line;
  return "";
}

TEST_CASE("ask.cu is what the tables say", "[gpu][ask]") {
  std::ifstream file(source_path("gpu/ask/ask.cu"));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  CHECK((text == ask::ask_program()));  // `warpmat record --program gpu/ask/ask.cu` writes it anew
}

TEST_CASE("answers as the tables have them confirm every row, and refute the rules of other hardware", "[gpu][ask]") {
  const std::string page = decisions("An issue.\n" + text_of(Hardware::sm_120, "12.0", Hardware::sm_120));
  CHECK_FALSE(contains(page, "contradict"));
  CHECK_FALSE(contains(page, "not asked"));
  for (const char* machine : {"HMMA.{mnk}", "QMMA.{mnk}", "OMMA.SF.{mnk}", "QMMA.SF.{mnk}"})
    CHECK(contains(row_of(page, machine), "confirmed"));
  CHECK(contains(row_of(page, "QMMA.{mnk}"), "sm_89"));
}

TEST_CASE("answers with another hardware's bits contradict a row, and say whose they are", "[gpu][ask]") {
  const std::string page = decisions(text_of(Hardware::sm_80, "9.0", Hardware::sm_90));
  CHECK(contains(row_of(page, "HMMA.{sp}{mnk}"), "contradicted"));
  CHECK(contains(page, "they are those of"));
}

TEST_CASE("what is no answer of ask.cu, or is incomplete, is refused", "[gpu][ask]") {
  const std::string text = text_of(Hardware::sm_70, "7.0", Hardware::sm_70);
  CHECK_FALSE(ask::holds_answers("{}"));
  CHECK_THROWS_WITH(ask::read_answers("nothing"), ContainsSubstring("no line"));
  CHECK_THROWS_WITH(ask::read_answers(text.substr(0, text.find("end:"))), ContainsSubstring("incomplete"));
  std::string other = text;
  other.replace(other.find("questions ") + 10, 8, "00000000");
  CHECK_THROWS_WITH(ask::read_answers(other), ContainsSubstring("other questions"));
  std::string short_one = text;
  short_one.replace(short_one.find(":", short_one.find("driver")), 3, ":");
  CHECK_THROWS(ask::read_answers(short_one));
  std::string unknown = text;
  unknown.replace(unknown.find("7.0"), 3, "1.0");
  CHECK_THROWS_WITH(ask::read_answers(unknown), ContainsSubstring("capability"));
}

TEST_CASE("operands of a question are of its formats, and differ from class to class", "[gpu][ask]") {
  const ask::Elements half{'a', 32, 16, 16, 0, 5, 10, true, 0}, metadata{'e', 32, 4, 4, 0, 0, 0, false, 0x5310};
  for (unsigned lane = 0; lane < ask::lanes; ++lane) {
    const std::uint64_t close = ask::register_bits(half, 1, 0, 2, 3, lane), low = close & 0xffff;
    CHECK(((low >> 10 & 31) >= 13 && (low >> 10 & 31) <= 16));
    CHECK(close != ask::register_bits(half, 1, 1, 2, 3, lane));
    for (std::uint64_t codes = ask::register_bits(metadata, 1, 0, 0, 0, lane), i = 0; i < 8; ++i, codes >>= 4)
      CHECK((metadata.codes >> (codes & 15) & 1) == 1);
  }
}

}  // namespace
}  // namespace warpmat::ask_test
