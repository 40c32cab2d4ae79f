// --report of exec, run and launch.

#include <nlohmann/json.hpp>

#include "command.h"
#include "test.h"
#include "tools/report/npy.h"

namespace warpmat::report_test {
namespace {

using Json = nlohmann::json;

Json report_of(std::vector<std::string> arguments) {
  TemporaryDirectory directory;
  const std::string path = directory.path("report.json");
  arguments.insert(arguments.end(), {"--report", path});
  const Outcome outcome = run_command(arguments);
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  return Json::parse(read_text(path));
}

/// What the report says of an opcode.
Json entry(const Json& report, const std::string& opcode) {
  for (const Json& instruction : report.at("instructions"))
    if (instruction.at("opcode") == opcode) return instruction;
  FAIL("no " << opcode);
  return {};
}

TEST_CASE("run --report lists every statement with machine instructions, label and source", "[report]") {
  const std::string program = source_path("tests/programs/tile_64x64.ptx");
  const Json report = report_of({"run", program, "--target", "sm_90a"});
  CHECK(report.at("command") == "run");
  CHECK(report.at("target") == "sm_90a");
  CHECK(report.at("options").at("--target")[0] == "sm_90a");
  std::uint64_t executed = 0, matrix = 0;
  for (const Json& instruction : report.at("instructions")) {
    executed += instruction.at("executed").get<std::uint64_t>();
    CHECK(instruction.contains("label"));
    if (!instruction.contains("machine")) continue;
    ++matrix;
    CHECK(instruction.at("label") == "measured");
    CHECK(instruction.at("source") == "H200");
    CHECK(instruction.at("compared").get<std::uint64_t>() > 1'000'000);
  }
  CHECK(matrix > 0);
  CHECK(executed >= matrix);
}

TEST_CASE("exec --report counts cases", "[report]") {
  TemporaryDirectory directory;
  const std::string a = directory.path("a.npy");
  write_npy(a, NpyArray::zeros(DType::uint32, {5, 4, 32}));
  const Json report = report_of({"exec", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "--target", "sm_80", "--a", a, "--b",
                                 "zeros", "--c", "zeros", "--d", directory.path("d.npy")});
  const Json mma = entry(report, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32");
  CHECK(mma.at("executed") == 5);
  CHECK(mma.at("label") == "replayed");
  CHECK(mma.at("compared").is_null());
  CHECK(mma.at("machine").get<std::string>().find("HMMA.16816") != std::string::npos);
}

TEST_CASE("launch --report counts what warps executed", "[report]") {
  const Json report = report_of({"launch", source_path("docs/use/transpose.ptx"), "--grid", "2", "--block", "32,32", "--buffer",
                                 "x=zeros:4096", "--buffer", "y=zeros:4096", "--param", "x", "--param", "y", "--quiet"});
  CHECK(entry(report, "bar.sync").at("executed") == 2 * 32);
  CHECK(entry(report, "st.shared.f32").at("executed") == 2 * 32);
  CHECK(entry(report, "mov.u32").at("executed") == 3 * 2 * 32);  // of special registers, too
  CHECK(entry(report, "ret").at("label") == "specified");
}

TEST_CASE("a report that cannot be written is refused before the run", "[report]") {
  const Outcome outcome =
      run_command({"run", source_path("tests/programs/tile_64x64.ptx"), "--target", "sm_90a", "--report", "/no/such/place.json"});
  CHECK(outcome.status != 0);
  CHECK(outcome.out.empty());
}

}  // namespace
}  // namespace warpmat::report_test
