// C = A B^T of 64 x 32 x 64: f16, A by ldmatrix into registers, B by TMA with swizzle 32B, wgmma.
#include "planted.cuh"

constexpr int N = 32, K = 64, box_bytes = N * 32;

extern "C" __global__ void __launch_bounds__(128) wgmma_registers(const uint16_t* A, const __grid_constant__ TensorMap B, float* C) {
  __shared__ __align__(1024) uint8_t a_tile[64 * 128], b_tile[K / 16 * box_bytes];
  __shared__ uint64_t full;
  const uint32_t a_at = shared_address(a_tile), b_at = shared_address(b_tile);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    init_barrier(full, 1);
    publish_barriers();
    arrive_expecting(full, K / 16 * box_bytes);
    for (int i = 0; i < K / 16; ++i) load_box(b_at + i * box_bytes, B, 16 * i, 0, full);  // @ copy B
  }
  for (int i = threadIdx.x; i < 64 * 8; i += 128) copy(a_at + i / 8 * 128 + (i % 8 ^ i / 8 % 8) * 16, A + i * 8);  // @ copy A
  commit_copies();
  wait_for_copies<0>();
  __syncthreads();

  uint32_t a[4][4];
  for (int step = 0; step < 4; ++step) {
#if PLANT == 1
    const int row = warp * 8 + lane % 16, chunk = 2 * step + lane / 16;
#else
    const int row = warp * 16 + lane % 16, chunk = 2 * step + lane / 16;
#endif
    ldmatrix(a[step], a_at + row * 128 + (chunk ^ row % 8) * 16);  // @ read A
  }
#if PLANT != 2
  wait(full, 0);
#endif
  float d[16];
  begin_products();
#pragma unroll
  for (int step = 0; step < 4; ++step) {
#if PLANT == 3
    const uint64_t b = descriptor(b_at + step * box_bytes, 16, 128, swizzle_32);
#else
    const uint64_t b = descriptor(b_at + step * box_bytes, 16, 256, swizzle_32);
#endif
#if PLANT == 4
    wgmma_f16_registers(d, a[step][0], a[step][2], a[step][1], a[step][3], b, step > 0);  // @ wgmma
#else
    wgmma_f16_registers(d, a[step][0], a[step][1], a[step][2], a[step][3], b, step > 0);  // @ wgmma
#endif
  }
  finish_products();

  for (int j = 0; j < 4; ++j) {
    float* const c = C + (warp * 16 + lane / 4) * N + 8 * j + lane % 4 * 2;
    *reinterpret_cast<float2*>(c) = make_float2(d[4 * j], d[4 * j + 1]);
    *reinterpret_cast<float2*>(c + 8 * N) = make_float2(d[4 * j + 2], d[4 * j + 3]);
  }
}
