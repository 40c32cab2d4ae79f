#include <warpmat/forms.h>

#include "compressed_table.h"
#include "tables/assembler.h"
#include "test.h"

// Accept and reject as ptxas 13.0 does: every statement of a recorded table, for every target and PTX version. Where ptxas is installed,
// the table itself is held against it.

namespace warpmat::ptxas_test {
namespace {

constexpr const char* declarations = ".reg .b32 r<80>; .reg .f64 fd<80>;";

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
    for (const char* file : {"tests/vectors/ptxas_13.0.tsv.gz", "tests/vectors/ptxas_13.0_wmma.tsv.gz"})
      for (const std::string& line : read_compressed_lines(source_path(file))) {
        if (line.starts_with("# sm_")) r.targets = targets_of(line);
        if (line.starts_with('#')) continue;
        const std::size_t tab = line.find('\t');
        r.statements.emplace_back(line.substr(0, tab), targets_of(line.substr(tab + 1)));
      }
    return r;
  }();
  return table;
}

/// Every `step`th statement of the table.
std::vector<std::string> statements_of(std::size_t step) {
  std::vector<std::string> statements;
  for (std::size_t i = 0; i < recorded().statements.size(); i += step) statements.push_back(recorded().statements[i].first);
  return statements;
}

TEST_CASE("every statement is accepted or refused as ptxas 13.0 does, for every target") {
  REQUIRE(recorded().targets.size() == 23);
  REQUIRE(recorded().statements.size() > 3000);
  const std::vector<std::string> statements = statements_of(row_step);
  std::size_t accepted = 0;
  for (const auto& [target, since] : recorded().targets) {
    const Complaints refused = warpmat_says(target, {9, 0}, declarations, statements);
    for (std::size_t i = 0; i < statements.size(); ++i) {
      const auto& [statement, targets] = recorded().statements[i * row_step];
      const bool taken = !refused.contains(static_cast<int>(i));
      accepted += taken;
      if (taken != targets.contains(target))
        FAIL_CHECK(fmt::format("{}: {} is {}, but ptxas decides otherwise", target, statement, taken ? "accepted" : "refused"));
    }
  }
  CHECK(accepted * row_step > 5000);
}

TEST_CASE("every form is accepted from the PTX version on that ptxas 13.0 takes it from, for every target") {
  std::size_t judged = 0;
  for (const auto& [statement, targets] : recorded().statements) {
    std::string opcode = statement.substr(0, statement.find(' '));
    const Form* form = find_form(opcode);
    if (form == nullptr || targets.empty()) continue;
    for (const auto& [target_name, since] : recorded().targets)
      for (const PtxVersion version : ptxas_versions) {
        if (version < since) continue;
        const auto found = targets.find(target_name);
        const bool expected = found != targets.end() && version >= found->second;
        // .shared::cta is a spelling of .shared with a version of its own, which the parser knows.
        const bool spelled = opcode.find("::cta") == std::string::npos || version >= PtxVersion{7, 8};
        ++judged;
        if ((spelled && !unavailable(*form, target(target_name), version)) != expected)
          FAIL_CHECK(
              fmt::format("{} PTX {}: {}: ptxas {} it", target_name, to_string(version), statement, expected ? "accepts" : "refuses"));
      }
  }
  CHECK(judged > 80000);
}

// Of every generation one target; with WARPMAT_ALL_TARGETS in the environment all 23, which takes minutes.
TEST_CASE("the recorded table is what the installed ptxas says", "[ptxas]") {
  if (!has_ptxas()) {
    WARN("skipped: no ptxas 13.0 to compare the recorded table with");
    return;
  }
  const bool all = std::getenv("WARPMAT_ALL_TARGETS") != nullptr;
  const std::set<std::string_view> asked{"sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"};
  for (const auto& [target, since] : recorded().targets) {
    if (!all && !asked.contains(target)) continue;
    std::vector<int> expected;
    for (std::size_t i = 0; i < recorded().statements.size(); ++i)
      if (recorded().statements[i].second.contains(target)) expected.push_back(static_cast<int>(i));
    CHECK(ptxas_accepts(target, {9, 0}, declarations, statements_of(1)) == expected);
  }
}

TEST_CASE("what ptxas 13.0 cannot be asked follows the ISA's text") {
  SECTION("sm_70 has m8n8k4 of f16, and wmma of f16") {
    for (const Form& form : forms()) {
      const auto has = [&](const char* text) { return form.opcode.find(text) != std::string::npos; };
      const bool mma = form.mnemonic == Mnemonic::mma && has(".m8n8k4.") && !has("f64");
      const bool others = has("bf16") || has("tf32") || has("f64") || has("8n8k") || has("s32") || has(".s8") || has(".u8");
      const bool wmma = form.opcode.starts_with("wmma.") && !others;
      CHECK((unavailable(form, target("sm_70")) == std::nullopt) == (mma || (wmma && form.shape != Shape{16, 16, 8})));
    }
  }
  SECTION("kind::mxf4nvf4 with scale_vec::4X of ue8m0 needs PTX 9.1") {
    const Form* form = find_form("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0");
    REQUIRE(form != nullptr);
    CHECK(unavailable(*form, target("sm_120a"), {9, 0}) == form->opcode + " needs PTX 9.1 or later; the version is 9.0");
    CHECK(unavailable(*form, target("sm_120a"), {9, 1}) == std::nullopt);
  }
}

}  // namespace
}  // namespace warpmat::ptxas_test
