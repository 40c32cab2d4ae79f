#include "tools/report/findings.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "command.h"
#include "contains.h"

namespace warpmat::findings_test {
namespace {

const Finding wrong = finding_of("out_of_range", "/home/me/src/a.cu:12 in f(), inlined at b.cu:3", "load of 4 bytes: 50% <outside>\nof it");
const Finding warned{.level = Finding::Level::warning, .rule = "warning", .text = "careful"};

TEST_CASE("a finding has the file and the line of its place", "[tools]") {
  CHECK((wrong.file == "/home/me/src/a.cu" && wrong.line == 12));
  CHECK((finding_of("", "c:\\a b.cu:7", "").file == "c:\\a b.cu" && finding_of("", "c:\\a b.cu:7", "").line == 7));
  for (const char* const none : {"", "a.cu", "a.cu:", "a.cu:0", "a.cu:x", "a.cu:12x"}) {
    CAPTURE(none);
    CHECK((finding_of("", none, "").file.empty() && finding_of("", none, "").line == 0));
  }
}

TEST_CASE("a finding as a command of GitHub's workflows", "[tools]") {
  CHECK(github_command(wrong, "/home/me") ==
        "::error file=src/a.cu,line=12,title=warpmat%3A out_of_range::load of 4 bytes: 50%25 <outside>%0Aof it");
  CHECK(contains(github_command(wrong, "/home/me/src/deeper"), "file=/home/me/src/a.cu,"));
  CHECK(github_command(warned, "/") == "::warning title=warpmat%3A warning::careful");
}

TEST_CASE("findings as SARIF", "[tools]") {
  const auto sarif = nlohmann::json::parse(sarif_text({wrong, warned}, "/home/me"));
  CHECK(sarif.at("version") == "2.1.0");
  const auto& run = sarif.at("runs").at(0);
  CHECK(run.at("tool").at("driver").at("rules").size() == 2);
  REQUIRE(run.at("results").size() == 2);
  const auto& result = run.at("results").at(0);
  CHECK((result.at("ruleId") == "out_of_range" && result.at("level") == "error" && result.at("message").at("text") == wrong.text));
  const auto& place = result.at("locations").at(0).at("physicalLocation");
  CHECK((place.at("artifactLocation").at("uri") == "src/a.cu" && place.at("region").at("startLine") == 12));
  CHECK(!run.at("results").at(1).contains("locations"));
  CHECK(nlohmann::json::parse(sarif_text({}, "/")).at("runs").at(0).at("results").empty());
}

TEST_CASE("findings as a test of JUnit", "[tools]") {
  const std::string failed = junit_text("./a <1>", 0.25, {wrong, warned});
  CHECK(contains(failed, R"(tests="1" failures="1" time="0.250")"));
  CHECK(contains(failed, R"(name="./a &lt;1&gt;")"));
  CHECK(contains(failed, R"(<failure type="out_of_range" message="load of 4 bytes: 50% &lt;outside&gt;)"));
  CHECK(contains(failed, "<system-err>careful"));
  const std::string passed = junit_text("a\x1b[1m", 0, {warned});
  CHECK((contains(passed, R"(failures="0")") && !contains(passed, "<failure") && !contains(passed, "\x1b")));
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
  CHECK(contains(read_text(junit), R"(failures="1")"));
  CHECK(launch("x=zeros:128").status == 0);
  CHECK(nlohmann::json::parse(read_text(sarif)).at("runs").at(0).at("results").empty());
  CHECK(contains(read_text(junit), R"(failures="0")"));
  CHECK(run_command({"launch", ptx, "--buffer", "x=zeros:128", "--param", "x", "--sarif", "/nowhere/k.sarif"}).status == 1);
}

}  // namespace
}  // namespace warpmat::findings_test
