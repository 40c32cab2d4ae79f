// Functions of the driver behind calls of the runtime, which has made its context current; attributes of streams; clusters that fit.

#include <cuda.h>

#include "check.h"

__global__ void nothing() {}

void* function_of_driver(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found));
  return function;
}

int main() {
  CHECK(cudaSetDevice(0));
  const auto device_of_context = reinterpret_cast<CUresult (*)(CUdevice*)>(function_of_driver("cuCtxGetDevice"));
  CUdevice device = -1;
  if (device_of_context(&device) != CUDA_SUCCESS) return 1;

  using BlockSize = CUresult (*)(int*, int*, CUfunction, CUoccupancyB2DSize, std::size_t, int);
  const auto block_size = reinterpret_cast<BlockSize>(function_of_driver("cuOccupancyMaxPotentialBlockSize"));
  cudaFunction_t function;
  CHECK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(nothing)));
  int blocks = 0, threads = 0;
  if (block_size(&blocks, &threads, function, nullptr, 0, 0) != CUDA_SUCCESS) return 2;

  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaStreamAttrValue value = {}, found = {};
  value.accessPolicyWindow.num_bytes = 4096;
  CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value));
  CHECK(cudaStreamGetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &found));

  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(8);
  config.blockDim = dim3(1024);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {4, 1, 1};
  config.attrs = &attribute;
  config.numAttrs = 1;
  nothing<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());
  int clusters = 0;
  CHECK(cudaOccupancyMaxActiveClusters(&clusters, nothing, &config));
  std::printf("device %d, %d blocks of %d threads, window of %zu bytes, %d clusters\n", device, blocks, threads,
              found.accessPolicyWindow.num_bytes, clusters);
  return 0;
}
