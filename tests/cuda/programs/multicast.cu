// Memory of two GPUs at the addresses of a multicast object: loads that reduce, stores and reductions. Each GPU has 32 numbers, of which the
// kernel of either computes what PTX says. No card has run it.

#include <cuda.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>

#include "check.h"

#define DRIVER(call)                                                                    \
  do {                                                                                  \
    const CUresult error = (call);                                                      \
    if (error != CUDA_SUCCESS) {                                                        \
      std::printf("%s:%d: %s: %d\n", __FILE__, __LINE__, #call, static_cast<int>(error)); \
      std::exit(1);                                                                     \
    }                                                                                   \
  } while (false)

constexpr std::size_t bytes = 2 << 20;

__global__ void reduce_u32(const std::uint32_t* from, std::uint32_t* to) {
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add.u32 %0, [%1];" : "=r"(to[threadIdx.x]) : "l"(from + threadIdx.x) : "memory");
}
__global__ void least_s32(const std::int32_t* from, std::int32_t* to) {
  asm volatile("multimem.ld_reduce.relaxed.sys.global.min.s32 %0, [%1];" : "=r"(to[threadIdx.x]) : "l"(from + threadIdx.x) : "memory");
}
__global__ void reduce_f32(const float* from, float4* to) {
  float4 sum;
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(sum.x), "=f"(sum.y), "=f"(sum.z), "=f"(sum.w)
               : "l"(from + 4 * threadIdx.x)
               : "memory");
  to[threadIdx.x] = sum;
}
__global__ void reduce_f16(const std::uint32_t* from, std::uint32_t* to) {
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add.acc::f32.f16x2 %0, [%1];" : "=r"(to[threadIdx.x]) : "l"(from + threadIdx.x) : "memory");
}
__global__ void store_u32(std::uint32_t* to, std::uint32_t value) {
  asm volatile("multimem.st.relaxed.sys.global.u32 [%0], %1;" ::"l"(to + threadIdx.x), "r"(value + threadIdx.x) : "memory");
}
__global__ void add_u32(std::uint32_t* to, std::uint32_t value) {
  asm volatile("multimem.red.relaxed.sys.global.add.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}
__global__ void plain(const std::uint32_t* from, std::uint32_t* to) { to[0] = from[0]; }

struct Mapped {
  CUmemGenericAllocationHandle handle;
  CUdeviceptr address;
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(address);
  }
};

static void map(Mapped& mapped) {
  CUmemAccessDesc access[2]{};
  for (int gpu = 0; gpu < 2; ++gpu)
    access[gpu] = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gpu}, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  DRIVER(cuMemAddressReserve(&mapped.address, bytes, 0, 0, 0));
  DRIVER(cuMemMap(mapped.address, bytes, 0, mapped.handle, 0));
  DRIVER(cuMemSetAccess(mapped.address, bytes, access, 2));
}

static Mapped memory_of(int gpu) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gpu};
  Mapped mapped{};
  DRIVER(cuMemCreate(&mapped.handle, bytes, &properties, 0));
  map(mapped);
  return mapped;
}

template <typename T>
static void fill(const Mapped& memory, T (*value)(int)) {
  T host[128];
  for (int i = 0; i < 128; ++i) host[i] = value(i);
  CHECK(cudaMemcpy(memory.as<void>(), host, sizeof host, cudaMemcpyDefault));
}

template <typename T>
static T value_at(const T* at) {
  T value;
  CHECK(cudaMemcpy(&value, at, sizeof value, cudaMemcpyDefault));
  return value;
}

