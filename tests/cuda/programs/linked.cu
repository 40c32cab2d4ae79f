// With linked_other.cu and -rdc=true: functions and variables of both, some with one name.

#include "check.h"

extern __device__ int counter;
extern __constant__ int table[4];
__device__ int scale(int x);
void run_other(int* out);

static __device__ int hidden = 3;

static __device__ __noinline__ int own(int x) {
  return x * hidden;
}

template <typename T>
__device__ __noinline__ T twice(T x) {
  return x + x;
}

__global__ void first(int* out) {
  out[threadIdx.x] = scale(threadIdx.x) + own(threadIdx.x) + table[1] + twice(4);
  atomicAdd(&counter, 1);
}

int main() {
  int *device = nullptr, host[4], counted = 0;
  CHECK(cudaMalloc(&device, sizeof host));
  first<<<1, 4>>>(device);
  run_other(device);
  CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpyFromSymbol(&counted, counter, sizeof counted));
  std::printf("%d %d %d %d, %d\n", host[0], host[1], host[2], host[3], counted);
  return 0;
}
