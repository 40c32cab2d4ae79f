// C = A B^T of 64 x 64 x 256: f16, four blocks of 32 x 32, cp.async in three stages of 32 of K.
#include "planted.cuh"

constexpr int N = 64, K = 256, tiles = K / 32, stages = 3, tile_bytes = 32 * 64;

__device__ inline uint32_t place(uint32_t tile, int row, int chunk) { return tile + row * 64 + (chunk ^ (row >> 1 & 3)) * 16; }

extern "C" __global__ void __launch_bounds__(128) f16_pipeline(const uint16_t* A, const uint16_t* B, float* C) {
  __shared__ __align__(1024) uint8_t a_ring[stages * tile_bytes], b_ring[stages * tile_bytes];
  const uint32_t a_at = shared_address(a_ring), b_at = shared_address(b_ring);
  const int lane = threadIdx.x % 32, m0 = threadIdx.x / 64 * 16, n0 = threadIdx.x / 32 % 2 * 16;
  const int row = threadIdx.x / 4, chunk = threadIdx.x % 4;
  const uint16_t* const a_from = A + (blockIdx.y * 32 + row) * K + chunk * 8;
  const uint16_t* const b_from = B + (blockIdx.x * 32 + row) * K + chunk * 8;

  for (int i = 0; i < stages - 1; ++i) {
    copy(place(a_at + i * tile_bytes, row, chunk), a_from + 32 * i);  // @ first copy A
    copy(place(b_at + i * tile_bytes, row, chunk), b_from + 32 * i);  // @ first copy B
    commit_copies();
  }
  float d[2][4] = {};
  for (int i = 0; i < tiles; ++i) {
#if PLANT == 1
    wait_for_copies<2>();
#else
    wait_for_copies<1>();
#endif
#if PLANT != 2
    __syncthreads();
#endif
    const int next = i + stages - 1;
    if (next < tiles) {
      copy(place(a_at + next % stages * tile_bytes, row, chunk), a_from + 32 * next);  // @ copy A
#if PLANT == 3
      copy(place(b_at + next % stages * tile_bytes, row, chunk), b_from + 32 * (i + 1));  // @ copy B
#else
      copy(place(b_at + next % stages * tile_bytes, row, chunk), b_from + 32 * next);  // @ copy B
#endif
    }
    commit_copies();
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      uint32_t a[4], b[4];
      ldmatrix(a, place(a_at + i % stages * tile_bytes, m0 + lane % 16, 2 * step + lane / 16));  // @ read A
#if PLANT == 4
      ldmatrix(b, place(b_at + (i + 1) % stages * tile_bytes, n0 + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));  // @ read B
#else
      ldmatrix(b, place(b_at + i % stages * tile_bytes, n0 + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));  // @ read B
#endif
      mma_f16(d[0], a[0], a[1], a[2], a[3], b[0], b[1]);  // @ mma
      mma_f16(d[1], a[0], a[1], a[2], a[3], b[2], b[3]);  // @ mma
    }
  }

  for (int j = 0; j < 2; ++j) {
    float* const c = C + (blockIdx.y * 32 + m0 + lane / 4) * N + blockIdx.x * 32 + n0 + 8 * j + lane % 4 * 2;
    *reinterpret_cast<float2*>(c) = make_float2(d[j][0], d[j][1]);
    *reinterpret_cast<float2*>(c + 8 * N) = make_float2(d[j][2], d[j][3]);
  }
}
