#include <warpmat/operands.h>

#include "test.h"

namespace warpmat::operands_test {
namespace {

const char* const text =
    ".reg .b32 a<4>, b<2>, p, r<4>; .reg .f32 d<4>;\n"
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {r0, r1, r2, r3}, [p];\n"
    "mov.u32 p, 0;\n"
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {0f3F800000, 0f3F800000, 0f3F800000, "
    "0f3F800000};\n"
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, _, d2, d3}, {a0, a1, a2, a3}, {b0, 0}, {d0, d1, d2, d3};\n";

constexpr std::size_t load = 0, product = 1, odd = 2;  // matrix instructions only

Eigen::MatrixXd counting(int rows, int columns) {
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&](Eigen::Index i, Eigen::Index j) { return static_cast<double>(i * columns + j); });
}

TEST_CASE("operands: what is set is got, for every operand that is a matrix") {
  const Program program = parse(text, "sm_80");
  Warp warp(program);
  set_operand(warp, product, OperandName::a, counting(16, 16));
  set_operand(warp, product, OperandName::b, counting(16, 8));
  set_operand(warp, product, OperandName::d, counting(16, 8));
  set_operand(warp, load, OperandName::r, counting(32, 8), Format::bf16);
  CHECK(get_operand(warp, product, OperandName::a) == counting(16, 16));
  CHECK(get_operand(warp, product, OperandName::b) == counting(16, 8));
  CHECK(get_operand(warp, product, OperandName::d) == counting(16, 8));
  CHECK(get_operand(warp, product, OperandName::c) == Eigen::MatrixXd::Ones(16, 8));
  CHECK(get_operand(warp, load, OperandName::r, Format::bf16)(31, 7) == 255);
  CHECK(warp.reg("a1")[0] == 0x58085800);  // row 8, columns 0 and 1: f16 128 and 129
}

TEST_CASE("operands: a program's product is Eigen's") {
  const Program program = parse(text, "sm_80");
  Warp warp(program, 512);
  std::mt19937 random(14);
  const auto small = [&](int rows, int columns) {
    return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return static_cast<double>(random() % 17) - 8; }).eval();
  };
  const Eigen::MatrixXd a = small(16, 16), b = small(16, 8);
  set_operand(warp, product, OperandName::a, a);
  set_operand(warp, product, OperandName::b, b);
  warp.execute(*program.matrix_statements()[product]);
  const Eigen::MatrixXd expected = a * b + Eigen::MatrixXd::Ones(16, 8);
  CHECK(get_operand(warp, product, OperandName::d) == expected);
  CHECK(compare_operand(warp, product, OperandName::d, expected) == "");
}

TEST_CASE("operands: a comparison says which lane and register are wrong, and where their value belongs") {
  const Program program = parse(text, "sm_80");
  Warp warp(program);
  Eigen::MatrixXd matrix = counting(16, 8);
  set_operand(warp, product, OperandName::d, matrix);
  std::swap(warp.reg("d0")[0], warp.reg("d3")[31]);
  CHECK(compare_operand(warp, product, OperandName::d, matrix) ==
        "row 0, column 0 (lane 0, register 0) holds 127, expected 0; 127 belongs to row 15, column 7 (lane 31, register 3)\n"
        "row 15, column 7 (lane 31, register 3) holds 0, expected 127; 0 belongs to row 0, column 0 (lane 0, register 0)\n");
}

TEST_CASE("operands: a comparison rounds what is expected, and takes every NaN for the same") {
  const Program program = parse(text, "sm_80");
  Warp warp(program);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Constant(16, 16, 0.1);
  matrix(3, 4) = nan;
  set_operand(warp, product, OperandName::a, matrix);
  CHECK(compare_operand(warp, product, OperandName::a, matrix) == "");
  matrix(0, 0) = 0.1001;
  CHECK(compare_operand(warp, product, OperandName::a, matrix).starts_with("row 0, column 0 (lane 0, register 0, bits 0-15) holds "));
  matrix.setZero();
  set_operand(warp, product, OperandName::a, matrix);
  matrix(1, 1) = -0.0;
  CHECK(compare_operand(warp, product, OperandName::a, matrix)
            .starts_with("row 1, column 1 (lane 4, register 0, bits 16-31) holds 0, expected -0"));
}

