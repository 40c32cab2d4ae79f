// C = A B^T of 32 x 32 x 128: f16; A is 2:4 sparse, stored as 32 x 64, and E has a word of four groups for each row and 16 of K.
#include "planted.cuh"

constexpr int N = 32, K = 128;

__device__ inline uint32_t place(uint32_t tile, int row, int chunk) { return tile + row * 128 + (chunk ^ (row & 7)) * 16; }

template <int selector>
__device__ inline void mma_sparse(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[4], uint32_t e) {
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, "
      "{%0, %1, %2, %3}, %12, %13;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(e), "n"(selector));
}

extern "C" __global__ void __launch_bounds__(128) sparse_f16(const uint16_t* A, const uint16_t* E, const uint16_t* B, float* C) {
  __shared__ __align__(1024) uint8_t a_tile[32 * 128], b_tile[2 * 32 * 128];
  const uint32_t a_at = shared_address(a_tile), b_at = shared_address(b_tile);
  const int lane = threadIdx.x % 32, m0 = threadIdx.x / 64 * 16, n0 = threadIdx.x / 32 % 2 * 16;
  for (int i = threadIdx.x; i < 32 * 8; i += 128) {
    copy(place(a_at, i / 8, i % 8), A + i / 8 * (K / 2) + i % 8 * 8);  // @ copy A
    for (int half = 0; half < 2; ++half) copy(place(b_at + half * 4096, i / 8, i % 8), B + i / 8 * K + half * 64 + i % 8 * 8);  // @ copy B
  }
  commit_copies();
  wait_for_copies<0>();
  __syncthreads();

  float d[2][4] = {};
#pragma unroll
  for (int step = 0; step < K / 32; ++step) {
    uint32_t a[4], b[2][4];
    ldmatrix(a, place(a_at, m0 + lane % 16, 2 * step + lane / 16));  // @ read A
    for (int j = 0; j < 2; ++j)
#if PLANT == 1
      ldmatrix(b[j], place(b_at + step / 2 * 4096, n0 + 8 * j + lane % 8, step % 2 * 4 + lane / 8 % 2));  // @ read B
#else
      ldmatrix(b[j], place(b_at + step / 2 * 4096, n0 + 8 * j + lane % 8, step % 2 * 4 + lane / 8));  // @ read B
#endif
#if PLANT == 2
    const uint16_t* const words = E + (m0 + lane / 4) * (K / 16) + step + lane % 2;
#elif PLANT == 4
    const uint16_t* const words = E + (m0 + lane / 4) * (K / 16) + 2 * step + lane / 2 % 2;
#else
    const uint16_t* const words = E + (m0 + lane / 4) * (K / 16) + 2 * step + lane % 2;
#endif
#if PLANT == 3
    const uint32_t e = words[8 * (K / 16)] | words[0] << 16;  // @ read E
#else
    const uint32_t e = words[0] | words[8 * (K / 16)] << 16;  // @ read E
#endif
    for (int j = 0; j < 2; ++j) mma_sparse<0>(d[j], a, b[j], e);  // @ mma
  }

  for (int j = 0; j < 2; ++j) {
    float* const c = C + (m0 + lane / 4) * N + n0 + 8 * j + lane % 4 * 2;
    *reinterpret_cast<float2*>(c) = make_float2(d[j][0], d[j][1]);
    *reinterpret_cast<float2*>(c + 8 * N) = make_float2(d[j][2], d[j][3]);
  }
}