int main(int count, char**) {
  CHECK(cudaSetDevice(1));
  CHECK(cudaFree(nullptr));
  CHECK(cudaSetDevice(0));
  const Mapped first = memory_of(0), second = memory_of(1);
  int supported = 0;
  CHECK(cudaDeviceGetAttribute(&supported, static_cast<cudaDeviceAttr>(CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED), 1));
  CUmulticastObjectProp properties{};
  properties.numDevices = 2;
  properties.size = bytes;
  std::size_t granularity = 0;
  DRIVER(cuMulticastGetGranularity(&granularity, &properties, CU_MULTICAST_GRANULARITY_MINIMUM));
  Mapped both{};
  DRIVER(cuMulticastCreate(&both.handle, &properties));
  DRIVER(cuMulticastAddDevice(both.handle, 0));
  const CUresult early = cuMulticastBindMem(both.handle, 0, first.handle, 0, bytes, 0);
  const CUresult twice = cuMulticastAddDevice(both.handle, 0);
  DRIVER(cuMulticastAddDevice(both.handle, 1));
  DRIVER(cuMulticastBindMem(both.handle, 0, first.handle, 0, bytes, 0));
  DRIVER(cuMulticastBindAddr(both.handle, 0, second.address, bytes, 0));
  map(both);
  std::printf("supported %d, granularity %zu, early %d, twice %d\n", supported, granularity, static_cast<int>(early), static_cast<int>(twice));

  std::uint32_t* results = nullptr;
  CHECK(cudaMalloc(&results, 1024));
  fill<std::uint32_t>(first, [](int i) { return std::uint32_t(i); });
  fill<std::uint32_t>(second, [](int i) { return std::uint32_t(1000 * i); });
  reduce_u32<<<1, 32>>>(both.as<std::uint32_t>(), results);
  CHECK(cudaDeviceSynchronize());
  std::printf("sum %u", value_at(results + 5));
  fill<std::int32_t>(second, [](int i) { return 3 - i; });
  least_s32<<<1, 32>>>(both.as<std::int32_t>(), reinterpret_cast<std::int32_t*>(results));
  CHECK(cudaDeviceSynchronize());
  std::printf(", least %d %d, ", value_at(reinterpret_cast<std::int32_t*>(results) + 1), value_at(reinterpret_cast<std::int32_t*>(results) + 5));

  fill<float>(first, [](int i) { return i + 0.25f; });
  fill<float>(second, [](int i) { return i * 0.5f; });
  reduce_f32<<<1, 32>>>(both.as<float>(), reinterpret_cast<float4*>(results));
  CHECK(cudaDeviceSynchronize());
  std::printf("floats %g %g\n", value_at(reinterpret_cast<float*>(results) + 7), value_at(reinterpret_cast<float*>(results) + 127));
  fill<__half2>(first, [](int i) { return __floats2half2_rn(2048.0f, float(i)); });
  fill<__half2>(second, [](int) { return __floats2half2_rn(3.0f, 0.5f); });
  reduce_f16<<<1, 32>>>(both.as<std::uint32_t>(), results);
  CHECK(cudaDeviceSynchronize());
  const __half2 halves = value_at(reinterpret_cast<__half2*>(results) + 9);
  std::printf("halves %g %g\n", __half2float(__low2half(halves)), __half2float(__high2half(halves)));

  CHECK(cudaSetDevice(1));
  store_u32<<<1, 32>>>(both.as<std::uint32_t>(), 70);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaSetDevice(0));
  add_u32<<<4, 64>>>(both.as<std::uint32_t>(), 2);
  CHECK(cudaDeviceSynchronize());
  std::printf("stored %u %u, added %u %u\n", value_at(first.as<std::uint32_t>() + 3), value_at(second.as<std::uint32_t>() + 3),
              value_at(first.as<std::uint32_t>()), value_at(second.as<std::uint32_t>()));
  DRIVER(cuMulticastUnbind(both.handle, 1, 0, bytes));
  std::printf("kept %u\n", value_at(second.as<std::uint32_t>()));
  if (count == 1) return 0;
  DRIVER(cuMulticastBindMem(both.handle, 0, second.handle, 0, bytes, 0));
  plain<<<1, 1>>>(both.as<std::uint32_t>(), results);
  std::printf("plain %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
