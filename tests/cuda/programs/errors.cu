// Provokes errors of the CUDA runtime, and prints one line for each: what the call returned, what cudaGetLastError() gives then and once more,
// and whether the device still works (cudaDeviceSynchronize). Kernels that fail end their process for CUDA, so each has a process of its own.
// The same program runs on a GPU: tests/vectors/errors has what an H200 printed.

#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

__constant__ int constants[4];
__device__ int variable = 5;

__global__ void nothing() {}
__global__ void __launch_bounds__(64) bounded() {}
__global__ void __cluster_dims__(2, 1, 1) in_pairs() {}
__global__ void in_cooperation() {
  cooperative_groups::this_grid().sync();
}

void report(const char* call, cudaError_t result) {
  const cudaError_t last = cudaGetLastError(), then = cudaGetLastError();
  std::printf("%s: %s, last %s, then %s, synchronize %s\n", call, cudaGetErrorName(result), cudaGetErrorName(last), cudaGetErrorName(then),
              cudaGetErrorName(cudaDeviceSynchronize()));
  cudaGetLastError();
}

#define SHOW(...) report(#__VA_ARGS__, __VA_ARGS__)

template <typename Kernel, typename... Arguments>
cudaError_t launch(Kernel kernel, dim3 grid, dim3 block, std::size_t shared_bytes, Arguments... arguments) {
  kernel<<<grid, block, shared_bytes>>>(arguments...);
  return cudaPeekAtLastError();
}

cudaError_t launch_cluster(unsigned blocks, unsigned x, unsigned y = 1) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {x, y, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(32);
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, nothing);
}

