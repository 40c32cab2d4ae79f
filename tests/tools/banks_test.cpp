// Bank conflicts of programs and kernels, and layouts that have none.

#include <nlohmann/json.hpp>

#include "command.h"
#include "test.h"
#include "tools/report/bank_report.h"

namespace warpmat::banks_test {
namespace {

using Json = nlohmann::json;

Json json_of(const std::vector<std::string>& arguments) {
  const Outcome outcome = run_command(arguments);
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  return Json::parse(outcome.out);
}

TEST_CASE("statements of one line of the source are one row", "[banks][tools]") {
  BankLine first{.line = 10, .opcode = "ld.global.f32", .source = "a.cu:3", .global = true, .executions = 2, .sectors = 8};
  BankLine second = first, other = first, unknown = first;
  second.line = 20;
  other.source = "a.cu:4";
  unknown.source.clear();
  const std::string table = bank_table({first, second, other, unknown, unknown});
  CAPTURE(table);
  const std::size_t sum = table.find("\n10 and 1 more");
  REQUIRE(sum != std::string::npos);
  const std::string row = table.substr(sum + 1, table.find('\n', sum + 1) - sum - 1);
  CHECK(row.find(" 4 ") != std::string::npos);
  CHECK(row.find(" 16 ") != std::string::npos);
  CHECK(std::ranges::count(table, '\n') == std::ranges::count(bank_table({first, other, unknown}), '\n') + 1);
}

/// The layout that swizzle finds best.
Json best_layout(const std::string& tile, const std::string& store, const std::string& load) {
  return json_of({"swizzle", "--tile", tile, "--store", store, "--load", load, "--json"}).at(0);
}

TEST_CASE("swizzle finds a layout without conflicts for the tiles of CUTLASS's sm_80 kernels", "[banks][tools]") {
  const std::vector<std::pair<std::string, std::string>> tiles{
      {"128x32:f16", "ldmatrix.x4"},       {"128x64:f16", "ldmatrix.x4"},       {"256x32:f16", "ldmatrix.x4"},
      {"32x128:f16", "ldmatrix.x4.trans"}, {"64x128:f16", "ldmatrix.x4.trans"}, {"64x64:f16", "ldmatrix.x4.trans"},
      {"128x64:s8", "ldmatrix.x4"},        {"128x16:tf32", "ldmatrix.x4"},      {"128x128:s4", "ldmatrix.x4"}};
  for (const auto& [tile, load] : tiles) {
    CAPTURE(tile);
    const Json best = best_layout(tile, "cp.async.16", load);
    CHECK(best.at("wavefronts") == best.at("least"));
    CHECK(best.at("layout").get<std::string>().starts_with("swizzle<"));
  }
  CHECK(best_layout("64x64:f16", "cp.async.16", "ldmatrix.x4").at("cute") == "Swizzle<3,3,3>");
  CHECK(best_layout("64x64:f16", "cp.async.16", "ldmatrix.x4").at("tma") == "CU_TENSOR_MAP_SWIZZLE_128B");
  CHECK(best_layout("64x32:f16", "cp.async.16", "ldmatrix.x4").at("tma") == "CU_TENSOR_MAP_SWIZZLE_64B");
}

/// A program of one ldmatrix.x4.trans whose lanes take 16 rows and two chunks of a tile at the addresses of `formula`.
std::string load_by(const std::string& formula) {
  int row_bytes = 0, element_bytes = 0, shift = 0;
  unsigned mask = 0;
  const int read = std::sscanf(formula.c_str(), "offset = row * %d + column * %d; offset ^= (offset >> %d) & %x;", &row_bytes,
                               &element_bytes, &shift, &mask);
  REQUIRE((read == 2 || read == 4));
  return fmt::format(R"(.version 8.0
.target sm_90
.shared .align 1024 .b8 tile[8192];
mov.u32 lane, %laneid;
and.b32 row, lane, 15;
shr.u32 column, lane, 4;
shl.b32 column, column, 3;
mul.lo.u32 offset, row, {};
mad.lo.u32 offset, column, {}, offset;
shr.u32 moved, offset, {};
and.b32 moved, moved, {};
xor.b32 offset, offset, moved;
mov.u32 base, tile;
add.u32 offset, offset, base;
ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {{d0, d1, d2, d3}}, [offset];
)",
                     row_bytes, element_bytes, shift, mask);
}

TEST_CASE("the addresses that swizzle prints run in a program without a conflict", "[banks][tools]") {
  TemporaryDirectory directory;
  const std::string file = directory.path("load.ptx");
  const auto wavefronts = [&](const std::string& formula) {
    write_text(file, load_by(formula));
    return json_of({"banks", file, "--target", "sm_90", "--format", "json"}).at("shared").at(0).at("wavefronts").get<int>();
  };
  CHECK(wavefronts(best_layout("64x64:f16", "cp.async.16", "ldmatrix.x4.trans").at("formula")) == 4);
  CHECK(wavefronts("offset = row * 128 + column * 2;") == 32);
}

}  // namespace
}  // namespace warpmat::banks_test
