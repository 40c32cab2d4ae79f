// C = A B: f16 products, f32 sums. A is m x k by rows, B is k x n by columns, C is m x n by rows; m and n are multiples of 128, k of 64.
//
// A block of 4 warps computes a tile of 128 x 128, each warp 64 x 64 of it. While it multiplies one tile of K, cp.async loads the next.
#include "tile.cuh"

constexpr int block_rows = 128, threads = 128, stages = 2;
constexpr int tile_bytes = block_rows * row_bytes;

__device__ inline void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

extern "C" __global__ void __launch_bounds__(threads) gemm_f16(const uint8_t* a, const uint8_t* b, float* c, int n, int k) {
  extern __shared__ __align__(128) uint8_t tiles[];  // of each stage: A's tile, B's tile
  const uint32_t shared = shared_address(tiles);
  const size_t pitch = 2 * static_cast<size_t>(k);
  const int block_row = blockIdx.y * block_rows, block_column = blockIdx.x * block_rows;
  const int warp = threadIdx.x / 32, warp_row = warp / 2 * 64, warp_column = warp % 2 * 64;
  const int k_tiles = 2 * k / row_bytes;
  const auto copy = [&](int tile) {
    const uint32_t to = shared + tile % stages * 2 * tile_bytes;
    copy_tile<block_rows, threads>(to, a + block_row * pitch + tile * row_bytes, pitch);
    copy_tile<block_rows, threads>(to + tile_bytes, b + block_column * pitch + tile * row_bytes, pitch);
  };

  float sums[4][8][4] = {};
  copy(0);
  commit_copies();
  for (int tile = 0; tile < k_tiles; ++tile) {
    if (tile + 1 < k_tiles) copy(tile + 1);
    commit_copies();
    wait_for_copies<1>();
    __syncthreads();
    const uint32_t a_tile = shared + tile % stages * 2 * tile_bytes, b_tile = a_tile + tile_bytes;
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      uint32_t a_parts[4][4], b_parts[4][4];
      for (int i = 0; i < 4; ++i) load_a(a_parts[i], a_tile, warp_row + 16 * i, step);
      for (int j = 0; j < 4; ++j) load_b(b_parts[j], b_tile, warp_column + 16 * j, step);
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 8; ++j) mma(sums[i][j], a_parts[i], b_parts[j / 2][j % 2 * 2], b_parts[j / 2][j % 2 * 2 + 1]);
    }
    __syncthreads();
  }

  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 8; ++j) {
      const size_t row = block_row + warp_row + 16 * i + accumulator_row();
      const int column = block_column + warp_column + 8 * j + accumulator_column();
      *reinterpret_cast<float2*>(c + row * n + column) = {sums[i][j][0], sums[i][j][1]};
      *reinterpret_cast<float2*>(c + (row + 8) * n + column) = {sums[i][j][2], sums[i][j][3]};
    }
}
