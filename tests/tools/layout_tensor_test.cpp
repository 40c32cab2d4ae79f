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

struct Question {
  const char *opcode, *descriptor, *operand;
  int row, column;
  const char* answer;
};

constexpr const char* f16 = "tcgen05.mma.cta_group::1.kind::f16";

}  // namespace

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

TEST_CASE("layout says which cell of tensor memory has which element of tcgen05.mma", "[layout][tcgen05]") {
  for (const Question& q : {
           Question{f16, "0x08100010", "d", 100, 5, "lane 100, column of tensor memory 5"},                                    // layout D
           Question{f16, "0x04100010", "d", 17, 5, "lane 33, column of tensor memory 5"},                                      // F
           Question{"tcgen05.mma.ws.cta_group::1.kind::f16", "0x02100010", "d", 3, 20, "lane 35, column of tensor memory 4"},  // G
           Question{"tcgen05.mma.ws.cta_group::1.kind::f16", "0x04100010", "d", 3, 40, "lane 67, column of tensor memory 8"},  // E
           Question{"tcgen05.mma.cta_group::2.kind::f16", "0x08100010", "d", 3, 40, "lane 67, column of tensor memory 8"},     // B
           Question{f16, "0x08100010", "a", 100, 5, "lane 100, column of tensor memory 2, bits 16 to 31"},
           Question{"tcgen05.mma.sp.cta_group::1.kind::f16", "0x08100014", "e", 13, 6, "lane 13, column of tensor memory 0, bits 24 to 27"},
           Question{"tcgen05.mma.sp.cta_group::1.kind::f8f6f4", "0x08100014", "e", 13, 9,
                    "lane 13, column of tensor memory 1, bits 4 to 7"},
           Question{"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale", "0x08900000", "scale-a", 70, 0,
                    "lane 6, column of tensor memory 2, bits 0 to 7"},
           Question{"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale", "0x08900020", "scale-b", 33, 0,
                    "lane 1, column of tensor memory 1, bits 16 to 23"},
       }) {
    INFO(q.opcode << " " << q.descriptor << " " << q.operand);
    CHECK(layout({q.opcode, "--operand", q.operand, "--descriptor", q.descriptor, "--row", std::to_string(q.row), "--column",
                  std::to_string(q.column)}) == fmt::format("row {}, column {}: {}\n", q.row, q.column, q.answer));
  }
}

}  // namespace warpmat::layout_tensor_test
