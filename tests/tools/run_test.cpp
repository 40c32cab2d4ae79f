
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

}  // namespace warpmat::run_test
