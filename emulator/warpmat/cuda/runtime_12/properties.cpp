// cudaDeviceProp of CUDA 12 and 11.

#include <algorithm>
#include <cstring>
#include <span>

#include <warpmat/cuda/forward/forward.h>
#include <warpmat/cuda/runtime_12/properties.h>
#include <warpmat/cuda/types.h>

namespace warpmat::cuda {

WARPMAT_CUDA_CORE(cudaGetDeviceProperties)
WARPMAT_CUDA_CORE(cudaDeviceGetAttribute)

extern "C" {
Error core_cudaGetDeviceProperties(DeviceProperties* properties, int device);
Error core_cudaDeviceGetAttribute(int* value, int attribute, int device);
}

namespace {

template <typename T>
void copy(T& to, const T& from) {
  std::memcpy(&to, &from, sizeof to);
}

DeviceProperties12 converted(const DeviceProperties& from, int device) {
  const auto attribute = [device](int number) {  // cudaDeviceAttr
    int value = 0;
    core_cudaDeviceGetAttribute(&value, number, device);
    return value;
  };
  DeviceProperties12 to{};
#define WARPMAT_CUDA_MEMBER(member) copy(to.member, from.member);
#include <warpmat/cuda/runtime_12/common_properties.inc>
#undef WARPMAT_CUDA_MEMBER
  to.maxTexture1D = from.textures[0];
  to.maxTexture1DMipmap = from.textures[1];
  to.maxTexture1DLinear = attribute(69);
  std::ranges::copy(std::span(from.textures).subspan(2), to.textures);
  to.clockRate = attribute(13);
  to.deviceOverlap = attribute(15);
  to.kernelExecTimeoutEnabled = attribute(17);
  to.computeMode = attribute(20);
  to.memoryClockRate = attribute(36);
  to.singleToDoublePrecisionPerfRatio = attribute(87);
  return to;
}

Error get(void* properties, int device, std::size_t bytes) {
  DeviceProperties current{};
  const Error error = core_cudaGetDeviceProperties(properties == nullptr ? nullptr : &current, device);
  if (error != cudaSuccess) return error;
  const DeviceProperties12 all = converted(current, device);
  std::memcpy(properties, &all, bytes);
  return error;
}

}  // namespace

WARPMAT_CUDA_API Error cudaGetDeviceProperties_v2(DeviceProperties12* properties, int device) {
  return get(properties, device, sizeof *properties);
}

WARPMAT_CUDA_API Error cudaGetDeviceProperties(void* properties, int device) {
  return get(properties, device, device_properties_11_bytes);
}

}  // namespace warpmat::cuda
