#include <warpmat/warpmat.h>

#include "catch.h"

using namespace warpmat;

TEST_CASE("my tile is the product of my fragments") {
  const char* const product = R"(
      mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {c0, c1, c2, c3};
  )";
  const Eigen::MatrixXd a = Eigen::MatrixXd::NullaryExpr(16, 16, [](int i, int k) { return i - k; });
  const Eigen::MatrixXd b = Eigen::MatrixXd::NullaryExpr(16, 8, [](int k, int j) { return k == j ? 2 : 0; });

  const Program program = parse(product, "sm_80");
  Warp warp(program);                       // 32 lanes, all registers zero
  set_operand(warp, 0, OperandName::a, a);  // operand a of instruction 0: every element to its lane and register
  set_operand(warp, 0, OperandName::b, b);
  run(warp);
  CHECK(compare_operand(warp, 0, OperandName::d, a * b) == "");  // else: lane and register, what it holds, where that belongs
}
