// C = A B^T of 64 x 64 x 64: f16 from tiles with swizzle 128B by ldmatrix.
#include "planted.cuh"

constexpr int K = 64, N = 64;

__device__ inline uint32_t place(uint32_t tile, int row, int chunk) { return tile + row * 128 + (chunk ^ (row & 7)) * 16; }

extern "C" __global__ void __launch_bounds__(128) f16_ldmatrix(const uint16_t* A, const uint16_t* B, float* C) {
  __shared__ __align__(1024) uint16_t a_tile[64 * K], b_tile[64 * K];
  const uint32_t a_at = shared_address(a_tile), b_at = shared_address(b_tile);
  const int lane = threadIdx.x % 32, m0 = threadIdx.x / 64 * 32, n0 = threadIdx.x / 32 % 2 * 32;
  for (int i = threadIdx.x; i < 64 * 8; i += 128) {
    copy(place(a_at, i / 8, i % 8), A + i / 8 * K + i % 8 * 8);  // @ copy A
#if PLANT == 1
    copy(b_at + i * 16, B + i / 8 * K + i % 8 * 8);  // @ copy B
#else
    copy(place(b_at, i / 8, i % 8), B + i / 8 * K + i % 8 * 8);  // @ copy B
#endif
  }
  commit_copies();
  wait_for_copies<0>();
  __syncthreads();

  float d[2][4][4] = {};
#pragma unroll
  for (int step = 0; step < K / 16; ++step) {
    uint32_t a[2][4], b[2][4];
    for (int i = 0; i < 2; ++i) {
      const int row = m0 + 16 * i + lane % 16, chunk = 2 * step + lane / 16;
#if PLANT == 2
      ldmatrix(a[i], a_at + row * 128 + (chunk ^ (row >> 1 & 7)) * 16);  // @ read A
#elif PLANT == 3
      ldmatrix(a[i], place(a_at, m0 + 16 * i + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));  // @ read A
#else
      ldmatrix(a[i], place(a_at, row, chunk));  // @ read A
#endif
    }
    for (int j = 0; j < 2; ++j) ldmatrix(b[j], place(b_at, n0 + 16 * j + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));  // @ read B
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 4; ++j)
        mma_f16(d[i][j], a[i][0], a[i][1], a[i][2], a[i][3], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);  // @ mma
  }

  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) {
      float* const c = C + (m0 + 16 * i + lane / 4) * N + n0 + 8 * j + lane % 4 * 2;
      *reinterpret_cast<float2*>(c) = make_float2(d[i][j][0], d[i][j][1]);  // @ store C
#if PLANT == 4
      *reinterpret_cast<float2*>(c + 4 * N) = make_float2(d[i][j][2], d[i][j][3]);
#else
      *reinterpret_cast<float2*>(c + 8 * N) = make_float2(d[i][j][2], d[i][j][3]);
#endif
    }
}
