#include <fmt/format.h>
#include <warpmat/ptx/program.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "catch.h"
#include "vectors_published.h"

// Accept and reject as ptxas 13.0 does: every statement of a recorded table, for every target and PTX version. Where ptxas is installed, the
// table itself is held against it.

using namespace warpmat;

namespace {

constexpr const char* declarations = ".reg .b32 r<80>; .reg .f64 fd<80>;\n";

/// "6.5" of "sm_75=6.5".
PtxVersion version_of(const std::string& text) {
  const std::size_t dot = text.find('.');
  return {std::stoi(text.substr(0, dot)), std::stoi(text.substr(dot + 1))};
}

using Targets = std::map<std::string, PtxVersion>;  ///< by target: the oldest PTX version

Targets targets_of(const std::string& text) {
  Targets targets;
  std::istringstream words(text);
  for (std::string word; words >> word;)
    if (const std::size_t equals = word.find('='); equals != std::string::npos)
      targets[word.substr(0, equals)] = version_of(word.substr(equals + 1));
  return targets;
}

struct Recorded {
  Targets targets;  ///< those that were asked, with the oldest version that knows them
  std::vector<std::pair<std::string, Targets>> statements;
};

const Recorded& recorded() {
  static const Recorded table = [] {
    Recorded r;
    for (const std::string& line : read_compressed_lines(WARPMAT_SOURCE_DIR "/tests/vectors/ptxas_13.0.tsv.gz")) {
      if (line.starts_with("# sm_")) r.targets = targets_of(line);
      if (line.starts_with('#')) continue;
      const std::size_t tab = line.find('\t');
      r.statements.emplace_back(line.substr(0, tab), targets_of(line.substr(tab + 1)));
    }
    return r;
  }();
  return table;
}

const std::vector<PtxVersion> versions{{6, 3}, {6, 4}, {6, 5}, {7, 0}, {7, 1}, {7, 2}, {7, 3}, {7, 4}, {7, 5}, {7, 6}, {7, 7},
                                       {7, 8}, {8, 0}, {8, 1}, {8, 2}, {8, 3}, {8, 4}, {8, 5}, {8, 6}, {8, 7}, {8, 8}, {9, 0}};

/// The lines of `statements`, counted from 0, that the parser reports.
std::set<int> refused(const std::string& target, PtxVersion version, const std::vector<std::string>& statements) {
  std::string text = fmt::format(".version {}\n.target {}\n{}", to_string(version), target, declarations);
  for (const std::string& statement : statements) text += statement + "\n";
  std::set<int> lines;
  try {
    parse(text);
  } catch (const SyntaxError& e) {
    constexpr int first_line = 4;
    for (const Diagnostic& error : e.errors) lines.insert(error.location.line - first_line);
  }
  return lines;
}

std::vector<std::string> all_statements() {
  std::vector<std::string> statements;
  for (const auto& [statement, targets] : recorded().statements) statements.push_back(statement);
  return statements;
}

/// The lines that ptxas reports for a module of `statements`, counted from 0; nothing if it cannot be run.
std::optional<std::set<int>> ptxas_refuses(const std::string& target, const std::vector<std::string>& statements) {
  const auto directory = std::filesystem::temp_directory_path() / fmt::format("warpmat_ptxas_{}", target);
  std::filesystem::create_directories(directory);
  const auto module_path = (directory / "module.ptx").string(), log_path = (directory / "log").string();
  {
    std::ofstream file(module_path);
    file << fmt::format(".version 9.0\n.target {}\n.address_size 64\n.visible .entry k() {{\n{}", target, declarations);
    for (const std::string& statement : statements) file << statement << "\n";
    file << "ret;\n}\n";
  }
  const int status = std::system(fmt::format("ptxas -O0 -arch={} '{}' -o /dev/null > '{}' 2>&1", target, module_path, log_path).c_str());
  std::ifstream log(log_path);
  const std::string output{std::istreambuf_iterator<char>(log), {}};
  std::filesystem::remove_all(directory);
  std::set<int> lines;
  constexpr int first_line = 6;
  const std::regex error(R"(line (\d+); (error|fatal))");
  for (std::sregex_iterator it(output.begin(), output.end(), error), end; it != end; ++it) lines.insert(std::stoi((*it)[1]) - first_line);
  if (status != 0 && lines.empty()) return std::nullopt;
  return lines;
}

bool has_ptxas() { return std::system("ptxas --version 2>/dev/null | grep -q 'release 13.0'") == 0; }

}  // namespace

