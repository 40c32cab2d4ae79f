// A tile of a matrix is copied by a tensor map that the program asks the driver for.

#include <cuda.h>

#include <vector>

#include "check.h"

constexpr int width = 64, height = 32, tile = 16;

__global__ void copy_tile(const __grid_constant__ CUtensorMap map, int* out, int x, int y) {
  __shared__ alignas(128) int box[tile * tile];
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(box)), mbarrier = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(mbarrier) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(mbarrier), "r"(tile * tile * 4) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(at), "l"(&map),
                 "r"(x), "r"(y), "r"(mbarrier)
                 : "memory");
  }
  asm volatile(
      "{.reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
      "@!done bra again;}" ::"r"(mbarrier)
      : "memory");
  for (int i = threadIdx.x; i < tile * tile; i += blockDim.x) out[i] = box[i];
}

int main() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found));
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
  std::vector<int> matrix(width * height);
  for (int i = 0; i < width * height; ++i) matrix[i] = i;
  int *device = nullptr, *out = nullptr;
  CHECK(cudaMalloc(&device, matrix.size() * sizeof(int)));
  CHECK(cudaMallocManaged(&out, tile * tile * sizeof(int)));
  CHECK(cudaMemcpy(device, matrix.data(), matrix.size() * sizeof(int), cudaMemcpyHostToDevice));
  CUtensorMap map;
  const cuuint64_t sizes[] = {width, height}, strides[] = {width * sizeof(int)};
  const cuuint32_t box[] = {tile, tile}, steps[] = {1, 1};
  const CUresult made = encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, device, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                               CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  copy_tile<<<1, 32>>>(map, out, 24, 8);
  CHECK(cudaDeviceSynchronize());
  int wrong = 0;
  for (int i = 0; i < tile * tile; ++i) wrong += out[i] != (8 + i / tile) * width + 24 + i % tile;
  std::printf("found %d, made %d, %d wrong\n", static_cast<int>(found), static_cast<int>(made), wrong);
}
