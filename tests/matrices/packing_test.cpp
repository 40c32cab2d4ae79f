#include <warpmat/instruction.h>
#include <warpmat/matrices.h>
#include <warpmat/operands.h>

#include "execute/registers.h"
#include "execute/small_numbers.h"
#include "test.h"

namespace warpmat::packing_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

Eigen::MatrixXd random_matrix(Format format, int rows, int columns, std::mt19937_64& random) {
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] {
    for (;;)
      if (const double x = to_double(format, random()); !std::isnan(x)) return x;
  });
}

struct PackedFormat {
  RowPacking packing;
  Format format;
};

constexpr PackedFormat packed_formats[] = {
    {RowPacking::b8x16, Format::e4m3},     {RowPacking::b8x16, Format::e5m2},     {RowPacking::b8x16, Format::s8},
    {RowPacking::b8x16, Format::u8},       {RowPacking::b8x16, Format::e3m2},     {RowPacking::b8x16, Format::e2m3},
    {RowPacking::b8x16, Format::e2m1},     {RowPacking::b6x16_p32, Format::e3m2}, {RowPacking::b6x16_p32, Format::e2m3},
    {RowPacking::b4x16_p64, Format::e2m1}, {RowPacking::b4x16_p64, Format::s4},   {RowPacking::b4x16_p64, Format::u4},
};

/// A program with A and B of a kind::f8f6f4 mma in shared memory, 32 bytes a row of A and a column of B.
std::string product_program(RowPacking packing, Format a, Format b) {
  const bool packed = packing != RowPacking::b8x16;
  const std::string shape = packed ? "m8n16" : "m8n8", type = packed ? fmt::format("b8x16.{}", name(packing)) : "b16";
  std::string text = ".shared .align 16 .b8 a[512], b[256];\n";
  text += fmt::format("ldmatrix.sync.aligned.{}.x4.shared.{} {{a0, a1, a2, a3}}, [pa];\n", shape, type);
  text += fmt::format("ldmatrix.sync.aligned.{}.x2.shared.{} {{b0, b1}}, [pb];\n", shape, type);
  if (packing == RowPacking::b4x16_p64)
    for (const char* reg : {"a0", "a1", "a2", "a3", "b0", "b1"}) text += fmt::format("shl.b32 {}, {}, 2;\n", reg, reg);
  return text + fmt::format(
                    "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.{}.{}.f32 {{d0, d1, d2, d3}}, {{a0, a1, a2, a3}}, {{b0, b1}}, "
                    "{{d0, d1, d2, d3}};\n",
                    name(a), name(b));
}

TEST_CASE("packed rows have the bytes that the ISA's formats describe") {
  Eigen::MatrixXd row = Eigen::MatrixXd::Zero(1, 16);
  row(0, 0) = 1;     // e2m1 0b0010, e2m3 0b001000
  row(0, 1) = -6;    // e2m1 0b1111, e2m3 0b110100 is -3
  row(0, 15) = 0.5;  // e2m1 0b0001, e2m3 0b000100
  CHECK(pack_rows(RowPacking::b4x16_p64, Format::e2m1, row) == Bytes{0xF2, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(pack_rows(RowPacking::b8x16, Format::e2m1, row) == Bytes{0x08, 0x3C, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x04});
  row(0, 1) = -3;
  CHECK(pack_rows(RowPacking::b6x16_p32, Format::e2m3, row) == Bytes{0x08, 0x0D, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0});
  CHECK(pack_rows(RowPacking::b8x16, Format::e2m3, row) == Bytes{0x08, 0x34, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x04});
}

TEST_CASE("unpacked after packed, every matrix comes back, whatever the padding holds") {
  std::mt19937_64 random(130);
  for (const auto& [packing, format] : packed_formats)
    for (const int columns : {16, 48}) {
      CAPTURE(name(packing), name(format), columns);
      const Eigen::MatrixXd matrix = random_matrix(format, 5, columns, random);
      Bytes bytes = pack_rows(packing, format, matrix);
      REQUIRE(bytes.size() == 5 * static_cast<std::size_t>(columns));
      CHECK(unpack_rows(packing, format, bytes, columns) == matrix);
      const std::size_t used = packing == RowPacking::b8x16 ? 16 : packing == RowPacking::b6x16_p32 ? 12 : 8;
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i % 16 < used) continue;
        CHECK(bytes[i] == 0);
        bytes[i] = static_cast<std::uint8_t>(random());
      }
      CHECK(unpack_rows(packing, format, bytes, columns) == matrix);
    }
}

