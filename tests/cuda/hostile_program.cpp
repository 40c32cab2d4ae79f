// A program of the CUDA runtime that passes what no program should: sizes that wrap, numbers that are none, handles of what is gone. Its
// argument names what it does; it prints each call with the name of its result.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <warpmat/cuda/types.h>

#include "cuda/host_code.h"

using namespace warpmat::cuda;
using host_code::Wrapper;

extern "C" {
void __cudaUnregisterFatBinary(void** module);
int cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height);
int cudaMalloc3D(PitchedPointer* pitched, Extent extent);
int cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, Handle pool, Handle stream);
int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, Handle stream);
int cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width, std::size_t height,
                      int kind, Handle stream);
int cudaMemcpy3D(const Copy3D* copy);
int cudaMemcpyToArray(Array* to, std::size_t x, std::size_t y, const void* from, std::size_t bytes, int kind);
int cudaMemcpy2DToArray(Array* to, std::size_t x, std::size_t y, const void* from, std::size_t pitch, std::size_t width, std::size_t height,
                        int kind);
int cudaMemcpy2DArrayToArray(Array* to, std::size_t to_x, std::size_t to_y, const Array* from, std::size_t from_x, std::size_t from_y,
                             std::size_t width, std::size_t height, int kind);
int cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height);
int cudaMemset3D(PitchedPointer to, int value, Extent extent);
int cudaMallocArray(Array** array, const ChannelFormat* format, std::size_t width, std::size_t height, unsigned flags);
int cudaMalloc3DArray(Array** array, const ChannelFormat* format, Extent extent, unsigned flags);
int cudaMallocMipmappedArray(MipmappedArray** mipmap, const ChannelFormat* format, Extent extent, unsigned levels, unsigned flags);
int cudaGetMipmappedArrayLevel(Array** array, const MipmappedArray* mipmap, unsigned level);
int cudaFreeArray(Array* array);
int cudaFreeMipmappedArray(MipmappedArray* mipmap);
int cudaCreateTextureObject(std::uint64_t* handle, const ResourceDescription* resource, const TextureDescription* how,
                            const ResourceView* view);
int cudaDestroyTextureObject(std::uint64_t handle);
int cudaGetTextureObjectResourceDesc(ResourceDescription* resource, std::uint64_t handle);
int cudaDeviceReset();
int cudaGetSymbolAddress(void** address, const void* symbol);
int cudaStreamSetAttribute(Handle stream, int id, const void* value);
int cudaStreamQuery(Handle stream);
int cudaStreamBeginCapture(Handle stream, int mode);
int cudaStreamEndCapture(Handle stream, Handle* graph);
int cudaStreamIsCapturing(Handle stream, int* status);
int cudaLaunchHostFunc(Handle stream, void (*function)(void*), void* data);
int cudaEventQuery(Handle event);
int cudaEventDestroy(Handle event);
int cudaGraphCreate(Handle* graph, unsigned flags);
int cudaGraphAddEmptyNode(Handle* node, Handle graph, const Handle* after, std::size_t count);
int cudaGraphAddEventRecordNode(Handle* node, Handle graph, const Handle* after, std::size_t count, Handle event);
int cudaGraphDestroyNode(Handle node);
int cudaGraphConditionalHandleCreate(unsigned long long* handle, Handle graph, unsigned value, unsigned flags);
int cudaGraphAddNode(Handle* node, Handle graph, const Handle* after, const void* edges, std::size_t count, NodeParameters* asked);
int cudaGraphNodeGetType(Handle node, int* type);
int cudaGraphNodeSetEnabled(Handle executable, Handle node, unsigned enabled);
int cudaGraphInstantiate(Handle* executable, Handle graph, unsigned long long flags);
int cudaGraphLaunch(Handle executable, Handle stream);
int cudaGraphDestroy(Handle graph);
int cudaGraphExecDestroy(Handle executable);
int cudaMemPoolCreate(Handle* pool, const PoolProperties* properties);
int cudaMemPoolDestroy(Handle pool);
int cudaMemPoolGetAttribute(Handle pool, int attribute, void* value);
int cudaRuntimeGetVersion(int* version);
int cuInit(unsigned flags);
int cuCtxCreate_v2(Handle* context, unsigned flags, int device);
int cuCtxDestroy_v2(Handle context);
int cuCtxGetCurrent(Handle* context);
int cuCtxSetCurrent(Handle context);
int cuCtxGetId(Handle context, unsigned long long* id);
int cuDevicePrimaryCtxRetain(Handle* context, int device);
int cuMemAlloc_v2(unsigned long long* address, std::size_t bytes);
int cuMemFree_v2(unsigned long long address);
int cuMemsetD32_v2(unsigned long long address, unsigned value, std::size_t count);
int cuStreamCreate(Handle* stream, unsigned flags);
int cuStreamQuery(Handle stream);
int cuStreamGetCtx(Handle stream, Handle* context);
int cuModuleLoadData(Handle* module, const void* image);
int cuModuleUnload(Handle module);
int cuModuleGetFunction(Handle* function, Handle module, const char* name);
int cuFuncGetName(const char** name, Handle function);
int cuFuncGetModule(Handle* module, Handle function);
int cuLinkDestroy(Handle state);
int cuMemAddressReserve(unsigned long long* address, std::size_t bytes, std::size_t alignment, unsigned long long at,
                        unsigned long long flags);
