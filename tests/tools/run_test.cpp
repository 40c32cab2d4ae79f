
#include "command.h"
#include "test.h"
#include "tools/report/npy.h"

namespace warpmat::run_test {

TEST_CASE("run fills and prints operands whose elements are in bytes", "[tools]") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("tile.ptx");
  write_text(
      file,
      "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m3.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {d0, d1, d2, d3};\n");
  NpyArray a = NpyArray::zeros(DType::float32, {16, 32}), b = NpyArray::zeros(DType::uint8, {32, 8});
  for (std::size_t i = 0; i < 4; ++i) a.as<float>()[i] = static_cast<float>(i);
  for (std::uint8_t& code : b.as<std::uint8_t>()) code = 0x1f;  // 7.5 as e2m3
  write_npy(directory.path("a.npy"), a);
  write_npy(directory.path("b.npy"), b);
  const Outcome outcome = run_command({"run", file, "--target", "sm_120a", "--quiet", "--in", "0.a=" + directory.path("a.npy"), "--in",
                                       "mma.0.b=" + directory.path("b.npy"), "--print", "0.a", "--print", "0.d"});
  CHECK(outcome.err == "");  // an accumulator without initial values is meant to be zero
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("\n 0  0  1  2  3  0  0 ") != std::string::npos);
  CHECK(outcome.out.find("\n 0  45  45 ") != std::string::npos);  // (0+1+2+3) times 7.5
  const Outcome wide = run_command({"run", file, "--target", "sm_120a", "--print", "0.a:e4m3"});
  CHECK(wide.err == "warpmat: error: '0.a:e4m3': the operand's elements have 4 bits; e4m3 has 8\n");
}

TEST_CASE("run prints the same by the reference", "[tools]") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("tile.ptx");
  write_text(file, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {c0, c1, c2, c3};\n");
  std::vector<std::string> arguments{"run", file, "--target", "sm_90a", "--in", "0.a=random:1", "--in", "0.b=random:2", "--print", "0.d"};
  const Outcome fast = run_command(arguments);
  arguments.emplace_back("--reference");
  const Outcome reference = run_command(arguments);
  CHECK(fast.status == 0);
  CHECK(reference.status == 0);
  CHECK(!fast.out.empty());
  CHECK(fast.out == reference.out);
}

TEST_CASE("run handles undefined metadata as the option says", "[tools]") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("sparse.ptx");
  write_text(file,
             "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1, b2, b3}, {c0, c1, c2, c3}, "
             "e, 0;\n");
  std::vector<std::string> arguments{"run", file, "--target", "sm_90a", "--print", "d0:f32"};
  CHECK(run_command(arguments).err.find("operand e holds the metadata code 0x0") != std::string::npos);
  arguments.insert(arguments.end(), {"--undefined", "trap"});
  CHECK(run_command(arguments).status != 0);
  arguments.back() = "hardware";
  CHECK(run_command(arguments).err.find("error") == std::string::npos);
  CHECK(run_command(arguments).status == 0);
  arguments.back() = "maybe";
  const Outcome wrong = run_command(arguments);
  CHECK(wrong.status != 0);
  CHECK(wrong.err.find("--undefined") != std::string::npos);
}

}  // namespace warpmat::run_test
