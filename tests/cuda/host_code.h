#pragma once

// For programs that are compiled without nvcc: functions of the runtime, and what nvcc's host code hands to them when a program starts.

#include <cstddef>
#include <cstdint>
#include <string>

#include <warpmat/cuda/types.h>

using Handle = void*;
struct Ipc {  ///< a handle of memory or of an event, for other processes
  char bytes[64];
};

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFunction(void** module, const char* stub, char* function, const char* name, int threads, void*, void*, void*, void*,
                            int*);
void __cudaRegisterVar(void** module, char* shadow, char* address, const char* name, int external, std::size_t bytes, int constant,
                       int global);
int cudaLaunchKernel(const void* function, warpmat::cuda::GridSize grid, warpmat::cuda::GridSize block, void** arguments,
                     std::size_t shared_bytes, Handle stream);
int cudaMalloc(void** pointer, std::size_t bytes);
int cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags);
int cudaMallocHost(void** pointer, std::size_t bytes);
int cudaFree(void* pointer);
int cudaFreeHost(void* pointer);
int cudaHostRegister(void* memory, std::size_t bytes, unsigned flags);
int cudaHostUnregister(void* memory);
int cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind);
int cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width, std::size_t height, int kind);
int cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset, int kind);
int cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset, int kind);
int cudaMemset(void* to, int value, std::size_t bytes);
int cudaDeviceSynchronize();
int cudaDeviceSetLimit(int limit, std::size_t value);
int cudaStreamCreate(Handle* stream);
int cudaStreamDestroy(Handle stream);
int cudaStreamSynchronize(Handle stream);
int cudaEventCreate(Handle* event);
int cudaEventRecord(Handle event, Handle stream);
int cudaStreamWaitEvent(Handle stream, Handle event, unsigned flags);
int cudaIpcGetMemHandle(Ipc* handle, void* pointer);
const char* cudaGetErrorName(int error);
}

namespace host_code {

/// A module's place in the program, as __cudaRegisterFatBinary takes it.
struct Wrapper {
  std::uint32_t magic = 0x466243b1, version = 1;
  const void* data = nullptr;
  const void* extra = nullptr;
};

/// A fatbinary of sm_80 with the text as its only image.
inline std::string fatbinary_of(std::string text) {
  text.resize((text.size() + 8) / 8 * 8, '\0');
  std::uint32_t words[20] = {0xba55ed50, 0x00100001, static_cast<std::uint32_t>(text.size() + 64), 0,
                             0x01010001, 64,         static_cast<std::uint32_t>(text.size())};
  words[11] = 80;
  return std::string(reinterpret_cast<const char*>(words), sizeof words) + text;
}

}  // namespace host_code