int cuMemAddressFree(unsigned long long address, std::size_t bytes);
int cuMemUnmap(unsigned long long address, std::size_t bytes);
int cuMemMap(unsigned long long address, std::size_t bytes, std::size_t offset, unsigned long long handle, unsigned long long flags);
int cuMemcpy2D_v2(const struct DriverCopy2D* copy);
int cuMemcpy3D_v2(const struct DriverCopy3D* copy);
}

struct DriverCopy2D {  ///< CUDA_MEMCPY2D
  struct End {
    std::size_t x, y;
    int memory;
    void* host;
    unsigned long long device;
    void* array;
    std::size_t pitch;
  } from, to;
  std::size_t width, height;
};

struct DriverCopy3D {  ///< CUDA_MEMCPY3D
  struct End {
    std::size_t x, y, z, level;
    int memory;
    void* host;
    unsigned long long device;
    void *array, *reserved;
    std::size_t pitch, height;
  } from, to;
  std::size_t width, height, depth;
};

namespace {

constexpr std::size_t most = std::numeric_limits<std::size_t>::max(), half = most / 2 + 1;

#define SHOW(...) std::printf("%s: %s\n", #__VA_ARGS__, cudaGetErrorName(__VA_ARGS__))
#define SHOW_CODE(...) std::printf("%s: %d\n", #__VA_ARGS__, __VA_ARGS__)

const char* const module_text = R"(
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 total = 5;
.visible .entry add(.param .u64 to, .param .u32 value) {
  .reg .u64 %address; .reg .u32 %value, %old;
  ld.param.u64 %address, [to];
  ld.param.u32 %value, [value];
  ld.global.u32 %old, [%address];
  add.u32 %old, %old, %value;
  st.global.u32 [%address], %old;
  ret;
}
.visible .entry sample(.param .u64 texture, .param .u64 to) {
  .reg .u64 %texture, %address; .reg .f32 %x, %level, %r, %g, %b, %a;
  ld.param.u64 %texture, [texture];
  ld.param.u64 %address, [to];
  mov.f32 %x, 0f3F000000;
  mov.f32 %level, 0fC0A00000;
  tex.level.2d.v4.f32.f32 {%r, %g, %b, %a}, [%texture, {%x, %x}], %level;
  st.global.f32 [%address], %r;
  ret;
}
.visible .entry spin(.param .u32 rounds) {
  .reg .u32 %i; .reg .pred %more;
  ld.param.u32 %i, [rounds];
again:
  sub.u32 %i, %i, 1;
  setp.ne.u32 %more, %i, 0;
  @%more bra again;
  ret;
}
)";

char add_stub, sample_stub, spin_stub, total_shadow;

