
#include "command.h"
#include "test.h"

namespace warpmat::completion_test {
namespace {

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) found.push_back(line);
  return found;
}

/// What `shell` is told for the last of `words`.
std::vector<std::string> candidates(const std::vector<std::string>& words, const std::string& shell = "bash") {
  std::vector<std::string> arguments{"completion", shell, "--"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  const Outcome outcome = run_command(arguments);
  CHECK(outcome.status == 0);
  CHECK(outcome.err.empty());
  return lines(outcome.out);
}

using Words = std::vector<std::string>;

bool has(const Words& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

TEST_CASE("completion: subcommands, and nothing else, where one belongs", "[tools]") {
  CHECK(candidates({"lay"}) == Words{"layout"});
  const Words all = candidates({""});
  for (const char* const name : {"run", "launch", "layout", "completion", "man"}) CHECK(has(all, name));
  CHECK(candidates({"layoutt"}).empty());
}

TEST_CASE("completion: the options of the subcommand that are not given yet, those of its groups too", "[tools]") {
  CHECK(candidates({"layout", "--op"}) == Words{"--operand"});
  CHECK(candidates({"layout", "--descr"}) == Words{"--descriptor"});
  CHECK(candidates({"layout", "--operand", "a", "--op"}).empty());
  CHECK(candidates({"run", "--in", "mma.0.a=iota", "--in"}) == Words{"--in"});  // may be repeated
  CHECK(candidates({"run", "--", "--in"}).empty());                             // a file's name after --
  const Words all = candidates({"run", "--"});
  CHECK(std::ranges::count(all, "--help") == 1);
  CHECK(!has(all, "--operand"));
}

TEST_CASE("completion: warpmat asks warpmat-gpu for the options of its subcommands", "[tools]") {
  CHECK(candidates({"diff", "--instr"}) == Words{"--instruction-set"});
  CHECK(candidates({"reco"}) == Words{"record"});
}

TEST_CASE("completion: values come from the tables, and from the help of options that take some words alone", "[tools]") {
  CHECK(candidates({"run", "--target", "sm_90"}) == Words{"sm_90", "sm_90a"});
  CHECK(candidates({"run", "--target=sm_90"}) == Words{"--target=sm_90", "--target=sm_90a"});
  CHECK(candidates({"run", "--versus", "sm_7"}) == Words{"sm_70", "sm_75"});
  CHECK(candidates({"layout", "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16."}) ==
        Words{"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"});
  CHECK(candidates({"layout", "--format", ""}) == Words{"text", "json", "csv", "markdown", "svg", "latex"});
  CHECK(candidates({"run", "--undefined", ""}) == Words{"trap", "hardware"});
  CHECK(candidates({"launch", "--jobs", ""}).empty());  // a number
  CHECK(candidates({"run", ""}).empty());               // a file
}

TEST_CASE("completion: zsh and fish are told what each candidate is", "[tools]") {
  CHECK(candidates({"layout", "--by"}, "fish").front().starts_with("--by-address\tWith --format svg"));
  CHECK(candidates({"layout", "--by"}, "zsh").front().starts_with("--by-address:With --format svg"));
  // A colon is written as "\:" for zsh.
  CHECK(candidates({"layout", "mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f16.e4m3.e5m2."}, "zsh") ==
        Words{"mma.sync.aligned.m16n8k16.row.col.kind\\:\\:f8f6f4.f16.e4m3.e5m2.f16"});
}

TEST_CASE("completion: a script for each shell, and one error for any other", "[tools]") {
  for (const char* const shell : {"bash", "zsh", "fish"}) {
    const Outcome script = run_command({"completion", shell});
    CHECK(script.status == 0);
    CHECK(script.out.find(std::string("warpmat completion ") + shell) != std::string::npos);
    CHECK(script.out.find("NAME") == std::string::npos);
    CHECK(script.out.find("FUNCTION") == std::string::npos);
  }
  const Outcome wrong = run_command({"completion", "tcsh"});
  CHECK(wrong.status != 0);
  CHECK(wrong.out.empty());
  CHECK(std::ranges::count(wrong.err, '\n') == 1);
}

}  // namespace
}  // namespace warpmat::completion_test
