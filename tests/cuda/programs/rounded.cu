#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <vector>

#include "check.h"

// Each rounding of halves and floats to integral values and integers, of all 65,536 halves, and of constants that nvcc may fold.

constexpr int halves = 65536, results = 12;

__global__ void round_halves(const __half* in, unsigned short* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const __half x = in[i];
  out[0 * halves + i] = __half_as_ushort(hfloor(x));
  out[1 * halves + i] = __half_as_ushort(hceil(x));
  out[2 * halves + i] = __half_as_ushort(htrunc(x));
  out[3 * halves + i] = __half_as_ushort(hrint(x));
  out[4 * halves + i] = static_cast<unsigned short>(__half2short_rd(x));
  out[5 * halves + i] = static_cast<unsigned short>(__half2short_ru(x));
  out[6 * halves + i] = static_cast<unsigned short>(__half2short_rz(x));
  out[7 * halves + i] = static_cast<unsigned short>(__half2short_rn(x));
  const __nv_bfloat16 y = __ushort_as_bfloat16(static_cast<unsigned short>(i));
  out[8 * halves + i] = __bfloat16_as_ushort(hfloor(y));
  out[9 * halves + i] = __bfloat16_as_ushort(hceil(y));
  out[10 * halves + i] = __half_as_ushort(__float2half_rd(__bfloat162float(y)));
  out[11 * halves + i] = __half_as_ushort(__float2half_ru(__bfloat162float(y)));
}

__global__ void round_floats(const float* in, float* out, int* integers, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = in[i];
  out[4 * i] = floorf(x);
  out[4 * i + 1] = ceilf(x);
  out[4 * i + 2] = truncf(x);
  out[4 * i + 3] = rintf(x);
  integers[2 * i] = __float2int_rd(x);
  integers[2 * i + 1] = __float2int_rn(x);
}

__global__ void round_constants(unsigned short* out) {
  out[0] = __half_as_ushort(hfloor(__ushort_as_half(0xbe00)));  // -1.5
  out[1] = __half_as_ushort(hfloor(__ushort_as_half(0x8001)));  // the smallest subnormal below 0
  out[2] = __half_as_ushort(hceil(__ushort_as_half(0x0001)));
  out[3] = __half_as_ushort(hfloor(__ushort_as_half(0xb800)));  // -0.5
}

template <typename T>
T* on_device(const std::vector<T>& values) {
  T* memory;
  CHECK(cudaMalloc(&memory, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}

int main() {
  std::vector<unsigned short> all(halves);
  for (int i = 0; i < halves; ++i) all[i] = static_cast<unsigned short>(i);
  const auto* in = reinterpret_cast<const __half*>(on_device(all));
  unsigned short* const out = on_device(std::vector<unsigned short>(results * halves));
  round_halves<<<halves / 256, 256>>>(in, out);
  std::vector<float> floats;
  for (int i = -2000; i < 2000; ++i) floats.push_back(0.125f * static_cast<float>(i));
  const int n = static_cast<int>(floats.size());
  round_floats<<<(n + 127) / 128, 128>>>(on_device(floats), on_device(std::vector<float>(4 * n)), on_device(std::vector<int>(2 * n)), n);
  unsigned short* const constants = on_device(std::vector<unsigned short>(4));
  round_constants<<<1, 1>>>(constants);
  unsigned short folded[4];
  CHECK(cudaMemcpy(folded, constants, sizeof folded, cudaMemcpyDeviceToHost));
  CHECK(cudaDeviceSynchronize());
  const bool right = folded[0] == 0xc000 && folded[1] == 0xbc00 && folded[2] == 0x3c00 && folded[3] == 0xbc00;
  std::printf("constants are %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