void** register_module(Wrapper& wrapper) {
  void** const module = __cudaRegisterFatBinary(&wrapper);
  const auto add = [&](const char* stub, const char* name) {
    __cudaRegisterFunction(module, stub, nullptr, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  };
  add(&add_stub, "add");
  add(&sample_stub, "sample");
  add(&spin_stub, "spin");
  __cudaRegisterVar(module, &total_shadow, nullptr, "total", 0, 4, 0, 0);
  return module;
}

template <typename... Values>
int launch(const char* stub, Handle stream, Values... values) {
  void* arguments[] = {&values...};
  return cudaLaunchKernel(stub, {1, 1, 1}, {1, 1, 1}, arguments, 0, stream);
}

int add(void* to, std::uint32_t value, Handle stream = nullptr) {
  return launch(&add_stub, stream, to, value);
}

std::uint32_t value_at(const void* device) {
  std::uint32_t value = 77;
  cudaMemcpy(&value, device, 4, device_to_host);
  return value;
}

const ChannelFormat floats{32, 0, 0, 0, 2};

/// Copies of the driver into memory, each with one number that is too large.
void driver_sizes(void* host, void* memory) {
  constexpr int in_host = 1, in_device = 2;
  DriverCopy2D rows{};
  rows.from = {.x = 0, .y = 0, .memory = in_host, .host = host, .device = 0, .array = nullptr, .pitch = 64};
  rows.to = {.x = 0,
             .y = 0,
             .memory = in_device,
             .host = nullptr,
             .device = reinterpret_cast<std::uintptr_t>(memory),
             .array = nullptr,
             .pitch = 64};
  rows.width = 64;
  rows.height = 2;
  DriverCopy3D box{};
  box.from.memory = in_host;
  box.from.host = host;
  box.to.memory = in_device;
  box.to.device = reinterpret_cast<std::uintptr_t>(memory);
  box.from.pitch = box.to.pitch = box.width = 64;
  box.from.height = box.to.height = 1;
  box.height = box.depth = 2;
  for (std::size_t DriverCopy2D::End::*const number : {&DriverCopy2D::End::x, &DriverCopy2D::End::y, &DriverCopy2D::End::pitch})
    for (const std::size_t value : {most, most - 63, half, half / 32}) {
      DriverCopy2D copy = rows;
      copy.to.*number = value;
      SHOW_CODE(cuMemcpy2D_v2(&copy));
    }
  for (std::size_t DriverCopy3D::End::*const number :
       {&DriverCopy3D::End::x, &DriverCopy3D::End::y, &DriverCopy3D::End::z, &DriverCopy3D::End::pitch, &DriverCopy3D::End::height})
    for (const std::size_t value : {most, most - 63, half, half / 32}) {
      DriverCopy3D copy = box;
      copy.to.*number = value;
      SHOW_CODE(cuMemcpy3D_v2(&copy));
    }
  for (std::size_t DriverCopy3D::*const number : {&DriverCopy3D::width, &DriverCopy3D::height, &DriverCopy3D::depth}) {
    DriverCopy3D copy = box;
    copy.*number = most;
    SHOW_CODE(cuMemcpy3D_v2(&copy));
  }
}

void sizes() {
  char* memory = nullptr;
  std::size_t pitch = 0;
  unsigned long long reserved = 0;
  Array *array = nullptr, *other = nullptr;
  PitchedPointer pitched{};
  std::array<char, 4096> host{};
  cudaMalloc(reinterpret_cast<void**>(&memory), 4096);
  cudaMallocArray(&array, &floats, 16, 16, 0);
  SHOW(cudaMemcpy2D(memory, most, host.data(), 4, 4, 2, by_address));
  SHOW(cudaMemcpy2D(memory, half, host.data(), half, 1, 3, by_address));
  SHOW(cudaMemcpy2D(memory, most - 15, host.data(), 4, 4, 2, host_to_device));
  SHOW(cudaMemcpy2D(host.data(), 4, memory, most, 4, 2, device_to_host));
  SHOW(cudaMemcpy2D(memory + 64, most - 63, memory, 64, 64, 2, device_to_device));
  SHOW(cudaMemcpy2D(memory, 0x80000000, host.data(), 4, 4, 2, host_to_device));
  SHOW(cudaMemcpy2D(memory, 64, host.data(), 64, 64, most, host_to_device));
  SHOW(cudaMemcpy2D(memory, 64, host.data(), 64, 64, 65, host_to_device));
  SHOW(cudaMemcpy2DAsync(memory, most, host.data(), 4, 4, 2, by_address, nullptr));
  SHOW(cudaMemset2D(memory, most, 0x41, 4, 2));
  SHOW(cudaMemset2D(memory, most - 63, 0x41, 64, 8));
  SHOW(cudaMemset2D(memory, half, 0x41, 1, 3));
  SHOW(cudaMemset3D({memory, 64, 64, half}, 0x41, {1, 1, 3}));
  SHOW(cudaMemset3D({memory, 64, 64, most / 64 + 1}, 0x41, {64, 1, 2}));
  SHOW(cudaMemset3D({memory, half, 64, 2}, 0x41, {1, 2, 2}));
  SHOW(cudaMemset(memory, 0, most));
  Copy3D copy{};
  copy.srcPtr = {host.data(), 64, 64, 1};
  copy.dstPtr = {memory, 64, 64, half / 32};
  copy.extent = {4, 1, 2};
  copy.kind = host_to_device;
  SHOW(cudaMemcpy3D(&copy));
  copy.dstPtr = {memory, 64, 64, 1};
  copy.dstPos = {0, 0, half / 32};
  SHOW(cudaMemcpy3D(&copy));
  copy.dstPos = {most - 3, 0, 0};
  SHOW(cudaMemcpy3D(&copy));
  copy.dstPtr = {};
  copy.dstArray = array;
  copy.dstPos = {half / 2, 0, 0};
  copy.extent = {4, 1, 1};
  SHOW(cudaMemcpy3D(&copy));
  copy.dstPos = {};
  copy.extent = {half / 2 + 1, 1, 1};
  SHOW(cudaMemcpy3D(&copy));
  SHOW(cudaMemcpyToArray(array, 0, half / 32, host.data(), 64, host_to_device));
  SHOW(cudaMemcpyToArray(array, most, 1, host.data(), 64, host_to_device));
  SHOW(cudaMemcpy2DToArray(array, most - 3, 0, host.data(), 64, 8, 1, host_to_device));
  SHOW(cudaMemcpy2DToArray(array, 0, most, host.data(), 64, 8, 2, host_to_device));
  SHOW(cudaMemcpy2DToArray(array, 0, 0, host.data(), most, 8, 2, host_to_device));
  SHOW(cudaMemcpy2DArrayToArray(array, 0, most, array, 0, 0, 8, 2, device_to_device));
  SHOW(cudaMemcpyToSymbol(&total_shadow, host.data(), 4, most - 3, host_to_device));
  SHOW(cudaMallocPitch(reinterpret_cast<void**>(&other), &pitch, most, 1));
  SHOW(cudaMallocPitch(reinterpret_cast<void**>(&other), &pitch, half, 4));
  SHOW(cudaMalloc3D(&pitched, {half, 2, 2}));
  SHOW(cudaMallocArray(&other, &floats, half, 4, 0));
  SHOW(cudaMalloc3DArray(&other, &floats, {4096, 4096, most / 6 * 6}, 5));
  SHOW_CODE(cuInit(0));
  driver_sizes(host.data(), memory);
  SHOW_CODE(cuMemsetD32_v2(reinterpret_cast<std::uintptr_t>(memory), 1, half / 2 + 1));
  SHOW_CODE(cuMemAddressReserve(&reserved, most / (2 << 20) * (2 << 20), 0, 0, 0));
  SHOW_CODE(cuMemAddressReserve(&reserved, 2 << 20, half, 0, 0));
  SHOW_CODE(cuMemUnmap(most - 4095, 4096));
  SHOW(cudaFreeArray(array));
  SHOW(cudaFree(memory));
  SHOW(cudaDeviceSynchronize());
}

/// The texture of a mipmap of three levels with this description.
std::uint64_t texture_of(MipmappedArray* mipmap, TextureDescription how, const ResourceView* view = nullptr) {
  ResourceDescription what{};
  what.type = ResourceDescription::mipmap;
  what.of.mipmap = mipmap;
  how.normalised = 1;
  std::uint64_t texture = 0;
  SHOW(cudaCreateTextureObject(&texture, &what, &how, view));
  return texture;
}

void textures() {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
  void* to = nullptr;
  MipmappedArray* mipmap = nullptr;
  cudaMalloc(&to, 4);
  SHOW(cudaMallocMipmappedArray(&mipmap, &floats, {16, 16, 0}, 3, 0));
  for (float TextureDescription::*const number :
       {&TextureDescription::least_level, &TextureDescription::most_level, &TextureDescription::level_bias})
    for (const float value : {nan, -nan, infinite, -infinite, 1e30f}) {
      TextureDescription how{};
      how.most_level = 2;
      how.*number = value;
      const std::uint64_t texture = texture_of(mipmap, how);
      if (texture != 0) SHOW(launch(&sample_stub, nullptr, texture, to));
      SHOW(cudaDeviceSynchronize());
    }
  TextureDescription how{};
  how.border[0] = nan;
  how.border[1] = infinite;
  const std::uint64_t texture = texture_of(mipmap, how);
  ResourceView view{};
  view.last_level = 3;
  texture_of(mipmap, how, &view);
  MipmappedArray* layers = nullptr;
  SHOW(cudaMallocMipmappedArray(&layers, &floats, {16, 16, 4}, 1, 1));
  view = {};
  view.first_layer = 2;
  view.last_layer = std::numeric_limits<unsigned>::max();
  texture_of(layers, how, &view);
  SHOW(cudaFreeMipmappedArray(mipmap));
  SHOW(launch(&sample_stub, nullptr, texture, to));
  SHOW(cudaDeviceSynchronize());
}

/// The window of an access policy, of which some part is to hit.
void attributes() {
  struct {
    void* base = nullptr;
    std::size_t bytes = 4096;
    float hits = 0;
    int hit = 0, miss = 0;
    char others[32] = {};
  } window;
  Handle stream = nullptr;
  cudaStreamCreate(&stream);
  for (const float hits :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -0.5f, 1.5f, 0.0f, 0.5f, 1.0f}) {
    window.hits = hits;
    SHOW(cudaStreamSetAttribute(stream, 1, &window));
  }
}

