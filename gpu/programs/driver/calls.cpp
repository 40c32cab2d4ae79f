// The driver's functions that tell what a program does. Each hands the call on.

#include "gpu/programs/driver/calls.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <vector>

#include <warpmat/cuda/tensor_map_arguments.h>

#include "gpu/programs/driver/recorder.h"

namespace warpmat::programs {
namespace {

/// Notes the outcome of a call that succeeded. What goes wrong here is the recording's concern, never the program's.
template <typename Note>
int noted(int result, Note&& note) {
  if (result != 0) return result;
  Recorder& all = recorder();
  const std::lock_guard lock(all.mutex);
  try {
    note(all);
  } catch (const std::exception& e) {
    say(e.what());
  }
  return result;
}

// ---- Functions by name ------------------------------------------------------------------------------------------------------------------

/// Puts this library's function in place of the one that the driver found.
void replace(const char* name, void** function, int version, std::uint64_t flags) {
  constexpr std::uint64_t per_thread = 2;  // CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
  if (name == nullptr || function == nullptr || *function == nullptr) return;
  if (void* const own = replacement(name, version, (flags & per_thread) != 0)) *function = own;
}

// ---- Modules ----------------------------------------------------------------------------------------------------------------------------

void add_code(Recorder& all, void* owner, const void* image) {
  all.modules.forget(owner);
  all.modules.code[owner] = std::make_shared<Code>(image, all.target());
}

int loaded(int result, Handle* owner, const void* image) {
  return noted(result, [&](Recorder& all) { add_code(all, *owner, image); });
}

/// The same of a file.
int loaded_file(int result, Handle* owner, const char* path) {
  return noted(result, [&](Recorder& all) {
    std::ifstream in(path, std::ios::binary);
    const std::string image(std::istreambuf_iterator<char>(in), {});
    add_code(all, *owner, image.c_str());
  });
}

// ---- Memory -----------------------------------------------------------------------------------------------------------------------------

int allocated(int result, const CUdeviceptr* address, std::size_t bytes, const char* call) {
  return noted(result, [&](Recorder& all) { all.allocations.add(*address, bytes, call); });
}

std::uint64_t address_of(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory);
}

int allocated_on_host(int result, const void* memory, std::size_t bytes, const char* call) {
  return noted(result, [&](Recorder& all) { all.allocations.add(address_of(memory), bytes, call, true); });
}

/// Forgets the memory before the driver frees it, as another thread may get it at once.
template <typename Free>
int freed(std::uint64_t address, Free&& free) {
  Recorder& all = recorder();
  {
    const std::lock_guard lock(all.mutex);
    all.allocations.remove(address);
  }
  return free();
}

// ---- Tensor maps ------------------------------------------------------------------------------------------------------------------------

void add_map(Recorder& all, const void* encoded, const TensorMap::Arguments& map) {
  TensorMap::Encoded bytes;
  std::memcpy(bytes.data(), encoded, bytes.size());
  all.tensor_maps[bytes] = map;
}

// ---- Launches ---------------------------------------------------------------------------------------------------------------------------

Request request_of(Handle function, const Dim3& grid, const Dim3& block, unsigned shared_bytes, void** arguments, void** extra) {
  return {.function = function,
          .config = {.grid = grid, .block = block, .shared_bytes = shared_bytes},
          .cooperative = false,
          .arguments = arguments,
          .extra = extra};
}

int launch_kernel(Request request, std::function<int()> launch) {
  request.launch = std::move(launch);
  return recorder().launch(request);
}

int launch_with(const CUlaunchConfig* config, Handle function, void** arguments, void** extra, std::function<int()> launch) {
  constexpr unsigned cooperative = 2;  // CU_LAUNCH_ATTRIBUTE_COOPERATIVE
  if (config == nullptr || (config->attrs == nullptr && config->numAttrs != 0)) return launch();
  Request request = request_of(function, {config->gridDimX, config->gridDimY, config->gridDimZ},
                               {config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes, arguments, extra);
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config->attrs[i];
    const auto& size = attribute.clusterDim;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) request.config.cluster = {size.x, size.y, size.z};
    if (static_cast<unsigned>(attribute.id) == cooperative) request.cooperative = size.x != 0;
  }
  return launch_kernel(std::move(request), std::move(launch));
}

int launch_graph(int (*launch)(Handle, CUstream), Handle graph, CUstream stream) {
  return noted(launch(graph, stream), [](Recorder& all) { all.skip("a graph", "the kernels of a graph are not compared"); });
}