TEST_CASE("every statement is accepted or refused as ptxas 13.0 does, for every target") {
  REQUIRE(recorded().targets.size() == 23);
  REQUIRE(recorded().statements.size() > 2000);
  std::size_t accepted = 0;
  for (const auto& [target, since] : recorded().targets) {
    const std::set<int> lines = refused(target, {9, 0}, all_statements());
    for (std::size_t i = 0; i < recorded().statements.size(); ++i) {
      const auto& [statement, targets] = recorded().statements[i];
      const bool taken = !lines.contains(static_cast<int>(i));
      accepted += taken;
      if (taken != targets.contains(target))
        FAIL_CHECK(fmt::format("{}: {} is {}, but ptxas decides otherwise", target, statement, taken ? "accepted" : "refused"));
    }
  }
  CHECK(accepted > 5000);
}

TEST_CASE("every form is accepted from the PTX version on that ptxas 13.0 takes it from, for every target") {
  std::size_t judged = 0;
  for (const auto& [statement, targets] : recorded().statements) {
    std::string opcode = statement.substr(0, statement.find(' '));
    const Form* form = find_form(opcode);
    if (form == nullptr || targets.empty()) continue;
    for (const auto& [target_name, since] : recorded().targets)
      for (const PtxVersion version : versions) {
        if (version < since) continue;
        const auto found = targets.find(target_name);
        const bool expected = found != targets.end() && version >= found->second;
        // .shared::cta is a spelling of .shared with a version of its own, which the parser knows.
        const bool spelled = opcode.find("::cta") == std::string::npos || version >= PtxVersion{7, 8};
        ++judged;
        if ((spelled && !unavailable(*form, target(target_name), version)) != expected)
          FAIL_CHECK(fmt::format("{} PTX {}: {}: ptxas {} it", target_name, to_string(version), statement, expected ? "accepts" : "refuses"));
      }
  }
  CHECK(judged > 80000);
}

TEST_CASE("the recorded table is what the installed ptxas says") {
  if (!has_ptxas()) {
    WARN("skipped: no ptxas 13.0 to compare the recorded table with");
    return;
  }
  for (const auto& [target, since] : recorded().targets) {
    std::vector<std::string> expected, statements = all_statements(), kept;
    for (const auto& [statement, targets] : recorded().statements)
      if (targets.contains(target)) expected.push_back(statement);
    // Some errors appear only once the others are gone.
    for (bool clean = false; !clean; statements = kept) {
      const auto lines = ptxas_refuses(target, statements);
      REQUIRE(lines);
      kept.clear();
      for (std::size_t i = 0; i < statements.size(); ++i)
        if (!lines->contains(static_cast<int>(i))) kept.push_back(statements[i]);
      clean = lines->empty();
    }
    CHECK(kept == expected);
  }
}

TEST_CASE("what ptxas 13.0 cannot be asked follows the ISA's text") {
  SECTION("sm_70 has m8n8k4 of f16 alone") {
    for (const Form& form : forms())
      CHECK((unavailable(form, target("sm_70")) == std::nullopt) == (form.opcode.find(".m8n8k4.") != std::string::npos && form.opcode.find("f64") == std::string::npos));
  }
  SECTION("kind::mxf4nvf4 with scale_vec::4X of ue8m0 needs PTX 9.1") {
    const Form* form = find_form("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0");
    REQUIRE(form != nullptr);
    CHECK(unavailable(*form, target("sm_120a"), {9, 0}) == form->opcode + " needs PTX 9.1 or later; the version is 9.0");
    CHECK(unavailable(*form, target("sm_120a"), {9, 1}) == std::nullopt);
  }
}
