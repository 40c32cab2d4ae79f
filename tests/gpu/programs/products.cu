// Matrix products by mma, wgmma with TMA, fp8, and a cluster: the kernels of examples/kernels, which are compiled beside this file.

#include <cuda.h>
#include <cuda_bf16.h>

#include <cstdint>
#include <vector>

#include "check.h"

extern "C" {
__global__ void gemm_f16(const uint8_t* a, const uint8_t* b, float* c, int n, int k);
__global__ void gemm_wgmma(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c, int n, int k);
__global__ void gemm_cluster(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, const __grid_constant__ CUtensorMap c,
                             int k, float scale);
}

/// Numbers of 16 or 8 bits without infinities and NaNs: f16, or e4m3.
uint8_t* numbers(size_t bytes, bool half, uint32_t seed) {
  std::vector<uint8_t> all(bytes);
  for (size_t i = 0; i < bytes; ++i) {
    seed = seed * 1664525 + 1013904223;
    all[i] = static_cast<uint8_t>(seed >> 24);
    if (half && i % 2 == 1) all[i] = (all[i] & 0x83) | (0x30 + (all[i] >> 2 & 0x0c));
    if (!half) all[i] = (all[i] & 0x87) | (0x20 + (all[i] & 0x38) / 2 & 0x78);
  }
  uint8_t* device = nullptr;
  CHECK(cudaMalloc(&device, bytes));
  CHECK(cudaMemcpy(device, all.data(), bytes, cudaMemcpyHostToDevice));
  return device;
}

CUtensorMap map_of(void* memory, CUtensorMapDataType type, unsigned size, cuuint64_t columns, cuuint64_t rows, cuuint32_t box_columns,
                   cuuint32_t box_rows, CUtensorMapSwizzle swizzle) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found));
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
  CUtensorMap map;
  const cuuint64_t sizes[] = {columns, rows}, strides[] = {columns * size};
  const cuuint32_t box[] = {box_columns, box_rows}, steps[] = {1, 1};
  const CUresult made = encode(&map, type, 2, memory, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (made != CUDA_SUCCESS) std::printf("cuTensorMapEncodeTiled: %d\n", static_cast<int>(made));
  return map;
}

template <typename T>
void print_sum(const char* name, const T* c, int count) {
  CHECK(cudaDeviceSynchronize());
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += static_cast<double>(static_cast<float>(c[i]));
  std::printf("%s: %.9g\n", name, sum);
}

int main() {
  constexpr int m = 128, n = 128, k = 136;
  float* c = nullptr;
  __nv_bfloat16* d = nullptr;
  CHECK(cudaMallocManaged(&c, m * n * sizeof *c));
  CHECK(cudaMallocManaged(&d, m * n * sizeof *d));
  CHECK(cudaFuncSetAttribute(gemm_f16, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  gemm_f16<<<1, 128, 65536>>>(numbers(2 * m * 128, true, 1), numbers(2 * n * 128, true, 2), c, n, 128);
  print_sum("gemm_f16", c, m * n);
  const CUtensorMap a16 = map_of(numbers(2 * m * k, true, 3), CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, k, m, 64, 128, CU_TENSOR_MAP_SWIZZLE_128B),
                    b16 = map_of(numbers(2 * n * k, true, 4), CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, k, n, 64, 128, CU_TENSOR_MAP_SWIZZLE_128B);
  CHECK(cudaFuncSetAttribute(gemm_wgmma, cudaFuncAttributeMaxDynamicSharedMemorySize, 98304));
  gemm_wgmma<<<1, 384, 98304>>>(a16, b16, c, n, k);
  print_sum("gemm_wgmma", c, m * n);
  const CUtensorMap a8 = map_of(numbers(m * 272, false, 5), CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, 272, m, 128, 64, CU_TENSOR_MAP_SWIZZLE_128B),
                    b8 = map_of(numbers(n * 272, false, 6), CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, 272, n, 128, 64, CU_TENSOR_MAP_SWIZZLE_128B),
                    d8 = map_of(d, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, n, m, 128, 64, CU_TENSOR_MAP_SWIZZLE_NONE);
  CHECK(cudaFuncSetAttribute(gemm_cluster, cudaFuncAttributeMaxDynamicSharedMemorySize, 98304));
  gemm_cluster<<<dim3(1, 2), 160, 98304>>>(a8, b8, d8, 272, 0.3f);
  print_sum("gemm_cluster", d, m * n);
}