int began_capture(int result) {
  return noted(result, [](Recorder& all) { ++all.captures; });
}

int ended_capture(int result) {
  Recorder& all = recorder();
  const std::lock_guard lock(all.mutex);
  all.captures = std::max(0, all.captures - 1);  // also where the capture has failed
  return result;
}

}  // namespace

int cuGetProcAddress_v2(const char* name, void** function, int version, std::uint64_t flags, int* status) {
  const int result = WARPMAT_REAL(cuGetProcAddress_v2)(name, function, version, flags, status);
  if (result == 0) replace(name, function, version, flags);
  return result;
}

int cuGetProcAddress(const char* name, void** function, int version, std::uint64_t flags) {
  const int result = WARPMAT_REAL(cuGetProcAddress)(name, function, version, flags);
  if (result == 0) replace(name, function, version, flags);
  return result;
}

int cuModuleLoadData(Handle* module, const void* image) {
  return loaded(WARPMAT_REAL(cuModuleLoadData)(module, image), module, image);
}

int cuModuleLoadDataEx(Handle* module, const void* image, unsigned count, int* options, void** values) {
  return loaded(WARPMAT_REAL(cuModuleLoadDataEx)(module, image, count, options, values), module, image);
}

int cuModuleLoadFatBinary(Handle* module, const void* image) {
  return loaded(WARPMAT_REAL(cuModuleLoadFatBinary)(module, image), module, image);
}

int cuModuleLoad(Handle* module, const char* path) {
  return loaded_file(WARPMAT_REAL(cuModuleLoad)(module, path), module, path);
}

int cuModuleUnload(Handle module) {
  const int result = WARPMAT_REAL(cuModuleUnload)(module);
  return noted(result, [&](Recorder& all) { all.modules.forget(module); });
}

int cuModuleGetFunction(Handle* function, Handle module, const char* name) {
  const int result = WARPMAT_REAL(cuModuleGetFunction)(function, module, name);
  return noted(result, [&](Recorder& all) { all.modules.add_function(*function, module, false, name); });
}

int cuLibraryLoadData(Handle* library, const void* image, int* jit_options, void** jit_values, unsigned jit_count, int* options,
                      void** values, unsigned count) {
  return loaded(WARPMAT_REAL(cuLibraryLoadData)(library, image, jit_options, jit_values, jit_count, options, values, count), library,
                image);
}

int cuLibraryLoadFromFile(Handle* library, const char* path, int* jit_options, void** jit_values, unsigned jit_count, int* options,
                          void** values, unsigned count) {
  return loaded_file(WARPMAT_REAL(cuLibraryLoadFromFile)(library, path, jit_options, jit_values, jit_count, options, values, count),
                     library, path);
}

int cuLibraryUnload(Handle library) {
  const int result = WARPMAT_REAL(cuLibraryUnload)(library);
  return noted(result, [&](Recorder& all) { all.modules.forget(library); });
}

int cuLibraryGetKernel(Handle* kernel, Handle library, const char* name) {
  const int result = WARPMAT_REAL(cuLibraryGetKernel)(kernel, library, name);
  return noted(result, [&](Recorder& all) { all.modules.add_function(*kernel, library, true, name); });
}

int cuLibraryGetModule(Handle* module, Handle library) {
  const int result = WARPMAT_REAL(cuLibraryGetModule)(module, library);
  return noted(result, [&](Recorder& all) {
    const auto found = all.modules.code.find(library);
    if (found != all.modules.code.end()) all.modules.code[*module] = found->second;
  });
}

int cuKernelGetFunction(Handle* function, Handle kernel) {
  const int result = WARPMAT_REAL(cuKernelGetFunction)(function, kernel);
  return noted(result, [&](Recorder& all) {
    const auto found = all.modules.functions.find(kernel);
    if (found != all.modules.functions.end()) all.modules.functions[*function] = found->second;
  });
}

int cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  return allocated(WARPMAT_REAL(cuMemAlloc_v2)(address, bytes), address, bytes, "cuMemAlloc");
}

int cuMemAllocPitch_v2(CUdeviceptr* address, std::size_t* pitch, std::size_t width, std::size_t height, unsigned element) {
  const int result = WARPMAT_REAL(cuMemAllocPitch_v2)(address, pitch, width, height, element);
  return allocated(result, address, result == 0 ? *pitch * height : 0, "cuMemAllocPitch");
}

int cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  return allocated(WARPMAT_REAL(cuMemAllocManaged)(address, bytes, flags), address, bytes, "cuMemAllocManaged");
}

int cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  return allocated(WARPMAT_REAL(cuMemAllocAsync)(address, bytes, stream), address, bytes, "cuMemAllocAsync");
}

int cuMemAllocAsync_ptsz(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  return allocated(WARPMAT_REAL(cuMemAllocAsync_ptsz)(address, bytes, stream), address, bytes, "cuMemAllocAsync");
}

int cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, Handle pool, CUstream stream) {
  return allocated(WARPMAT_REAL(cuMemAllocFromPoolAsync)(address, bytes, pool, stream), address, bytes, "cuMemAllocFromPoolAsync");
}

int cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* address, std::size_t bytes, Handle pool, CUstream stream) {
  return allocated(WARPMAT_REAL(cuMemAllocFromPoolAsync_ptsz)(address, bytes, pool, stream), address, bytes, "cuMemAllocFromPoolAsync");
}

int cuMemFree_v2(CUdeviceptr address) {
  return freed(address, [&] { return WARPMAT_REAL(cuMemFree_v2)(address); });
}

int cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return freed(address, [&] { return WARPMAT_REAL(cuMemFreeAsync)(address, stream); });
}

int cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream) {
  return freed(address, [&] { return WARPMAT_REAL(cuMemFreeAsync_ptsz)(address, stream); });
}

int cuMemHostAlloc(void** address, std::size_t bytes, unsigned flags) {
  const int result = WARPMAT_REAL(cuMemHostAlloc)(address, bytes, flags);
  return allocated_on_host(result, result == 0 ? *address : nullptr, bytes, "cuMemHostAlloc");
}

int cuMemAllocHost_v2(void** address, std::size_t bytes) {
  const int result = WARPMAT_REAL(cuMemAllocHost_v2)(address, bytes);
  return allocated_on_host(result, result == 0 ? *address : nullptr, bytes, "cuMemAllocHost");
}

int cuMemFreeHost(void* address) {
  return freed(address_of(address), [&] { return WARPMAT_REAL(cuMemFreeHost)(address); });
}

int cuMemHostRegister_v2(void* address, std::size_t bytes, unsigned flags) {
  return allocated_on_host(WARPMAT_REAL(cuMemHostRegister_v2)(address, bytes, flags), address, bytes, "cuMemHostRegister");
}

int cuMemHostUnregister(void* address) {
  return freed(address_of(address), [&] { return WARPMAT_REAL(cuMemHostUnregister)(address); });
}

int cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset, unsigned long long handle, unsigned long long flags) {
  return allocated(WARPMAT_REAL(cuMemMap)(address, bytes, offset, handle, flags), &address, bytes, "cuMemMap");
}

int cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  const int result = WARPMAT_REAL(cuMemUnmap)(address, bytes);
  return noted(result, [&](Recorder& all) { all.allocations.remove(address, bytes); });
}

int cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return noted(WARPMAT_REAL(cuDevicePrimaryCtxReset_v2)(device), [](Recorder& all) {
    all.allocations.clear();
    all.modules = {};
  });
}

int cuTensorMapEncodeTiled(void* map, int type, unsigned rank, void* address, const std::uint64_t* dims, const std::uint64_t* strides,
                           const unsigned* box, const unsigned* element_strides, int interleave, int swizzle, int l2_promotion, int fill) {
  const int result = WARPMAT_REAL(cuTensorMapEncodeTiled)(map, type, rank, address, dims, strides, box, element_strides, interleave,
                                                          swizzle, l2_promotion, fill);
  return noted(result, [&](Recorder& all) {
    TensorMap::Arguments made =
        cuda::arguments_of({type, rank, address, dims, strides, element_strides, interleave, swizzle, l2_promotion, fill});
    std::copy_n(box, rank, made.box.begin());
    add_map(all, map, made);
  });
}

int cuTensorMapEncodeIm2col(void* map, int type, unsigned rank, void* address, const std::uint64_t* dims, const std::uint64_t* strides,
                            const int* lower_corner, const int* upper_corner, unsigned channels, unsigned pixels,
                            const unsigned* element_strides, int interleave, int swizzle, int l2_promotion, int fill) {
  const int result = WARPMAT_REAL(cuTensorMapEncodeIm2col)(map, type, rank, address, dims, strides, lower_corner, upper_corner, channels,
                                                           pixels, element_strides, interleave, swizzle, l2_promotion, fill);
  return noted(result, [&](Recorder& all) {
    TensorMap::Arguments made =
        cuda::arguments_of({type, rank, address, dims, strides, element_strides, interleave, swizzle, l2_promotion, fill});
    made.mode = TensorMap::Mode::im2col;
    std::copy_n(lower_corner, rank - 2, made.lower_corner.begin());
    std::copy_n(upper_corner, rank - 2, made.upper_corner.begin());
    made.channels = channels;
    made.pixels = pixels;
    add_map(all, map, made);
  });
}

