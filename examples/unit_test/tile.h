#pragma once

// Under test: a kernel author's index arithmetic, which computes by hand where elements of two tiles go in the registers of mma.m16n8k16.

#include <cstdint>

#include <warpmat/warpmat.h>

/// The kernel's rule: register `reg` of A in `lane` holds elements (row, column) and (row, column + 1).
inline int row_of_a(int lane, int reg) {
  return lane / 4 + reg % 2 * 8;
}
inline int column_of_a(int lane, int reg) {
  return lane % 4 * 2 + reg / 2 * 8;
}

/// Two f16 in one register.
inline std::uint32_t packed(double low, double high) {
  using namespace warpmat;
  return static_cast<std::uint32_t>(from_double(Format::f16, low) | from_double(Format::f16, high) << 16);
}

/// A program of one mma for one target.
inline warpmat::Program tile_program() {
  return warpmat::parse("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {c0, c1, c2, c3};",
                        "sm_80");
}

/// Fills A's registers by the kernel's index arithmetic.
inline void load_a(warpmat::Warp& warp, const Eigen::MatrixXd& a) {
  const char* const names[] = {"a0", "a1", "a2", "a3"};
  for (int reg = 0; reg < 4; ++reg)
    for (int lane = 0; lane < 32; ++lane) {
      const int row = row_of_a(lane, reg), column = column_of_a(lane, reg);
      warp.reg(names[reg])[static_cast<std::size_t>(lane)] = packed(a(row, column), a(row, column + 1));
    }
}
