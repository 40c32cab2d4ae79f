// C = A B^T of 32 x 32 x 256: e4m3 with a ue8m0 scale for each 32 of K of a row of A and of B^T; tiles of 128 of K.
#include "planted.cuh"

constexpr int N = 32, K = 256;

__device__ inline uint32_t place(uint32_t tile, int row, int chunk) { return tile + row * 128 + (chunk ^ (row & 7)) * 16; }

/// The scales of a and b are bytes `a_byte` and `b_byte` of the words; for A those of lanes 0 and 1 of four, for B of lane 0.
template <int a_byte, int b_byte>
__device__ inline void mma_mxf8(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, uint32_t scale_a, uint32_t scale_b) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, %10, {%12, 0}, %11, {%13, 0};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(scale_a), "r"(scale_b), "n"(a_byte), "n"(b_byte));
}

template <int step>
__device__ inline void multiply(float (&d)[2][4], uint32_t a_at, uint32_t b_at, int m0, int n0, uint32_t scale_a, const uint32_t (&scale_b)[2]) {
  const int lane = threadIdx.x % 32;
  uint32_t a[4], b[4];
  ldmatrix(a, place(a_at, m0 + lane % 16, 2 * step + lane / 16));                           // @ read A
  ldmatrix(b, place(b_at, n0 + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));          // @ read B
  for (int j = 0; j < 2; ++j)
#if PLANT == 1
    mma_mxf8<step ^ 1, step>(d[j], a, b[2 * j], b[2 * j + 1], scale_a, scale_b[j]);  // @ mma
#elif PLANT == 2
    mma_mxf8<step, step>(d[j], a, b[2 * j], b[2 * j + 1], scale_b[j], scale_a);  // @ mma
#else
    mma_mxf8<step, step>(d[j], a, b[2 * j], b[2 * j + 1], scale_a, scale_b[j]);  // @ mma
#endif
}

extern "C" __global__ void __launch_bounds__(128)
    mxf8_scales(const uint8_t* A, const uint8_t* SA, const uint8_t* B, const uint8_t* SB, float* C) {
  __shared__ __align__(1024) uint8_t a_tile[32 * 128], b_tile[32 * 128];
  const uint32_t a_at = shared_address(a_tile), b_at = shared_address(b_tile);
  const int lane = threadIdx.x % 32, m0 = threadIdx.x / 64 * 16, n0 = threadIdx.x / 32 % 2 * 16;

  float d[2][4] = {};
  for (int k = 0; k < K; k += 128) {
    for (int i = threadIdx.x; i < 32 * 8; i += 128) {
      copy(place(a_at, i / 8, i % 8), A + i / 8 * K + k + i % 8 * 16);  // @ copy A
      copy(place(b_at, i / 8, i % 8), B + i / 8 * K + k + i % 8 * 16);  // @ copy B
    }
    commit_copies();
#if PLANT == 3
    const uint32_t scale_a = *reinterpret_cast<const uint32_t*>(SA + (m0 + lane / 4) * (K / 32) + k / 32);  // @ read SA
#else
    const uint32_t scale_a = *reinterpret_cast<const uint32_t*>(SA + (m0 + lane / 4 + lane % 2 * 8) * (K / 32) + k / 32);  // @ read SA
#endif
    uint32_t scale_b[2];
    for (int j = 0; j < 2; ++j)
#if PLANT == 4
      scale_b[j] = *reinterpret_cast<const uint32_t*>(SB + (n0 + 8 * j + lane / 4) * (K / 32));  // @ read SB
#else
      scale_b[j] = *reinterpret_cast<const uint32_t*>(SB + (n0 + 8 * j + lane / 4) * (K / 32) + k / 32);  // @ read SB
#endif
    wait_for_copies<0>();
    __syncthreads();
    multiply<0>(d, a_at, b_at, m0, n0, scale_a, scale_b);
    multiply<1>(d, a_at, b_at, m0, n0, scale_a, scale_b);
    multiply<2>(d, a_at, b_at, m0, n0, scale_a, scale_b);
    multiply<3>(d, a_at, b_at, m0, n0, scale_a, scale_b);
    __syncthreads();
  }

  for (int j = 0; j < 2; ++j) {
    float* const c = C + (m0 + lane / 4) * N + n0 + 8 * j + lane % 4 * 2;
    *reinterpret_cast<float2*>(c) = make_float2(d[j][0], d[j][1]);
    *reinterpret_cast<float2*>(c + 8 * N) = make_float2(d[j][2], d[j][3]);
  }
}
