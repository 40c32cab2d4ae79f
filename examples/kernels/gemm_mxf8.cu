// C = A B of block-scaled numbers (OCP MX): e4m3 with a ue8m0 scale for each 32 neighbours along K; f32 sums. A is m x k by rows with scales
// m x k/32, B is k x n by columns with scales n x k/32, C is m x n by rows; m and n are multiples of 64, k of 128. For sm_120a.
//
// A block of 4 warps computes a tile of 64 x 64, each warp 32 x 32 of it.
#include "tile.cuh"

constexpr int block_rows = 64, threads = 128;

/// The scales of this step are byte `step` of the words. Lane 0 of each four has a's of row lane / 4, lane 1 those 8 rows below; lane 0 has
/// b's.
template <int step>
__device__ inline void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, uint32_t scale_a, uint32_t scale_b) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, %10, {%12, 0}, %11, {%12, 0};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(scale_a), "r"(scale_b), "n"(step));
}

template <int step>
__device__ inline void multiply(float (&sums)[2][4][4], uint32_t a_tile, uint32_t b_tile, int warp_row, int warp_column, const uint32_t (&scale_a)[2],
                                const uint32_t (&scale_b)[4]) {
  uint32_t a_parts[2][4], b_parts[2][4];
  for (int i = 0; i < 2; ++i) load_a(a_parts[i], a_tile, warp_row + 16 * i, step);
  for (int j = 0; j < 2; ++j) load_b(b_parts[j], b_tile, warp_column + 16 * j, step);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      mma<step>(sums[i][j], a_parts[i], b_parts[j / 2][j % 2 * 2], b_parts[j / 2][j % 2 * 2 + 1], scale_a[i], scale_b[j]);
}

extern "C" __global__ void __launch_bounds__(threads)
    gemm_mxf8(const uint8_t* a, const uint8_t* a_scales, const uint8_t* b, const uint8_t* b_scales, float* c, int n, int k) {
  __shared__ __align__(128) uint8_t a_bytes[block_rows * row_bytes], b_bytes[block_rows * row_bytes];
  const uint32_t a_tile = shared_address(a_bytes), b_tile = shared_address(b_bytes);
  const int block_row = blockIdx.y * block_rows, block_column = blockIdx.x * block_rows;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
  const int scale_pitch = k / 32;

  float sums[2][4][4] = {};
  for (int at = 0; at < k; at += row_bytes) {
    copy_tile<block_rows, threads>(a_tile, a + static_cast<size_t>(block_row) * k + at, k);
    copy_tile<block_rows, threads>(b_tile, b + static_cast<size_t>(block_column) * k + at, k);
    commit_copies();
    uint32_t scale_a[2], scale_b[4];  // four scales in each word, one a step
    for (int i = 0; i < 2; ++i)
      scale_a[i] = *reinterpret_cast<const uint32_t*>(a_scales + (block_row + warp_row + 16 * i + lane / 4 + lane % 2 * 8) * scale_pitch + at / 32);
    for (int j = 0; j < 4; ++j)
      scale_b[j] = *reinterpret_cast<const uint32_t*>(b_scales + (block_column + warp_column + 8 * j + lane / 4) * scale_pitch + at / 32);
    wait_for_copies<0>();
    __syncthreads();
    multiply<0>(sums, a_tile, b_tile, warp_row, warp_column, scale_a, scale_b);
    multiply<1>(sums, a_tile, b_tile, warp_row, warp_column, scale_a, scale_b);
    multiply<2>(sums, a_tile, b_tile, warp_row, warp_column, scale_a, scale_b);
    multiply<3>(sums, a_tile, b_tile, warp_row, warp_column, scale_a, scale_b);
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