void handles() {
  void* memory = nullptr;
  Handle stream = nullptr, next = nullptr, graph = nullptr, executable = nullptr, event = nullptr, node = nullptr, other = nullptr;
  int status = 9;
  cudaMalloc(&memory, 4);
  cudaMemset(memory, 0, 4);
  std::puts("-- a stream that captures");
  cudaStreamCreate(&stream);
  SHOW(cudaStreamBeginCapture(stream, 0));
  cudaStreamCreate(&other);
  cudaEventCreate(&event);
  SHOW(cudaEventRecord(event, stream));
  SHOW(cudaStreamWaitEvent(other, event, 0));
  SHOW(cudaStreamDestroy(stream));
  SHOW(cudaStreamEndCapture(stream, &graph));
  SHOW(cudaStreamIsCapturing(other, &status));
  std::printf("%d\n", status);
  SHOW(add(memory, 1, stream));
  cudaStreamCreate(&next);
  std::puts(next == stream ? "the same handle" : "another handle");
  SHOW(cudaStreamBeginCapture(next, 0));
  SHOW(add(memory, 1, next));
  SHOW(cudaStreamEndCapture(next, &graph));
  SHOW(cudaGraphInstantiate(&executable, graph, 0));
  SHOW(cudaGraphLaunch(executable, next));
  SHOW(cudaStreamSynchronize(next));
  SHOW(cudaStreamWaitEvent(next, event, 0));
  std::printf("%u\n", value_at(memory));
  std::puts("-- graphs");
  SHOW(cudaGraphDestroy(graph));
  SHOW(cudaGraphDestroy(graph));
  SHOW(cudaGraphInstantiate(&other, graph, 0));
  SHOW(cudaGraphExecDestroy(executable));
  SHOW(cudaGraphLaunch(executable, next));
  cudaGraphCreate(&other, 0);
  std::puts(other == graph || other == executable ? "the same handle" : "another handle");
  SHOW(cudaGraphAddEmptyNode(&node, other, nullptr, 0));
  SHOW(cudaGraphInstantiate(&executable, other, 0));
  SHOW(cudaGraphDestroyNode(node));
  SHOW(cudaGraphNodeGetType(node, &status));
  const Handle gone = node;
  SHOW(cudaGraphAddEmptyNode(&node, other, nullptr, 0));
  std::puts(node == gone ? "the same handle" : "another handle");
  SHOW(cudaGraphNodeSetEnabled(executable, node, 0));
  std::puts("-- an event in a graph");
  SHOW(cudaGraphAddEventRecordNode(&node, other, nullptr, 0, event));
  SHOW(cudaGraphInstantiate(&executable, other, 0));
  SHOW(cudaEventDestroy(event));
  SHOW(cudaGraphLaunch(executable, next));
  SHOW(cudaEventQuery(event));
  cudaEventCreate(&other);
  std::puts(other == event ? "the same handle" : "another handle");
  std::puts("-- memory in a graph");
  std::uint32_t host = 8;
  SHOW(cudaStreamBeginCapture(next, 0));
  SHOW(cudaMemcpyAsync(memory, &host, 4, host_to_device, next));
  SHOW(cudaStreamEndCapture(next, &graph));
  SHOW(cudaGraphInstantiate(&executable, graph, 0));
  SHOW(cudaFree(memory));
  SHOW(cudaGraphLaunch(executable, next));
  std::puts("-- arrays");
  Array *array = nullptr, *level = nullptr;
  MipmappedArray* mipmap = nullptr;
  cudaMallocArray(&array, &floats, 16, 16, 0);
  cudaMallocMipmappedArray(&mipmap, &floats, {16, 16, 0}, 2, 0);
  cudaGetMipmappedArrayLevel(&level, mipmap, 1);
  SHOW(cudaFreeArray(level));
  SHOW(cudaFreeMipmappedArray(mipmap));
  SHOW(cudaMemcpyToArray(level, 0, 0, &host, 4, host_to_device));
  SHOW(cudaFreeArray(array));
  SHOW(cudaFreeArray(array));
  SHOW(cudaMemcpyToArray(array, 0, 0, &host, 4, host_to_device));
  std::puts("-- a pool");
  PoolProperties properties{};
  properties.allocType = 1;
  properties.location.type = 1;
  std::uint64_t used = 9;
  SHOW(cudaMemPoolCreate(&other, &properties));
  SHOW(cudaMallocFromPoolAsync(&memory, 4, other, nullptr));
  SHOW(cudaMemPoolDestroy(other));
  SHOW(cudaMallocFromPoolAsync(&memory, 4, other, nullptr));
  cudaMemPoolCreate(&graph, &properties);
  SHOW(cudaMemPoolGetAttribute(graph, 7, &used));
  std::printf("%llu used\n", static_cast<unsigned long long>(used));
}