TEST_CASE("operands: what does not exist or does not fit is named") {
  const Program program = parse(text, "sm_80");
  Warp warp(program);
  struct Case {
    std::size_t statement;
    OperandName operand;
    std::optional<Format> format;
    int rows, columns;
    const char* message;
  };
  const char* const mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 has no matrix operand r; 0 (ldmatrix.0) has it";
  const char* const formatless = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 moves bits without a format: say how to read operand r";
  const Case cases[] = {
      {3, OperandName::a, {}, 16, 16, "the program has 3 matrix instructions; number 3 does not exist"},
      {product, OperandName::r, {}, 16, 16, mma},
      {load,
       OperandName::p,
       {},
       8,
       8,
       "ldmatrix.sync.aligned.m8n8.x4.shared.b16 has no matrix operand p; no matrix instruction of the program has it"},
      {load, OperandName::r, {}, 32, 8, formatless},
      {load, OperandName::r, Format::e4m3, 32, 8, "the fragment's elements have 16 bits; e4m3 has 8"},
      {product, OperandName::a, {}, 16, 8, "the fragment holds a 16x16 matrix; 16x8 given"},
      {product, OperandName::b, {}, 8, 16, "the fragment holds a 16x8 matrix; 8x16 given"},
      {product, OperandName::c, {}, 16, 8, "operand c of statement 1 is not made of registers"},
      {odd, OperandName::b, {}, 16, 8, "operand b of statement 2 is not made of registers"},
      {odd, OperandName::d, {}, 16, 8, "operand d of statement 2 is not made of registers"},
  };
  for (const Case& c : cases) {
    INFO(c.message);
    CHECK_THROWS_WITH(set_operand(warp, c.statement, c.operand, counting(c.rows, c.columns), c.format), c.message);
    CHECK_THROWS_AS(set_operand(warp, c.statement, c.operand, counting(c.rows, c.columns), c.format), std::invalid_argument);
  }
  CHECK_THROWS_WITH(get_operand(warp, product, OperandName::r), mma);
  CHECK_THROWS_WITH(get_operand(warp, load, OperandName::r), formatless);
  CHECK_THROWS_WITH(compare_operand(warp, product, OperandName::d, counting(8, 8)), "the fragment holds a 16x8 matrix; 8x8 given");
}

const char* const sparse_text =
    ".reg .b32 a<4>, b<4>, e, f; .reg .f32 d<4>, g<4>;\n"
    "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1, b2, b3}, "
    "{d0, d1, d2, d3}, e, 0;\n"
    "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {g0, g1, g2, g3}, {a0, a1, a2, a3}, {b0, b1, b2, b3}, {g0, g1, g2, g3}, {e}, 1;\n"
    "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {g0, g1, g2, g3}, {a0, a1, a2, a3}, {b0, b1, b2, b3}, {g0, g1, g2, g3}, "
    "0f44444444, 1;\n"
    "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {g0, g1, g2, g3}, {a0, a1, a2, a3}, {b0, b1, b2, b3}, {g0, g1, g2, g3}, f, 2;\n"
    "movmatrix.sync.aligned.m8n8.trans.b16 a0, a1;\n";

/// 16x32 with two of four elements in each group, which ones depends on `seed`.
Eigen::MatrixXd two_of_four(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(16, 32);
  for (int i = 0; i < 16; ++i)
    for (int group = 0; group < 8; ++group) {
      const auto place = random() % 4, step = 1 + random() % 3;
      for (const auto p : {place, (place + step) % 4}) a(i, group * 4 + static_cast<int>(p)) = 1 + static_cast<double>(random() % 5);
    }
  return a;
}

const char* const scaled_text =
    ".reg .b32 a<4>, b<4>, s, t; .reg .f32 d<4>; .reg .b16 i, j;\n"
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, "
    "{d0, d1, d2, d3}, s, {2, 1}, {t}, {i, j};\n";

TEST_CASE("operands: a dense A becomes a sparse one, also two by the selectors of one register") {
  const Program program = parse(sparse_text, "sm_90a");
  Warp warp(program);
  const Eigen::MatrixXd first = two_of_four(1), second = two_of_four(2), b = counting(32, 8);
  set_operand(warp, 0, OperandName::b, b);
  set_sparse_a(warp, 0, first);
  warp.execute(program.statements()[0]);
  CHECK(compare_operand(warp, 0, OperandName::d, first * b) == "");
  set_sparse_a(warp, 1, second);
  warp.execute(program.statements()[1]);
  CHECK(compare_operand(warp, 1, OperandName::d, second * b) == "");
  CHECK(get_sparse_a(warp, 1) == second);
  // Both statements have their A's elements in a0 to a3, but each has its own codes in e.
  set_operand(warp, 0, OperandName::a, get_operand(warp, 0, OperandName::a) * 0 + Eigen::MatrixXd::Ones(16, 16));
  CHECK(get_sparse_a(warp, 0) == first.unaryExpr([](double x) { return x == 0 ? 0.0 : 1.0; }));
  CHECK(get_sparse_a(warp, 1) == second.unaryExpr([](double x) { return x == 0 ? 0.0 : 1.0; }));
}

