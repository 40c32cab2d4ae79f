// Launches of one kernel and shape, again and again, between which something changes. Each kind in a process of its own.

#include <cstring>

#include "check.h"

__device__ int variable = 5;

__global__ void add(int* x, int by) {
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
  x[blockIdx.x * blockDim.x + threadIdx.x] = dynamic[threadIdx.x] + by;
}
__global__ void count(int* x) {
  atomicAdd(&x[threadIdx.x], variable);
}
__global__ void change() {
  if (blockIdx.x + threadIdx.x == 0) variable = 6;
}
__global__ void speak(int number) {
  if (threadIdx.x == 0) std::printf("%d:%d ", number, blockIdx.x);
}

int host[128];

int* fresh() {
  int* x = nullptr;
  CHECK(cudaMalloc(&x, sizeof host));
  CHECK(cudaMemset(x, 0, sizeof host));
  return x;
}

void show(const char* what, const int* x) {
  CHECK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
  std::printf("%s: %d %d\n", what, host[0], host[127]);
}

void last(const char* what) {
  std::printf("%s: %s\n", what, cudaGetErrorName(cudaGetLastError()));
}

cudaError_t launch_with(void** arguments) {
  return cudaLaunchKernel(reinterpret_cast<void*>(add), dim3(4), dim3(32), arguments, 128, nullptr);
}

void all_that_is_possible(int* x) {
  int* const y = fresh();
  for (int i = 1; i <= 20; ++i) {
    add<<<4, 32, 128>>>(x, i);
    add<<<4, 32, 128>>>(y, 2 * i);
    add<<<2, 64, 256>>>(x, 100);
    if (i % 4 == 0) speak<<<2, 32>>>(i);
  }
  CHECK(cudaDeviceSynchronize());
  show("x", x);
  show("y", y);
  for (int i = 0; i < 4; ++i) count<<<4, 32>>>(x);
  change<<<2, 32>>>();
  count<<<4, 32>>>(x);
  show("counted", x);
  cudaStream_t stream;
  cudaGraph_t graph;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<4, 32, 128, stream>>>(x, 1000);
  CHECK(cudaStreamEndCapture(stream, &graph));
  show("captured", x);
  std::printf("without arguments: %s\n", cudaGetErrorName(launch_with(nullptr)));
  CHECK(cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 64));
  add<<<4, 32, 128>>>(x, 1);
  last("less shared memory");
  CHECK(cudaDeviceReset());
  x = fresh();
  for (int i = 0; i < 2; ++i) count<<<4, 32>>>(x);
  show("behind a reset", x);
}

int main(int, char** arguments) {
  int* x = fresh();
  if (std::strcmp(arguments[1], "all") == 0) return all_that_is_possible(x), 0;
  for (int i = 0; i < 20; ++i) add<<<4, 32, 128>>>(x, 1);
  if (std::strcmp(arguments[1], "freed") == 0) CHECK(cudaFree(x));
  add<<<4, 32, 128>>>(std::strcmp(arguments[1], "beyond") == 0 ? x + 1 : x, 1);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
