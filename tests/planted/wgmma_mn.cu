// C = A B of 64 x 64 x 64: bf16; A with swizzle 64B and K contiguous, B with swizzle 64B and N contiguous, in two halves of 32 columns.
#include "planted.cuh"

constexpr int N = 64, tiles = 2, a_bytes = 64 * 64, b_bytes = 2 * 32 * 64;

extern "C" __global__ void __launch_bounds__(128)
    wgmma_mn(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B, float* C) {
  __shared__ __align__(1024) uint8_t a_tiles[tiles * a_bytes], b_tiles[tiles * b_bytes];
  __shared__ uint64_t full[tiles];
  const uint32_t a_at = shared_address(a_tiles), b_at = shared_address(b_tiles);
  if (threadIdx.x == 0) {
    for (int tile = 0; tile < tiles; ++tile) init_barrier(full[tile], 1);
    publish_barriers();
    for (int tile = 0; tile < tiles; ++tile) {
      arrive_expecting(full[tile], a_bytes + b_bytes);
      load_box(a_at + tile * a_bytes, A, 32 * tile, 0, full[tile]);  // @ copy A
      for (int half = 0; half < 2; ++half)
#if PLANT == 1
        load_box(b_at + tile * b_bytes + half * 2048, B, 32 * tile, 32 * half, full[tile]);  // @ copy B
#else
        load_box(b_at + tile * b_bytes + half * 2048, B, 32 * half, 32 * tile, full[tile]);  // @ copy B
#endif
    }
  }
  __syncthreads();

  float d[32];
  for (int tile = 0; tile < tiles; ++tile) {
    wait(full[tile], 0);
    begin_products();
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      const uint64_t a = descriptor(a_at + tile * a_bytes + 32 * step, 16, 512, swizzle_64);
#if PLANT == 2
      const uint64_t b = descriptor(b_at + tile * b_bytes + 1024 * step, 1024, 512, swizzle_64);
#else
      const uint64_t b = descriptor(b_at + tile * b_bytes + 1024 * step, 2048, 512, swizzle_64);
#endif
#if PLANT == 3
      wgmma_bf16<0>(d, a, b, tile > 0 || step > 0);  // @ wgmma
#else
      wgmma_bf16<1>(d, a, b, tile > 0 || step > 0);  // @ wgmma
#endif
    }
    finish_products();
  }

  for (int j = 0; j < 8; ++j) {
    float* const c = C + (threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4) * N + 8 * j + threadIdx.x % 4 * 2;
    *reinterpret_cast<float2*>(c) = make_float2(d[4 * j], d[4 * j + 1]);
    *reinterpret_cast<float2*>(c + 8 * N) = make_float2(d[4 * j + 2], d[4 * j + 3]);
  }
}
