#include "tools/lab/report/coverage.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

#include "catch.h"
#include "command.h"
#include "paths.h"
#include "tools/lab/report/coverage_page.h"
#include "tools/lab/report/form_selection.h"

namespace warpmat {
namespace {

std::string all_text(const std::vector<CoverageFault>& faults) {
  std::string text;
  for (const CoverageFault& fault : faults) text += fault.form.opcode() + ": " + fault.text + "\n";
  return text;
}

// One test, since covering all forms takes half a minute.
TEST_CASE("operand classes reach every region that they can, and no other, as docs/coverage.md says", "[tools][coverage]") {
  const std::vector<CoveragePart> parts = coverage_parts();
  for (const CoveragePart& part : parts) {
    CAPTURE(part.plan.target->name);
    CHECK(all_text(coverage_faults(by_form(part.rows), *part.plan.target)) == "");
  }
  if (read_text(source_path("docs/coverage.md")) != coverage_page(parts))
    FAIL("docs/coverage.md is stale; build/release/warpmat coverage --page --output docs/coverage.md renews it");
}

TEST_CASE("a region that nothing reaches is a fault, and so is one that should not be reached", "[tools][coverage]") {
  const Target& t = target("sm_90a");
  const CoveragePlan plan{select_tested_forms(t, "m16n8k16.row.col.f16.f16"), &t, 1, 1};
  std::vector<CoverageRow> rows = cover(plan);
  std::erase_if(rows, [](const CoverageRow& row) { return row.operand_class->name != "close"; });
  const std::string text = all_text(coverage_faults(by_form(rows), t));
  CHECK(text.find("E below floor: reachable, but no case reached it") != std::string::npos);
  CHECK(text.find("bits written: ") != std::string::npos);
  rows.front().events.add(Event::integer_inside);
  CHECK(all_text(coverage_faults(by_form(rows), t)).find("inside: reached, though") != std::string::npos);
}

TEST_CASE("coverage prints tables, or every count as JSON", "[tools][coverage]") {
  const std::vector<std::string> arguments{"coverage", "--target", "sm_90a", "--forms", "^mma.sync.aligned.m16n8k16.row.col.f16.f16",
                                           "--warps",  "64"};
  const Outcome outcome = run_command(arguments);
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("| cut by floor | ") != std::string::npos);
  std::vector<std::string> with_json = arguments;
  with_json.push_back("--json");
  const auto json = nlohmann::json::parse(run_command(with_json).out);
  REQUIRE(json.at("forms").size() == 1);
  CHECK(json.at("forms")[0].at("classes").size() > 8);
  CHECK(json.at("forms")[0].at("classes")[0].at("regions").contains("E above floor"));
  CHECK(json.at("forms")[0].at("unreachable").empty());
  CHECK(run_command({"coverage"}).err == "warpmat: error: coverage needs --target, or --page\n");
}

}  // namespace
}  // namespace warpmat
