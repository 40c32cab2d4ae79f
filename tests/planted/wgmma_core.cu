// C = A B^T of 64 x 64 x 128: e4m3, ordinary stores into core matrices of 8 rows of 16 bytes, no swizzle, wgmma.
#include "planted.cuh"

constexpr int N = 64, K = 128, column_bytes = 64 * 16;  // 16 bytes of K of all rows

extern "C" __global__ void __launch_bounds__(128) wgmma_core(const uint8_t* A, const uint8_t* B, float* C) {
  __shared__ __align__(128) uint8_t a_tile[64 * 64], b_tile[64 * 64];
  const uint32_t a_at = shared_address(a_tile), b_at = shared_address(b_tile);

  float d[32];
  for (int k = 0; k < K; k += 64) {
    for (int i = threadIdx.x; i < 64 * 4; i += 128) {
      const int row = i / 4, chunk = i % 4;
      *reinterpret_cast<uint4*>(a_tile + chunk * column_bytes + row * 16) = *reinterpret_cast<const uint4*>(A + row * K + k + chunk * 16);  // @ copy A
#if PLANT == 1
      *reinterpret_cast<uint4*>(b_tile + row * 64 + chunk * 16) = *reinterpret_cast<const uint4*>(B + row * K + k + chunk * 16);  // @ copy B
#else
      *reinterpret_cast<uint4*>(b_tile + chunk * column_bytes + row * 16) = *reinterpret_cast<const uint4*>(B + row * K + k + chunk * 16);  // @ copy B
#endif
    }
#if PLANT != 2
    fence_stores();
#endif
    __syncthreads();
    begin_products();
#pragma unroll
    for (int step = 0; step < 2; ++step) {
#if PLANT == 3
      const uint64_t a = descriptor(a_at + 2 * step * column_bytes, 128, column_bytes, swizzle_none);
#else
      const uint64_t a = descriptor(a_at + 2 * step * column_bytes, column_bytes, 128, swizzle_none);
#endif
      const uint64_t b = descriptor(b_at + 2 * step * column_bytes, column_bytes, 128, swizzle_none);
#if PLANT == 4
      wgmma_e4m3(d, a, b, step > 0);  // @ wgmma
#else
      wgmma_e4m3(d, a, b, k > 0 || step > 0);  // @ wgmma
#endif
    }
    finish_products();
    __syncthreads();
  }

  for (int j = 0; j < 8; ++j) {
    float* const c = C + (threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4) * N + 8 * j + threadIdx.x % 4 * 2;
    *reinterpret_cast<float2*>(c) = make_float2(d[4 * j], d[4 * j + 1]);
    *reinterpret_cast<float2*>(c + 8 * N) = make_float2(d[4 * j + 2], d[4 * j + 3]);
  }
}
