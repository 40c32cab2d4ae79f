// Suppressions: what their lines are of, and what is wrong with lines that are none.

#include <warpmat/report/suppressions.h>

#include "test.h"

namespace warpmat::suppressions_test {
namespace {

using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

Report race() {
  return {.rule = "unordered",
          .text = "race at 0x400: nothing orders this load and the store of warp 3",
          .kernel = "_Z6reduceILi8EEvPi",
          .at = {.line = 12, .statement = "ld.shared.u32", .source_lines = {{"/home/user/reduce.cu", 41}, {"/home/user/main.cu", 7}}}};
}

bool hides(const std::string& line) {
  Suppressions suppressions = Suppressions::parse(line, "file");
  return suppressions.suppresses(race());
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(Suppressions::parse(text, "my.supp"));
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "nothing";
}

TEST_CASE("a suppression is of the reports that have its kind, kernel, place and headline", "[report][suppressions]") {
  for (const char* const line :
       {"*", "unordered", "* kernel=reduce<8>", "* kernel=reduce*", "* kernel=_Z6reduceILi8EEvPi", "unordered at=reduce.cu:41",
        "* at=/home/user/reduce.cu:41", "* at=*:41", "* at=main.cu:*", "* at=ptx:12", "* text=race at *", "* text=*store of warp ?",
        "unordered kernel=reduce* at=reduce.cu:4? text=race at 0x400: nothing*", "  unordered\tkernel=*  at=*  "}) {
    INFO(line);
    CHECK(hides(line));
  }
  for (const char* const line : {"unwritten", "* kernel=reduce", "* kernel=*reduce", "* at=reduce.cu:4", "* at=educe.cu:41", "* at=ptx:1",
                                 "* text=race", "* text=?ace at *warp", "unordered kernel=other at=reduce.cu:41", ""}) {
    INFO(line);
    CHECK(!hides(line));
  }
}

TEST_CASE("the line that a report prints suppresses it", "[report][suppressions]") {
  CHECK(suppression_of(race()) == "unordered kernel=reduce<8> at=reduce.cu:41");
  CHECK(hides(suppression_of(race())));
  Report other = race();
  other.kernel = "_ZN12_GLOBAL__N_15scaleEPi";
  other.at.source_lines.clear();
  CHECK_THAT(suppression_of(other), EndsWith(" at=ptx:12"));
  CHECK(Suppressions::parse(suppression_of(other), "file").suppresses(other));
}

TEST_CASE("suppressions that hide nothing are told with their lines", "[report][suppressions]") {
  Suppressions suppressions = Suppressions::parse("# races\n\nunordered at=reduce.cu:41\r\nunwritten\n* kernel=other\n", "my.supp");
  CHECK(suppressions.unused().size() == 3);
  CHECK(suppressions.suppresses(race()));
  const std::vector<std::string> unused = suppressions.unused();
  REQUIRE(unused.size() == 2);
  CHECK_THAT(unused[0], StartsWith("my.supp:4: ") && ContainsSubstring("unwritten"));
  CHECK_THAT(unused[1], StartsWith("my.supp:5: "));
}

TEST_CASE("a line that is no suppression is refused with its number", "[report][suppressions]") {
  CHECK_THAT(refusal("unordered\nraces at=a.cu:1"),
             StartsWith("my.supp:2: ") && ContainsSubstring("'races'") && ContainsSubstring("unordered"));
  CHECK_THAT(refusal("* line=7"), StartsWith("my.supp:1: ") && ContainsSubstring("'line=7'"));
  CHECK_THAT(refusal("* reduce"), ContainsSubstring("'reduce'"));
  CHECK_THAT(refusal("* kernel="), ContainsSubstring("no value"));
  CHECK_THAT(refusal("* kernel=a kernel=b"), ContainsSubstring("two of kernel="));
  CHECK(refusal(std::string("\0\xff", 2)) != "nothing");
}

}  // namespace
}  // namespace warpmat::suppressions_test
