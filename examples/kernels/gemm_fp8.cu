// C = scale * A B: e4m3 products, f32 sums, bf16 results. A is m x k by rows, B is k x n by columns, C is m x n by rows; m and n are multiples
// of 64, k of 128.
//
// A block of 4 warps computes a tile of 64 x 64, each warp 32 x 32 of it.
#include <cuda_bf16.h>

#include "tile.cuh"

constexpr int block_rows = 64, threads = 128;

__device__ inline void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

extern "C" __global__ void __launch_bounds__(threads) gemm_fp8(const uint8_t* a, const uint8_t* b, __nv_bfloat16* c, int n, int k, float scale) {
  __shared__ __align__(128) uint8_t a_bytes[block_rows * row_bytes], b_bytes[block_rows * row_bytes];
  const uint32_t a_tile = shared_address(a_bytes), b_tile = shared_address(b_bytes);
  const int block_row = blockIdx.y * block_rows, block_column = blockIdx.x * block_rows;
  const int warp = threadIdx.x / 32, warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;

  float sums[2][4][4] = {};
  for (int at = 0; at < k; at += row_bytes) {
    copy_tile<block_rows, threads>(a_tile, a + static_cast<size_t>(block_row) * k + at, k);
    copy_tile<block_rows, threads>(b_tile, b + static_cast<size_t>(block_column) * k + at, k);
    commit_copies();
    wait_for_copies<0>();
    __syncthreads();
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      uint32_t a_parts[2][4], b_parts[2][4];
      for (int i = 0; i < 2; ++i) load_a(a_parts[i], a_tile, warp_row + 16 * i, step);
      for (int j = 0; j < 2; ++j) load_b(b_parts[j], b_tile, warp_column + 16 * j, step);
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j) mma(sums[i][j], a_parts[i], b_parts[j / 2][j % 2 * 2], b_parts[j / 2][j % 2 * 2 + 1]);
    }
    __syncthreads();
  }

  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int half = 0; half < 2; ++half) {
        const size_t row = block_row + warp_row + 16 * i + 8 * half + accumulator_row();
        const int column = block_column + warp_column + 8 * j + accumulator_column();
        const float* const pair = sums[i][j] + 2 * half;
        *reinterpret_cast<__nv_bfloat162*>(c + row * n + column) = __floats2bfloat162_rn(pair[0] * scale, pair[1] * scale);
      }
}
