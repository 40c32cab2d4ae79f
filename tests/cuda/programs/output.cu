#include <cassert>

#include "check.h"

__global__ void speak(int limit) {
  std::printf("block %d, thread %d\n", blockIdx.x, threadIdx.x);
  assert(static_cast<int>(threadIdx.x) < limit);
}

int main() {
  speak<<<2, 2>>>(2);
  CHECK(cudaDeviceSynchronize());
  std::printf("between\n");
  speak<<<1, 2>>>(1);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
