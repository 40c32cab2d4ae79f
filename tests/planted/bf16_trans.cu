// C = A B of 64 x 64 x 32: bf16, rows padded by 16 bytes, B by ldmatrix.trans.
#include "planted.cuh"

constexpr int K = 32, N = 64, a_pitch = 2 * K + 16, b_pitch = 2 * N + 16;

extern "C" __global__ void __launch_bounds__(128) bf16_trans(const uint16_t* A, const uint16_t* B, float* C) {
  __shared__ __align__(128) uint8_t a_tile[64 * a_pitch], b_tile[K * b_pitch];
  const uint32_t a_at = shared_address(a_tile), b_at = shared_address(b_tile);
  const int lane = threadIdx.x % 32, m0 = threadIdx.x / 64 * 32, n0 = threadIdx.x / 32 % 2 * 32;
  for (int i = threadIdx.x; i < 256; i += 128) {
    copy(a_at + i / 4 * a_pitch + i % 4 * 16, A + i / 4 * K + i % 4 * 8);  // @ copy A
#if PLANT == 1
    copy(b_at + i / 8 * b_pitch + i % 8 * 16, B + i / 8 * K + i % 8 * 8);  // @ copy B
#else
    copy(b_at + i / 8 * b_pitch + i % 8 * 16, B + i / 8 * N + i % 8 * 8);  // @ copy B
#endif
  }
  commit_copies();
  wait_for_copies<0>();
  __syncthreads();

  float d[2][4][4] = {};
#pragma unroll
  for (int k = 0; k < K; k += 16) {
    uint32_t a[2][4], b[2][4];
    for (int i = 0; i < 2; ++i) ldmatrix(a[i], a_at + (m0 + 16 * i + lane % 16) * a_pitch + 2 * k + lane / 16 * 16);  // @ read A
    for (int j = 0; j < 2; ++j)
#if PLANT == 2
      ldmatrix(b[j], b_at + (k + lane % 16) * b_pitch + 2 * (n0 + 16 * j) + lane / 16 * 16);  // @ read B
#elif PLANT == 3
      ldmatrix_trans(b[j], b_at + (k + lane % 16) * 2 * N + 2 * (n0 + 16 * j) + lane / 16 * 16);  // @ read B
#else
      ldmatrix_trans(b[j], b_at + (k + lane % 16) * b_pitch + 2 * (n0 + 16 * j) + lane / 16 * 16);  // @ read B
#endif
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 4; ++j)
#if PLANT == 4
        mma_bf16(d[i][j], a[i][0], a[i][1], a[i][2], a[i][3], b[j / 2][j % 2 * 2 + 1], b[j / 2][j % 2 * 2]);  // @ mma
#else
        mma_bf16(d[i][j], a[i][0], a[i][1], a[i][2], a[i][3], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);  // @ mma
#endif
  }

  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) {
      float* const c = C + (m0 + 16 * i + lane / 4) * N + n0 + 8 * j + lane % 4 * 2;
      *reinterpret_cast<float2*>(c) = make_float2(d[i][j][0], d[i][j][1]);
      *reinterpret_cast<float2*>(c + 8 * N) = make_float2(d[i][j][2], d[i][j][3]);
    }
}
