
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

TEST_CASE("subcommands of warpmat-gpu are handed on, and where it is missing the message says how to get it", "[tools]") {
  namespace fs = std::filesystem;
  const Outcome handed_on = run_command({"replay", "no_such_file"});
  CHECK(handed_on.status == 1);
  CHECK(handed_on.err.find("no_such_file") != std::string::npos);

  const TemporaryDirectory directory;
  fs::copy_file(command_path(), directory.path("warpmat"));
  const auto alone = [&](const std::string& path) {
    return run_program(directory.path("warpmat"), {"diff", "--cases", "1"}, {"PATH=" + path});
  };
  const Outcome missing = alone("/nowhere");
  CHECK(missing.status == 1);
  CHECK(missing.err.find("warpmat-gpu") != std::string::npos);
  CHECK(missing.err.find(directory.path("warpmat")) != std::string::npos);
  CHECK(missing.err.find("tools/build release warpmat_gpu") != std::string::npos);
  const Outcome lab = run_program(directory.path("warpmat"), {"fuzz"}, {"PATH=/nowhere"});
  CHECK(lab.status == 1);
  CHECK(lab.err.find("tools/build lab warpmat_lab") != std::string::npos);

  write_text(directory.path("warpmat-gpu"), "#!/bin/sh\necho \"$0 $*\"\n");
  fs::permissions(directory.path("warpmat-gpu"), fs::perms::owner_all);
  CHECK(alone("/nowhere").out == directory.path("warpmat-gpu") + " diff --cases 1\n");
  fs::permissions(directory.path("warpmat-gpu"), fs::perms::owner_read);
  CHECK(alone("/nowhere").err.starts_with("warpmat: error: "));
  fs::create_directory(directory.path("bin"));
  fs::rename(directory.path("warpmat-gpu"), directory.path("bin/warpmat-gpu"));
  fs::permissions(directory.path("bin/warpmat-gpu"), fs::perms::owner_all);
  CHECK(alone("/nowhere:" + directory.path("bin")).out == directory.path("bin/warpmat-gpu") + " diff --cases 1\n");
}

}  // namespace
}  // namespace warpmat::main_test
