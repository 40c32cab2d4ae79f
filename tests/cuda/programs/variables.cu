#include "check.h"

__constant__ float factors[2] = {1, 1};
__device__ int calls = 40;
__device__ float table[3][2] = {{1, 2}, {3, 4}, {5, 6}};
__managed__ int shared_counter = 5;

__global__ void use(float* out) {
  *out = factors[0] * table[2][1] + factors[1];
  ++calls;
  shared_counter += 10;
}

int main() {
  float* out = nullptr;
  CHECK(cudaMallocManaged(&out, sizeof(float)));
  shared_counter = 7;
  const float values[2] = {10, 0.5f};
  CHECK(cudaMemcpyToSymbol(factors, values, sizeof values));
  const float last = 100;
  CHECK(cudaMemcpyToSymbol(table, &last, sizeof last, 5 * sizeof(float)));
  use<<<1, 1>>>(out);
  CHECK(cudaDeviceSynchronize());
  int count = 0;
  CHECK(cudaMemcpyFromSymbol(&count, calls, sizeof count));
  void* address = nullptr;
  std::size_t bytes = 0;
  CHECK(cudaGetSymbolAddress(&address, table));
  CHECK(cudaGetSymbolSize(&bytes, table));
  float from_table = 0;
  CHECK(cudaMemcpy(&from_table, static_cast<char*>(address) + 8, sizeof from_table, cudaMemcpyDeviceToHost));
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, out));
  std::printf("%g, %d calls, counter %d, %zu bytes, %g, type %d\n", *out, count, shared_counter, bytes, from_table, attributes.type);
}
