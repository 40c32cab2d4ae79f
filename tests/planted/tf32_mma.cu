// C = A^T B of 64 x 64 x 32, A and B with K outermost: tf32, fragments by ordinary loads from padded tiles.
#include "planted.cuh"

constexpr int M = 64, N = 64, K = 32, pitch = 72;

extern "C" __global__ void __launch_bounds__(128) tf32_mma(const float* A, const float* B, float* C) {
  __shared__ __align__(128) uint32_t a_tile[K * pitch], b_tile[K * pitch];
  const uint32_t a_at = shared_address(a_tile), b_at = shared_address(b_tile);
  const int lane = threadIdx.x % 32, group = lane / 4, in_group = lane % 4;
  const int m0 = threadIdx.x / 64 * 32, n0 = threadIdx.x / 32 % 2 * 32;
  for (int i = threadIdx.x; i < K * 16; i += 128) {
    copy(a_at + 4 * (i / 16 * pitch + i % 16 * 4), A + i / 16 * M + i % 16 * 4);  // @ copy A
    copy(b_at + 4 * (i / 16 * pitch + i % 16 * 4), B + i / 16 * N + i % 16 * 4);  // @ copy B
  }
  commit_copies();
  wait_for_copies<0>();
  __syncthreads();

  float d[2][4][4] = {};
#pragma unroll
  for (int step = 0; step < K / 8; ++step) {
    uint32_t b[4][2];
    for (int j = 0; j < 4; ++j) {
#if PLANT == 1
      const uint32_t* const from = b_tile + (8 * ((step + 1) % 4) + in_group) * pitch + n0 + 8 * j + group;
#elif PLANT == 2
      const uint32_t* const from = b_tile + (8 * step + group % 4) * pitch + n0 + 8 * j + 2 * in_group + group / 4;
#else
      const uint32_t* const from = b_tile + (8 * step + in_group) * pitch + n0 + 8 * j + group;
#endif
      b[j][0] = from[0];          // @ read B
      b[j][1] = from[4 * pitch];  // @ read B
    }
    for (int i = 0; i < 2; ++i) {
      const uint32_t* const a = a_tile + (8 * step + in_group) * pitch + m0 + 16 * i + group;
      for (int j = 0; j < 4; ++j)
#if PLANT == 3
        mma_tf32(d[i][j], a[0], a[4 * pitch], a[8], a[4 * pitch + 8], b[j][0], b[j][1]);  // @ mma
#else
        mma_tf32(d[i][j], a[0], a[8], a[4 * pitch], a[4 * pitch + 8], b[j][0], b[j][1]);  // @ mma
#endif
    }
  }

  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int half = 0; half < 2; ++half) {
#if PLANT == 4
        float* const c = C + (m0 + 16 * i + 8 * half + group) * K + n0 + 8 * j + 2 * in_group;
#else
        float* const c = C + (m0 + 16 * i + 8 * half + group) * N + n0 + 8 * j + 2 * in_group;
#endif
        *reinterpret_cast<float2*>(c) = make_float2(d[i][j][2 * half], d[i][j][2 * half + 1]);  // @ store C
      }
}
