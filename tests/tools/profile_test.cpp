// warpmat launch --profile: the table, JSON, folded stacks.

#include <nlohmann/json.hpp>

#include "command.h"
#include "test.h"

namespace warpmat::profile_test {
namespace {

using Json = nlohmann::json;
using Catch::Matchers::StartsWith;

// 4 blocks of 2 warps. Lanes below 8 execute the guarded addition. Line 12 of the source is inlined at line 30.
const char* const kernel_ptx = R"(.version 9.0
.target sm_80
.address_size 64
.visible .entry _Z4fillPj(.param .u64 out)
{
  .reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p<2>;
  .loc 1 29 3
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %tid.x;
  .loc 1 30 3
  and.b32 %r2, %r1, 31;
  .loc 2 12 5, function_name $L__info_string0, inlined_at 1 30 3
  setp.lt.u32 %p1, %r2, 8;
  @%p1 add.u32 %r2, %r2, 1;
  mul.wide.u32 %d2, %r1, 4;
  add.s64 %d1, %d1, %d2;
  st.global.u32 [%d1], %r2;
  .loc 1 31 1
  ret;
}
  .file 1 "/src/fill.cu"
  .file 2 "/src/store.cuh"
)";

struct Folder {
  TemporaryDirectory directory;
  std::string ptx = directory.path("fill.ptx");

  Folder() { write_text(ptx, kernel_ptx); }

