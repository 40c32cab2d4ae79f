// Kernels that launch kernels, copy, fill and allocate. Prints what they leave behind.

#include <cstdio>

#include "check.h"

__global__ void add(int* to, int value) {
  atomicAdd(to + threadIdx.x, value * static_cast<int>(blockIdx.x + 1));
}

/// Launches itself until `depth` is 0; each level adds.
__global__ void descend(int* to, int depth) {
  if (threadIdx.x != 0) return;
  to[8 + depth] = depth;
  if (depth > 0) descend<<<1, 2>>>(to, depth - 1);
}

__global__ void last(const int* from, int* to) {
  int sum = 0;
  for (int i = 0; i < 8; ++i) sum += from[i];
  *to = sum;
}

__global__ void parent(int* to) {
  if (threadIdx.x != 0) return;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  last<<<1, 1, 0, cudaStreamTailLaunch>>>(to, to + 20);
  cudaMemsetAsync(to, 0, 32, stream);
  add<<<3, 8, 0, stream>>>(to, 10);
  cudaMemcpyAsync(to + 24, to, 16, cudaMemcpyDeviceToDevice, stream);
  cudaStreamDestroy(stream);
  descend<<<1, 2>>>(to, 5);
  int* own = nullptr;
  to[21] = cudaMalloc(&own, 64) == cudaSuccess && own != nullptr;
  cudaFree(own);
  to[22] = cudaGetLastError();
  if (to[22] != cudaSuccess) printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}

int main() {
  int* device = nullptr;
  int host[32];
  CHECK(cudaMalloc(&device, sizeof host));
  CHECK(cudaMemset(device, 0xff, sizeof host));
  parent<<<1, 32>>>(device);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  for (const int value : host) std::printf("%d ", value);
  std::printf("\n");
}
