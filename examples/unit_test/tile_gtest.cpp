#include <gtest/gtest.h>

#include "tile.h"

using namespace warpmat;

TEST(Tile, MyFragmentsMultiplyToMyTile) {
  const Eigen::MatrixXd a = Eigen::MatrixXd::NullaryExpr(16, 16, [](Eigen::Index i, Eigen::Index k) { return i - k; });
  const Eigen::MatrixXd b = Eigen::MatrixXd::NullaryExpr(16, 8, [](Eigen::Index k, Eigen::Index j) { return k == j ? 2 : k % 3; });
  const Program program = tile_program();
  Warp warp(program);
  load_a(warp, a);                          // by the kernel's index arithmetic
  set_operand(warp, 0, OperandName::b, b);  // by warpmat's
  run(warp);
  EXPECT_EQ(compare_operand(warp, 0, OperandName::a, a), "");  // else names lane, register, actual value and the value's right place
  EXPECT_EQ(compare_operand(warp, 0, OperandName::d, a * b), "");
}

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
