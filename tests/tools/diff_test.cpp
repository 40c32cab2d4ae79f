
#include <nlohmann/json.hpp>

#include "command.h"
#include "test.h"
#include "tools/gpu/report/mismatch_text.h"
#include "tools/report/npy.h"

namespace warpmat::diff_test {
namespace {

using Json = nlohmann::json;

constexpr int skipped_status = 77;

TEST_CASE("diff without a GPU says so in one sentence and is skipped, not passed", "[tools]") {
  const Outcome outcome = run_command({"diff", "--forms", "movmatrix", "--cases", "8"});
  if (outcome.status == 0) return;  // a machine with a GPU
  CHECK(outcome.status == skipped_status);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.starts_with("warpmat: skipped: no GPU"));
  CHECK(std::ranges::count(outcome.err, '\n') == 1);
}

TEST_CASE("diff prints where a GPU differs and writes a program that shows it alone", "[tools]") {
  const TemporaryDirectory directory;
  const std::string opcode = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";
  const Outcome outcome =
      run_pretending({"diff", "--forms", opcode, "--cases", "100", "--json", directory.path("sweep.json"), "--keep", directory.path("")});
  CHECK(outcome.status == 1);
  const Json json = Json::parse(read_text(directory.path("sweep.json")));
  const std::size_t classes = json.at("rows").size();
  CHECK(outcome.err.find(fmt::format("{} of {} outputs differ", classes, classes * 100 * 128)) != std::string::npos);
  CHECK(outcome.out.find(opcode + ", class random, seed 1, case 42\nlane 17, register %d0, row 4, column 2: emulator 0x") !=
        std::string::npos);
  CHECK(json.at("totals").at("mismatches") == classes);
  CHECK(json.at("totals").at("outputs") == classes * 100 * 128);
  CHECK(json.at("complete") == true);
  CHECK(json.at("gpus").at(0).at("card") == "pretended GPU");
  CHECK(json.at("totals").at("cases") == classes * 100);
  for (const Json& row : json.at("rows")) CHECK(row.at("mismatches") == 1);
  CHECK(directory.files().size() == classes + 1);

  // The first file shows the bits that the emulator had.
  const std::string file = directory.path("warpmat_mismatch_1.ptx");
  const Outcome replayed = run_command({"run", file, "--print", "%d0"});
  REQUIRE(replayed.status == 0);
  const std::string emulator = outcome.out.substr(outcome.out.find("emulator 0x") + 9, 10);
  CHECK(replayed.out.find("17  " + emulator + "\n") != std::string::npos);
  CHECK(run_pretending({"diff", file, "--warps", "42", "--keep", directory.path("")}).status == 0);
  const Outcome again = run_pretending({"diff", file, "--warps", "43", "--keep", directory.path("")});
  CHECK(again.status == 1);
  CHECK(again.out.find("43 warps") != std::string::npos);
}

TEST_CASE("diff keeps what it compared before a GPU was lost", "[tools]") {
  const TemporaryDirectory directory;
  const Outcome outcome = run_pretending(
      {"diff", "--forms", "matrix.*x2.shared", "--cases", "20", "--json", directory.path("sweep.json"), "--keep", directory.path("")});
  CHECK(outcome.status == 1);
  CHECK(outcome.err.find("stopped at 'stmatrix") != std::string::npos);
  CHECK(outcome.out.find("ldmatrix.sync.aligned.m8n8.x2.shared.b16  random  20") != std::string::npos);
  const Json json = Json::parse(read_text(directory.path("sweep.json")));
  CHECK(json.at("complete") == false);
  CHECK(json.at("error").get<std::string>().find("stmatrix") != std::string::npos);
  CHECK(json.at("rows").size() == 1);
  CHECK(json.at("items").size() == 2);
}

TEST_CASE("diff runs one program with given inputs", "[tools]") {
  const TemporaryDirectory directory;
  write_text(directory.path("load.ptx"), ".reg .b32 r, p; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r}, [p];");
  NpyArray rows = NpyArray::zeros(DType::uint32, {1, 32});
  for (std::uint32_t lane = 0; lane < 32; ++lane) rows.as<std::uint32_t>()[lane] = 16 * lane;
  write_npy(directory.path("rows.npy"), rows);
  const auto diff = [&](const std::string& target, const std::string& warps) {
    return run_pretending({"diff", directory.path("load.ptx"), "--target", target, "--warps", warps, "--in",
                           "p=" + directory.path("rows.npy"), "--keep", directory.path("")});
  };
  const Outcome equal = diff("sm_90", "42");
  CHECK(equal.status == 0);
  CHECK(equal.out.find("42 warps, 1344 outputs compared, 0 mismatches; pretended GPU; seed 1") != std::string::npos);
  CHECK(diff("sm_90", "43").out.find("lane 17, register r, row 4, column 2: emulator 0x") != std::string::npos);
  CHECK(diff("sm_80", "43").status == skipped_status);
}

TEST_CASE("diff runs a whole kernel and compares every byte and the text", "[tools]") {
  const TemporaryDirectory directory;
  write_text(directory.path("k.ptx"), R"(.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[7] = {104, 101, 108, 108, 111, 10, 0};
.visible .entry k(.param .u64 out) {
  .reg .b64 %l<4>; .reg .b32 %r<4>;
  ld.param.u64 %l0, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %l1, %r0, 4;
  add.u64 %l0, %l0, %l1;
  st.global.u32 [%l0], %r0;
  mov.u64 %l2, text;
  cvta.global.u64 %l2, %l2;
  mov.u64 %l3, 0;
  { .param .b64 a0; .param .b64 a1; .param .b32 r0;
    st.param.b64 [a0], %l2; st.param.b64 [a1], %l3;
    call.uni (r0), vprintf, (a0, a1); }
  ret;
})");
  write_text(
      directory.path("launch.json"),
      R"({"ptx": "k.ptx", "block": [32, 1, 1], "buffers": [{"name": "out", "bytes": 128, "fill": 255}], "params": [{"buffer": "out"}]})");
  const std::string file = directory.path("launch.json");
  const Outcome equal = run_pretending({"diff", file}, {no_faults});
  CHECK(equal.status == 0);
  CHECK(equal.out ==
        file + ": kernel 'k', 1 blocks of 32 threads, 128 bytes of 1 buffers compared, 0 mismatches, printed text equal; pretended GPU\n");
  const Outcome wrong = run_pretending({"diff", file});
  CHECK(wrong.status == 1);
  CHECK(wrong.out.find("buffer out, byte 17: emulator 0x00, GPU 0x08\n") != std::string::npos);
  CHECK(wrong.out.find("1 mismatch, printed text differs") != std::string::npos);
  CHECK(wrong.err.find("1 of 128 bytes differ between emulator and GPU") != std::string::npos);
  CHECK(run_pretending({"diff", file, "--target", "sm_90"}).status == 1);
}

/// What describe says where register `word` of `lane` of the second state is changed by `flip`.
std::string description(const Program& program, std::size_t word, std::size_t lane, std::uint32_t value) {
  const WarpStates expected(program, 1);
  WarpStates found = expected;
  found.registers_of(0)[word][lane] = value;
  const Comparison comparison = compare_states(program, expected, found);
  REQUIRE(comparison.differences.size() == 1);
  return describe(program, expected, found, comparison.differences.front());
}

TEST_CASE("a mismatch is reported with element, lane, register and both values", "[tools]") {
  const Program wide =
      parse("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {c0, c1, c2, c3};", "sm_80");
  CHECK(description(wide, 3, 5, 0x3fc00000) == "lane 5, register d3, row 9, column 3: emulator 0x00000000 (0), GPU 0x3fc00000 (1.5)\n");
  const Program packed = parse("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {d0, d1}, {a0, a1}, {b0}, {c0, c1};", "sm_80");
  CHECK(description(packed, 1, 5, 0x3c00fe00) ==
        "lane 5, register d1, row 9, column 2: emulator 0x0000 (0), GPU 0xfe00 (nan)\n"
        "lane 5, register d1, row 9, column 3: emulator 0x0000 (0), GPU 0x3c00 (1)\n");
  const Program load = parse("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {r0, r1}, [p];", "sm_80");
  CHECK(description(load, 1, 31, 7) == "lane 31, register r1, matrix 1, row 7, column 6: emulator 0x0000, GPU 0x0007\n");
  CHECK(description(load, 2, 0, 7) == "lane 0, register p: emulator 0x00000000, GPU 0x00000007\n");
  const Program overwritten = parse("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r0}, [p]; mov.b32 r0, 1;", "sm_80");
  CHECK(description(overwritten, 0, 2, 1) == "lane 2, register r0: emulator 0x00000000, GPU 0x00000001\n");
}

TEST_CASE("a mismatch in memory is reported with its bytes", "[tools]") {
  const Program program = parse(".shared .b8 memory[10]; .reg .b32 a; st.shared.b8 [memory], a;", "sm_80");
  const WarpStates expected(program, 1);
  WarpStates found = expected;
  found.shared_of(0)[9] = 0xab;
  const Comparison comparison = compare_states(program, expected, found);
  CHECK(describe(program, expected, found, comparison.differences.front()) ==
        "shared memory, bytes 8 to 11: emulator 0x00000000, GPU 0x0000ab00\n");
}

}  // namespace
}  // namespace warpmat::diff_test
