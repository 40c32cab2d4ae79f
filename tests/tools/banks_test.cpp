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

/// A transposition of a 32x32 tile of f32 by way of shared memory whose rows are `pitch` words apart.
std::string transpose(int pitch) {
  return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.entry transpose(.param .u64 x, .param .u64 y) {{
  .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .f32 %f<3>;
  .shared .align 16 .b8 tile[{0}];
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [y];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  mad.lo.s32 %r3, %r2, 32, %r1;
  mul.wide.s32 %d3, %r3, 4;
  add.s64 %d1, %d1, %d3;
  add.s64 %d2, %d2, %d3;
  mov.u32 %r4, tile;
  mad.lo.s32 %r5, %r2, {1}, %r4;
  mad.lo.s32 %r5, %r1, 4, %r5;
  mad.lo.s32 %r6, %r1, {1}, %r4;
  mad.lo.s32 %r6, %r2, 4, %r6;
  ld.global.f32 %f1, [%d1];
  st.shared.f32 [%r5], %f1;
  bar.sync 0;
  ld.shared.f32 %f2, [%r6];
  st.global.f32 [%d2], %f2;
  ret;
}}
)",
                     32 * 4 * pitch, 4 * pitch);
}

std::vector<std::string> launch_of(const std::string& subcommand, const std::string& file) {
  return {subcommand,     file,       "--grid",       "1",       "--block", "32,32",   "--buffer",
          "x=zeros:4096", "--buffer", "y=zeros:4096", "--param", "x",       "--param", "y"};
}

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST_CASE("banks counts a kernel's conflicts by line, and padding removes them", "[banks][tools]") {
  TemporaryDirectory directory;
  const std::string plain = directory.path("plain.ptx"), padded = directory.path("padded.ptx");
  write_text(plain, transpose(32));
  write_text(padded, transpose(33));
  const Json before = json_of(with(launch_of("banks", plain), {"--format", "json"}));
  REQUIRE(before.at("shared").size() == 2);
  const Json &store = before.at("shared")[0], &load = before.at("shared")[1];
  CHECK(store.at("statement") == "st.shared.f32");
  CHECK(store.at("executed") == 32);
  CHECK(store.at("wavefronts") == 32);
  CHECK(load.at("wavefronts") == 32 * 32);
  CHECK(load.at("least") == 32);
  CHECK(load.at("rule") == "measured");
  CHECK(load.at("worst").at("wavefronts") == 32);
  CHECK(load.at("worst").at("phases")[0].at("colliding") == "0-31");
  REQUIRE(before.at("global").size() == 2);
  CHECK(before.at("global")[0].at("sectors") == 32 * 4);
  CHECK(before.at("global")[0].at("least_sectors") == 32 * 4);
  const Json after = json_of(with(launch_of("banks", padded), {"--format", "json"}));
  for (const Json& line : after.at("shared")) CHECK(line.at("wavefronts") == line.at("least"));

  const std::string number = std::to_string(load.at("line").get<int>());
  CHECK(run_command(with(launch_of("banks", plain), {"--line", number})).out.find("lanes 0-31: 32 wavefronts") != std::string::npos);
  const std::string svg = run_command(with(launch_of("banks", plain), {"--line", number, "--format", "svg"})).out;
  CHECK(svg.starts_with("<svg xmlns"));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(run_command(with(launch_of("banks", plain), {"--line", "1"})).err.find("no statement of that line") != std::string::npos);
  CHECK(run_command(with(launch_of("banks", plain), {"--format", "svg"})).err.find("name it by --line") != std::string::npos);

  const Outcome launched = run_command(with(launch_of("launch", plain), {"--check", "uninitialised,banks", "--quiet"}));
  CHECK(launched.status == 0);
  CHECK(launched.out.empty());
  CHECK(launched.err.starts_with("Shared memory: 1056 wavefronts, 64 without conflicts\n"));
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