TEST_CASE("ldmatrix reads packed rows: every element comes to its byte, of every form with a packing") {
  std::mt19937_64 random(131);
  int loaded = 0;
  for (const auto& [packing, format] : packed_formats)
    for (const Form& form : forms()) {
      if (form.mnemonic != Mnemonic::ldmatrix || !form.opcode.ends_with(packing == RowPacking::b8x16 ? ".b8" : name(packing))) continue;
      CAPTURE(form.opcode, name(format));
      const Fragment& fragment = form.operand(OperandName::r).fragment;
      const Eigen::MatrixXd matrix = random_matrix(format, matrix_rows(fragment), 16, random);
      SharedMemory memory(pack_rows(packing, format, matrix));
      Register addresses;
      for (std::uint32_t lane = 0; lane < 32; ++lane) addresses[lane] = 16 * lane;
      const std::uint32_t* const p = addresses.data();
      Registers r(form.operand(OperandName::r).words());
      Batch batch;
      batch.destination = r.list();
      batch.use(memory);
      batch.source(OperandName::p) = std::span(&p, 1);
      execute(Instruction(form, target("sm_120a")), batch);
      const Eigen::MatrixXd bytes = gather(fragment, Format::u8, r.list());
      const int shift = packing == RowPacking::b8x16 ? container_shift(format) : 0;
      for (int i = 0; i < bytes.rows(); ++i)
        for (int j = 0; j < bytes.cols(); ++j) REQUIRE(bytes(i, j) == static_cast<double>(from_double(format, matrix(i, j)) << shift));
      ++loaded;
    }
  CHECK(loaded == 7 * (2 * 2) + 5 * (2 + 3) * 2);
}

TEST_CASE("fp6 and fp4 from packed rows or containers multiply as they should") {
  std::mt19937_64 random(132);
  for (const auto& [packing, format] : packed_formats) {
    if (is_integer(row(format))) continue;
    CAPTURE(name(packing), name(format));
    const Program program = parse(product_program(packing, format, format), "sm_120a");
    Warp warp(program);
    const Eigen::MatrixXd a = small_matrix(format, 16, 32, random), b = small_matrix(format, 32, 8, random);
    const Bytes a_bytes = pack_rows(packing, format, a), b_bytes = pack_rows(packing, format, b.transpose());
    const auto put = [&](const char* variable, const Bytes& bytes) {
      std::ranges::copy(bytes, warp.shared().bytes().begin() + program.find_variable(variable)->address);
    };
    put("a", a_bytes);
    put("b", b_bytes);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const std::uint32_t matrix = lane / 8, row = lane % 8;  // of A: two of 8 rows, then the next 16 columns; of B: columns of K
      warp.reg("pa")[lane] = (row + matrix % 2 * 8) * 32 + matrix / 2 * 16;
      warp.reg("pb")[lane] = static_cast<std::uint32_t>(program.find_variable("b")->address) + row * 32 + matrix % 2 * 16;
    }
    run(warp);
    CHECK(compare_operand(warp, 2, OperandName::d, a * b) == "");
  }
}

TEST_CASE("packing: formats and sizes that do not fit are named") {
  const Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(2, 16);
  CHECK_THROWS_WITH(pack_rows(RowPacking::b6x16_p32, Format::e2m1, matrix), "b6x16_p32 holds elements of 6 bits; e2m1 has 4");
  CHECK_THROWS_WITH(pack_rows(RowPacking::b4x16_p64, Format::e4m3, matrix), "b4x16_p64 holds elements of 4 bits; e4m3 has 8");
  CHECK_THROWS_WITH(pack_rows(RowPacking::b8x16, Format::f16, matrix),
                    "b8x16 holds elements of 8 bits, or fp6 and fp4 in containers; f16 has 16");
  CHECK_THROWS_WITH(pack_rows(RowPacking::b8x16, Format::s4, matrix),
                    "b8x16 holds elements of 8 bits, or fp6 and fp4 in containers; s4 has 4");
  CHECK_THROWS_WITH(pack_rows(RowPacking::b8x16, Format::e4m3, Eigen::MatrixXd::Zero(16, 24)),
                    "a row has a multiple of 16 columns; 24 given");
  CHECK_THROWS_WITH(unpack_rows(RowPacking::b8x16, Format::e4m3, Bytes(32), 0), "a row has a multiple of 16 columns; 0 given");
  CHECK_THROWS_WITH(unpack_rows(RowPacking::b8x16, Format::e4m3, Bytes(40), 32), "40 bytes are not whole rows of 32");
  CHECK_THROWS_AS(unpack_rows(RowPacking::b8x16, Format::f16, Bytes(32), 16), std::invalid_argument);
}

}  // namespace
}  // namespace warpmat::packing_test
