// C = A B of 64 x 64 x 80: bf16, cp.async in two stages of 32 of K, the last of which is half zeros; B by ldmatrix.trans.
#include "planted.cuh"

constexpr int N = 64, K = 80, tiles = (K + 31) / 32, a_bytes = 64 * 64, b_bytes = 32 * 128;

__device__ inline uint32_t a_place(uint32_t tile, int row, int chunk) { return tile + row * 64 + (chunk ^ (row >> 1 & 3)) * 16; }
__device__ inline uint32_t b_place(uint32_t tile, int row, int chunk) { return tile + row * 128 + (chunk ^ (row & 7)) * 16; }

/// 16 bytes, or zeros.
__device__ inline void fetch(uint32_t to, const uint16_t* from, bool valid) {
#if PLANT == 1
  if (valid) copy(to, from);  // @ copy
#else
  copy_part(to, valid ? from : nullptr, valid ? 16 : 0);  // @ copy
#endif
}

__device__ inline void fetch_tile(uint32_t a, uint32_t b, const uint16_t* A, const uint16_t* B, int tile) {
  for (int i = threadIdx.x; i < 256; i += 128) {
    const int a_k = 32 * tile + i % 4 * 8, b_k = 32 * tile + i / 8;
#if PLANT == 2
    fetch(a_place(a, i / 4, i % 4), A + i / 4 * K + a_k, a_k + 8 < K);  // @ copy A
#else
    fetch(a_place(a, i / 4, i % 4), A + i / 4 * K + a_k, a_k < K);  // @ copy A
#endif
    fetch(b_place(b, i / 8, i % 8), B + b_k * N + i % 8 * 8, b_k < K);  // @ copy B
  }
  commit_copies();
}

extern "C" __global__ void __launch_bounds__(128) bf16_tail(const uint16_t* A, const uint16_t* B, float* C) {
  __shared__ __align__(1024) uint8_t a_ring[2 * a_bytes], b_ring[2 * b_bytes];
  const uint32_t a_at = shared_address(a_ring), b_at = shared_address(b_ring);
  const int lane = threadIdx.x % 32, m0 = threadIdx.x / 64 * 32, n0 = threadIdx.x / 32 % 2 * 32;

  float d[2][4][4] = {};
  fetch_tile(a_at, b_at, A, B, 0);
  for (int tile = 0; tile < tiles; ++tile) {
    const uint32_t a_now = a_at + tile % 2 * a_bytes, b_now = b_at + tile % 2 * b_bytes;
    if (tile + 1 < tiles) {
#if PLANT == 3
      fetch_tile(a_at + (tile + 1) % 2 * a_bytes, b_at + tile % 2 * b_bytes, A, B, tile + 1);  // @ copy tile
#else
      fetch_tile(a_at + (tile + 1) % 2 * a_bytes, b_at + (tile + 1) % 2 * b_bytes, A, B, tile + 1);  // @ copy tile
#endif
      wait_for_copies<1>();
    } else {
      wait_for_copies<0>();
    }
    __syncthreads();
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      uint32_t a[2][4], b[2][4];
      for (int i = 0; i < 2; ++i) ldmatrix(a[i], a_place(a_now, m0 + 16 * i + lane % 16, 2 * step + lane / 16));  // @ read A
      for (int j = 0; j < 2; ++j)
#if PLANT == 4
        ldmatrix_trans(b[j], b_now + (16 * step + lane % 16) * 128 + n0 * 2 + (2 * j + lane / 16) * 16);  // @ read B
#else
        ldmatrix_trans(b[j], b_place(b_now, 16 * step + lane % 16, n0 / 8 + 2 * j + lane / 16));  // @ read B
#endif
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j)
          mma_bf16(d[i][j], a[i][0], a[i][1], a[i][2], a[i][3], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);  // @ mma
    }
    __syncthreads();
  }

  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) {
      float* const c = C + (m0 + 16 * i + lane / 4) * N + n0 + 8 * j + lane % 4 * 2;
      *reinterpret_cast<float2*>(c) = make_float2(d[i][j][0], d[i][j][1]);
      *reinterpret_cast<float2*>(c + 8 * N) = make_float2(d[i][j][2], d[i][j][3]);
    }
}
