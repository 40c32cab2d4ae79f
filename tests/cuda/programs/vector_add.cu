#include <vector>

#include "check.h"

__global__ void add(const float* a, const float* b, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}

int main() {
  constexpr int n = 1000, bytes = n * sizeof(float);
  std::vector<float> a(n), b(n), sum(n);
  for (int i = 0; i < n; ++i) {
    a[i] = 0.25f * i;
    b[i] = 3.0f * i;
  }
  float *on_device[3];
  for (float*& pointer : on_device) CHECK(cudaMalloc(&pointer, bytes));
  CHECK(cudaMemcpy(on_device[0], a.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(on_device[1], b.data(), bytes, cudaMemcpyHostToDevice));
  add<<<(n + 127) / 128, 128>>>(on_device[0], on_device[1], on_device[2], n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(sum.data(), on_device[2], bytes, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += sum[i] != 3.25f * i;
  for (float* pointer : on_device) CHECK(cudaFree(pointer));
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  std::printf("%s, capability %d.%d: %d wrong\n", properties.name, properties.major, properties.minor, wrong);
  return wrong != 0;
}
