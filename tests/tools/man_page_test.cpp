#include <regex>

#include "command.h"
#include "test.h"
#include "tools/command_line/handed_commands.h"

namespace warpmat::man_page_test {
namespace {

/// A man page's text as a reader sees it, without macros.
std::string shown(std::string page) {
  for (const auto& [escape, text] :
       {std::pair("\\\\-", "-"), {"\\\\\\(aq", "'"}, {"\\\\f[BR]", ""}, {"\\\\&", ""}, {"\\\\\\(ha", "^"}, {"\\\\e", "\\"}})
    page = std::regex_replace(page, std::regex(escape), text);
  return page;
}

/// The names at the beginning of the lines of a help text that are indented by two columns or four: subcommands, or "--target".
std::set<std::string> names(const std::string& help, bool options) {
  std::set<std::string> found;
  std::istringstream in(help);
  std::smatch match;
  bool subcommands = false;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line[0] != ' ') subcommands = line.ends_with(":") && line != "Options:";
    if (options && std::regex_search(line, match, std::regex("^ {2,4}(-[^ ]+)"))) found.insert(match[1]);
    if (!options && subcommands && std::regex_search(line, match, std::regex("^  ([a-z]+)  "))) found.insert(match[1]);
  }
  return found;
}

/// The part of the page on a subcommand.
std::string part(const std::string& page, const std::string& command, const std::string& subcommand) {
  const std::size_t begin = page.find("\n.SS " + command + " " + subcommand + " ");
  return begin == std::string::npos ? "" : page.substr(begin, page.find("\n.S", begin + 1) - begin);
}

using Run = Outcome (*)(const std::vector<std::string>&);

Outcome run_gpu(const std::vector<std::string>& arguments) {
  return run_pretending(arguments);
}

/// The page of `command` has all that --help of `run` shows: the number of its options.
std::size_t compare_with_help(const std::string& command, const std::string& title, Run run) {
  const Outcome page = run({"man"});
  REQUIRE(page.status == 0);
  CHECK(page.err.empty());
  CHECK(shown(page.out).starts_with(".TH " + title + " 1 "));
  const std::string text = shown(page.out);
  std::size_t options = 0;
  for (const std::string& subcommand : names(run({"--help"}).out, false)) {
    CAPTURE(subcommand);
    if (command == "warpmat" && find_handing_program(subcommand) != nullptr) {  // warpmat-gpu's page tells more of it
      CHECK(text.find("\nwarpmat " + subcommand + "\n") != std::string::npos);
      continue;
    }
    const std::string of_subcommand = part(text, command, subcommand);
    CHECK(!of_subcommand.empty());
    for (const std::string& option : names(run({subcommand, "--help"}).out, true)) {
      CAPTURE(option);
      CHECK(of_subcommand.find("\n" + option) != std::string::npos);
      ++options;
    }
  }
  return options;
}

TEST_CASE("the man pages have every subcommand and every option of --help", "[tools]") {
  CHECK(compare_with_help("warpmat", "WARPMAT", [](const std::vector<std::string>& words) { return run_command(words); }) > 50);
  CHECK(compare_with_help("warpmat-gpu", "WARPMAT-GPU", run_gpu) > 30);
  CHECK(names(run_command({"--help"}).out, false).contains("run"));
  CHECK(names(run_gpu({"--help"}).out, false).contains("diff"));
}

TEST_CASE("the man page has the examples of --help as they are, and no line that troff would take for a macro", "[tools]") {
  const std::string page = run_command({"man"}).out;
  const std::string text = shown(page);
  const std::string help = run_command({"run", "--help"}).out;
  const std::string examples = help.substr(help.find("Examples:\n"));
  CHECK(text.find(examples.substr(0, examples.rfind("\n  warpmat run"))) != std::string::npos);
  const std::set<std::string> macros{".TH", ".SH", ".SS", ".TP", ".PP", ".nf", ".fi", ".nh", ".ad"};
  std::istringstream in(page);
  for (std::string line; std::getline(in, line);) {
    CAPTURE(line);
    CHECK((line.empty() || (line[0] != '.' && line[0] != '\'') || macros.contains(line.substr(0, 3))));
  }
}

}  // namespace
}  // namespace warpmat::man_page_test
