// A reduction whose idle threads return before the barrier, over a template and dynamic shared memory.

#include <vector>

#include "check.h"

template <typename T>
__global__ void sum_blocks(const T* in, T* out, int n) {
  extern __shared__ unsigned char bytes[];
  T* const partial = reinterpret_cast<T*>(bytes);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  partial[threadIdx.x] = i < n ? in[i] : T(0);
  if (threadIdx.x >= 256) return;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, partial[0]);
}

template <typename T>
bool is_right() {
  constexpr int n = 10000;
  std::vector<T> in(n);
  for (int i = 0; i < n; ++i) in[i] = T(i % 7);
  T *device = nullptr, *total = nullptr, got = 0, expected = 0;
  for (const T value : in) expected += value;
  CHECK(cudaMalloc(&device, n * sizeof(T)));
  CHECK(cudaMalloc(&total, sizeof(T)));
  CHECK(cudaMemset(total, 0, sizeof(T)));
  CHECK(cudaMemcpy(device, in.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  sum_blocks<<<(n + 255) / 256, 256, 256 * sizeof(T)>>>(device, total, n);
  CHECK(cudaMemcpy(&got, total, sizeof(T), cudaMemcpyDeviceToHost));
  return got == expected;
}

int main() {
  const bool of_int = is_right<int>(), of_float = is_right<float>(), of_double = is_right<double>();
  std::printf("int %d, float %d, double %d\n", of_int, of_float, of_double);
  return !(of_int && of_float && of_double);
}
