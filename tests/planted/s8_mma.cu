// C = A B^T of 64 x 64 x 128: s8 to s32, four blocks of 32 x 32, tiles of 64 bytes of K with swizzle 64B.
#include "planted.cuh"

constexpr int N = 64, K = 128;

__device__ inline uint32_t place(uint32_t tile, int row, int chunk) { return tile + row * 64 + (chunk ^ (row >> 1 & 3)) * 16; }

extern "C" __global__ void __launch_bounds__(128) s8_mma(const int8_t* A, const int8_t* B, int* C) {
  __shared__ __align__(1024) uint8_t a_tile[32 * 64], b_tile[32 * 64];
  const uint32_t a_at = shared_address(a_tile), b_at = shared_address(b_tile);
  const int lane = threadIdx.x % 32, m0 = threadIdx.x / 64 * 16, n0 = threadIdx.x / 32 % 2 * 16;
  const int row = threadIdx.x / 4, chunk = threadIdx.x % 4;

  int d[2][4] = {};
  for (int k = 0; k < K; k += 64) {
    copy(place(a_at, row, chunk), A + (blockIdx.y * 32 + row) * K + k + chunk * 16);  // @ copy A
#if PLANT == 1
    copy(place(b_at, row, chunk), B + (blockIdx.y * 32 + row) * K + k + chunk * 16);  // @ copy B
#else
    copy(place(b_at, row, chunk), B + (blockIdx.x * 32 + row) * K + k + chunk * 16);  // @ copy B
#endif
    commit_copies();
    wait_for_copies<0>();
    __syncthreads();
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      uint32_t a[4], b[4];
      const int a_row = m0 + lane % 16, a_chunk = 2 * step + lane / 16;
#if PLANT == 2
      ldmatrix(a, a_at + a_row * 64 + (a_chunk ^ (a_row & 3)) * 16);  // @ read A
#else
      ldmatrix(a, place(a_at, a_row, a_chunk));  // @ read A
#endif
      ldmatrix(b, place(b_at, n0 + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));  // @ read B
      mma_s8(d[0], a[0], a[1], a[2], a[3], b[0], b[1]);                                  // @ mma
      mma_s8(d[1], a[0], a[1], a[2], a[3], b[2], b[3]);                                  // @ mma
    }
#if PLANT != 3
    __syncthreads();
#endif
  }

  for (int j = 0; j < 2; ++j)
    for (int half = 0; half < 2; ++half) {
      const int row = blockIdx.y * 32 + m0 + 8 * half + lane / 4;
#if PLANT == 4
      const int column = n0 + 8 * j + lane % 4 * 2;
#else
      const int column = blockIdx.x * 32 + n0 + 8 * j + lane % 4 * 2;
#endif
      *reinterpret_cast<int2*>(C + row * N + column) = make_int2(d[j][2 * half], d[j][2 * half + 1]);  // @ store C
    }
}
