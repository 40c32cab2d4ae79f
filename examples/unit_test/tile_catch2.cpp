#include "tile.h"

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif

using namespace warpmat;

TEST_CASE("my fragments multiply to my tile") {
  const Eigen::MatrixXd a = Eigen::MatrixXd::NullaryExpr(16, 16, [](Eigen::Index i, Eigen::Index k) { return i - k; });
  const Eigen::MatrixXd b = Eigen::MatrixXd::NullaryExpr(16, 8, [](Eigen::Index k, Eigen::Index j) { return k == j ? 2 : k % 3; });
  const Program program = tile_program();
  Warp warp(program);
  load_a(warp, a);                          // by the kernel's index arithmetic
  set_operand(warp, 0, OperandName::b, b);  // by warpmat's
  run(warp);
  CHECK(compare_operand(warp, 0, OperandName::a, a) == "");  // else names lane, register, actual value and the value's right place
  CHECK(compare_operand(warp, 0, OperandName::d, a * b) == "");
}