int cuLaunchKernel(Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                   unsigned shared_bytes, CUstream stream, void** arguments, void** extra) {
  return launch_kernel(request_of(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, arguments, extra), [=] {
    return WARPMAT_REAL(cuLaunchKernel)(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, arguments,
                                        extra);
  });
}

int cuLaunchKernel_ptsz(Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                        unsigned block_z, unsigned shared_bytes, CUstream stream, void** arguments, void** extra) {
  return launch_kernel(request_of(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, arguments, extra), [=] {
    return WARPMAT_REAL(cuLaunchKernel_ptsz)(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, arguments,
                                             extra);
  });
}

int cuLaunchCooperativeKernel(Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                              unsigned block_z, unsigned shared_bytes, CUstream stream, void** arguments) {
  Request request = request_of(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, arguments, nullptr);
  request.cooperative = true;
  return launch_kernel(std::move(request), [=] {
    return WARPMAT_REAL(cuLaunchCooperativeKernel)(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream,
                                                   arguments);
  });
}

int cuLaunchCooperativeKernel_ptsz(Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared_bytes, CUstream stream, void** arguments) {
  Request request = request_of(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, arguments, nullptr);
  request.cooperative = true;
  return launch_kernel(std::move(request), [=] {
    return WARPMAT_REAL(cuLaunchCooperativeKernel_ptsz)(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream,
                                                        arguments);
  });
}

int cuLaunchKernelEx(const CUlaunchConfig* config, Handle function, void** arguments, void** extra) {
  return launch_with(config, function, arguments, extra,
                     [=] { return WARPMAT_REAL(cuLaunchKernelEx)(config, function, arguments, extra); });
}

int cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, Handle function, void** arguments, void** extra) {
  return launch_with(config, function, arguments, extra,
                     [=] { return WARPMAT_REAL(cuLaunchKernelEx_ptsz)(config, function, arguments, extra); });
}

int cuGraphLaunch(Handle graph, CUstream stream) {
  return launch_graph(WARPMAT_REAL(cuGraphLaunch), graph, stream);
}

int cuGraphLaunch_ptsz(Handle graph, CUstream stream) {
  return launch_graph(WARPMAT_REAL(cuGraphLaunch_ptsz), graph, stream);
}

int cuStreamBeginCapture(CUstream stream) {
  return began_capture(WARPMAT_REAL(cuStreamBeginCapture)(stream));
}

int cuStreamBeginCapture_ptsz(CUstream stream) {
  return began_capture(WARPMAT_REAL(cuStreamBeginCapture_ptsz)(stream));
}

int cuStreamBeginCapture_v2(CUstream stream, int mode) {
  return began_capture(WARPMAT_REAL(cuStreamBeginCapture_v2)(stream, mode));
}

int cuStreamBeginCapture_v2_ptsz(CUstream stream, int mode) {
  return began_capture(WARPMAT_REAL(cuStreamBeginCapture_v2_ptsz)(stream, mode));
}

int cuStreamBeginCaptureToGraph(CUstream stream, Handle graph, const Handle* nodes, const Handle* edges, std::size_t count, int mode) {
  return began_capture(WARPMAT_REAL(cuStreamBeginCaptureToGraph)(stream, graph, nodes, edges, count, mode));
}

int cuStreamBeginCaptureToGraph_ptsz(CUstream stream, Handle graph, const Handle* nodes, const Handle* edges, std::size_t count, int mode) {
  return began_capture(WARPMAT_REAL(cuStreamBeginCaptureToGraph_ptsz)(stream, graph, nodes, edges, count, mode));
}

int cuStreamEndCapture(CUstream stream, Handle* graph) {
  return ended_capture(WARPMAT_REAL(cuStreamEndCapture)(stream, graph));
}

int cuStreamEndCapture_ptsz(CUstream stream, Handle* graph) {
  return ended_capture(WARPMAT_REAL(cuStreamEndCapture_ptsz)(stream, graph));
}

}  // namespace warpmat::programs