  Outcome launch(const std::vector<std::string>& more, const std::string& bytes = "256") const {
    std::vector<std::string> arguments{"launch",           ptx,       "--grid", "4",       "--block", "64",  "--buffer",
                                       "x=zeros:" + bytes, "--param", "x",      "--quiet", "--check", "none"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command(arguments);
  }
};

/// The line of the text that ends with ` end`.
std::string line_of(const std::string& text, const std::string& end) {
  const std::size_t found = text.find("  " + end + "\n");
  if (found == std::string::npos) return "no line " + end;
  return text.substr(text.rfind('\n', found) + 1, found - text.rfind('\n', found) - 1);
}

const Json& with(const Json& all, const char* key, const char* value) {
  for (const Json& each : all)
    if (each.at(key) == value) return each;
  FAIL("no " << key << " " << value);
  return all;
}

TEST_CASE("launch --profile says what was executed by opcode and by line", "[tools][profile]") {
  const Folder folder;
  const Outcome outcome = folder.launch({"--profile"});
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(outcome.out == "");
  CHECK_THAT(outcome.err, StartsWith("Profile of fill in 1 launch, by the time of the emulation"));
  // 8 warps; 8 statements with 32 lanes, and one with 8
  CHECK_THAT(outcome.err, ContainsSubstring(" of all threads, 72 statements of warps, 29.3 of 32 lanes active\n"));
  CHECK_THAT(outcome.err, ContainsSubstring("of this 0 us (0%) in checks; "));
  CHECK_THAT(line_of(outcome.err, "add.u32"), ContainsSubstring("  8  ") && ContainsSubstring(" 8.0  "));
  CHECK_THAT(line_of(outcome.err, "st.global.u32"), ContainsSubstring("  8  ") && ContainsSubstring(" 32.0  "));
  CHECK_THAT(line_of(outcome.err, "fill.cu:30 > store.cuh:12"), ContainsSubstring("  40  ") && ContainsSubstring(" 27.2  "));
  CHECK_THAT(line_of(outcome.err, "fill.cu:29"), ContainsSubstring("  16  "));
  CHECK_THAT(outcome.err, ContainsSubstring("and 1 opcode more: "));
  CHECK(std::ranges::count(outcome.err, '\n') < 25);
}

TEST_CASE("launch --profile=FILE.json has all statements, and the sums of their lines and opcodes", "[tools][profile]") {
  const Folder folder;
  const std::string file = folder.directory.path("p.json");
  const Outcome outcome = folder.launch({"--profile=" + file});
  REQUIRE(outcome.status == 0);
  CHECK(outcome.err == "");
  const Json json = Json::parse(read_text(file));
  CHECK(json.at("command") == "launch");
  CHECK(json.at("target") == "sm_80");
  CHECK(json.at("executed") == 72);
  CHECK(json.at("lanes") == 8 * (8 * 32 + 8));
  CHECK(with(json.at("opcodes"), "opcode", "add.u32").at("lanes") == 64);
  CHECK(with(json.at("lines"), "line", "fill.cu:30 > store.cuh:12").at("executed") == 40);
  const Json& kernel = with(json.at("kernels"), "kernel", "fill");
  CHECK(kernel.at("entry") == "_Z4fillPj");
  CHECK(kernel.at("launches") == 1);
  REQUIRE(kernel.at("statements").size() == 9);
  const Json& guarded = kernel.at("statements")[4];
  CHECK(guarded.at("line") == 14);
  CHECK(guarded.at("opcode") == "add.u32");
  CHECK(guarded.at("source") == Json::parse(R"([{"file": "/src/fill.cu", "line": 30}, {"file": "/src/store.cuh", "line": 12}])"));
  double sum = 0, lines = 0;
  for (const Json& statement : kernel.at("statements")) sum += statement.at("seconds").get<double>();
  for (const Json& line : json.at("lines")) lines += line.at("seconds").get<double>();
  CHECK(sum > 0);
  CHECK_THAT(lines, Catch::Matchers::WithinRel(sum, 1e-9));
  CHECK_THAT(json.at("seconds").get<double>(), Catch::Matchers::WithinRel(sum, 1e-9));
}

TEST_CASE("launch --profile=FILE.folded has a stack for each statement", "[tools][profile]") {
  const Folder folder;
  const std::string file = folder.directory.path("p.folded");
  REQUIRE(folder.launch({"--profile=" + file}).status == 0);
  const std::string text = read_text(file);
  INFO(text);
  for (const char* const stack :
       {"fill;fill.cu:29;ld.param.u64 ", "fill;fill.cu:30;store.cuh:12;st.global.u32 ", "fill;blocks begin and end "}) {
    const std::size_t at = text.find(stack);
    REQUIRE(at != std::string::npos);
    CHECK((at == 0 || text[at - 1] == '\n'));
    CHECK(std::stoll(text.substr(at + std::string(stack).size())) > 0);
  }
}

TEST_CASE("The profile of checks: their calls take time", "[tools][profile]") {
  const Folder folder;
  write_text(folder.ptx, R"(.version 9.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<9>; .shared .align 4 .b8 tile[512];
  mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 2; mov.u32 %r2, tile; add.u32 %r2, %r2, %r1;
  st.shared.u32 [%r2], %r1;
  ret;
}
)");
  const std::string file = folder.directory.path("p.json");
  REQUIRE(folder.launch({"--profile=" + file, "--check", "all"}).status != 0);  // --check is given twice
  const Outcome outcome =
      run_command({"launch", folder.ptx, "--block", "64", "--param", "u64:0", "--check", "all", "--profile", "--profile=" + file});
  REQUIRE(outcome.status == 0);
  const Json json = Json::parse(read_text(file));
  const double statements = json.at("seconds").get<double>() + json.at("check_seconds").get<double>();
  const double outside = json.at("other_seconds").get<double>() + json.at("other_check_seconds").get<double>();
  CHECK(json.at("other_check_seconds") > 0);
  CHECK_THAT(outcome.err, ContainsSubstring(fmt::format(" ({:.0f}%) before and after blocks, with the checks there\n",
                                                        100 * outside / (statements + outside))));
  CHECK(with(json.at("opcodes"), "opcode", "st.shared.u32").at("check_seconds") > 0);
  CHECK(with(json.at("opcodes"), "opcode", "shl.b32").at("check_seconds") == 0);
  CHECK(with(json.at("lines"), "line", "line 8").at("executed") == 2);  // without .loc a line of the PTX
}

}  // namespace
}  // namespace warpmat::profile_test
