// The heap of malloc() gets its size when a kernel of a module that calls malloc() is launched, also one that does not.

#include <cstdio>

#include "check.h"

__global__ void uses_heap(int* out) {
  int* const held = static_cast<int*>(malloc(4));
  *held = 7;
  *out = *held;
  free(held);
}

__global__ void uses_none(int* out) {
  *out = 5;
}

const char* set_heap(std::size_t bytes) {
  const char* const name = cudaGetErrorName(cudaDeviceSetLimit(cudaLimitMallocHeapSize, bytes));
  cudaGetLastError();
  return name;
}

int main(int count, char**) {
  int* out = nullptr;
  std::size_t bytes = 0;
  CHECK(cudaMalloc(&out, sizeof *out));
  std::printf("%s", set_heap(16 << 20));
  std::printf(" %s", set_heap(32 << 20));
  uses_none<<<1, 1>>>(out);
  CHECK(cudaDeviceSynchronize());
  std::printf(" %s", set_heap(64 << 20));
  CHECK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
  std::printf(" %zu", bytes >> 20);
  if (count > 1) uses_heap<<<1, 1>>>(out);
  CHECK(cudaDeviceSynchronize());
  std::printf("\n");
  return 0;
}
