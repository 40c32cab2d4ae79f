// Y = conv(X, F) with 3 x 3 taps and padding 1, f16, as an implicit product: a row of A for each output, formed tap by tap.
#include "planted.cuh"

constexpr int H = 8, W = 8, C = 32, K = 32, S = 3, taps = 9, pitch = 2 * C + 16;

extern "C" __global__ void __launch_bounds__(128) conv_f16(const uint16_t* X, const uint16_t* F, float* Y) {
  __shared__ __align__(16) uint8_t x_tile[2 * H * W * pitch], f_tile[K * pitch];
  const uint32_t x_at = shared_address(x_tile), f_at = shared_address(f_tile);
  const int lane = threadIdx.x % 32, m0 = threadIdx.x / 32 * 32;

  float d[2][4][4] = {};
  for (int tap = 0; tap < taps; ++tap) {
    for (int i = threadIdx.x; i < 2 * H * W * 4; i += 128) {
      const int m = i / 4, n = m / (H * W);
#if PLANT == 1
      const int h = m / W % H + tap % S - 1, w = m % W + tap / S - 1;  // @ window
#elif PLANT == 3
      const int h = m / W % H + tap / S - 1, w = m % W + tap % S;  // @ window
#else
      const int h = m / W % H + tap / S - 1, w = m % W + tap % S - 1;  // @ window
#endif
#if PLANT == 4
      const bool inside = h >= 0 && h < H && w >= 0 && w <= W;  // @ inside
#else
      const bool inside = h >= 0 && h < H && w >= 0 && w < W;  // @ inside
#endif
      const int pixel = inside ? (n * H + h) * W + w : 0;
      copy_part(x_at + m * pitch + i % 4 * 16, X + pixel * C + i % 4 * 8, inside ? 16 : 0);  // @ copy X
    }
    for (int i = threadIdx.x; i < K * 4; i += 128)
#if PLANT == 2
      copy(f_at + i / 4 * pitch + i % 4 * 16, F + (i / 4 * taps + taps - 1 - tap) * C + i % 4 * 8);  // @ copy F
#else
      copy(f_at + i / 4 * pitch + i % 4 * 16, F + (i / 4 * taps + tap) * C + i % 4 * 8);  // @ copy F
#endif
    commit_copies();
    wait_for_copies<0>();
    __syncthreads();
#pragma unroll
    for (int step = 0; step < C / 16; ++step) {
      uint32_t a[2][4], b[2][4];
      for (int i = 0; i < 2; ++i) ldmatrix(a[i], x_at + (m0 + 16 * i + lane % 16) * pitch + (2 * step + lane / 16) * 16);  // @ read X
      for (int j = 0; j < 2; ++j) ldmatrix(b[j], f_at + (16 * j + lane % 8 + lane / 16 * 8) * pitch + (2 * step + lane / 8 % 2) * 16);  // @ read F
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j)
          mma_f16(d[i][j], a[i][0], a[i][1], a[i][2], a[i][3], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);  // @ mma
    }
    __syncthreads();
  }

  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) {
      float* const y = Y + (m0 + 16 * i + lane / 4) * K + 8 * j + lane % 4 * 2;
      *reinterpret_cast<float2*>(y) = make_float2(d[i][j][0], d[i][j][1]);  // @ store Y
      *reinterpret_cast<float2*>(y + 8 * K) = make_float2(d[i][j][2], d[i][j][3]);
    }
}