/// Modules, streams and memory of contexts of the driver.
void contexts() {
  Handle primary = nullptr, context = nullptr, current = nullptr, stream = nullptr, module = nullptr, function = nullptr;
  unsigned long long address = 0, id = 0, other_id = 0;
  const char* name = nullptr;
  SHOW_CODE(cuInit(0));
  SHOW_CODE(cuDevicePrimaryCtxRetain(&primary, 0));
  SHOW_CODE(cuCtxCreate_v2(&context, 0, 0));
  SHOW_CODE(cuCtxGetId(context, &id));
  SHOW_CODE(cuCtxGetId(primary, &other_id));
  SHOW_CODE(cuMemAlloc_v2(&address, 4));
  SHOW_CODE(cuStreamCreate(&stream, 0));
  SHOW_CODE(cuStreamGetCtx(stream, &current));
  std::puts(current == context && context != primary && id != other_id ? "its context" : "another context");
  SHOW_CODE(cuModuleLoadData(&module, module_text));
  SHOW_CODE(cuModuleGetFunction(&function, module, "add"));
  SHOW_CODE(cuFuncGetName(&name, function));
  SHOW_CODE(cuFuncGetModule(&current, function));
  std::printf("%s of %s module\n", name, current == module ? "its" : "another");
  SHOW_CODE(cuModuleUnload(module));
  SHOW_CODE(cuFuncGetName(&name, function));
  SHOW_CODE(cuModuleGetFunction(&function, module, "add"));
  SHOW_CODE(cuModuleLoadData(&current, module_text));
  std::puts(current == module ? "the same handle" : "another handle");
  SHOW_CODE(cuModuleGetFunction(&function, current, "add"));
  SHOW_CODE(cuCtxDestroy_v2(context));
  SHOW_CODE(cuCtxDestroy_v2(context));
  SHOW_CODE(cuCtxSetCurrent(context));
  SHOW_CODE(cuCtxSetCurrent(primary));
  SHOW_CODE(cuMemFree_v2(address));
  SHOW_CODE(cuStreamQuery(stream));
  SHOW_CODE(cuFuncGetName(&name, function));
  SHOW_CODE(cuLinkDestroy(&primary));
}

