// Memory pools, and the heap of malloc() in kernels.

#include "check.h"

struct Node {
  int value;
  Node* next;
};

__device__ Node* lists[64];

__global__ void build(int length) {
  for (int i = 0; i < length; ++i) {
    Node* const node = static_cast<Node*>(malloc(sizeof(Node)));
    if (node == nullptr) return;
    node->value = threadIdx.x + i;
    node->next = lists[threadIdx.x];
    lists[threadIdx.x] = node;
  }
}

__global__ void sum_and_free(int* sums) {
  int sum = 0;
  while (lists[threadIdx.x] != nullptr) {
    Node* const node = lists[threadIdx.x];
    lists[threadIdx.x] = node->next;
    sum += node->value;
    free(node);
  }
  sums[threadIdx.x] = sum;
}

__global__ void with_new(int* sums) {
  int* const all = new int[10];
  for (int i = 0; i < 10; ++i) all[i] = i * threadIdx.x;
  sums[threadIdx.x] = all[9];
  delete[] all;
  char* const much = static_cast<char*>(malloc(std::size_t{1} << 40));
  sums[threadIdx.x] += much == nullptr ? 1 : 2;
}

int main() {
  cudaMemPool_t pool, own;
  std::uint64_t threshold = ~std::uint64_t{0}, used = 0, high = 0;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  int* sums = nullptr;
  CHECK(cudaMallocAsync(&sums, 64 * sizeof(int), 0));
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, {0}};
  CHECK(cudaMemPoolCreate(&own, &properties));
  void* more = nullptr;
  CHECK(cudaMallocFromPoolAsync(&more, 1000, own, 0));
  CHECK(cudaFreeAsync(more, 0));
  CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
  CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemHigh, &high));
  CHECK(cudaMemPoolDestroy(own));
  std::printf("%llu of %llu bytes, ", static_cast<unsigned long long>(used), static_cast<unsigned long long>(high));

  int host[64], wrong = 0;
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
  for (int round = 0; round < 3; ++round) {  // more than the heap has, were nothing freed
    build<<<1, 64>>>(400);
    sum_and_free<<<1, 64>>>(sums);
    CHECK(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; ++i) wrong += host[i] != 400 * i + 400 * 399 / 2;
  }
  with_new<<<1, 64>>>(sums);
  CHECK(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) wrong += host[i] != 9 * i + 1;
  std::printf("%d wrong, %s\n", wrong, cudaGetErrorName(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 21)));
  return 0;
}
