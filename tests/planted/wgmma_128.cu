// C = A B^T of 64 x 64 x 256: f16, TMA with swizzle 128B into two stages of 64 of K, wgmma.
#include "planted.cuh"

constexpr int N = 64, K = 256, tiles = K / 64, stages = 2, tile_bytes = 64 * 128;

extern "C" __global__ void __launch_bounds__(128)
    wgmma_128(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B, float* C) {
  __shared__ __align__(1024) uint8_t a_ring[stages * tile_bytes], b_ring[stages * tile_bytes];
  __shared__ uint64_t full[stages];
  const uint32_t a_at = shared_address(a_ring), b_at = shared_address(b_ring);
  const auto load = [&](int tile) {
    const int stage = tile % stages;
    arrive_expecting(full[stage], 2 * tile_bytes);
    load_box(a_at + stage * tile_bytes, A, 64 * tile, 0, full[stage]);  // @ copy A
#if PLANT == 1
    load_box(b_at + stage * tile_bytes, B, 64 * (tile / stages), 0, full[stage]);  // @ copy B
#else
    load_box(b_at + stage * tile_bytes, B, 64 * tile, 0, full[stage]);  // @ copy B
#endif
  };
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < stages; ++stage) init_barrier(full[stage], 1);
    publish_barriers();
    for (int tile = 0; tile < stages; ++tile) load(tile);  // @ first load
  }
  __syncthreads();

  float d[32];
  for (int tile = 0; tile < tiles; ++tile) {
    const int stage = tile % stages;
    wait(full[stage], tile / stages % 2);
    begin_products();
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      const uint32_t a = a_at + stage * tile_bytes + 32 * step;
#if PLANT == 2
      const uint32_t b = b_at + stage * tile_bytes + 16 * step;
#else
      const uint32_t b = b_at + stage * tile_bytes + 32 * step;
#endif
#if PLANT == 3
      wgmma_f16(d, descriptor(a, 16, 1024, swizzle_128), descriptor(b, 16, 1024, swizzle_64), tile > 0 || step > 0);  // @ wgmma
#elif PLANT == 4
      wgmma_f16(d, descriptor(a, 16, 512, swizzle_128), descriptor(b, 16, 1024, swizzle_128), tile > 0 || step > 0);  // @ wgmma
#else
      wgmma_f16(d, descriptor(a, 16, 1024, swizzle_128), descriptor(b, 16, 1024, swizzle_128), tile > 0 || step > 0);  // @ wgmma
#endif
    }
    finish_products();
    __syncthreads();
    if (threadIdx.x == 0 && tile + stages < tiles) load(tile + stages);  // @ load
  }

  for (int j = 0; j < 8; ++j) {
    float* const c = C + (threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4) * N + 8 * j + threadIdx.x % 4 * 2;
    *reinterpret_cast<float2*>(c) = make_float2(d[4 * j], d[4 * j + 1]);
    *reinterpret_cast<float2*>(c + 8 * N) = make_float2(d[4 * j + 2], d[4 * j + 3]);
  }
}