/// A plug-in's module: it is gone when it is unregistered.
void unregistered(Wrapper& wrapper, void** module) {
  void* memory = nullptr;
  cudaMalloc(&memory, 4);
  cudaMemset(memory, 0, 4);
  for (int i = 0; i < 100; ++i) {
    if (add(memory, 1) != 0) std::puts("failed");
    __cudaUnregisterFatBinary(module);
    __cudaUnregisterFatBinary(module);
    if (add(memory, 1) == 0) std::puts("launched");
    module = register_module(wrapper);
  }
  std::printf("%u\n", value_at(memory));
}

void enqueue_again(void* left) {
  int& count = *static_cast<int*>(left);
  if (--count > 0 && cudaLaunchHostFunc(nullptr, enqueue_again, left) != 0) std::printf("refused with %d left\n", count);
}

void call_everything(void*) {
  void* memory = nullptr;
  Handle stream = nullptr;
  SHOW(cudaMalloc(&memory, 4));
  SHOW(cudaStreamCreate(&stream));
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaDeviceReset());
  SHOW(cudaMemcpy(&memory, &stream, 8, host_to_host));
  SHOW(add(nullptr, 1));
}

void host_functions() {
  int count = 100000;
  void* memory = nullptr;
  SHOW(cudaLaunchHostFunc(nullptr, enqueue_again, &count));
  SHOW(cudaLaunchHostFunc(nullptr, call_everything, nullptr));
  SHOW(cudaMalloc(&memory, 4));
}

