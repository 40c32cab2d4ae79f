// The driver: initialisation, the device, its one context.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <vector>

#include <warpmat/cuda/driver.h>

namespace warpmat::cuda {

struct DriverContext {
  int device = 0;
};

namespace {

constexpr int invalid_value = 1, not_initialised = 3, invalid_context = 201, driver_version = 13000;

std::atomic<bool> initialised{false};

DriverContext* the_context() {
  static DriverContext only;
  return &only;
}

/// The contexts that the thread has pushed: the last one is current.
struct Pushed {
  std::array<DriverContext*, 64> all;
  std::size_t count;
};

Pushed& pushed() {
  static thread_local Pushed contexts{};
  return contexts;
}

DriverContext* current() {
  const Pushed& contexts = pushed();
  return contexts.count == 0 ? nullptr : contexts.all[contexts.count - 1];
}

int set_current(DriverContext* context) {
  Pushed& contexts = pushed();
  if (context != nullptr && context != the_context()) return invalid_context;
  contexts.count = context == nullptr ? 0 : std::max<std::size_t>(contexts.count, 1);
  if (context != nullptr) contexts.all[contexts.count - 1] = context;
  return 0;
}

int push(DriverContext* context) {
  Pushed& contexts = pushed();
  if (context != the_context() || contexts.count == contexts.all.size()) return invalid_context;
  contexts.all[contexts.count++] = context;
  return 0;
}

}  // namespace

bool& in_driver() {
  static thread_local bool inside = false;
  return inside;
}

void bind_primary_context() {
  initialised = true;
  if (current() == nullptr) static_cast<void>(set_current(the_context()));
}

int driver_code(Error error) {
  switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidMemcpyDirection: return invalid_value;
    case cudaErrorInvalidSymbol: return cudaErrorSymbolNotFound;
    case cudaErrorInvalidDeviceFunction: return cudaErrorInvalidResourceHandle;
    default: return error;
  }
}

int check_initialised() {
  return initialised ? 0 : not_initialised;
}

int check_current() {
  if (!initialised) return not_initialised;
  return current() == nullptr ? invalid_context : 0;
}

WARPMAT_CUDA_API int cuInit(unsigned flags) {
  if (flags != 0) return invalid_value;
  static_cast<void>(context());
  initialised = true;
  return 0;
}

WARPMAT_CUDA_API int cuDriverGetVersion(int* version) {
  if (version == nullptr) return invalid_value;
  *version = driver_version;
  return 0;
}

WARPMAT_CUDA_API int cuDeviceGetCount(int* count) {
  return after_init([&] {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = 1;
    return cudaSuccess;
  });
}

WARPMAT_CUDA_API int cuDeviceGet(int* device, int number) {
  return after_init([&] {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = 0;
    return number == 0 ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

WARPMAT_CUDA_API int cuDeviceGetName(char* name, int length, int device) {
  return after_init([&] {
    if (name == nullptr || length <= 0) return cudaErrorInvalidValue;
    std::snprintf(name, static_cast<std::size_t>(length), "%s", context().device.name);
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

WARPMAT_CUDA_API int cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  return after_init([&] {
    if (uuid == nullptr) return cudaErrorInvalidValue;
    std::memset(uuid, 0, 16);
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

WARPMAT_CUDA_API int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  return after_init([&] {
    if (bytes == nullptr) return cudaErrorInvalidValue;
    *bytes = context().device.global_bytes;
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

WARPMAT_CUDA_API int cuDeviceGetAttribute(int* value, int attribute, int device) {
  return after_init([&] { return cudaDeviceGetAttribute(value, attribute, device); });
}

WARPMAT_CUDA_API int cuDeviceComputeCapability(int* major, int* minor, int device) {
  if (const int error = cuDeviceGetAttribute(major, 75, device); error != 0) return error;
  return cuDeviceGetAttribute(minor, 76, device);
}

WARPMAT_CUDA_API int cuDeviceGetPCIBusId(char* id, int length, int device) {
  return after_init([&] { return cudaDeviceGetPCIBusId(id, length, device); });
}

WARPMAT_CUDA_API int cuDevicePrimaryCtxRetain(DriverContext** context, int device) {
  return after_init([&] {
    if (context == nullptr) return cudaErrorInvalidValue;
    *context = the_context();
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

WARPMAT_CUDA_API int cuDevicePrimaryCtxRelease_v2(int device) {
  return after_init([&] { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}

WARPMAT_CUDA_API int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned) {
  return cuDevicePrimaryCtxRelease_v2(device);
}

WARPMAT_CUDA_API int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  return after_init([&] {
    if (flags == nullptr || active == nullptr) return cudaErrorInvalidValue;
    *flags = 0;
    *active = 1;
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

WARPMAT_CUDA_API int cuCtxCreate_v2(DriverContext** context, unsigned, int device) {
  if (const int error = cuDevicePrimaryCtxRetain(context, device); error != 0) return error;
  return push(*context);
}

WARPMAT_CUDA_API int cuCtxCreate_v4(DriverContext** context, void*, unsigned flags, int device) {
  return cuCtxCreate_v2(context, flags, device);
}

WARPMAT_CUDA_API int cuCtxDestroy_v2(DriverContext* context) {
  if (const int missing = check_initialised(); missing != 0) return missing;
  if (context != the_context()) return invalid_context;
  Pushed& contexts = pushed();
  if (contexts.count != 0) --contexts.count;
  return 0;
}

WARPMAT_CUDA_API int cuCtxGetCurrent(DriverContext** context) {
  if (const int missing = check_initialised(); missing != 0) return missing;
  if (context == nullptr) return invalid_value;
  *context = current();
  return 0;
}

WARPMAT_CUDA_API int cuCtxSetCurrent(DriverContext* context) {
  if (const int missing = check_initialised(); missing != 0) return missing;
  return set_current(context);
}

WARPMAT_CUDA_API int cuCtxPushCurrent_v2(DriverContext* context) {
  if (const int missing = check_initialised(); missing != 0) return missing;
  return push(context);
}

WARPMAT_CUDA_API int cuCtxPopCurrent_v2(DriverContext** context) {
  if (const int missing = check_current(); missing != 0) return missing;
  if (context != nullptr) *context = current();
  --pushed().count;
  return 0;
}

WARPMAT_CUDA_API int cuCtxGetDevice(int* device) {
  return in_context([&] {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

WARPMAT_CUDA_API int cuCtxGetApiVersion(DriverContext*, unsigned* version) {
  return in_context([&] {
    if (version == nullptr) return cudaErrorInvalidValue;
    *version = driver_version;
    return cudaSuccess;
  });
}

WARPMAT_CUDA_API int cuCtxSynchronize() {
  return in_context([] { return cudaDeviceSynchronize(); });
}

WARPMAT_CUDA_API int cuProfilerStart() {
  return in_context([] { return cudaSuccess; });
}

WARPMAT_CUDA_API int cuProfilerStop() {
  return in_context([] { return cudaSuccess; });
}

WARPMAT_CUDA_API int cuCtxGetLimit(std::size_t* value, int limit) {
  return in_context([&] { return cudaDeviceGetLimit(value, limit); });
}

WARPMAT_CUDA_API int cuCtxSetLimit(int limit, std::size_t value) {
  return in_context([&] { return cudaDeviceSetLimit(limit, value); });
}

WARPMAT_CUDA_API int cuCtxGetStreamPriorityRange(int* lowest, int* highest) {
  return in_context([&] { return cudaDeviceGetStreamPriorityRange(lowest, highest); });
}

}  // namespace warpmat::cuda
