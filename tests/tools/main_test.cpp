#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "catch.h"
#include "command.h"
#include "paths.h"

namespace warpmat::main_test {
namespace {

/// The subcommands that tools/command/commands.h and tools/lab/commands.h declare, and those of tools/command_line.
std::vector<std::string> declared_subcommands() {
  const std::string header = read_text(source_path("tools/command/commands.h")) + read_text(source_path("tools/lab/commands.h"));
  const std::string start = "void add_";
  std::vector<std::string> names{"completion", "man"};
  for (std::size_t at = 0; (at = header.find(start, at)) != std::string::npos;) {
    at += start.size();
    names.push_back(header.substr(at, header.find('(', at) - at));
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
  REQUIRE(declared_subcommands().size() >= 3);
  for (const std::string& name : declared_subcommands()) {
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

TEST_CASE("the usage of commands that take a program says so", "[tools]") {
  CHECK(run_command({"cuda", "--help"}).out.find("\nUsage: warpmat cuda [OPTIONS] PROGRAM [ARGUMENTS]\n") != std::string::npos);
  CHECK(run_command({"man"}).out.find("\n.SS warpmat cuda [OPTIONS] PROGRAM [ARGUMENTS]\n") != std::string::npos);
  CHECK(run_pretending({"diff", "--help"}).out.find("\nUsage: warpmat diff [OPTIONS] [FILE] [-- PROGRAM [ARGUMENTS]]\n") !=
        std::string::npos);
  CHECK(run_pretending({"record", "--help"}).out.find("\nUsage: warpmat record [OPTIONS] [-- PROGRAM [ARGUMENTS]]\n") != std::string::npos);
}

TEST_CASE("the command prints its version", "[tools]") {
  const Outcome outcome = run_command({"--version"});
  CHECK(outcome.status == 0);
  CHECK(outcome.out.starts_with("warpmat "));
  CHECK(std::ranges::count(outcome.out, '.') == 2);
  CHECK(std::ranges::count(outcome.out, '\n') == 1);
}

TEST_CASE("wrong usage is one line on stderr that names the help", "[tools]") {
  const std::vector<std::vector<std::string>> wrong{
      {},
      {"no_such_subcommand"},
      {"exec"},
      {"list", "--no-such-option"},
      {"support", "superfluous"},
      {"exec", "movmatrix.sync.aligned.m8n8.trans.b16", "--target", "sm_80", "--jobs", "0"},
      {"exec", "movmatrix.sync.aligned.m8n8.trans.b16", "--target", "sm_80", "--jobs", "many"},
      {"layout", "movmatrix.sync.aligned.m8n8.trans.b16", "--operand", "a", "--row", "1"},
      {"layout", "movmatrix.sync.aligned.m8n8.trans.b16", "--operand", "a", "--lane", "1"},
      {"layout", "movmatrix.sync.aligned.m8n8.trans.b16", "--operand", "a", "--row", "1", "--column", "1", "--lane", "1", "--register",
       "0"},
  };
  for (const auto& arguments : wrong) {
    CAPTURE(arguments);
    const Outcome outcome = run_command(arguments);
    CHECK(outcome.status != 0);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.starts_with("warpmat: error: "));
    CHECK(outcome.err.ends_with(" --help'\n"));
    CHECK(std::ranges::count(outcome.err, '\n') == 1);
  }
}

TEST_CASE("subcommands of warpmat-lab are handed on, and where it is missing the message says how to get it", "[tools]") {
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
  CHECK(missing.err.starts_with("warpmat: error: 'warpmat diff' is a subcommand of warpmat-lab, which is neither beside " +
                                directory.path("warpmat")));
  CHECK(missing.err.find("tools/build release warpmat_lab") != std::string::npos);

  write_text(directory.path("warpmat-lab"), "#!/bin/sh\necho \"$0 $*\"\n");
  fs::permissions(directory.path("warpmat-lab"), fs::perms::owner_all);
  CHECK(alone("/nowhere").out == directory.path("warpmat-lab") + " diff --cases 1\n");
  fs::permissions(directory.path("warpmat-lab"), fs::perms::owner_read);
  CHECK(alone("/nowhere").err.starts_with("warpmat: error: "));
  fs::create_directory(directory.path("bin"));
  fs::rename(directory.path("warpmat-lab"), directory.path("bin/warpmat-lab"));
  fs::permissions(directory.path("bin/warpmat-lab"), fs::perms::owner_all);
  CHECK(alone("/nowhere:" + directory.path("bin")).out == directory.path("bin/warpmat-lab") + " diff --cases 1\n");
}

}  // namespace
}  // namespace warpmat::main_test
