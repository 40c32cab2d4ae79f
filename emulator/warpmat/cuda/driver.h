#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <warpmat/cuda/context.h>
#include <warpmat/cuda/registration.h>
#include <warpmat/cuda/stream.h>

// The driver's interface, libcuda.so.1, over the same context. Its functions return a CUresult, whose numbers are mostly the runtime's.

namespace warpmat::cuda {

using DeviceAddress = unsigned long long;  ///< CUdeviceptr
struct DriverContext;                      ///< CUcontext
struct Pool;                               ///< CUmemoryPool

/// The driver's number for an error of the runtime.
int driver_code(Error error);

/// Whether cuInit was called and the thread has a context: 0, or the driver's number of the error.
int check_initialised();
int check_current();

/// What cudaGetDevice tells this thread, and what cudaSetDevice does.
int chosen_device();
void choose_device(int gpu);

/// Whether it is one of the program's.
bool is_context(const DriverContext* context);

/// The context with that number, or nullptr.
DriverContext* context_of(Owner owner);

/// Runs a function of the runtime for one of the driver, unless that is refused with the error `missing`. The runtime's last error stays as
/// it is.
template <typename Body>
int by_runtime(int missing, Body&& body) {
  if (missing != 0) return missing;
  const Error before = last_error();
  const bool outer = std::exchange(in_driver(), true);
  const Error error = body();
  in_driver() = outer;
  last_error() = before;
  return driver_code(error);
}

/// For one that needs a context.
template <typename Body>
int in_context(Body&& body) {
  return by_runtime(check_current(), body);
}

/// For one that needs none.
template <typename Body>
int after_init(Body&& body) {
  return by_runtime(check_initialised(), body);
}

inline void* pointer_to(DeviceAddress address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

}  // namespace warpmat::cuda

// The runtime's functions that the driver's stand on.
namespace warpmat::cuda {
extern "C" {
Error cudaMalloc(void** pointer, std::size_t bytes);
Error cudaMallocAsync(void** pointer, std::size_t bytes, Stream* stream);
Error cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height);
Error cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags);
Error cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags);
Error cudaFree(void* pointer);
Error cudaFreeAsync(void* pointer, Stream* stream);
Error cudaFreeHost(void* pointer);
Error cudaHostRegister(void* memory, std::size_t bytes, unsigned flags);
Error cudaHostUnregister(void* memory);
Error cudaHostGetDevicePointer(void** device, void* host, unsigned flags);
Error cudaMemGetInfo(std::size_t* free, std::size_t* total);
Error cudaMemcpy(void* to, const void* from, std::size_t bytes, CopyKind kind);
Error cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, CopyKind kind, Stream* stream);
Error cudaMemsetAsync(void* to, int value, std::size_t bytes, Stream* stream);
Error cudaMemset(void* to, int value, std::size_t bytes);
Error cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer);
Error cudaDeviceGetAttribute(int* value, int attribute, int device);
Error cudaDeviceGetLimit(std::size_t* value, int limit);
Error cudaDeviceSetLimit(int limit, std::size_t value);
Error cudaDeviceGetPCIBusId(char* id, int length, int device);
Error cudaDeviceGetStreamPriorityRange(int* lowest, int* highest);
Error cudaDeviceSynchronize();
Error cudaDeviceReset();
Error cudaSetDevice(int device);
Error cudaStreamCreateWithPriority(Stream** stream, unsigned flags, int priority);
Error cudaStreamDestroy(Stream* stream);
Error cudaStreamSynchronize(Stream* stream);
Error cudaStreamQuery(Stream* stream);
Error cudaStreamGetPriority(Stream* stream, int* priority);
Error cudaStreamGetFlags(Stream* stream, unsigned* flags);
Error cudaStreamWaitEvent(Stream* stream, Event* event, unsigned flags);
Error cudaStreamIsCapturing(Stream* stream, int* status);
Error cudaLaunchHostFunc(Stream* stream, void (*function)(void*), void* data);
Error cudaEventCreateWithFlags(Event** event, unsigned flags);
Error cudaEventDestroy(Event* event);
Error cudaEventRecord(Event* event, Stream* stream);
Error cudaEventSynchronize(Event* event);
Error cudaEventQuery(Event* event);
Error cudaEventElapsedTime(float* milliseconds, Event* start, Event* end);
Error cudaFuncGetAttributes(FunctionAttributes* attributes, const void* function);
Error cudaFuncSetAttribute(const void* function, int attribute, int value);
Error cudaFuncSetCacheConfig(const void* function, int config);
Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int block_threads, std::size_t shared_bytes);
}
}  // namespace warpmat::cuda
