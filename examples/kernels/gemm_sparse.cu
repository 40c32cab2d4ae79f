// C = A B where two of four neighbours in each row of A are zero: f16 products, f32 sums. A is stored without these zeros, m x k/2 by rows, and
// `metadata` has for each row and each 16 of K a 16-bit word: four times two positions of 2 bits. B is k x n by columns, C is m x n by rows; m and
// n are multiples of 64, k of 128.
//
// A block of 4 warps computes a tile of 64 x 64, each warp 32 x 32 of it.
#include "tile.cuh"

constexpr int block_rows = 64, threads = 128;
constexpr int tile_bytes = block_rows * row_bytes;

/// Metadata of lanes 0 and 1 of each four: lane 0 has the words of K's first half, lane 1 those of the second; row r low, row r + 8 high.
__device__ inline void mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[4], uint32_t metadata) {
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, "
      "{%0, %1, %2, %3}, %12, 0x0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(metadata));
}

extern "C" __global__ void __launch_bounds__(threads)
    gemm_sparse(const uint8_t* a, const uint16_t* metadata, const uint8_t* b, float* c, int n, int k) {
  __shared__ __align__(128) uint8_t a_bytes[tile_bytes], b_bytes[2 * tile_bytes];  // 128 of K: 64 numbers of A, two tiles of B
  const uint32_t a_tile = shared_address(a_bytes), b_tile = shared_address(b_bytes);
  const size_t a_pitch = k, b_pitch = 2 * static_cast<size_t>(k);
  const int block_row = blockIdx.y * block_rows, block_column = blockIdx.x * block_rows;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;

  float sums[2][4][4] = {};
  for (int at = 0; at < k; at += 128) {
    copy_tile<block_rows, threads>(a_tile, a + block_row * a_pitch + at, a_pitch);
    for (int half = 0; half < 2; ++half)
      copy_tile<block_rows, threads>(b_tile + half * tile_bytes, b + block_column * b_pitch + 2 * at + half * row_bytes, b_pitch);
    commit_copies();
    wait_for_copies<0>();
    __syncthreads();
#pragma unroll
    for (int step = 0; step < steps; ++step) {  // 32 of K
      uint32_t b_parts[4][4];
      for (int j = 0; j < 4; ++j)
        ldmatrix(b_parts[j], b_tile + step / 2 * tile_bytes + swizzled(warp_column + 8 * j + lane % 8, step % 2 * 4 + lane / 8));
      for (int i = 0; i < 2; ++i) {
        uint32_t a_part[4];
        load_a(a_part, a_tile, warp_row + 16 * i, step);
        const uint16_t* const words = metadata + static_cast<size_t>(block_row + warp_row + 16 * i + lane / 4) * (k / 16) + at / 16 + 2 * step + lane % 2;
        const uint32_t pair = words[0] | static_cast<uint32_t>(words[8 * (k / 16)]) << 16;
        for (int j = 0; j < 4; ++j) mma(sums[i][j], a_part, b_parts[j], pair);
      }
    }
    __syncthreads();
  }

  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) {
      const size_t row = block_row + warp_row + 16 * i + accumulator_row();
      const int column = block_column + warp_column + 8 * j + accumulator_column();
      *reinterpret_cast<float2*>(c + row * n + column) = {sums[i][j][0], sums[i][j][1]};
      *reinterpret_cast<float2*>(c + (row + 8) * n + column) = {sums[i][j][2], sums[i][j][3]};
    }
}
