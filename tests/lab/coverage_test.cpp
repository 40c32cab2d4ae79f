#include "tools/lab/report/coverage.h"

#include <nlohmann/json.hpp>

#include "test.h"
#include "tools/command.h"
#include "tools/gpu/report/form_selection.h"
#include "tools/lab/report/coverage_page.h"

namespace warpmat::coverage_test {
namespace {

std::string all_text(const std::vector<CoverageFault>& faults) {
  std::string text;
  for (const CoverageFault& fault : faults) text += fault.form.opcode() + ": " + fault.text + "\n";
  return text;
}

/// How many opcodes a pattern stands for: "a[.{b,c}].{d,e}" for 6.
std::size_t choices(const std::string& pattern) {
  if (const std::size_t open = pattern.find('['); open != std::string::npos) {
    const std::size_t close = pattern.find(']', open);
    const std::string before = pattern.substr(0, open), after = pattern.substr(close + 1);
    return choices(before + after) + choices(before + pattern.substr(open + 1, close - open - 1) + after);
  }
  const std::size_t open = pattern.find('{');
  if (open == std::string::npos) return 1;
  const std::size_t close = pattern.find('}', open);
  const std::string alternatives = pattern.substr(open, close - open);
  return (1 + static_cast<std::size_t>(std::count(alternatives.begin(), alternatives.end(), ','))) * choices(pattern.substr(close + 1));
}

/// How many opcodes the lines "`PATTERN`  " of a part of the page stand for.
std::size_t opcodes_of(const std::string& part) {
  std::size_t all = 0;
  std::istringstream in(part);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("`") && line.ends_with("`  ")) all += choices(line);
  return all;
}

/// Every form of the plan stands on the page once, each region of it has classes or a reason, and no region is empty.
void check_page(const std::string& page, const std::vector<CoveragePart>& parts) {
  CHECK(page.find("**none**") == std::string::npos);
  std::size_t begin = 0;
  for (const CoveragePart& part : parts) {
    const std::string title = fmt::format("\n## {}: {} forms\n", part.plan.target->name, part.plan.forms.size());
    CAPTURE(title);
    begin = page.find(title, begin);
    REQUIRE(begin != std::string::npos);
    begin += title.size();
    CHECK(opcodes_of(page.substr(begin, page.find("\n## ", begin) - begin)) == part.plan.forms.size());
  }
  CHECK(page.find("\n## Mutants\n", begin) != std::string::npos);
}

// One test, since covering all forms takes half a minute.
TEST_CASE("operand classes reach every region that they can, and no other", "[tools][coverage]") {
  const std::vector<CoveragePart> parts = coverage_parts();
  for (const CoveragePart& part : parts) {
    CAPTURE(part.plan.target->name);
    CHECK(all_text(coverage_faults(by_form(part.rows), *part.plan.target)) == "");
  }
  check_page(coverage_page(parts), parts);
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
  CHECK(run_command({"coverage"}).err == "warpmat: error: coverage needs --target, --tcgen05 or --page\n");
  CHECK(run_command({"coverage", "--target", "sm_90a", "--output", "x.md"}).err ==
        "warpmat: error: coverage writes a file with --page only\n");
}

}  // namespace
}  // namespace warpmat::coverage_test
