// Matrices of operands through the C interface, against the figures of PTX ISA 9.1 section 9.7.14.5 in formulas of its own.

#include <warpmat/c_program.h>

#include "c/calls.h"
#include "test.h"

namespace warpmat::c_matrices_test {
namespace {

constexpr const char* opcode = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";

/// The bits of a small positive integer as f16.
std::uint32_t f16_bits(int value) {
  if (value == 0) return 0;
  const int exponent = static_cast<int>(std::floor(std::log2(value)));
  return static_cast<std::uint32_t>((exponent + 15) << 10 | (value << (10 - exponent) & 0x3ff));
}

/// Row and column of half `half` of register `reg` of A of m16n8k16, in lane `lane` (figure of .f16 A).
struct At {
  int row, column;
};
At a_element(int lane, int reg, int half) {
  return {lane / 4 + (reg % 2 == 1 ? 8 : 0), lane % 4 * 2 + half + (reg >= 2 ? 8 : 0)};
}

std::vector<double> counted(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i);
  return values;
}

TEST_CASE("C: a matrix is scattered into a warp's registers, wherever they are, and gathered", "[c][matrices]") {
  const warpmat_instruction* const mma = found(opcode, "sm_80");
  const std::vector<double> a = counted(16 * 16);
  // Two warps, 10 registers a thread; A is in registers 7, 2, 9 and 0.
  const std::uint16_t numbers[] = {7, 2, 9, 0};
  std::vector<std::uint32_t> threads(64 * 10, 0xdeadbeef);
  const warpmat_registers registers = WARPMAT_THREAD_MAJOR(threads.data(), 10, numbers, 4);
  auto error = sized<warpmat_error>();
  REQUIRE(warpmat_scatter(mma, WARPMAT_A, -1, -1, a.data(), a.size(), &registers, 1, &error) == WARPMAT_OK);
  int written = 0;
  for (int thread = 0; thread < 64; ++thread)
    for (int number = 0; number < 10; ++number) {
      const std::uint32_t held = threads[static_cast<std::size_t>(thread * 10 + number)];
      int reg = 0;
      while (reg < 4 && numbers[reg] != number) ++reg;
      if (thread < 32 || reg == 4) {
        CHECK(held == 0xdeadbeef);
        continue;
      }
      const At low = a_element(thread - 32, reg, 0), high = a_element(thread - 32, reg, 1);
      CHECK(held == (f16_bits(low.row * 16 + low.column) | f16_bits(high.row * 16 + high.column) << 16));
      ++written;
    }
  CHECK(written == 128);
  std::vector<double> back(a.size());
  REQUIRE(warpmat_gather(mma, WARPMAT_A, 0, warpmat_find_format("f16"), back.data(), back.size(), &registers, 1, &error) == WARPMAT_OK);
  CHECK(back == a);

  auto difference = sized<warpmat_operand_difference>();
  REQUIRE(warpmat_compare_operand(mma, WARPMAT_A, -1, a.data(), a.size(), &registers, 1, &difference, &error) == WARPMAT_OK);
  CHECK((difference.elements == 256 && difference.wrong == 0 && difference.text[0] == '\0'));
  // Lane 6's third register: rows 1, columns 12 and 13.
  threads[(32 + 6) * 10 + 9] = f16_bits(3) | f16_bits(1 * 16 + 13) << 16;
  REQUIRE(warpmat_compare_operand(mma, WARPMAT_A, -1, a.data(), a.size(), &registers, 1, &difference, &error) == WARPMAT_OK);
  CHECK(difference.wrong == 1);
  CHECK((difference.element.row == 1 && difference.element.column == 12));
  CHECK((difference.place.lane == 6 && difference.place.reg == 2 && difference.place.bit == 0));
  CHECK((difference.held == 3 && difference.expected == 28));
  CHECK(contains(difference.text, "row 1, column 12 (lane 6, register 2, bits 0-15) holds 3, expected 28; 3 belongs to row 0, column 3"));
}

TEST_CASE("C: a fragment of several matrices, whose bits have no format, and one of them", "[c][matrices]") {
  const warpmat_instruction* const ldmatrix = found("ldmatrix.sync.aligned.m8n8.x2.shared.b16", "sm_80");
  std::vector<std::uint32_t> words(2 * 32);
  const warpmat_registers registers = WARPMAT_REGISTER_MAJOR(words.data(), 64);
  const int f16 = warpmat_find_format("f16");
  auto error = sized<warpmat_error>();
  const std::vector<double> both = counted(2 * 8 * 8);
  REQUIRE(warpmat_scatter(ldmatrix, WARPMAT_R, -1, f16, both.data(), both.size(), &registers, 0, &error) == WARPMAT_OK);
  for (std::uint32_t reg = 0; reg < 2; ++reg)
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const int first = static_cast<int>(reg * 64 + lane / 4 * 8 + lane % 4 * 2);  // a row of 8 has four lanes
      CHECK(words[reg * 32 + lane] == (f16_bits(first) | f16_bits(first + 1) << 16));
    }
  const std::vector<double> second(64, 5.0);
  REQUIRE(warpmat_scatter(ldmatrix, WARPMAT_R, 1, f16, second.data(), second.size(), &registers, 0, &error) == WARPMAT_OK);
  std::vector<double> back(both.size());
  REQUIRE(warpmat_gather(ldmatrix, WARPMAT_R, -1, f16, back.data(), back.size(), &registers, 0, &error) == WARPMAT_OK);
  CHECK(back[63] == 63);
  CHECK(back[64] == 5);
  CHECK(back[127] == 5);

