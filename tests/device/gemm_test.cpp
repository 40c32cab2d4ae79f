#include <warpmat/warpmat.h>

#include "device/comparison.h"
#include "device/header.h"
#include "test.h"

namespace warpmat::gemm_test {
namespace {

using device::GemmOperands, device::MatrixView;

/// A matrix of bit patterns with its values. `gap` elements lie between two lines.
template <typename Bits>
struct Stored {
  Stored(int rows, int columns, bool transposed, int gap, Format format, std::mt19937& random)
      : values(rows, columns), bits(static_cast<std::size_t>(rows + gap) * static_cast<std::size_t>(columns + gap)) {
    row_stride = transposed ? 1 : columns + gap;
    column_stride = transposed ? rows + gap : 1;
    std::normal_distribution<double> normal;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        at(i, j) = static_cast<Bits>(from_double(format, normal(random)));
        values(i, j) = to_double(format, at(i, j));
      }
  }
  Bits& at(int i, int j) { return bits[static_cast<std::size_t>(i * row_stride + j * column_stride)]; }
  MatrixView view() { return {bits.data(), values.rows(), values.cols(), row_stride, column_stride, 0}; }

  Eigen::MatrixXd values;
  std::vector<Bits> bits;
  std::ptrdiff_t row_stride, column_stride;
};

/// The tile of `m` that begins at (`row`, `column`), with zeros beyond the edge.
Eigen::MatrixXd tile(const Eigen::MatrixXd& m, Eigen::Index row, Eigen::Index column, Eigen::Index rows, Eigen::Index columns) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(rows, columns);
  const Eigen::Index height = std::min(rows, m.rows() - row), width = std::min(columns, m.cols() - column);
  out.topLeftCorner(height, width) = m.block(row, column, height, width);
  return out;
}

/// D by the emulator: one statement on one warp, tile after tile.
Eigen::MatrixXd expected(const std::string& statement, const char* target, const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                         const Eigen::MatrixXd& c, Eigen::Index k_of_tile, int promote_every) {
  const Program program = parse(statement, target);
  Eigen::MatrixXd d(a.rows(), b.cols());
  for (Eigen::Index row = 0; row < a.rows(); row += 16)
    for (Eigen::Index column = 0; column < b.cols(); column += 8) {
      Eigen::MatrixXd sums = tile(c, row, column, 16, 8), total = Eigen::MatrixXd::Zero(16, 8);
      if (promote_every != 0) std::swap(sums, total);
      int steps = 0;
      for (Eigen::Index k = 0; k < a.cols(); k += k_of_tile) {
        Warp warp(program);
        set_operand(warp, 0, OperandName::a, tile(a, row, k, 16, k_of_tile));
        set_operand(warp, 0, OperandName::b, tile(b, k, column, k_of_tile, 8));
        set_operand(warp, 0, OperandName::c, sums);
        run(warp);
        sums = get_operand(warp, 0, OperandName::d);
        if (promote_every == 0 || (++steps % promote_every != 0 && k + k_of_tile < a.cols())) continue;
        total = (total.cast<float>() + sums.cast<float>()).cast<double>();
        sums.setZero();
      }
      if (promote_every != 0) sums = total;
      const Eigen::Index height = std::min<Eigen::Index>(16, d.rows() - row), width = std::min<Eigen::Index>(8, d.cols() - column);
      d.block(row, column, height, width) = sums.topLeftCorner(height, width);
    }
  return d;
}

constexpr const char* of_f16 =
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {c0, c1, c2, c3};";
constexpr const char* of_e4m3 =
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {c0, c1, c2, c3};";

template <device::Opcode opcode, device::Hardware hardware, typename Bits>
Eigen::MatrixXd computed(Stored<Bits>& a, Stored<Bits>& b, Stored<std::uint32_t>& c, int promote_every) {
  std::mt19937 unused;
  Stored<std::uint32_t> d(static_cast<int>(a.values.rows()), static_cast<int>(b.values.cols()), true, 3, Format::f32, unused);
  const std::vector<std::uint32_t> before = d.bits;
  const GemmOperands operands{d.view(), a.view(), b.view(), c.view(), promote_every};
  device::gemm_on_host<opcode, hardware>(operands, 0);
  for (int i = 0; i < d.values.rows(); ++i)
    for (int j = 0; j < d.values.cols(); ++j) d.values(i, j) = to_double(Format::f32, d.at(i, j));
  std::size_t written = 0;
  for (std::size_t i = 0; i < before.size(); ++i) written += before[i] != d.bits[i];
  CHECK(written <= static_cast<std::size_t>(d.values.size()));  // nothing between the columns
  return d.values;
}

TEST_CASE("a GEMM of the device header chains tiles as the emulator does, for any size and strides") {
  std::mt19937 random(3);
  for (const auto& [transposed, gap] : {std::pair{false, 4}, {false, 5}, {true, 4}}) {
    Stored<std::uint16_t> a(37, 70, transposed, gap, Format::f16, random), b(70, 21, !transposed, gap, Format::f16, random);
    Stored<std::uint32_t> c(37, 21, transposed, gap, Format::f32, random);
    for (const int promote_every : {0, 2}) {
      CAPTURE(transposed, gap, promote_every);
      constexpr auto opcode = device::Opcode::mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32;
      const Eigen::MatrixXd as_sm_80 = computed<opcode, device::Hardware::sm_80>(a, b, c, promote_every);
      const Eigen::MatrixXd as_sm_90 = computed<opcode, device::Hardware::sm_90>(a, b, c, promote_every);
      CHECK(as_sm_80 == expected(of_f16, "sm_80", a.values, b.values, c.values, 16, promote_every));
      CHECK(as_sm_90 == expected(of_f16, "sm_90a", a.values, b.values, c.values, 16, promote_every));
      CHECK(as_sm_80 != as_sm_90);
    }
  }
}

TEST_CASE("a GEMM of fp8 promotes its sums") {
  std::mt19937 random(4);
  Stored<std::uint8_t> a(16, 130, false, 6, Format::e4m3, random), b(130, 8, true, 2, Format::e4m3, random);
  Stored<std::uint32_t> c(16, 8, false, 0, Format::f32, random);
  constexpr auto opcode = device::Opcode::mma_sync_aligned_m16n8k32_row_col_f32_e4m3_e4m3_f32;
  const Eigen::MatrixXd promoted = computed<opcode, device::Hardware::sm_90>(a, b, c, 4);
  CHECK(promoted == expected(of_e4m3, "sm_90a", a.values, b.values, c.values, 32, 4));
  CHECK(promoted != computed<opcode, device::Hardware::sm_90>(a, b, c, 0));
}

}  // namespace
}  // namespace warpmat::gemm_test