int host_static = 7;

void registered() {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto pages = [&](int protection) {
    return static_cast<char*>(mmap(nullptr, 3 * page, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  };
  char *const memory = pages(PROT_READ | PROT_WRITE), *const constant = pages(PROT_READ), *const none = pages(PROT_NONE);
  SHOW(cudaHostRegister(reinterpret_cast<void*>(0x1000), (std::size_t{1} << 47) - 0x1000, 0));
  SHOW(cudaHostRegister(reinterpret_cast<void*>(0x1000), 4096, 0));
  SHOW(cudaHostRegister(none, page, 0));
  SHOW(cudaHostRegister(constant, page, 0));
  SHOW(cudaHostRegister(constant, page, 8));
  SHOW(cudaHostRegister(&host_static, most - reinterpret_cast<std::uintptr_t>(&host_static), 0));
  munmap(memory + page, page);
  SHOW(cudaHostRegister(memory, 3 * page, 0));
  SHOW(cudaHostRegister(memory, page, 0));
  SHOW(add(memory, 3));
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaHostUnregister(memory));
  std::printf("%d\n", memory[0]);
  SHOW(add(&host_static, 1));
  SHOW(cudaDeviceSynchronize());
}

/// A node with graphs of its own.
void add_conditional(Handle graph) {
  NodeParameters parameters{};
  Handle node = nullptr;
  cudaGraphConditionalHandleCreate(&parameters.of.conditional.handle, graph, 0, 0);
  parameters.type = 13;
  parameters.of.conditional.type = 2;  // switch
  parameters.of.conditional.size = 50;
  SHOW(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters));
}

void reset() {
  void *memory = nullptr, *variable = nullptr, *pinned = nullptr;
  Handle stream = nullptr, event = nullptr, graph = nullptr;
  Array* array = nullptr;
  std::uint32_t value = 9, got = 0;
  cudaMalloc(&memory, 4);
  cudaMallocHost(&pinned, 4);
  cudaMallocArray(&array, &floats, 16, 16, 0);
  cudaStreamCreate(&stream);
  cudaEventCreate(&event);
  cudaGraphCreate(&graph, 0);
  add_conditional(graph);
  SHOW(cudaMemcpyToSymbol(&total_shadow, &value, 4, 0, host_to_device));
  SHOW(cudaGetSymbolAddress(&variable, &total_shadow));
  SHOW(cudaDeviceReset());
  SHOW(cudaMemcpy(&got, memory, 4, device_to_host));
  SHOW(cudaMemcpy(&got, variable, 4, device_to_host));
  SHOW(cudaFree(memory));
  SHOW(cudaFreeHost(pinned));
  SHOW(cudaFreeArray(array));
  SHOW(cudaStreamQuery(stream));
  SHOW(cudaEventQuery(event));
  SHOW(cudaGraphDestroy(graph));
  SHOW(cudaMemcpyFromSymbol(&got, &total_shadow, 4, 0, device_to_host));
  std::printf("%u\n", got);
  SHOW(cudaMalloc(&memory, 4));
  SHOW(cudaMemset(memory, 0, 4));
  SHOW(add(memory, 2));
  std::printf("%u\n", value_at(memory));
}

