// Virtual memory management by the driver's functions: two pieces of memory side by side in one range, as one array; then exchanged.

#include <cuda.h>

#include <cstdio>
#include <vector>

#include "check.h"

#define DRIVER(call)                                   \
  do {                                                 \
    const CUresult result = (call);                    \
    const char* name = nullptr;                        \
    cuGetErrorName(result, &name);                     \
    if (result != CUDA_SUCCESS) {                      \
      std::printf("%s: %s\n", #call, name);            \
      return 1;                                        \
    }                                                  \
  } while (false)

__global__ void number(int* to, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) to[i] = i;
}

int main() {
  CHECK(cudaFree(nullptr));
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  std::size_t piece = 0;
  DRIVER(cuMemGetAllocationGranularity(&piece, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUdeviceptr range = 0;
  CUmemGenericAllocationHandle first = 0, second = 0;
  CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  DRIVER(cuMemAddressReserve(&range, 4 * piece, 0, 0, 0));
  DRIVER(cuMemCreate(&first, piece, &properties, 0));
  DRIVER(cuMemCreate(&second, piece, &properties, 0));
  DRIVER(cuMemMap(range, piece, 0, first, 0));
  DRIVER(cuMemMap(range + piece, piece, 0, second, 0));
  DRIVER(cuMemSetAccess(range, 2 * piece, &access, 1));
  const int count = static_cast<int>(2 * piece / sizeof(int));
  number<<<8, 256>>>(reinterpret_cast<int*>(range), count);
  std::vector<int> host(count);
  CHECK(cudaMemcpy(host.data(), reinterpret_cast<void*>(range), 2 * piece, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += host[i] != i;
  std::printf("%d wrong\n", wrong);
  // the contents belong to the memory, not to the addresses
  DRIVER(cuMemUnmap(range, 2 * piece));
  DRIVER(cuMemMap(range + 2 * piece, piece, 0, first, 0));
  DRIVER(cuMemMap(range + piece, piece, 0, second, 0));
  DRIVER(cuMemSetAccess(range + piece, 2 * piece, &access, 1));
  CHECK(cudaMemcpy(host.data(), reinterpret_cast<void*>(range + piece), 2 * piece, cudaMemcpyDeviceToHost));
  std::printf("%d then %d\n", host[0] * 4 == static_cast<int>(piece), host[count / 2]);
  DRIVER(cuMemRelease(first));
  DRIVER(cuMemRelease(second));
  const CUresult early = cuMemAddressFree(range, 4 * piece);
  DRIVER(cuMemUnmap(range + piece, 2 * piece));
  DRIVER(cuMemAddressFree(range, 4 * piece));
  const char* name = nullptr;
  cuGetErrorName(early, &name);
  std::printf("%s\n", name);
}