TEST_CASE("operands: scale factors go where the statement's ids say") {
  const Program program = parse(scaled_text, "sm_120a");
  Warp warp(program);
  warp.reg("s").fill(0x80808080);
  warp.reg("j").fill(3);
  const Eigen::MatrixXd a = Eigen::MatrixXd::Ones(16, 64), b = Eigen::MatrixXd::Ones(64, 8);
  const Eigen::MatrixXd scale_a =
      Eigen::MatrixXd::NullaryExpr(16, 2, [](Eigen::Index i, Eigen::Index j) { return i % 3 == j ? 2.0 : 0.25; });
  const Eigen::MatrixXd scale_b = Eigen::MatrixXd::NullaryExpr(2, 8, [](Eigen::Index i, Eigen::Index j) {
    return i == 0 ? 4.0 : j % 2 == 0 ? 1.0 : 0.5;
  });
  set_operand(warp, 0, OperandName::a, a);
  set_operand(warp, 0, OperandName::b, b);
  set_scales(warp, 0, OperandName::scale_a, scale_a);
  set_scales(warp, 0, OperandName::scale_b, scale_b);
  run(warp);
  CHECK(compare_operand(warp, 0, OperandName::d, 32 * scale_a * scale_b) == "");
  CHECK(get_scales(warp, 0, OperandName::scale_a) == scale_a);
  CHECK(get_scales(warp, 0, OperandName::scale_b) == scale_b);
  CHECK(warp.reg("s")[2] == 0x7D808080);  // row 0: bytes 2 and 3 of lane 2
  CHECK(warp.reg("s")[0] == 0x80808080);
  CHECK(warp.reg("t")[3] == 0x0000'7F81);  // column 0: bytes 0 and 1 of lane 3
  warp.reg("j")[7] = 2;
  CHECK_THROWS_WITH(set_scales(warp, 0, OperandName::scale_b, scale_b), "operand ids-b of statement 0 must be the same in all lanes");
  warp.reg("j").fill(4);
  CHECK_THROWS_WITH(get_scales(warp, 0, OperandName::scale_b), "thread-id of ids-b is 4; it must be below 4");
}

TEST_CASE("operands: what no sparse A and no scale factors can be set for is named") {
  const Program sparse = parse(sparse_text, "sm_90a"), scaled = parse(scaled_text, "sm_120a");
  Warp warp(sparse), scaled_warp(scaled);
  const Eigen::MatrixXd a = two_of_four(3);
  const std::string k32 = "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
                    mxf4 = scaled.matrix_statements()[0]->matrix()->form().opcode;
  set_sparse_a(warp, 1, a);
  CHECK_THROWS_WITH(set_sparse_a(warp, 5, a), "the program has 5 matrix instructions; number 5 does not exist");
  CHECK_THROWS_WITH(set_sparse_a(warp, 2, two_of_four(4)), "operand e of statement 2 is not made of registers");
  CHECK_THROWS_WITH(set_sparse_a(warp, 3, two_of_four(4)), "the fragment's matrices are 0 to 1; 2 given");
  CHECK_THROWS_WITH(set_sparse_a(warp, 4, a), "movmatrix.sync.aligned.m8n8.trans.b16 has no sparse A: that is for mma.sp");
  CHECK_THROWS_WITH(get_sparse_a(warp, 4),
                    "movmatrix.sync.aligned.m8n8.trans.b16 has no matrix operand e; 0 (mma.0), 1 (mma.1), 2 (mma.2), 3 (mma.3) have it");
  CHECK_THROWS_WITH(set_sparse_a(warp, 1, Eigen::MatrixXd::Ones(16, 32)),
                    "row 0, group 0 of A (columns 0 to 3) has elements other than zero in columns 0, 1, 2, 3; only two of four may be");
  CHECK(get_sparse_a(warp, 1) == a);  // nothing of all that was written
  CHECK_THROWS_WITH(set_scales(warp, 1, OperandName::scale_a, a),
                    k32 + " has no matrix operand scale-a; no matrix instruction of the program has it");
  CHECK_THROWS_WITH(set_scales(scaled_warp, 0, OperandName::a, a), "operand a holds no scale factors: scale-a and scale-b do");
  CHECK_THROWS_WITH(set_scales(scaled_warp, 0, OperandName::scale_a, a), "one of the fragment's matrices is 16x2; 16x32 given");
  CHECK_THROWS_WITH(set_sparse_a(scaled_warp, 0, a), mxf4 + " has no sparse A: that is for mma.sp");
}

}  // namespace
}  // namespace warpmat::operands_test
