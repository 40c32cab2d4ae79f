// C = A B^T of 64 x 32 x 128: e4m3; two warps, each with two tiles of 16 x 32 one after the other; A by ldmatrix, B by ordinary loads.
#include "planted.cuh"

constexpr int M = 64, N = 32, K = 128, pitch = K + 16;

extern "C" __global__ void __launch_bounds__(64) e4m3_mma(const uint8_t* A, const uint8_t* B, float* C) {
  __shared__ __align__(128) uint8_t a_tile[M * pitch], b_tile[N * pitch];
  const uint32_t a_at = shared_address(a_tile), b_at = shared_address(b_tile);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = threadIdx.x; i < M * 8; i += 64) copy(a_at + i / 8 * pitch + i % 8 * 16, A + i * 16);  // @ copy A
  for (int i = threadIdx.x; i < N * 8; i += 64) copy(b_at + i / 8 * pitch + i % 8 * 16, B + i * 16);  // @ copy B
  commit_copies();
  wait_for_copies<0>();
  __syncthreads();

#if PLANT == 1
  float d[4][4] = {};
#endif
  for (int m0 = warp * 16; m0 < M; m0 += 32) {
#if PLANT != 1
    float d[4][4] = {};
#endif
#pragma unroll
    for (int step = 0; step < K / 32; ++step) {
      uint32_t a[4];
#if PLANT == 2
      ldmatrix(a, a_at + (m0 + lane % 16) * pitch + (step + lane / 16) * 16);  // @ read A
#else
      ldmatrix(a, a_at + (m0 + lane % 16) * pitch + (2 * step + lane / 16) * 16);  // @ read A
#endif
      for (int j = 0; j < 4; ++j) {
        const uint8_t* const b = b_tile + (8 * j + lane / 4) * pitch + 32 * step + lane % 4 * 4;
        const uint32_t b0 = *reinterpret_cast<const uint32_t*>(b);  // @ read B
#if PLANT == 3
        const uint32_t b1 = *reinterpret_cast<const uint32_t*>(b + 8);  // @ read B
#else
        const uint32_t b1 = *reinterpret_cast<const uint32_t*>(b + 16);  // @ read B
#endif
        mma_e4m3(d[j], a[0], a[1], a[2], a[3], b0, b1);  // @ mma
      }
    }
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < 4; ++i) {
        const int row = m0 + i / 2 * 8 + lane / 4, column = 8 * j + lane % 4 * 2 + i % 2;
#if PLANT == 4
        C[column * M + row] = d[j][i];  // @ store C
#else
        C[row * N + column] = d[j][i];  // @ store C
#endif
      }
  }
}
