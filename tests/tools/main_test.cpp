#include "command.h"
#include "test.h"
#include "tools/command_line/handed_commands.h"

namespace warpmat::main_test {
namespace {

/// The subcommands that the help lists, and those of warpmat-gpu.
std::set<std::string> subcommands(const std::string& help) {
  std::set<std::string> names;
  for (const HandedCommand& command : gpu_commands) names.insert(command.name);
  std::istringstream in(help);
  bool listed = false;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line[0] != ' ') listed = line.ends_with(":") && line != "Options:";
    if (listed && line.size() > 2 && line.starts_with("  ") && line[2] != ' ' && line[2] != '-')
      names.insert(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

/// The options of a help text that have no description, beside them or in the next line.
std::vector<std::string> undescribed_options(const std::string& help) {
  std::vector<std::string> found;
  std::istringstream in(help);
  std::size_t column = 0;  // where descriptions start
  std::string option;      // one that still lacks a description
  for (std::string line; std::getline(in, line);) {
    if (const std::size_t known = line.find("Print this help"); known != std::string::npos) column = known;
    const bool described = column != 0 && line.size() > column && line[column - 1] == ' ';
    if (!option.empty() && !(described && line.starts_with("    "))) found.push_back(option);
    option = line.starts_with("  -") && !described ? line : "";
  }
  return found;
}

TEST_CASE("help lists every subcommand, and each has help with examples", "[tools]") {
  const Outcome top = run_command({"--help"});
  CHECK(top.status == 0);
  CHECK(top.err.empty());
  REQUIRE(subcommands(top.out).size() >= 15);
  for (const std::string& name : subcommands(top.out)) {
    CAPTURE(name);
    CHECK(top.out.find("\n  " + name + " ") != std::string::npos);
    const Outcome help = run_command({name, "--help"});
    CHECK(help.status == 0);
    CHECK(help.err.empty());
    CHECK(help.out.find("warpmat " + name + " [OPTIONS]") != std::string::npos);
    const std::size_t examples = help.out.find("Examples:\n");
    CHECK((examples != std::string::npos && help.out.find("warpmat " + name + " ", examples) != std::string::npos));
    CHECK(undescribed_options(help.out).empty());
  }
}

TEST_CASE("identify hands its words to the Python module, or says where that is", "[tools]") {
  const Outcome missing = run_command({"identify", "none.npy", "a.npy", "b.npy", "--cards", "H100"});
  CHECK(missing.status != 0);
  CHECK((contains(missing.err, "none.npy") || contains(missing.err, "python3-warpmat")));
  CHECK(run_command({"identify", "d.npy"}).status != 0);
}

}  // namespace
}  // namespace warpmat::main_test
