#include <warpmat/matrices.h>

#include <warpmat/formats.h>
#include <warpmat/forms.h>
#include <warpmat/layout/fragments.h>

#include "execute/registers.h"
#include "oracle/oracle.h"
#include "test.h"

namespace warpmat::matrix_test {
namespace {

constexpr Fragment c_f32 = fragment_c({16, 8, 16}, 32);
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// 0, 1, 2 … row by row.
Eigen::MatrixXd counted(const Fragment& fragment) {
  Eigen::MatrixXd matrix(matrix_rows(fragment), matrix_columns(fragment));
  for (Eigen::Index i = 0; i < matrix.rows(); ++i)
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) matrix(i, j) = static_cast<double>(i * matrix.cols() + j);
  return matrix;
}

int words(const Fragment& fragment) {
  return fragment.registers() * fragment.register_bits() / 32;
}

/// Whether `call` throws an invalid_argument that contains both texts.
template <typename Call>
bool refuses(Call call, const std::string& one, const std::string& other) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    const std::string text = error.what();
    return text.find(one) != std::string::npos && text.find(other) != std::string::npos;
  }
  return false;
}

TEST_CASE("gather after scatter gives back every matrix of every form's fragments, and scatter after gather every register") {
  std::mt19937_64 random(70);
  for (const Form& form : forms())
    for (const Operand& operand : form.operands) {
      if (operand.kind != OperandKind::fragment) continue;
      // Bits that only move, and metadata, have no format: any of their width will do.
      const int bits = operand.fragment.payload_bits();
      const Format untyped = bits == 4 ? Format::u4 : bits == 8 ? Format::u8 : Format::f16;
      const Format format = operand.format.value_or(untyped);
      CAPTURE(form.opcode, name(operand.name), name(format));
      Registers registers(operand.words()), again(operand.words());
      Eigen::MatrixXd matrix(matrix_rows(operand.fragment), matrix_columns(operand.fragment));
      for (double& x : matrix.reshaped()) {
        do x = to_double(format, random());
        while (x != x);
      }
      again.fill(random);  // what was there does not shine through
      scatter(operand.fragment, format, matrix, registers.list());
      scatter(operand.fragment, format, matrix, again.list());
      CHECK(registers.values() == again.values());
      CHECK(gather(operand.fragment, format, registers.list()) == matrix);
      CHECK(compare(operand.fragment, format, registers.list(), matrix).empty());
    }
}

