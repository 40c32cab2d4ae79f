// O = softmax(Q K^T / 8) V of one head, 64 x 64: f16, the keys in two tiles of 32, sums rescaled as the row's largest grows.
#include "planted.cuh"

constexpr int D = 64, keys = 64;

__device__ inline uint32_t place(uint32_t tile, int row, int chunk) { return tile + row * 128 + (chunk ^ (row & 7)) * 16; }

__device__ inline uint32_t pack(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

__device__ inline float exponential(float x) {
  float y;
  asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// Of the four lanes that share a row.
__device__ inline float row_sum(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
#if PLANT == 1
  return x + __shfl_xor_sync(~0u, x, 4);
#else
  return x + __shfl_xor_sync(~0u, x, 2);
#endif
}
__device__ inline float row_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}

extern "C" __global__ void __launch_bounds__(128) attention(const uint16_t* Q, const uint16_t* K, const uint16_t* V, float* O) {
  __shared__ __align__(1024) uint8_t q_tile[64 * 128], k_tile[keys * 128], v_tile[keys * 128];
  const uint32_t q_at = shared_address(q_tile), k_at = shared_address(k_tile), v_at = shared_address(v_tile);
  const int lane = threadIdx.x % 32, m0 = threadIdx.x / 32 * 16;
  for (int i = threadIdx.x; i < 64 * 8; i += 128) {
    copy(place(q_at, i / 8, i % 8), Q + i * 8);  // @ copy Q
    copy(place(k_at, i / 8, i % 8), K + i * 8);  // @ copy K
    copy(place(v_at, i / 8, i % 8), V + i * 8);  // @ copy V
  }
  commit_copies();
  wait_for_copies<0>();
  __syncthreads();

  uint32_t q[4][4];
  for (int step = 0; step < 4; ++step) ldmatrix(q[step], place(q_at, m0 + lane % 16, 2 * step + lane / 16));  // @ read Q
  float o[8][4] = {}, largest[2] = {-1e30f, -1e30f}, sum[2] = {};
#pragma unroll
  for (int k0 = 0; k0 < keys; k0 += 32) {
    float s[4][4] = {};
    for (int step = 0; step < 4; ++step)
      for (int j = 0; j < 2; ++j) {
        uint32_t k[4];
#if PLANT == 2
        ldmatrix(k, k_at + (k0 + 16 * j + lane % 8 + lane / 16 * 8) * 128 + (2 * step + lane / 8 % 2) * 16);  // @ read K
#else
        ldmatrix(k, place(k_at, k0 + 16 * j + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));  // @ read K
#endif
        mma_f16(s[2 * j], q[step][0], q[step][1], q[step][2], q[step][3], k[0], k[1]);      // @ mma QK
        mma_f16(s[2 * j + 1], q[step][0], q[step][1], q[step][2], q[step][3], k[2], k[3]);  // @ mma QK
      }
    for (int half = 0; half < 2; ++half) {
      float most = largest[half], part = 0;
      for (int j = 0; j < 4; ++j) most = fmaxf(most, fmaxf(s[j][2 * half], s[j][2 * half + 1]));
      most = row_max(most);
      const float shrink = exponential((largest[half] - most) * 0.1803368801f);
      largest[half] = most;
      for (int j = 0; j < 4; ++j)
        for (int i = 2 * half; i < 2 * half + 2; ++i) part += s[j][i] = exponential((s[j][i] - most) * 0.1803368801f);
      sum[half] = sum[half] * shrink + row_sum(part);
      for (int j = 0; j < 8; ++j)
        for (int i = 2 * half; i < 2 * half + 2; ++i) o[j][i] *= shrink;
    }
    for (int step = 0; step < 2; ++step) {
      const float(&left)[4] = s[2 * step], (&right)[4] = s[2 * step + 1];
      const uint32_t p[4] = {pack(left[0], left[1]), pack(left[2], left[3]), pack(right[0], right[1]), pack(right[2], right[3])};
      for (int j = 0; j < 4; ++j) {
        uint32_t v[4];
#if PLANT == 3
        ldmatrix_trans(v, place(v_at, 16 * step + lane % 16, 2 * j + lane / 16));  // @ read V
#else
        ldmatrix_trans(v, place(v_at, k0 + 16 * step + lane % 16, 2 * j + lane / 16));  // @ read V
#endif
#if PLANT == 4
        mma_f16(o[2 * j], p[0], p[2], p[1], p[3], v[0], v[1]);  // @ mma PV
#else
        mma_f16(o[2 * j], p[0], p[1], p[2], p[3], v[0], v[1]);  // @ mma PV
#endif
        mma_f16(o[2 * j + 1], p[0], p[1], p[2], p[3], v[2], v[3]);  // @ mma PV
      }
    }
  }

  for (int j = 0; j < 8; ++j)
    for (int half = 0; half < 2; ++half) {
      float* const to = O + (m0 + lane / 4 + 8 * half) * D + 8 * j + lane % 4 * 2;
      *reinterpret_cast<float2*>(to) = make_float2(o[j][2 * half] / sum[half], o[j][2 * half + 1] / sum[half]);  // @ store O
    }
}
