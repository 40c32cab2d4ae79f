// All blocks of a cooperative launch wait for each other: each adds what another one wrote before the barrier.

#include <cooperative_groups.h>

#include "check.h"

__global__ void rotate(int* numbers, int rounds) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  for (int round = 0; round < rounds; ++round) {
    const int next = numbers[(i + blockDim.x) % n];
    grid.sync();
    numbers[i] = next + 1;
    grid.sync();
  }
}

int main() {
  constexpr int blocks = 8, threads = 64, n = blocks * threads;
  int* numbers = nullptr;
  CHECK(cudaMallocManaged(&numbers, n * sizeof(int)));
  for (int i = 0; i < n; ++i) numbers[i] = 1000 * i;
  int rounds = 3;
  void* arguments[] = {&numbers, &rounds};
  CHECK(cudaLaunchCooperativeKernel(rotate, dim3(blocks), dim3(threads), arguments, 0, nullptr));
  CHECK(cudaDeviceSynchronize());
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += numbers[i] != 1000 * ((i + 3 * threads) % n) + 3;
  std::printf("%d wrong, ", wrong);
  std::printf("%s\n", cudaGetErrorName(cudaLaunchCooperativeKernel(rotate, dim3(100000), dim3(threads), arguments, 0, nullptr)));
}
