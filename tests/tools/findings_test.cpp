#include "tools/report/findings.h"

#include <warpmat/report/report_json.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "test.h"

namespace warpmat::findings_test {
namespace {

Trap::Place source(const std::string& file, int line, int column = 0) {
  return {.line = 100 + line, .statement = "ld.global.u32", .source_lines = {{.file = file, .line = line, .column = column}}};
}

const Report wrong{.rule = "out_of_range",
                   .text = "load of 4 bytes: 50% <outside>\nof it",
                   .kernel = "_Z4gemmILi8EEvPf",
                   .who = "block (1,0,0), warp 2",
                   .at = source("/home/me/src/a b.cu", 12, 7),
                   .notes = {{"stored here", source("/home/me/src/b.cu", 3)}, {"address 0x40 is far"}},
                   .help = "do not"};
const Report warned{.level = Report::Level::warning, .rule = "warning", .text = "careful"};

TEST_CASE("a report as a command of GitHub's workflows", "[tools]") {
  CHECK(github_command(wrong, "/home/me") ==
        "::error file=src/a b.cu,line=12,col=7,title=warpmat%3A out_of_range::load of 4 bytes: 50%25 <outside>%0Aof it (kernel gemm<8>, "
        "block (1,0,0), warp 2); address 0x40 is far; do not");
  CHECK(contains(github_command(wrong, "/home/me/src/deeper"), "file=/home/me/src/a b.cu,"));
  CHECK(github_command(warned, "/") == "::warning title=warpmat%3A warning::careful");
}

/// What SARIF 2.1.0 requires of a location (sections 3.28, 3.29, 3.4 and 3.30), and the number of its line.
int line_of(const nlohmann::json& location) {
  const auto& place = location.at("physicalLocation");
  const std::string uri = place.at("artifactLocation").at("uri");
  CHECK(uri.find_first_of(" \\<>\"") == std::string::npos);
  if (place.at("region").contains("startColumn")) CHECK(place.at("region").at("startColumn") >= 1);
  CHECK(place.at("region").at("startLine") >= 1);
  return place.at("region").at("startLine");
}

TEST_CASE("reports as SARIF have what the standard requires", "[tools]") {
  const auto sarif = nlohmann::json::parse(sarif_text({wrong, warned}, "/home/me"));
  CHECK(sarif.at("version") == "2.1.0");
  REQUIRE(sarif.at("runs").size() == 1);
  const auto& run = sarif.at("runs").at(0);
  CHECK(run.at("tool").at("driver").at("name") == "warpmat");
  std::set<std::string> rules;
  for (const auto& rule : run.at("tool").at("driver").at("rules")) CHECK(rules.insert(rule.at("id")).second);
  REQUIRE(run.at("results").size() == 2);
  for (const auto& result : run.at("results")) {
    CHECK(rules.contains(result.at("ruleId")));
    CHECK((result.at("level") == "error" || result.at("level") == "warning"));
    CHECK(!result.at("message").at("text").get<std::string>().empty());
  }
  const auto& result = run.at("results").at(0);
  REQUIRE(result.at("locations").size() == 1);
  CHECK(line_of(result.at("locations").at(0)) == 12);
  CHECK(result.at("locations").at(0).at("physicalLocation").at("artifactLocation").at("uri") == "src/a%20b.cu");
  REQUIRE(result.at("relatedLocations").size() == 1);
  CHECK(line_of(result.at("relatedLocations").at(0)) == 3);
  CHECK(result.at("relatedLocations").at(0).at("message").at("text") == "stored here");
  CHECK(!run.at("results").at(1).contains("locations"));
  CHECK(contains(sarif_text({wrong}, "/elsewhere"), "\"file:///home/me/src/a%20b.cu\""));
  CHECK(nlohmann::json::parse(sarif_text({}, "/")).at("runs").at(0).at("results").empty());
}

TEST_CASE("reports as a test of JUnit", "[tools]") {
  const std::string failed = junit_text("./a <1>", 0.25, {wrong, warned}, {.folder = "/home/me"});
  CHECK(contains(failed, R"(tests="1" failures="1" time="0.250")"));
  CHECK(contains(failed, R"(name="./a &lt;1&gt;")"));
  CHECK(contains(failed, R"(<failure type="out_of_range" message="load of 4 bytes: 50% &lt;outside&gt;)"));
  CHECK(contains(failed, "src/b.cu:3: note: stored here\n"));
  CHECK(contains(failed, "<system-err>warpmat: warning: careful"));
  const std::string passed = junit_text("a\x1b[1m", 0, {warned}, {});
  CHECK((contains(passed, R"(failures="0")") && !contains(passed, "<failure") && !contains(passed, "\x1b")));
}

TEST_CASE("a report survives the record of a program's launches", "[tools]") {
  CHECK(report_json(report_of_json(report_json(wrong))) == report_json(wrong));
  CHECK(report_json(report_of_json(report_json(warned))) == report_json(warned));
}

constexpr const char* beyond_ptx = R"(.version 8.4
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x)
{
  .reg .b64 %l<2>; .reg .b32 %r<2>;
  ld.param.u64 %l1, [x];
  ld.global.u32 %r1, [%l1+64];
  ret;
}
)";

TEST_CASE("a launch writes what it found, and what it did not find", "[tools][launch]") {
  const TemporaryDirectory directory;
  const std::string ptx = directory.path("k.ptx"), sarif = directory.path("k.sarif"), junit = directory.path("k.xml");
  write_text(ptx, beyond_ptx);
  const auto launch = [&](const char* buffer) {
    return run_command({"launch", ptx, "--buffer", buffer, "--param", "x", "--sarif", sarif, "--junit", junit});
  };
  CHECK(launch("x=zeros:64").status == 1);
  const auto results = nlohmann::json::parse(read_text(sarif)).at("runs").at(0).at("results");
  REQUIRE(results.size() == 1);
  CHECK(results.at(0).at("ruleId") == "out_of_range");
  CHECK(line_of(results.at(0).at("locations").at(0)) == 8);  // of the PTX, which has no .loc
  CHECK(contains(read_text(junit), R"(failures="1")"));
  CHECK(launch("x=zeros:128").status == 0);
  CHECK(nlohmann::json::parse(read_text(sarif)).at("runs").at(0).at("results").empty());
  CHECK(contains(read_text(junit), R"(failures="0")"));
  CHECK(run_command({"launch", ptx, "--buffer", "x=zeros:128", "--param", "x", "--sarif", "/nowhere/k.sarif"}).status == 1);
}

TEST_CASE("a launch that --require refuses is a failure in the files, too", "[tools][launch]") {
  const TemporaryDirectory directory;
  const std::string ptx = directory.path("k.ptx"), junit = directory.path("k.xml");
  write_text(ptx,
             ".version 8.4\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n  .reg .b32 %r<2>;\n  mov.u32 %r1, 1;\n"
             "  shfl.sync.down.b32 %r1, %r1, 1, 31, -1;\n  ret;\n}\n");  // of a lane that does not exist
  CHECK(run_command({"launch", ptx, "--junit", junit, "--require", "specified"}).status == 1);
  CHECK(contains(read_text(junit), R"(<failure type="label")"));
}

}  // namespace
}  // namespace warpmat::findings_test