void limits() {
  for (int limit = 0; limit < 7; ++limit)
    if (limit != 3) SHOW(cudaDeviceSetLimit(limit, most));  // 3: none of this GPU
}

/// The memory behind a handle for other processes keeps its size.
void sealed() {
  void* memory = nullptr;
  Ipc handle{};
  std::uint32_t value = 6;
  cudaMalloc(&memory, 4);
  SHOW(cudaIpcGetMemHandle(&handle, memory));
  int files = 0, shrunk = 0;
  for (int file = 3; file < 64; ++file) {
    if (fcntl(file, F_GET_SEALS) < 0) continue;
    ++files;
    shrunk += ftruncate(file, 0) == 0 ? 1 : 0;
  }
  std::printf("%d file, %d shrunk\n", files, shrunk);
  SHOW(cudaMemcpy(memory, &value, 4, host_to_device));
}

/// Child processes, each made while another thread launches.
void fork_while_launching() {
  std::atomic<bool> ends{false};
  std::thread launches([&] {
    while (!ends) launch(&spin_stub, nullptr, std::uint32_t{2000});
  });
  int good = 0;
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);
      void* memory = nullptr;
      const bool works = cudaMalloc(&memory, 4) == 0 && cudaMemset(memory, 0, 4) == 0 && add(memory, 5) == 0 && value_at(memory) == 5;
      _exit(works ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    good += status == 0 ? 1 : 0;
  }
  ends = true;
  launches.join();
  std::printf("%d of 20\n", good);
}

/// A program of CUDA 13 with a plug-in of CUDA 12: both runtimes have one context.
void both_runtimes() {
  void* const library = dlopen("libcudart.so.12", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return static_cast<void>(std::puts(dlerror()));
  const auto malloc_12 = reinterpret_cast<int (*)(void**, std::size_t)>(dlsym(library, "cudaMalloc"));
  const auto memset_12 = reinterpret_cast<int (*)(void*, int, std::size_t)>(dlsym(library, "cudaMemset"));
  const auto version_12 = reinterpret_cast<int (*)(int*)>(dlsym(library, "cudaRuntimeGetVersion"));
  void* memory = nullptr;
  int old_version = 0, new_version = 0;
  SHOW(malloc_12(&memory, 4));
  SHOW(memset_12(memory, 0, 4));
  SHOW(add(memory, 12));
  std::printf("%u\n", value_at(memory));
  version_12(&old_version);
  cudaRuntimeGetVersion(&new_version);
  std::printf("%d and %d\n", old_version / 1000, new_version / 1000);
  SHOW(cudaFree(memory));
  dlclose(library);
  SHOW(cudaMalloc(&memory, 4));
}

/// A fatbinary of which some bytes are others.
void corrupt(std::size_t at, std::size_t bytes, std::uint64_t value) {
  static std::string fatbinary = host_code::fatbinary_of(module_text);
  std::memcpy(fatbinary.data() + at, &value, bytes);
  static Wrapper wrapper;
  wrapper.data = fatbinary.data();
  register_module(wrapper);
  void* memory = nullptr;
  cudaMalloc(&memory, 4);
  SHOW(add(memory, 1));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (what == "corrupt" && argc == 5) {
    corrupt(std::strtoull(argv[2], nullptr, 0), std::strtoull(argv[3], nullptr, 0), std::strtoull(argv[4], nullptr, 0));
    return 0;
  }
  static const std::string fatbinary = host_code::fatbinary_of(module_text);
  static Wrapper wrapper;
  wrapper.data = fatbinary.data();
  void** const module = register_module(wrapper);
  if (what == "sizes") sizes();
  if (what == "textures") textures();
  if (what == "attributes") attributes();
  if (what == "handles") handles();
  if (what == "contexts") contexts();
  if (what == "unregistered") unregistered(wrapper, module);
  if (what == "host_functions") host_functions();
  if (what == "registered") registered();
  if (what == "reset") reset();
  if (what == "limits") limits();
  if (what == "sealed") sealed();
  if (what == "fork") fork_while_launching();
  if (what == "both") both_runtimes();
}