  const auto expect = [&](warpmat_status status, const char* part) {
    CHECK(status == WARPMAT_BAD_ARGUMENT);
    CHECK(contains(error.message, part));
    error = sized<warpmat_error>();
  };
  const auto scatter = [&](const warpmat_instruction* of, warpmat_operand operand, int matrix, int format, std::size_t count,
                           const warpmat_registers* to) {
    return warpmat_scatter(of, operand, matrix, format, both.data(), count, to, 0, &error);
  };
  const std::vector<std::uint32_t> before = words;
  expect(scatter(ldmatrix, WARPMAT_R, -1, -1, 128, &registers), "bits without a format: say which");
  expect(scatter(ldmatrix, WARPMAT_R, -1, 99, 128, &registers), "there is no format of number 99");
  expect(scatter(ldmatrix, WARPMAT_R, -1, warpmat_find_format("f32"), 128, &registers), "elements have 16 bits; f32 has 32");
  expect(scatter(ldmatrix, WARPMAT_R, 2, f16, 64, &registers), "has 2 matrices; number 2 does not exist");
  expect(scatter(ldmatrix, WARPMAT_R, -1, f16, 64, &registers), "has 16 rows of 8 elements; 64 values given");
  expect(scatter(ldmatrix, WARPMAT_A, -1, f16, 128, &registers), "has no matrix operand of number 1: its are r");
  expect(scatter(ldmatrix, WARPMAT_P, -1, f16, 128, &registers), "has no matrix operand");
  for (const warpmat_instruction* const other :
       {found("add.rn.f32", "sm_80"), found("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "sm_90a")}) {
    expect(scatter(other, WARPMAT_D, -1, f16, 128, &registers), "is no matrix instruction of one warp");
    CHECK(warpmat_metadata_group(other) == 0);
  }
  expect(scatter(nullptr, WARPMAT_R, -1, f16, 128, &registers), "the instruction is null");
  expect(scatter(ldmatrix, WARPMAT_R, -1, f16, 128, nullptr), "registers is null");
  const warpmat_registers immediate = WARPMAT_IMMEDIATE(words.data());
  expect(scatter(ldmatrix, WARPMAT_R, -1, f16, 128, &immediate), "operand r: it is written, so its lane_stride cannot be 0");
  expect(warpmat_gather(ldmatrix, WARPMAT_R, -1, f16, nullptr, 128, &registers, 0, &error), "the values of operand r");
  expect(warpmat_compare_operand(ldmatrix, WARPMAT_R, f16, both.data(), 128, &registers, 0, nullptr, &error), "difference is null");
  CHECK(words == before);
}

TEST_CASE("C: sparse A is compressed, its codes placed for a selector, and expanded", "[c][matrices]") {
  const warpmat_instruction* const mma = found("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_80");
  CHECK(warpmat_metadata_group(mma) == 4);
  CHECK(warpmat_metadata_group(found(opcode, "sm_80")) == 0);
  CHECK(warpmat_metadata_group(nullptr) == 0);
  std::vector<double> a(16 * 16, 0.0);
  for (std::size_t row = 0; row < 16; ++row)
    for (std::size_t group = 0; group < 4; ++group) {
      a[row * 16 + group * 4 + 1] = 2;
      a[row * 16 + group * 4 + 3] = 3;
    }
  std::vector<double> stored(16 * 8), codes(16 * 4), back(a.size());
  auto error = sized<warpmat_error>();
  CHECK(warpmat_compress(mma, a.data(), a.size(), stored.data(), stored.size(), codes.data(), 1, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(stored == std::vector<double>(16 * 8));  // after an error nothing has changed
  REQUIRE(warpmat_compress(mma, a.data(), a.size(), stored.data(), stored.size(), codes.data(), codes.size(), &error) == WARPMAT_OK);
  for (std::size_t i = 0; i < stored.size(); ++i) CHECK(stored[i] == (i % 2 == 0 ? 2 : 3));
  for (const double code : codes) CHECK(code == 1 + 4 * 3);  // places 1 and 3
  REQUIRE(warpmat_expand(mma, stored.data(), stored.size(), codes.data(), codes.size(), back.data(), back.size(), &error) == WARPMAT_OK);
  CHECK(back == a);
  // Selector 1: the second of each four lanes has the codes of two rows.
  std::vector<std::uint32_t> e(32);
  const warpmat_registers registers = WARPMAT_REGISTER_MAJOR(e.data(), 32);
  REQUIRE(warpmat_scatter(mma, WARPMAT_E, 1, warpmat_find_format("u4"), codes.data(), codes.size(), &registers, 0, &error) == WARPMAT_OK);
  for (std::size_t lane = 0; lane < 32; ++lane) CHECK(e[lane] == (lane % 4 == 1 ? 0xddddddddu : 0u));

  const auto expect = [&](warpmat_status status, const char* part) {
    CHECK(status == WARPMAT_BAD_ARGUMENT);
    CHECK(contains(error.message, part));
    error = sized<warpmat_error>();
  };
  const auto compress = [&](const warpmat_instruction* of, std::size_t a_count, std::size_t stored_count, std::size_t code_count) {
    return warpmat_compress(of, a.data(), a_count, stored.data(), stored_count, codes.data(), code_count, &error);
  };
  expect(compress(mma, 255, 128, 64), "A has 16 rows of 16 elements; 255 values given");
  expect(compress(mma, 256, 64, 64), "the stored A has 16 rows of 8 elements");
  expect(compress(mma, 256, 128, 1), "the metadata has 16 rows of 4 elements");
  expect(compress(found(opcode, "sm_80"), 256, 128, 64), "is not sparse");
  a[16] = a[17] = a[18] = 1;
  expect(compress(mma, 256, 128, 64), "row 1");
  codes[0] = 0;
  expect(warpmat_expand(mma, stored.data(), 128, codes.data(), 64, back.data(), 256, &error), "row 0");
}

TEST_CASE("C: scale factors' matrix, and packed rows", "[c][matrices]") {
  const warpmat_instruction* const mma =
      found("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", "sm_120a");
  int matrix = -1, other = -1;
  auto error = sized<warpmat_error>();
  REQUIRE(warpmat_scale_matrix(mma, WARPMAT_IDS_A, 0, 0, &matrix, &error) == WARPMAT_OK);
  REQUIRE(warpmat_scale_matrix(mma, WARPMAT_IDS_A, 2, 1, &other, &error) == WARPMAT_OK);
  // Byte-id 2 and thread-id 1: the upper halves of the registers of the second pair of each four lanes.
  std::vector<std::uint32_t> words(32);
  const warpmat_registers registers = WARPMAT_REGISTER_MAJOR(words.data(), 32);
  const std::vector<double> ones(16 * 2, 1.0);
  REQUIRE(warpmat_scatter(mma, WARPMAT_SCALE_A, other, -1, ones.data(), ones.size(), &registers, 0, &error) == WARPMAT_OK);
  for (std::size_t lane = 0; lane < 32; ++lane) CHECK(words[lane] == (lane % 4 >= 2 ? 0x7f7f0000u : 0u));
  CHECK(matrix != other);
  CHECK(warpmat_scale_matrix(mma, WARPMAT_IDS_A, 1, 0, &matrix, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(contains(error.message, "byte-id of ids-a is 1"));
  CHECK(warpmat_scale_matrix(mma, WARPMAT_A, 0, 0, &matrix, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_scale_matrix(mma, WARPMAT_IDS_A, 0, 0, nullptr, &error) == WARPMAT_BAD_ARGUMENT);

  // e2m1: 1 is 0010; sixteen fill 8 bytes, and 8 of padding follow.
  const std::vector<double> row(16, 1.0);
  std::vector<std::uint8_t> bytes(16, 0xff);
  std::vector<double> back(16);
  const int e2m1 = warpmat_find_format("e2m1");
  REQUIRE(warpmat_pack_rows("b4x16_p64", e2m1, 1, 16, row.data(), bytes.data(), &error) == WARPMAT_OK);
  for (std::size_t i = 0; i < 16; ++i) CHECK(bytes[i] == (i < 8 ? 0x22 : 0));
  REQUIRE(warpmat_unpack_rows("b4x16_p64", e2m1, 1, 16, bytes.data(), back.data(), &error) == WARPMAT_OK);
  CHECK(back == row);
  CHECK(warpmat_pack_rows("b5", e2m1, 1, 16, row.data(), bytes.data(), &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(contains(error.message, "'b5' is no packing: b8x16, b6x16_p32 and b4x16_p64 are"));
  CHECK(warpmat_pack_rows("b8x16", e2m1, 0, 16, row.data(), bytes.data(), &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_pack_rows("b6x16_p32", e2m1, 1, 16, row.data(), bytes.data(), &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_pack_rows("b4x16_p64", e2m1, 1, 16, row.data(), nullptr, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_unpack_rows("b4x16_p64", e2m1, 1, 8, bytes.data(), back.data(), &error) == WARPMAT_BAD_ARGUMENT);
}

// Comparisons of whole matrices through the C interface.

using warpmat::contains;

TEST_CASE("C: matrices are compared in a few lines, and misuse is an error", "[c]") {
  std::vector<float> expected(16 * 8), held(16 * 8);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<float>(i);
  for (std::size_t i = 0; i < held.size(); ++i) held[i] = expected[i ^ 16];
  const int f32 = warpmat_find_format("f32");
  auto difference = sized<warpmat_matrix_difference>();
  REQUIRE(warpmat_compare_matrix(f32, 16, 8, expected.data(), expected.data(), 0, 0, &difference, nullptr) == WARPMAT_OK);
  CHECK(difference.wrong == 0);
  CHECK(difference.elements == 128);
  CHECK(std::string(difference.text).empty());
  REQUIRE(warpmat_compare_matrix(f32, 16, 8, held.data(), expected.data(), 0, 0, &difference, nullptr) == WARPMAT_OK);
  CHECK(difference.wrong == 128);
  CHECK(contains(difference.text, "row r holds what belongs in row r xor 2"));
  held = expected;
  held[9] += 0.001f;
  REQUIRE(warpmat_compare_matrix(f32, 16, 8, held.data(), expected.data(), 0, 0, &difference, nullptr) == WARPMAT_OK);
  CHECK(difference.row == 1);
  CHECK(difference.column == 1);
  REQUIRE(warpmat_compare_matrix(f32, 16, 8, held.data(), expected.data(), 0, 0.001, &difference, nullptr) == WARPMAT_OK);
  CHECK(difference.wrong == 0);

  auto error = sized<warpmat_error>();
  CHECK(warpmat_compare_matrix(-1, 16, 8, held.data(), expected.data(), 0, 0, &difference, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_compare_matrix(f32, 0, 8, held.data(), expected.data(), 0, 0, &difference, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_compare_matrix(f32, UINT64_MAX, 8, held.data(), expected.data(), 0, 0, &difference, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_compare_matrix(f32, 16, 8, nullptr, expected.data(), 0, 0, &difference, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_compare_matrix(f32, 16, 8, held.data(), expected.data(), -1, 0, &difference, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_compare_matrix(f32, 16, 8, held.data(), expected.data(), 0, 0, nullptr, &error) == WARPMAT_BAD_ARGUMENT);
  difference.size = 8;
  CHECK(warpmat_compare_matrix(f32, 16, 8, held.data(), expected.data(), 0, 0, &difference, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(contains(error.message, "size"));
}

}  // namespace
}  // namespace warpmat::c_matrices_test
