// Statements of a program through the C interface: what they are, one by one, and their operands and variables as matrices.

#include <warpmat/c_explain.h>

#include "c/list_warp.h"
#include "test.h"

namespace warpmat::c_statements_test {
namespace {

/// A tile of 16 x 16 f16 becomes A of a product with B = registers.
constexpr const char* text = R"(.shared .align 16 .b8 other[32];
.shared .align 16 .f16 tile[256];
.reg .b32 a<4>, b<2>, r<4>; .reg .f32 d<4>, c<4>; .reg .pred p;
mov.u32 r2, %laneid;
mov.u32 r0, tile;
mad.lo.u32 r0, r2, 16, r0;
setp.lt.u32 p, r2, 7;
@p add.u32 r1, r1, 1;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {a0, a1, a2, a3}, [r0];
product: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {c0, c1, c2, c3};
)";

struct Running : ListWarp {
  explicit Running(const char* of = text, const char* target = "sm_80") : ListWarp(of, target, 1024) {}

  /// The error of a call that must fail.
  void expect(warpmat_status status, const char* part) {
    CHECK(status == WARPMAT_BAD_ARGUMENT);
    CHECK(contains(error.message, part));
    error = sized<warpmat_error>();
  }
};

warpmat_variable_matrix tile_of(int rows, int columns, const char* layout = nullptr) {
  auto matrix = sized<warpmat_variable_matrix>();
  matrix.variable = "tile";
  matrix.rows = rows;
  matrix.columns = columns;
  matrix.format = warpmat_find_format("f16");
  matrix.layout = layout;
  return matrix;
}

TEST_CASE("C: a program tells its statements, its variables and its text", "[c][program]") {
  Running of;
  CHECK(warpmat_program_statement_count(of.program) == 7);
  CHECK(warpmat_program_statement_count(nullptr) == 0);
  auto info = sized<warpmat_statement_info>();
  REQUIRE(warpmat_program_statement(of.program, 4, &info) == WARPMAT_OK);
  CHECK((info.line == 8 && info.opcode == std::string("add.u32") && info.name == nullptr && info.instruction == nullptr));
  REQUIRE(warpmat_program_statement(of.program, 5, &info) == WARPMAT_OK);
  CHECK((info.line == 9 && info.column == 1 && info.name == std::string("ldmatrix.0")));
  REQUIRE(warpmat_program_statement(of.program, 6, &info) == WARPMAT_OK);
  CHECK(info.name == std::string("product"));
  CHECK(info.opcode == std::string("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"));
  CHECK(info.instruction == warpmat_find(info.opcode, "sm_80", nullptr));
  for (const int wrong : {-1, 7}) CHECK(warpmat_program_statement(of.program, wrong, &info) == WARPMAT_BAD_ARGUMENT);
  info.size = 8;
  CHECK(warpmat_program_statement(of.program, 5, &info) == WARPMAT_BAD_ARGUMENT);

  CHECK(warpmat_program_find_statement(of.program, "product", &of.error) == 6);
  CHECK(warpmat_program_find_statement(of.program, "mma.0", &of.error) == 6);
  CHECK(warpmat_program_find_statement(of.program, "0", &of.error) == 5);
  CHECK(warpmat_program_find_statement(of.program, "mma.1", &of.error) == -1);
  of.expect(of.error.status, "mma.1");
  CHECK(warpmat_program_find_statement(of.program, nullptr, &of.error) == -1);
  of.expect(of.error.status, "the name is null");

  CHECK(warpmat_program_variable_count(of.program) == 2);
  CHECK(warpmat_program_variable_count(nullptr) == 0);
  auto variable = sized<warpmat_variable_info>();
  REQUIRE(warpmat_program_variable(of.program, 1, &variable) == WARPMAT_OK);
  CHECK((variable.name == std::string("tile") && variable.type == std::string("f16") && variable.address == 32 && variable.bytes == 512));
  CHECK(warpmat_program_variable(of.program, 2, &variable) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_program_variable(of.program, 0, nullptr) == WARPMAT_BAD_ARGUMENT);

  const char* const printed = warpmat_program_text(of.program, &of.error);
  REQUIRE(printed != nullptr);
  CHECK(printed == warpmat_program_text(of.program, nullptr));
  warpmat_program* const again = warpmat_program_parse(printed, nullptr, &of.error);
  INFO(of.error.message);
  REQUIRE(again != nullptr);
  CHECK(warpmat_program_statement_count(again) == 7);
  warpmat_program_free(again);
  CHECK(warpmat_program_text(nullptr, &of.error) == nullptr);
  of.expect(of.error.status, "the program is null");
}

TEST_CASE("C: statements are executed one by one", "[c][program]") {
  Running of;
  CHECK(warpmat_warp_executing(of.warp, 0) == 0xffffffff);
  CHECK(warpmat_warp_executing(of.warp, 4) == 0);
  CHECK(warpmat_warp_executing(of.warp, 9) == 0);
  CHECK(warpmat_warp_executing(nullptr, 0) == 0);
  CHECK(warpmat_warp_addresses_read(of.warp, 5) == nullptr);
  for (int i = 0; i < 4; ++i) REQUIRE(warpmat_warp_step(of.warp, i, 0, &of.error) == WARPMAT_OK);
  CHECK(warpmat_warp_executing(of.warp, 4) == 0x7f);
  REQUIRE(warpmat_warp_step(of.warp, 4, 0, &of.error) == WARPMAT_OK);
  REQUIRE(warpmat_warp_step(of.warp, 4, 0, &of.error) == WARPMAT_OK);
  CHECK(warpmat_warp_register(of.warp, "r1", 0)[6] == 2);
  CHECK(warpmat_warp_register(of.warp, "r1", 0)[7] == 0);
  REQUIRE(warpmat_warp_step(of.warp, 5, WARPMAT_REFERENCE_PATH, &of.error) == WARPMAT_OK);
  const std::uint64_t* const addresses = warpmat_warp_addresses_read(of.warp, 5);
  REQUIRE(addresses != nullptr);
  for (std::uint64_t lane = 0; lane < 32; ++lane) CHECK(addresses[lane] == 32 + 16 * lane);

  of.expect(warpmat_warp_step(of.warp, 7, 0, &of.error), "the program has 7 statements; number 7 does not exist");
  of.expect(warpmat_warp_step(nullptr, 0, 0, &of.error), "the warp is null");
  of.expect(warpmat_warp_step(of.warp, 0, 4, &of.error), "flags 0x4 are not known");
  warpmat_warp_register(of.warp, "r0", 0)[3] = 8;  // not a multiple of 16
  CHECK(warpmat_warp_step(of.warp, 5, 0, &of.error) == WARPMAT_MISALIGNED);
  CHECK((of.error.line == 9 && of.error.lane == 3 && of.error.address == 8 && of.error.operand == WARPMAT_P));
  CHECK(std::string(of.error.message).starts_with("line 9: "));

  // Shared memory from another address on.
  warpmat_warp* const elsewhere = warpmat_warp_create_at(of.program, 0, 0x400, &of.error);
  REQUIRE(elsewhere != nullptr);
  REQUIRE(warpmat_warp_run(elsewhere, 0, &of.error) == WARPMAT_OK);
  CHECK(warpmat_warp_addresses_read(elsewhere, 5)[1] == 0x400 + 32 + 16);
  warpmat_warp_free(elsewhere);
  CHECK(warpmat_warp_create_at(of.program, 0, 8, &of.error) == nullptr);
  of.expect(of.error.status, "shared memory at 0x8 does not align variable 'other', which needs a multiple of 16");
}

TEST_CASE("C: a tile goes through ldmatrix and mma, as matrices", "[c][program]") {
  Running of;
  // The tile as ldmatrix.x4 reads it here: lane i addresses the i-th 16 bytes, so its four matrices are 32 rows of 8; they are A's
  // quarters.
  std::vector<double> tile(32 * 8), a(16 * 16), b(16 * 8, 0.0), product(16 * 8, 0.0);
  for (std::size_t row = 0; row < 16; ++row)
    for (std::size_t k = 0; k < 16; ++k) {
      a[row * 16 + k] = static_cast<double>(row) - static_cast<double>(k);
      tile[(row % 8 + (row >= 8 ? 8 : 0) + (k >= 8 ? 16 : 0)) * 8 + k % 8] = a[row * 16 + k];
    }
  for (std::size_t k = 0; k < 8; ++k) b[(k + 3) * 8 + k] = 2;  // column j of the product is twice column j + 3 of A
  for (std::size_t row = 0; row < 16; ++row)
    for (std::size_t j = 0; j < 8; ++j) product[row * 8 + j] = 2 * a[row * 16 + j + 3];
  const warpmat_variable_matrix matrix = tile_of(32, 8);
  REQUIRE(warpmat_warp_set_variable(of.warp, &matrix, tile.data(), &of.error) == WARPMAT_OK);
  REQUIRE(warpmat_warp_set_operand(of.warp, "product.b", -1, b.data(), b.size(), &of.error) == WARPMAT_OK);
  REQUIRE(warpmat_warp_run(of.warp, 0, &of.error) == WARPMAT_OK);
  std::vector<double> held(16 * 16), back(tile.size());
  REQUIRE(warpmat_warp_get_operand(of.warp, "mma.0.a", -1, held.data(), held.size(), &of.error) == WARPMAT_OK);
  CHECK(held == a);
  REQUIRE(warpmat_warp_get_variable(of.warp, &matrix, back.data(), &of.error) == WARPMAT_OK);
  CHECK(back == tile);
  char report[4096] = "x";
  std::size_t length = 1;
  REQUIRE(warpmat_warp_compare_operand(of.warp, "product.d", -1, product.data(), product.size(), report, sizeof report, &length,
                                       &of.error) == WARPMAT_OK);
  CHECK((report[0] == '\0' && length == 0));
  REQUIRE(warpmat_warp_compare_variable(of.warp, &matrix, tile.data(), report, sizeof report, &length, &of.error) == WARPMAT_OK);
  CHECK(length == 0);

  product[2 * 8 + 5] += 1;
  REQUIRE(warpmat_warp_compare_operand(of.warp, "product.d", -1, product.data(), product.size(), report, sizeof report, &length,
                                       &of.error) == WARPMAT_OK);
  CHECK(contains(report, "row 2, column 5 (lane 10, register 1) holds -12, expected -11"));
  CHECK(length == std::strlen(report));
  char part[8];
  REQUIRE(warpmat_warp_compare_operand(of.warp, "product.d", -1, product.data(), product.size(), part, sizeof part, &length, &of.error) ==
          WARPMAT_OK);
  CHECK((std::string(part) == std::string(report).substr(0, 7) && length == std::strlen(report)));
  REQUIRE(warpmat_warp_compare_operand(of.warp, "product.d", -1, product.data(), product.size(), nullptr, 0, nullptr, &of.error) ==
          WARPMAT_OK);
  tile[0] += 1;
  REQUIRE(warpmat_warp_compare_variable(of.warp, &matrix, tile.data(), report, sizeof report, &length, &of.error) == WARPMAT_OK);
  CHECK(contains(report, "row 0, column 0"));

  // Why an element of the product is what it is: 2 times A's (2, 8).
  warpmat_explanation* const why = warpmat_warp_explain(of.warp, "product", {2, 5, 0}, 0, &of.error);
  REQUIRE(why != nullptr);
  auto info = sized<warpmat_explanation_info>();
  REQUIRE(warpmat_explanation_describe(why, &info) == WARPMAT_OK);
  const float expected = -12;
  std::uint32_t bits = 0;
  std::memcpy(&bits, &expected, 4);
  CHECK(info.result == bits);
  CHECK(contains(warpmat_explanation_text(why), "a[2][8]"));
  warpmat_explanation_free(why);
  warpmat_explanation* const moved = warpmat_warp_explain(of.warp, "ldmatrix.0", {1, 2, 3}, 0, &of.error);
  REQUIRE(moved != nullptr);
  REQUIRE(warpmat_explanation_describe(moved, &info) == WARPMAT_OK);
  CHECK((info.memory_lane == 25 && info.memory_address == 32 + 25 * 16 && info.memory_bit == 32));
  warpmat_explanation_free(moved);
  CHECK(warpmat_warp_explain(of.warp, "mma.7", {0, 0, 0}, 0, &of.error) == nullptr);
  of.expect(of.error.status, "mma.7");
  CHECK(warpmat_warp_explain(of.warp, "mma.0", {0, 8, 0}, 0, &of.error) == nullptr);
  of.expect(of.error.status, "8");
}

TEST_CASE("C: sparse operands, scale factors and swizzled tiles of a program", "[c][program]") {
  Running sparse("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1}, {b0, b1}, {c0, c1, c2, c3}, e, 1;\n");
  std::vector<double> a(16 * 16, 0.0), back(a.size());
  for (std::size_t row = 0; row < 16; ++row) a[row * 16 + (row % 4) * 4 + 2] = static_cast<double>(row + 1);
  REQUIRE(warpmat_warp_set_sparse_a(sparse.warp, "mma.0", a.data(), a.size(), &sparse.error) == WARPMAT_OK);
  REQUIRE(warpmat_warp_get_sparse_a(sparse.warp, "0", back.data(), back.size(), &sparse.error) == WARPMAT_OK);
  CHECK(back == a);
  sparse.expect(warpmat_warp_set_sparse_a(sparse.warp, "0", a.data(), 3, &sparse.error), "A has 16 rows of 16 elements; 3 values given");
  sparse.expect(warpmat_warp_set_sparse_a(nullptr, "0", a.data(), 3, &sparse.error), "the warp is null");

  Running scaled(
      "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 {d0, d1, d2, d3}, {a0, a1, a2, a3}, "
      "{b0, b1}, {c0, c1, c2, c3}, sa, {2, 1}, sb, {0, 0};\n",
      "sm_120a");
  std::vector<double> scales(16 * 2, 4.0), factors(scales.size());
  REQUIRE(warpmat_warp_set_scales(scaled.warp, "0", WARPMAT_SCALE_A, scales.data(), scales.size(), &scaled.error) == WARPMAT_OK);
  const std::uint32_t* const words = warpmat_warp_register(scaled.warp, "sa", 0);
  for (int lane = 0; lane < 32; ++lane) CHECK(words[lane] == (lane % 4 >= 2 ? 0x81810000u : 0u));  // 2^2 is 129; byte-id 2, thread-id 1
  REQUIRE(warpmat_warp_get_scales(scaled.warp, "0", WARPMAT_SCALE_A, factors.data(), factors.size(), &scaled.error) == WARPMAT_OK);
  CHECK(factors == scales);
  scaled.expect(warpmat_warp_get_scales(scaled.warp, "0", WARPMAT_SCALE_B, factors.data(), 17, &scaled.error), "2 rows of 8");
  scaled.expect(warpmat_warp_set_scales(scaled.warp, "0", WARPMAT_A, scales.data(), 32, &scaled.error), "scale is WARPMAT_SCALE_A");

  Running of;
  std::vector<double> values(64 * 64, 0.0);  // as many as the largest that is refused
  values[3 * 64 + 8] = 1;                    // the second 16 bytes of row 3: chunk 1 xor 3
  const warpmat_variable_matrix swizzled = tile_of(4, 64, "swizzle<3,4,3>");
  REQUIRE(warpmat_warp_set_variable(of.warp, &swizzled, values.data(), &of.error) == WARPMAT_OK);
  std::size_t bytes = 0;
  const std::uint8_t* const shared = warpmat_warp_shared(of.warp, &bytes);
  CHECK(shared[32 + 3 * 128 + (1 ^ 3) * 16 + 1] == 0x3c);
  const auto refused = [&](const warpmat_variable_matrix& matrix, const char* part) {
    of.expect(warpmat_warp_set_variable(of.warp, &matrix, values.data(), &of.error), part);
  };
  refused(tile_of(4, 64, "spiral"), "spiral");
  refused(tile_of(4, 64, "swizzle<0,2147483647,2147483647>"), "their sum at most 32");
  refused(tile_of(64, 64), "tile");
  refused(tile_of(0, 64), "rows and columns are at least 1");
  warpmat_variable_matrix wrong = tile_of(4, 64);
  wrong.variable = "nothing";
  refused(wrong, "nothing");
  wrong.variable = nullptr;
  refused(wrong, "matrix->variable is null");
  wrong = tile_of(4, 64);
  wrong.format = -1;
  refused(wrong, "there is no format of number -1");
  wrong.size = 8;
  refused(wrong, "the size of matrix");
  of.expect(warpmat_warp_set_operand(of.warp, "product.z", -1, values.data(), 1, &of.error), "z");
  of.expect(warpmat_warp_set_operand(of.warp, "product.a", -1, values.data(), 1, &of.error), "16 rows of 16 elements; 1 values given");
  of.expect(warpmat_warp_get_operand(of.warp, "ldmatrix.0.p", -1, values.data(), 1, &of.error), "");
  for (const char* const place : {"product.e", "product.p", "product.selector", "product.scale-a", "ldmatrix.0.a", "ldmatrix.0.p"}) {
    CAPTURE(place);
    of.expect(warpmat_warp_set_operand(of.warp, place, -1, values.data(), 1, &of.error), "has no matrix operand");
    of.expect(warpmat_warp_get_operand(of.warp, place, -1, values.data(), 1, &of.error), "has no matrix operand");
    of.expect(warpmat_warp_compare_operand(of.warp, place, -1, values.data(), 1, nullptr, 0, nullptr, &of.error), "has no matrix operand");
  }
  of.expect(warpmat_warp_get_operand(of.warp, nullptr, -1, values.data(), 1, &of.error), "the place is null");
}

}  // namespace
}  // namespace warpmat::c_statements_test
