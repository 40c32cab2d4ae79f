// warpmat layout of tcgen05. What lies where is expected from the ISA's words and CuTe's layouts, cell by cell.

#include <nlohmann/json.hpp>

#include "command.h"
#include "test.h"

namespace warpmat::layout_tensor_test {
namespace {

using Json = nlohmann::json;

std::string layout(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "layout");
  const Outcome outcome = run_command(arguments);
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  return outcome.out;
}

TEST_CASE("layout says which thread and register of tcgen05.ld has which cell", "[layout][tcgen05]") {
  const Json narrow = Json::parse(layout({"tcgen05.ld.sync.aligned.16x64b.x2.b32", "--operand", "r", "--json"}));
  REQUIRE(narrow.size() == 16 * 4);
  for (const Json& cell : narrow) {  // four threads have a row of 4 words; rows 8 on lie in the same registers of the threads between
    const int lane = cell["row"], column = cell["column"];
    CHECK(cell["lane"] == lane % 8 * 4 + column % 2 * 2 + lane / 8);
    CHECK(cell["register"] == column / 2);
  }
  for (const Json& cell : Json::parse(layout({"tcgen05.st.sync.aligned.32x32b.x4.b32", "--operand", "r", "--json"}))) {
    CHECK(cell["lane"] == cell["row"]);
    CHECK(cell["register"] == cell["column"]);
  }
}

}  // namespace
}  // namespace warpmat::layout_tensor_test