TEST_CASE("f64 elements are in pairs of registers, the low half first") {
  constexpr Fragment f = fragment_c({8, 8, 4}, 64);
  Registers registers(words(f));
  CHECK(registers.size() == 4);
  const Eigen::MatrixXd matrix = counted(f).array() + 0x1p-30;
  scatter(f, Format::f64, matrix, registers.list());
  CHECK(gather(f, Format::f64, registers.list()) == matrix);
  // Row 1, column 1 is 9 + 2^-30: lane 4, the second element.
  CHECK(registers[3][4] == 0x4022'0000);
  CHECK(registers[2][4] == 0x0008'0000);
}

TEST_CASE("scattered elements are at the places of the PTX ISA") {
  Registers registers(4);
  scatter(c_f32, Format::f32, counted(c_f32), registers.list());
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const oracle::Position p = oracle::c_position(16, lane, i);
      CHECK(registers[static_cast<std::size_t>(i)][static_cast<std::size_t>(lane)] == from_double(Format::f32, p.row * 8 + p.column));
    }
}

TEST_CASE("several 8x8 matrices are one, below each other") {
  constexpr Fragment f = fragment_m8n8(4, false);
  CHECK(matrix_rows(f) == 32);
  CHECK(matrix_columns(f) == 8);
  Registers registers(4);
  scatter(f, Format::f16, counted(f), registers.list());
  // Row 17 is row 1 of matrix 2: lane 4 holds its columns 0 and 1.
  CHECK(registers[2][4] == (from_double(Format::f16, 17 * 8) | from_double(Format::f16, 17 * 8 + 1) << 16));
}

TEST_CASE("scatter rounds to the format, and compare expects what it rounds to") {
  constexpr Fragment f = fragment_c({16, 8, 16}, 16);
  Registers registers(2);
  const Eigen::MatrixXd third = Eigen::MatrixXd::Constant(16, 8, 1.0 / 3);
  scatter(f, Format::f16, third, registers.list());
  CHECK(registers[0][0] == 0x3555'3555);
  CHECK(gather(f, Format::f16, registers.list())(0, 0) == 0x1.554p-2);
  CHECK(compare(f, Format::f16, registers.list(), third).empty());
  const Eigen::MatrixXd next = Eigen::MatrixXd::Constant(16, 8, 0x1.558p-2);
  CHECK(compare(f, Format::f16, registers.list(), next).size() == 128);
}

TEST_CASE("writing one element leaves its neighbours, and reading gives it back") {
  std::mt19937_64 random(71);
  for (const int bits : {1, 4, 8, 16, 32, 64}) {
    const Fragment f = fragment_a({8, 8, bits == 64 ? 4 : 128 / bits}, bits);
    CAPTURE(bits);
    Registers registers(words(f));
    registers.fill(random);
    const auto before = registers.values();
    const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    for (int i = 0; i < f.rows(); ++i)
      for (int j = 0; j < f.columns(); ++j) {
        const std::uint64_t old = read_element(f, registers.list(), {i, j});
        write_element(f, registers.list(), {i, j}, ~old);
        REQUIRE(read_element(f, registers.list(), {i, j}) == (~old & mask));
        write_element(f, registers.list(), {i, j}, old | (bits == 64 ? 0 : ~mask));  // higher bits are ignored
        REQUIRE(registers.values() == before);
      }
  }
}

TEST_CASE("a mismatch names the element, its lane and register, and where the held value belongs") {
  Registers registers(4);
  const Eigen::MatrixXd expected = counted(c_f32);
  Eigen::MatrixXd held = expected;
  std::swap(held(3, 5), held(5, 3));
  scatter(c_f32, Format::f32, held, registers.list());
  const auto mismatches = compare(c_f32, Format::f32, registers.list(), expected);
  REQUIRE(mismatches.size() == 2);
  CHECK(mismatches[0].element == Element{3, 5});
  CHECK(mismatches[0].place == Place{14, 1, 0});
  CHECK(mismatches[0].held == 43);
  CHECK(mismatches[0].expected == 29);
  CHECK(mismatches[0].held_belongs_to == std::vector{Element{5, 3}});
  CHECK(describe(c_f32, mismatches) ==
        "row 3, column 5 (lane 14, register 1) holds 43, expected 29; 43 belongs to row 5, column 3 (lane 21, register 1)\n"
        "row 5, column 3 (lane 21, register 1) holds 29, expected 43; 29 belongs to row 3, column 5 (lane 14, register 1)\n");
}

TEST_CASE("a report names matrices and bits where a register holds several, and values that belong nowhere or to many places") {
  constexpr Fragment f = fragment_m8n8(2, false);
  Registers registers(2);
  Eigen::MatrixXd expected = counted(f);
  expected(0, 0) = expected(0, 1) = 500;
  Eigen::MatrixXd held = expected;
  held(9, 3) = 1000;
  held(10, 0) = 500;
  scatter(f, Format::f16, held, registers.list());
  CHECK(describe(f, compare(f, Format::f16, registers.list(), expected)) ==
        "matrix 1, row 1, column 3 (lane 5, register 1, bits 16-31) holds 1000, expected 75\n"
        "matrix 1, row 2, column 0 (lane 8, register 1, bits 0-15) holds 500, expected 80; 500 belongs to 2 places, the first is "
        "matrix 0, row 0, column 0 (lane 0, register 0, bits 0-15)\n");
}

TEST_CASE("a report stops after the mismatches asked for and counts the rest") {
  Registers registers(4);
  const auto mismatches = compare(c_f32, Format::f32, registers.list(), counted(c_f32));
  CHECK(mismatches.size() == 127);  // 0 is right
  const std::string text = describe(c_f32, mismatches, 3);
  CHECK(std::ranges::count(text, '\n') == 4);
  CHECK(text.ends_with("and 124 more\n"));
  CHECK(describe(c_f32, {}).empty());
}

TEST_CASE("NaNs are equal to each other, zeros of different sign are not") {
  Registers registers(4);
  Eigen::MatrixXd matrix = counted(c_f32);
  matrix(0, 0) = not_a_number;
  matrix(1, 0) = -0.0;
  scatter(c_f32, Format::f32, matrix, registers.list());
  registers[0][0] = 0xFF80'0001;  // another NaN
  CHECK(compare(c_f32, Format::f32, registers.list(), matrix).empty());
  matrix(1, 0) = 0.0;
  matrix(2, 0) = not_a_number;
  const auto mismatches = compare(c_f32, Format::f32, registers.list(), matrix);
  REQUIRE(mismatches.size() == 2);
  CHECK(mismatches[0].element == Element{1, 0});
  CHECK(mismatches[1].element == Element{2, 0});
}

TEST_CASE("matrices, registers and formats of a wrong size are refused with the right one") {
  Registers four(4), three(3);
  const Eigen::MatrixXd right = counted(c_f32), wrong = Eigen::MatrixXd::Zero(8, 16);
  CHECK(refuses([&] { scatter(c_f32, Format::f32, wrong, four.list()); }, "16x8", "8x16"));
  CHECK(refuses([&] { scatter(c_f32, Format::f32, right, three.list()); }, "4 registers", "3 given"));
  CHECK(refuses([&] { scatter(c_f32, Format::f16, right, four.list()); }, "32 bits", "f16"));
  CHECK(refuses([&] { return gather(c_f32, Format::f32, three.list()); }, "4 registers", "3 given"));
  CHECK(refuses([&] { return gather(c_f32, Format::f16, four.list()); }, "32 bits", "f16"));
  CHECK(refuses([&] { return compare(c_f32, Format::f32, four.list(), wrong); }, "16x8", "8x16"));
  CHECK(refuses([&] { return compare(c_f32, Format::f32, three.list(), right); }, "4 registers", "3 given"));
}

}  // namespace
}  // namespace warpmat::matrix_test
