
#include "command.h"
#include "test.h"

namespace warpmat::check_test {
namespace {

std::string wrong_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "bad a;\n";
  return text;
}

TEST_CASE("check prints 20 errors and how many there are more, or all of them", "[tools]") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("wrong.ptx");
  const auto check = [&](int errors, std::vector<std::string> more) {
    write_text(file, wrong_lines(errors));
    more.insert(more.begin(), {"check", file, "--target", "sm_90a"});
    const Outcome outcome = run_command(more);
    CHECK(outcome.status == 1);
    CHECK(outcome.out.empty());
    return outcome.err;
  };
  constexpr int lines_an_error = 3;
  CHECK(std::ranges::count(check(20, {}), '\n') == 20 * lines_an_error);
  const std::string some = check(23, {});
  CHECK(std::ranges::count(some, '\n') == 20 * lines_an_error + 1);
  CHECK(some.find("wrong.ptx:20:1: error: ") != std::string::npos);
  CHECK(some.ends_with("... and 3 more (--all-errors)\n"));
  const std::string all = check(23, {"--all-errors"});
  CHECK(std::ranges::count(all, '\n') == 23 * lines_an_error);
  CHECK(all.find("wrong.ptx:23:1: error: ") != std::string::npos);
}

TEST_CASE("what check prints of a file has no control bytes", "[tools]") {
  const TemporaryDirectory directory;
  std::string text = "bad \"";
  for (int byte = 0; byte < 256; ++byte)
    if (byte != '\n') text += static_cast<char>(byte);
  write_text(directory.path("wrong.ptx"), text);
  const Outcome outcome = run_command({"check", directory.path("wrong.ptx"), "--target", "sm_90a", "--all-errors"});
  CHECK(outcome.status == 1);
  for (const char byte : outcome.err) {
    const bool shown = (byte >= ' ' && byte < 0x7f) || byte == '\n' || byte == '\t';
    if (!shown) FAIL("the byte " << static_cast<int>(byte));
  }
}

}  // namespace
}  // namespace warpmat::check_test