void memory_calls() {
  int *device = nullptr, *freed = nullptr, *managed = nullptr, *pinned = nullptr;
  std::vector<int> host(4096);
  void* pointer = nullptr;
  std::size_t bytes = 0;
  cudaMalloc(&device, 64);
  cudaMalloc(&freed, 1 << 22);
  cudaFree(freed);
  SHOW(cudaMalloc(static_cast<void**>(nullptr), 4));
  SHOW(cudaMalloc(&pointer, std::size_t{1} << 50));
  SHOW(cudaMalloc(&pointer, 0));
  SHOW(cudaFree(nullptr));
  SHOW(cudaFree(device + 1));
  SHOW(cudaFree(host.data()));
  SHOW(cudaFree(freed));
  SHOW(cudaFreeHost(nullptr));
  SHOW(cudaFreeHost(device));
  SHOW(cudaFreeHost(host.data()));
  SHOW(cudaMallocHost(static_cast<void**>(nullptr), 4));
  SHOW(cudaMallocManaged(&managed, 4, 9));
  SHOW(cudaMallocManaged(&managed, 0));
  SHOW(cudaMallocManaged(static_cast<void**>(nullptr), 4));
  SHOW(cudaHostAlloc(&pointer, 4, 64));
  SHOW(cudaMallocPitch(static_cast<void**>(nullptr), &bytes, 16, 16));
  SHOW(cudaMallocPitch(&pointer, &bytes, std::size_t{1} << 40, 1 << 10));
  SHOW(cudaMemcpy(device, host.data(), 64, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(device, host.data(), 1 << 23, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(host.data(), device, 64, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(device, host.data(), 64, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy(host.data(), device, 64, cudaMemcpyHostToHost));
  SHOW(cudaMemcpy(host.data(), device, 64, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy(device, host.data(), 64, static_cast<cudaMemcpyKind>(7)));
  SHOW(cudaMemcpy(nullptr, host.data(), 64, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(device, nullptr, 64, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2D(device, 8, host.data(), 16, 16, 2, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2D(device, 16, host.data(), 8, 16, 2, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy3D(nullptr));
  SHOW(cudaMemset(nullptr, 0, 64));
  SHOW(cudaMemset(device, 0, std::size_t{1} << 40));
  SHOW(cudaMemset(host.data(), 0, 64));
  SHOW(cudaMemset2D(device, 8, 0, 16, 2));
  SHOW(cudaMemcpyToSymbol(host.data(), host.data(), 4));
  SHOW(cudaMemcpyToSymbol(constants, host.data(), 32));
  SHOW(cudaMemcpyToSymbol(constants, host.data(), 8, 12));
  SHOW(cudaMemcpyToSymbol(constants, host.data(), 8, 0, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpyFromSymbol(host.data(), variable, 8));
  SHOW(cudaMemcpyFromSymbol(host.data(), variable, 4, 0, cudaMemcpyHostToDevice));
  SHOW(cudaGetSymbolAddress(&pointer, static_cast<const void*>(host.data())));
  SHOW(cudaGetSymbolSize(&bytes, static_cast<const void*>(host.data())));
  SHOW(cudaHostUnregister(host.data()));
  SHOW(cudaHostGetDevicePointer(&pointer, host.data() + 1024, 1));
  SHOW(cudaHostRegister(nullptr, 64, 0));
  SHOW(cudaHostRegister(host.data(), 0, 0));
  SHOW(cudaHostRegister(host.data(), 4096, 0));
  SHOW(cudaHostRegister(host.data(), 4096, 0));
  SHOW(cudaHostUnregister(host.data() + 1));
  SHOW(cudaHostUnregister(host.data()));
  SHOW(cudaHostUnregister(host.data()));
  cudaMallocHost(&pinned, 64);
  SHOW(cudaHostRegister(pinned, 64, 0));
  SHOW(cudaFree(pinned));
  SHOW(cudaHostGetFlags(nullptr, pinned));
  SHOW(cudaPointerGetAttributes(nullptr, device));
  SHOW(cudaMemGetInfo(nullptr, nullptr));
  SHOW(cudaMallocAsync(static_cast<void**>(nullptr), 64, cudaStreamPerThread));
  SHOW(cudaMallocAsync(&pointer, std::size_t{1} << 50, cudaStreamPerThread));
  SHOW(cudaFreeAsync(nullptr, cudaStreamPerThread));
  SHOW(cudaFreeAsync(host.data(), cudaStreamPerThread));
  SHOW(cudaDeviceGetDefaultMemPool(nullptr, 0));
  cudaMemPool_t pool = nullptr;
  SHOW(cudaDeviceGetDefaultMemPool(&pool, 99));
  cudaDeviceGetDefaultMemPool(&pool, 0);
  SHOW(cudaMemPoolDestroy(pool));
  SHOW(cudaMemPoolSetAttribute(pool, static_cast<cudaMemPoolAttr>(99), &bytes));
  SHOW(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &bytes));
}

void device_calls() {
  int value = 0;
  std::size_t bytes = 0;
  cudaDeviceProp properties;
  void* pointer = nullptr;
  SHOW(cudaSetDevice(99));
  SHOW(cudaSetDevice(-1));
  SHOW(cudaGetDevice(nullptr));
  SHOW(cudaGetDeviceCount(nullptr));
  SHOW(cudaGetDeviceProperties(&properties, 99));
  SHOW(cudaGetDeviceProperties(nullptr, 0));
  SHOW(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(100000), 0));
  SHOW(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 99));
  SHOW(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
  SHOW(cudaDeviceGetLimit(&bytes, static_cast<cudaLimit>(99)));
  SHOW(cudaDeviceGetLimit(nullptr, cudaLimitStackSize));
  SHOW(cudaDeviceSetLimit(static_cast<cudaLimit>(99), 4096));
  SHOW(cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(99)));
  SHOW(cudaChooseDevice(nullptr, nullptr));
  SHOW(cudaDeviceCanAccessPeer(&value, 0, 99));
  SHOW(cudaDeviceEnablePeerAccess(0, 0));
  SHOW(cudaDeviceEnablePeerAccess(99, 0));
  SHOW(cudaDeviceDisablePeerAccess(0));
  SHOW(cudaDeviceGetByPCIBusId(&value, "0123:45:67.0"));
  SHOW(cudaDriverGetVersion(nullptr));
  SHOW(cudaRuntimeGetVersion(nullptr));
  SHOW(cudaDeviceGetStreamPriorityRange(nullptr, nullptr));
  cudaDriverEntryPointQueryResult found;
  SHOW(cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &pointer, 12000, 0, &found));
}

void stream_calls() {
  cudaStream_t stream = nullptr, blocking = nullptr;
  cudaEvent_t first = nullptr, second = nullptr, untimed = nullptr;
  float milliseconds = 0;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamCreate(&blocking);
  cudaEventCreate(&first);
  cudaEventCreate(&second);
  cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming);
  SHOW(cudaStreamCreate(nullptr));
  SHOW(cudaStreamCreateWithFlags(&stream, 64));
  SHOW(cudaStreamDestroy(nullptr));
  SHOW(cudaStreamGetFlags(stream, nullptr));
  SHOW(cudaEventCreate(static_cast<cudaEvent_t*>(nullptr)));
  SHOW(cudaEventCreateWithFlags(&second, 64));
  SHOW(cudaEventRecord(nullptr, stream));
  SHOW(cudaEventQuery(first));
  SHOW(cudaEventQuery(nullptr));
  SHOW(cudaEventSynchronize(nullptr));
  SHOW(cudaEventElapsedTime(&milliseconds, first, second));
  cudaEventRecord(first);
  cudaEventRecord(untimed);
  cudaDeviceSynchronize();
  SHOW(cudaEventElapsedTime(&milliseconds, first, untimed));
  SHOW(cudaEventElapsedTime(nullptr, first, first));
  SHOW(cudaEventDestroy(nullptr));
  SHOW(cudaStreamWaitEvent(stream, nullptr, 0));
  SHOW(cudaStreamWaitEvent(stream, first, 77));
  SHOW(cudaStreamAddCallback(stream, nullptr, nullptr, 0));
  SHOW(cudaLaunchHostFunc(stream, nullptr, nullptr));
  // capture
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  int* device = nullptr;
  cudaMalloc(&device, 64);
  SHOW(cudaStreamEndCapture(stream, &graph));
  SHOW(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
  SHOW(cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(9)));
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  const cudaError_t twice = cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  const cudaError_t waits = cudaStreamSynchronize(stream);
  const cudaError_t behind = (nothing<<<1, 1, 0, stream>>>(), cudaGetLastError());
  const cudaError_t end = cudaStreamEndCapture(stream, &graph);
  std::printf("capture begun twice: %s, cudaStreamSynchronize in it %s, a launch behind that %s, end %s\n", cudaGetErrorName(twice),
              cudaGetErrorName(waits), cudaGetErrorName(behind), cudaGetErrorName(end));
  cudaGetLastError();
  cudaStreamBeginCapture(blocking, cudaStreamCaptureModeGlobal);
  void* pointer = nullptr;
  const cudaError_t allocates = cudaMalloc(&pointer, 4);
  const cudaError_t legacy = (nothing<<<1, 1>>>(), cudaGetLastError());
  const cudaError_t ended = cudaStreamEndCapture(blocking, &graph);
  std::printf("cudaMalloc in a capture: %s, a launch in the legacy stream %s, end %s\n", cudaGetErrorName(allocates),
              cudaGetErrorName(legacy), cudaGetErrorName(ended));
  cudaGetLastError();
  SHOW(cudaGraphCreate(nullptr, 0));
  SHOW(cudaGraphCreate(&graph, 7));
  cudaGraphCreate(&graph, 0);
  SHOW(cudaGraphInstantiate(&executable, static_cast<cudaGraph_t>(nullptr), 0));
  SHOW(cudaGraphLaunch(nullptr, stream));
  SHOW(cudaGraphDestroy(nullptr));
  SHOW(cudaGraphExecDestroy(nullptr));
  cudaGraphNode_t node = nullptr, other = nullptr;
  SHOW(cudaGraphAddEmptyNode(nullptr, graph, nullptr, 0));
  SHOW(cudaGraphAddEmptyNode(&node, graph, nullptr, 1));
  SHOW(cudaGraphAddKernelNode(&node, graph, nullptr, 0, nullptr));
  cudaGraphAddEmptyNode(&node, graph, nullptr, 0);
  cudaGraphAddEmptyNode(&other, graph, &node, 1);
  SHOW(cudaGraphAddDependencies(graph, &node, &node, nullptr, 1));
  SHOW(cudaGraphAddDependencies(graph, &node, &other, nullptr, 1));
}

void launches() {
  int* device = nullptr;
  int value = 0;
  cudaMalloc(&device, 64);
  cudaFuncAttributes attributes;
  SHOW(launch(nothing, 0, 1, 0));
  SHOW(launch(nothing, 1, 0, 0));
  SHOW(launch(nothing, 1, 1025, 0));
  SHOW(launch(nothing, 1, dim3(1, 1, 65), 0));
  SHOW(launch(nothing, 1, dim3(32, 32, 2), 0));
  SHOW(launch(nothing, dim3(1, 65536), 1, 0));
  SHOW(launch(nothing, dim3(1, 1, 65536), 1, 0));
  SHOW(launch(nothing, 1, 1, 48 << 10));
  SHOW(launch(nothing, 1, 1, (48 << 10) + 1));
  SHOW(launch(nothing, 1, 1, 1 << 20));
  SHOW(launch(bounded, 1, 65, 0));
  SHOW(launch(in_pairs, 3, 32, 0));
  SHOW(launch_cluster(8, 8));
  SHOW(launch_cluster(16, 16));
  SHOW(launch_cluster(32, 32));
  SHOW(launch_cluster(9, 2));
  SHOW(launch_cluster(8, 0));
  SHOW(cudaLaunchKernel(static_cast<const void*>(&value), 1, 1, nullptr, 0, nullptr));
  SHOW(cudaLaunchKernel(static_cast<const void*>(nullptr), 1, 1, nullptr, 0, nullptr));
  SHOW(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(in_cooperation), dim3(1 << 20), dim3(1024), nullptr, 0, nullptr));
  SHOW(cudaFuncGetAttributes(&attributes, static_cast<const void*>(&value)));
  SHOW(cudaFuncGetAttributes(nullptr, reinterpret_cast<const void*>(nothing)));
  SHOW(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
  SHOW(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
  SHOW(cudaFuncSetAttribute(nothing, static_cast<cudaFuncAttribute>(99), 1));
  SHOW(cudaFuncSetAttribute(nothing, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
  SHOW(cudaFuncSetCacheConfig(nothing, static_cast<cudaFuncCache>(99)));
  SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, nothing, 32, 0));
  SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, nothing, 0, 0));
  SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, nothing, 2048, 0));
  std::printf("%d blocks\n", value);
}

void textures() {
  cudaArray_t array = nullptr, plain = nullptr;
  cudaTextureObject_t texture = 0;
  cudaSurfaceObject_t surface = 0;
  const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>(), bytes = cudaCreateChannelDesc<uchar4>();
  int* device = nullptr;
  cudaMalloc(&device, 4096);
  cudaChannelFormatDesc odd = floats;
  odd.x = 12;
  cudaChannelFormatDesc three{32, 32, 32, 0, cudaChannelFormatKindFloat};
  SHOW(cudaMallocArray(nullptr, &floats, 8, 8));
  SHOW(cudaMallocArray(&array, nullptr, 8, 8));
  SHOW(cudaMallocArray(&array, &odd, 8, 8));
  SHOW(cudaMallocArray(&array, &three, 8, 8));
  SHOW(cudaMallocArray(&array, &floats, 0, 0));
  SHOW(cudaMallocArray(&array, &floats, 1 << 20, 1 << 20));
  SHOW(cudaMalloc3DArray(&array, &floats, cudaExtent{8, 8, 5}, cudaArrayCubemap));
  SHOW(cudaMalloc3DArray(&array, &floats, cudaExtent{8, 4, 6}, cudaArrayCubemap));
  SHOW(cudaFreeArray(nullptr));
  cudaMallocArray(&array, &floats, 8, 8, cudaArraySurfaceLoadStore);
  cudaMallocArray(&plain, &bytes, 8, 8);
  SHOW(cudaMemcpy2DToArray(array, 0, 0, device, 32, 32, 9, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy2DToArray(array, 4, 0, device, 32, 32, 8, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy2DToArray(array, 0, 0, device, 16, 32, 8, cudaMemcpyDeviceToDevice));
  cudaResourceDesc resource{};
  cudaTextureDesc how{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  SHOW(cudaCreateTextureObject(nullptr, &resource, &how, nullptr));
  SHOW(cudaCreateTextureObject(&texture, nullptr, &how, nullptr));
  SHOW(cudaCreateTextureObject(&texture, &resource, nullptr, nullptr));
  SHOW(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  how.filterMode = static_cast<cudaTextureFilterMode>(9);
  SHOW(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  how.filterMode = cudaFilterModeLinear;
  resource.res.array.array = plain;
  SHOW(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  how.readMode = cudaReadModeNormalizedFloat;
  SHOW(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  SHOW(cudaCreateSurfaceObject(&surface, &resource));
  resource.res.array.array = nullptr;
  SHOW(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  how = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {device, floats, 64};
  SHOW(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  SHOW(cudaCreateSurfaceObject(&surface, &resource));
  resource.res.linear.devPtr = device + 1;
  SHOW(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  resource.res.linear = {device, floats, std::size_t{1} << 40};
  SHOW(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {device, floats, 8, 8, 33};
  SHOW(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  SHOW(cudaDestroyTextureObject(0));
  SHOW(cudaDestroySurfaceObject(0));
}

// ---- Kernels that fail

__global__ void load_null(int* out) {
  *out = *static_cast<volatile int*>(nullptr);
}
__global__ void load_far(int* out) {
  *out = *(reinterpret_cast<volatile int*>(out) + (std::int64_t{1} << 40));
}
__global__ void misaligned(int* out) {
  *reinterpret_cast<volatile int*>(reinterpret_cast<char*>(out) + 2) = 1;
}
__global__ void misaligned_shared(int* out) {
  __shared__ char bytes[64];
  *reinterpret_cast<volatile int*>(bytes + 1 + out[0]) = 1;
  out[1] = bytes[3];
}
__global__ void shared_far(int* out) {
  extern __shared__ int words[];
  words[(out[0] + 1) << 20] = 1;
  out[1] = words[0];
}
__global__ void local_far(int* out) {
  volatile int words[4] = {1, 2, 3, 4};
  words[(out[0] + 1) << 26] = 1;
  out[1] = words[out[2] & 3];
}
__global__ void fails_assertion(int* out) {
  assert(out == nullptr);
}
__global__ void traps(int*) {
  __trap();
}
__global__ void stops(int*) {
  asm volatile("brkpt;");
}
void fail(void (*kernel)(int*), const char* name) {
  int* device = nullptr;
  void* pointer = nullptr;
  cudaMalloc(&device, 4096);
  cudaMemset(device, 0, 4096);
  cudaDeviceSynchronize();
  kernel<<<1, 1>>>(device);
  const cudaError_t launched = cudaGetLastError();
  const cudaError_t synchronized = cudaDeviceSynchronize();
  const cudaError_t last = cudaGetLastError(), then = cudaGetLastError();
  const cudaError_t allocated = cudaMalloc(&pointer, 4), copied = cudaMemcpy(&pointer, device, 4, cudaMemcpyDeviceToHost);
  nothing<<<1, 1>>>();
  const cudaError_t again = cudaGetLastError();
  std::printf("%s: launch %s, synchronize %s, last %s, then %s, cudaMalloc %s, cudaMemcpy %s, launch %s, cudaFree %s\n", name,
              cudaGetErrorName(launched), cudaGetErrorName(synchronized), cudaGetErrorName(last), cudaGetErrorName(then),
              cudaGetErrorName(allocated), cudaGetErrorName(copied), cudaGetErrorName(again), cudaGetErrorName(cudaFree(device)));
  const cudaError_t reset = cudaDeviceReset();
  std::printf("  cudaDeviceReset %s, then cudaMalloc %s\n", cudaGetErrorName(reset), cudaGetErrorName(cudaMalloc(&pointer, 4)));
}

#define FAIL(kernel) {#kernel, [] { fail(kernel, #kernel); }}
const struct {
  const char* name;
  void (*run)();
} parts[] = {{"memory", memory_calls},
             {"device", device_calls},
             {"streams", stream_calls},
             {"launches", launches},
             {"textures", textures},
             FAIL(load_null),
             FAIL(load_far),
             FAIL(misaligned),
             FAIL(misaligned_shared),
             FAIL(shared_far),
             FAIL(local_far),
             FAIL(fails_assertion),
             FAIL(traps),
             FAIL(stops)};

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  for (const auto& part : parts) {
    if (argc > 1) {
      if (std::strcmp(argv[1], part.name) == 0) part.run();
      continue;
    }
    std::printf("-- %s\n", part.name);
    const pid_t child = fork();
    if (child == 0) {
      part.run();
      std::fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) std::printf("%s ended with status %d\n", part.name, status);
  }
}
