// Several GPUs in one process: what each has for itself, what they share, and the errors of what they do not. Each scenario runs in a process of
// its own, as a kernel's fault ends all that its process can do. gpus.txt is what two H200 printed (CUDA 13.0, driver 580.159.04).

#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

__device__ int own = 5;
__managed__ int shared_by_all = 7;

__global__ void set_own(int value) { own = value; }
__global__ void add_shared(int value) { shared_by_all += value; }
__global__ void fill(int* to, int value) { to[threadIdx.x] = value + threadIdx.x; }
__global__ void copy(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void with_dynamic(int* to) {
  extern __shared__ int dynamic[];
  dynamic[20000] = 3;
  to[0] = dynamic[20000];
}
/// Waits for `flag`, then says that it has seen it.
__global__ void wait_for(volatile int* flag, volatile int* answer) {
  while (*flag == 0) continue;
  *answer = *flag + 1;
}
__global__ void set_flag(volatile int* flag, int value) { *flag = value; }

static void show(const char* what, cudaError_t error) {
  std::printf("%s: %s\n", what, cudaGetErrorName(error));
  static_cast<void>(cudaGetLastError());
}
static void show(const char* what, CUresult error) {
  const char* name = nullptr;
  cuGetErrorName(error, &name);
  std::printf("%s: %s\n", what, name == nullptr ? "?" : name);
}
static int* allocate(int gpu, int value) {
  int* at = nullptr;
  CHECK(cudaSetDevice(gpu));
  CHECK(cudaMalloc(&at, 32 * sizeof(int)));
  fill<<<1, 32>>>(at, value);
  CHECK(cudaDeviceSynchronize());
  return at;
}
static int value_at(const int* at) {
  int value = 0;
  CHECK(cudaMemcpy(&value, at, sizeof value, cudaMemcpyDefault));
  return value;
}

static void devices() {
  int now = -1, can = -1, rank = -1;
  CHECK(cudaSetDevice(1));
  CHECK(cudaGetDevice(&now));
  std::printf("current: %d\n", now);
  std::thread([] {
    int of_thread = -1;
    CHECK(cudaGetDevice(&of_thread));
    std::printf("of a new thread: %d\n", of_thread);
  }).join();
  show("device -1", cudaSetDevice(-1));
  show("device 99", cudaSetDevice(99));
  cudaDeviceProp first, second;
  CHECK(cudaGetDeviceProperties(&first, 0));
  CHECK(cudaGetDeviceProperties(&second, 1));
  std::printf("other bus: %d, other uuid: %d, same name: %d\n", first.pciBusID != second.pciBusID || first.pciDeviceID != second.pciDeviceID,
              std::memcmp(&first.uuid, &second.uuid, sizeof first.uuid) != 0, std::strcmp(first.name, second.name) == 0);
  CHECK(cudaDeviceCanAccessPeer(&can, 0, 1));
  std::printf("0 can access 1: %d", can);
  CHECK(cudaDeviceCanAccessPeer(&can, 1, 1));
  std::printf(", 1 can access itself: %d\n", can);
  show("can access 99", cudaDeviceCanAccessPeer(&can, 0, 99));
  CHECK(cudaDeviceGetP2PAttribute(&rank, cudaDevP2PAttrAccessSupported, 0, 1));
  std::printf("access: %d", rank);
  CHECK(cudaDeviceGetP2PAttribute(&rank, cudaDevP2PAttrNativeAtomicSupported, 0, 1));
  std::printf(", atomics: %d\n", rank);
  show("attribute of one", cudaDeviceGetP2PAttribute(&rank, cudaDevP2PAttrAccessSupported, 1, 1));
  show("attribute 99", cudaDeviceGetP2PAttribute(&rank, static_cast<cudaDeviceP2PAttr>(99), 0, 1));
  char id[32];
  CHECK(cudaDeviceGetPCIBusId(id, sizeof id, 1));
  CHECK(cudaDeviceGetByPCIBusId(&now, id));
  std::printf("by its bus id: %d\n", now);
}

static void memory() {
  int* const first = allocate(0, 100);
  int* const second = allocate(1, 200);
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, first));
  std::printf("first: device %d", attributes.device);
  CHECK(cudaPointerGetAttributes(&attributes, second));
  std::printf(", second: device %d", attributes.device);
  int* host = nullptr;
  CHECK(cudaMallocHost(&host, 64));
  CHECK(cudaPointerGetAttributes(&attributes, host));
  std::printf(", host memory: device %d\n", attributes.device);
  CHECK(cudaSetDevice(0));
  std::printf("values: %d %d\n", value_at(first), value_at(second));
  show("copy by address", cudaMemcpy(first, second, 16, cudaMemcpyDefault));
  std::printf("values: %d\n", value_at(first));
  show("peer copy", cudaMemcpyPeer(second, 1, first + 8, 0, 16));
  std::printf("values: %d\n", value_at(second));
  show("peer copy with the wrong devices", cudaMemcpyPeer(second, 0, first + 9, 1, 16));
  show("peer copy to device 99", cudaMemcpyPeer(second, 99, first, 0, 16));
  show("fill of another's memory", cudaMemset(second, 0, 16));
  std::printf("values: %d\n", value_at(second));
  cudaMemcpy3DPeerParms box{};
  box.dstDevice = 1;
  box.dstPtr = make_cudaPitchedPtr(second, 64, 16, 2);
  box.srcPtr = make_cudaPitchedPtr(first, 32, 8, 4);
  box.extent = make_cudaExtent(4, 2, 1);
  show("box to a peer", cudaMemcpy3DPeer(&box));
  std::printf("values: %d %d %d\n", value_at(second), value_at(second + 1), value_at(second + 16));
  fill<<<1, 16>>>(host, 40);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaSetDevice(1));
  copy<<<1, 16>>>(second, host);
  CHECK(cudaDeviceSynchronize());
  std::printf("through host memory: %d\n", value_at(second));
  std::size_t free_0 = 0, free_1 = 0, total = 0;
  void* large = nullptr;
  CHECK(cudaMalloc(&large, 1 << 30));
  CHECK(cudaMemGetInfo(&free_1, &total));
  CHECK(cudaSetDevice(0));
  CHECK(cudaMemGetInfo(&free_0, &total));
  std::printf("device 1 has less: %d\n", free_1 + (1u << 29) < free_0);
  show("free of another's", cudaFree(large));
  show("free again", cudaFree(large));
}

static void symbols() {
  int value = 0;
  int *at_0 = nullptr, *at_1 = nullptr;
  CHECK(cudaSetDevice(0));
  set_own<<<1, 1>>>(11);
  CHECK(cudaGetSymbolAddress(reinterpret_cast<void**>(&at_0), own));
  CHECK(cudaSetDevice(1));
  CHECK(cudaMemcpyFromSymbol(&value, own, sizeof value));
  CHECK(cudaGetSymbolAddress(reinterpret_cast<void**>(&at_1), own));
  std::printf("own of 1: %d, apart: %d\n", value, at_0 != at_1);
  value = 12;
  CHECK(cudaMemcpyToSymbol(own, &value, sizeof value));
  CHECK(cudaSetDevice(0));
  CHECK(cudaMemcpyFromSymbol(&value, own, sizeof value));
  std::printf("own of 0: %d, by address: %d %d\n", value, value_at(at_0), value_at(at_1));
  add_shared<<<1, 1>>>(10);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaSetDevice(1));
  add_shared<<<1, 1>>>(100);
  CHECK(cudaDeviceSynchronize());
  std::printf("managed: %d\n", shared_by_all);
  int* managed = nullptr;
  CHECK(cudaMallocManaged(&managed, 64));
  fill<<<1, 16>>>(managed, 60);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaSetDevice(0));
  fill<<<1, 8>>>(managed, 80);
  CHECK(cudaDeviceSynchronize());
  std::printf("managed memory: %d %d\n", managed[7], managed[8]);
}

static void streams() {
  int* const first = allocate(0, 100);
  int* const second = allocate(1, 200);
  cudaStream_t of_0 = nullptr, of_1 = nullptr;
  cudaEvent_t event_0 = nullptr, event_1 = nullptr, timed_0 = nullptr;
  CHECK(cudaSetDevice(0));
  CHECK(cudaStreamCreate(&of_0));
  CHECK(cudaEventCreate(&event_0));
  CHECK(cudaEventCreate(&timed_0));
  CHECK(cudaSetDevice(1));
  CHECK(cudaStreamCreate(&of_1));
  CHECK(cudaEventCreate(&event_1));
  int device = -1;
  show("device of a stream", cudaStreamGetDevice(of_0, &device));
  std::printf("it is of %d\n", device);
  fill<<<1, 32, 0, of_0>>>(first, 300);
  show("launch in another's stream", cudaGetLastError());
  show("record in another's stream", cudaEventRecord(event_1, of_0));
  show("record another's event", cudaEventRecord(event_0, of_1));
  show("record another's event in its stream", cudaEventRecord(event_0, of_0));
  show("wait for another's event", cudaStreamWaitEvent(of_1, event_0, 0));
  show("record", cudaEventRecord(event_1, of_1));
  show("copy in another's stream", cudaMemcpyAsync(second, first, 64, cudaMemcpyDefault, of_0));
  show("fill in another's stream", cudaMemsetAsync(first, 0, 64, of_0));
  show("fill of its memory in another's stream", cudaMemsetAsync(second, 1, 64, of_0));
  show("host function in another's stream", cudaLaunchHostFunc(of_0, [](void*) {}, nullptr));
  show("wait for another's stream", cudaStreamSynchronize(of_0));
  show("ask another's stream", cudaStreamQuery(of_0));
  show("wait for another's event", cudaEventSynchronize(event_0));
  float time = 0;
  show("time between two devices", cudaEventElapsedTime(&time, event_0, event_1));
  CHECK(cudaSetDevice(0));
  std::printf("first: %d, second: %d\n", value_at(first), value_at(second));
  show("destroy another's stream", cudaStreamDestroy(of_1));
  show("destroy another's event", cudaEventDestroy(event_1));
}

static void peers() {
  int* const first = allocate(0, 100);
  int* const second = allocate(1, 200);
  CHECK(cudaSetDevice(0));
  show("disable what is not enabled", cudaDeviceDisablePeerAccess(1));
  show("itself", cudaDeviceEnablePeerAccess(0, 0));
  show("with flags", cudaDeviceEnablePeerAccess(1, 1));
  show("device 99", cudaDeviceEnablePeerAccess(99, 0));
  show("device 99 disabled", cudaDeviceDisablePeerAccess(99));
  show("enable", cudaDeviceEnablePeerAccess(1, 0));
  show("enable again", cudaDeviceEnablePeerAccess(1, 0));
  copy<<<1, 32>>>(first, second);
  show("read by kernel", cudaDeviceSynchronize());
  fill<<<1, 32>>>(second, 400);
  show("written by kernel", cudaDeviceSynchronize());
  std::printf("values: %d %d\n", value_at(first), value_at(second));
  int* later = allocate(1, 500);
  CHECK(cudaSetDevice(0));
  copy<<<1, 32>>>(first, later);
  show("allocated later", cudaDeviceSynchronize());
  int* symbol = nullptr;
  CHECK(cudaSetDevice(1));
  CHECK(cudaGetSymbolAddress(reinterpret_cast<void**>(&symbol), own));
  CHECK(cudaSetDevice(0));
  copy<<<1, 1>>>(first, symbol);
  show("a variable", cudaDeviceSynchronize());
  int value = 0;
  show("copy from it", cudaMemcpy(&value, first, sizeof value, cudaMemcpyDefault));
}

static void no_access() {
  int* const first = allocate(0, 100);
  int* const second = allocate(1, 200);
  CHECK(cudaSetDevice(0));
  copy<<<1, 32>>>(first, second);
  show("launch", cudaGetLastError());
  show("end", cudaDeviceSynchronize());
  void* at = nullptr;
  show("allocate", cudaMalloc(&at, 64));
  show("the other device", cudaSetDevice(1));
  show("allocate there", cudaMalloc(&at, 64));
  copy<<<1, 8>>>(second, second + 8);
  show("launch there", cudaGetLastError());
  show("end there", cudaDeviceSynchronize());
  int value = 0;
  show("copy from there", cudaMemcpy(&value, second, 4, cudaMemcpyDefault));
  std::printf("value: %d\n", value);
  show("copy from the first", cudaMemcpy(&value, first, 4, cudaMemcpyDefault));
  show("the first device", cudaSetDevice(0));
  show("allocate", cudaMalloc(&at, 64));
}

static void one_way() {
  int* const first = allocate(0, 100);
  int* const second = allocate(1, 200);
  CHECK(cudaSetDevice(0));
  CHECK(cudaDeviceEnablePeerAccess(1, 0));
  copy<<<1, 32>>>(first, second);
  show("0 reads 1", cudaDeviceSynchronize());
  CHECK(cudaSetDevice(1));
  copy<<<1, 32>>>(second, first);
  show("1 reads 0", cudaDeviceSynchronize());
  show("the first device", cudaSetDevice(0));
  show("end", cudaDeviceSynchronize());
}

static void disabled() {
  int* const first = allocate(0, 100);
  int* const second = allocate(1, 200);
  CHECK(cudaSetDevice(0));
  CHECK(cudaDeviceEnablePeerAccess(1, 0));
  copy<<<1, 32>>>(first, second);
  show("enabled", cudaDeviceSynchronize());
  CHECK(cudaDeviceDisablePeerAccess(1));
  copy<<<1, 32>>>(first, second);
  show("disabled", cudaDeviceSynchronize());
}

static void pools() {
  int *of_pool = nullptr, *first = allocate(0, 100);
  cudaMemPool_t pool_0 = nullptr, pool_1 = nullptr;
  CHECK(cudaDeviceGetDefaultMemPool(&pool_0, 0));
  CHECK(cudaDeviceGetDefaultMemPool(&pool_1, 1));
  std::printf("apart: %d\n", pool_0 != pool_1);
  show("another device's pool", cudaDeviceSetMemPool(0, pool_1));
  cudaMemLocation location{};
  location.type = cudaMemLocationTypeDevice;
  location.id = 0;
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
  show("ask for access", cudaMemPoolGetAccess(&flags, pool_1, &location));
  std::printf("access: %d\n", static_cast<int>(flags));
  cudaMemAccessDesc access{};
  access.location = location;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  show("give access", cudaMemPoolSetAccess(pool_1, &access, 1));
  show("ask for access", cudaMemPoolGetAccess(&flags, pool_1, &location));
  std::printf("access: %d\n", static_cast<int>(flags));
  access.flags = cudaMemAccessFlagsProtNone;
  show("take a device's own access", cudaMemPoolSetAccess(pool_0, &access, 1));
  CHECK(cudaSetDevice(1));
  CHECK(cudaMallocAsync(reinterpret_cast<void**>(&of_pool), 128, nullptr));
  fill<<<1, 32>>>(of_pool, 600);
  CHECK(cudaDeviceSynchronize());
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, of_pool));
  std::printf("device %d\n", attributes.device);
  CHECK(cudaSetDevice(0));
  int* from_other = nullptr;
  show("from another's pool", cudaMallocFromPoolAsync(reinterpret_cast<void**>(&from_other), 128, pool_1, nullptr));
  CHECK(cudaPointerGetAttributes(&attributes, from_other));
  std::printf("device %d\n", attributes.device);
  show("free of another's", cudaFreeAsync(of_pool == nullptr ? nullptr : from_other, nullptr));
  show("its end", cudaDeviceSynchronize());
  copy<<<1, 32>>>(first, of_pool);
  show("read by kernel", cudaDeviceSynchronize());
  std::printf("value: %d\n", value_at(first));
}

/// Access of peers is not access to memory of pools.
static void pool_of_peer() {
  int *of_pool = nullptr, *first = allocate(0, 100);
  CHECK(cudaDeviceEnablePeerAccess(1, 0));
  CHECK(cudaSetDevice(1));
  CHECK(cudaMallocAsync(reinterpret_cast<void**>(&of_pool), 128, nullptr));
  fill<<<1, 32>>>(of_pool, 600);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaSetDevice(0));
  copy<<<1, 32>>>(first, of_pool);
  show("read by kernel", cudaDeviceSynchronize());
}

static void reset() {
  int* const first = allocate(0, 100);
  int* const second = allocate(1, 200);
  CHECK(cudaSetDevice(0));
  CHECK(cudaDeviceEnablePeerAccess(1, 0));
  CHECK(cudaSetDevice(1));
  set_own<<<1, 1>>>(77);
  show("reset", cudaDeviceReset());
  int now = -1, value = 0;
  CHECK(cudaGetDevice(&now));
  show("memory of the one that was reset", cudaMemcpy(&value, second, 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpyFromSymbol(&value, own, sizeof value));
  std::printf("current: %d, own: %d\n", now, value);
  CHECK(cudaSetDevice(0));
  std::printf("memory of the other: %d\n", value_at(first));
  show("its peer", cudaDeviceEnablePeerAccess(1, 0));
}

static void flags() {
  int *flag = nullptr, *answer = nullptr, seen = 0;
  CHECK(cudaSetDevice(0));
  CHECK(cudaDeviceEnablePeerAccess(1, 0));
  CHECK(cudaMalloc(&answer, 4));
  CHECK(cudaSetDevice(1));
  CHECK(cudaMalloc(&flag, 4));
  CHECK(cudaMemset(flag, 0, 4));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaSetDevice(0));
  wait_for<<<1, 1>>>(flag, answer);
  show("the first waits", cudaStreamQuery(nullptr));
  CHECK(cudaSetDevice(1));
  show("the second is idle", cudaDeviceSynchronize());
  set_flag<<<1, 1>>>(flag, 41);
  show("end of the second", cudaDeviceSynchronize());
  CHECK(cudaSetDevice(0));
  show("end of the first", cudaDeviceSynchronize());
  CHECK(cudaMemcpy(&seen, answer, 4, cudaMemcpyDefault));
  std::printf("answer: %d\n", seen);
}

static void graphs() {
  int* const first = allocate(0, 0);
  int* const second = allocate(1, 0);
  cudaStream_t of_0 = nullptr, of_1 = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  CHECK(cudaSetDevice(1));
  CHECK(cudaStreamCreate(&of_1));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaSetDevice(0));
  CHECK(cudaStreamCreate(&of_0));
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaStreamBeginCapture(of_0, cudaStreamCaptureModeGlobal));
  fill<<<1, 32, 0, of_0>>>(first, 700);
  CHECK(cudaEventRecord(begin, of_0));
  CHECK(cudaSetDevice(1));
  CHECK(cudaStreamWaitEvent(of_1, begin, 0));
  set_own<<<1, 1, 0, of_1>>>(900);
  fill<<<1, 32, 0, of_1>>>(second, 800);
  CHECK(cudaEventRecord(end, of_1));
  CHECK(cudaSetDevice(0));
  CHECK(cudaStreamWaitEvent(of_0, end, 0));
  show("capture", cudaStreamEndCapture(of_0, &graph));
  show("instantiate", cudaGraphInstantiate(&executable, graph, 0));
  show("launch", cudaGraphLaunch(executable, of_0));
  show("end", cudaStreamSynchronize(of_0));
  std::printf("values: %d %d\n", value_at(first), value_at(second));
  int value = 0;
  CHECK(cudaSetDevice(1));
  CHECK(cudaMemcpyFromSymbol(&value, own, sizeof value));
  std::printf("own of 1: %d\n", value);
}

static void attributes() {
  int* const second = allocate(1, 0);
  constexpr int bytes = 100 << 10;
  CHECK(cudaSetDevice(0));
  CHECK(cudaFuncSetAttribute(with_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  cudaFuncAttributes known;
  CHECK(cudaSetDevice(1));
  CHECK(cudaFuncGetAttributes(&known, with_dynamic));
  std::printf("on the other device: %d\n", known.maxDynamicSharedSizeBytes);
  with_dynamic<<<1, 1, bytes>>>(second);
  show("launch there", cudaGetLastError());
  std::size_t heap = 0;
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
  CHECK(cudaSetDevice(0));
  CHECK(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
  std::printf("heap of 0: %zu\n", heap);
}

static CUdeviceptr map(int gpu, CUmemGenericAllocationHandle* handle, std::size_t bytes) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = gpu;
  CUdeviceptr address = 0;
  show("create", cuMemCreate(handle, bytes, &properties, 0));
  show("reserve", cuMemAddressReserve(&address, bytes, 0, 0, 0));
  show("map", cuMemMap(address, bytes, 0, *handle, 0));
  return address;
}

static void virtual_memory() {
  int* const first = allocate(0, 100);
  constexpr std::size_t bytes = 2 << 20;
  CUmemGenericAllocationHandle handle = 0;
  const CUdeviceptr address = map(1, &handle, bytes);
  CUmemAccessDesc access[2]{};
  for (int gpu = 0; gpu < 2; ++gpu)
    access[gpu] = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gpu}, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  show("access", cuMemSetAccess(address, bytes, access, 2));
  int* const at = reinterpret_cast<int*>(address);
  fill<<<1, 32>>>(at, 900);
  show("written by 0", cudaDeviceSynchronize());
  CHECK(cudaSetDevice(1));
  fill<<<1, 16>>>(at, 950);
  show("written by 1", cudaDeviceSynchronize());
  std::printf("values: %d %d\n", value_at(at + 15), value_at(at + 16));
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, at));
  std::printf("device %d\n", attributes.device);
  access[0].flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  show("no access for 0", cuMemSetAccess(address, bytes, access, 1));
  unsigned long long flags = 9;
  show("ask", cuMemGetAccess(&flags, &access[0].location, address));
  std::printf("access: %llu\n", flags);
  CHECK(cudaSetDevice(0));
  copy<<<1, 32>>>(first, at);
  show("read by 0", cudaDeviceSynchronize());
}

constexpr const char* module_text = R"(
.version 7.8
.target sm_70
.address_size 64
.visible .global .u32 number = 3;
.visible .entry set_number(.param .u64 to) {
  .reg .u64 %a; .reg .u32 %n;
  ld.param.u64 %a, [to];
  ld.global.u32 %n, [number];
  st.global.u32 [%a], %n;
  ret;
}
)";

static void contexts() {
  CUcontext of_0 = nullptr, of_1 = nullptr, now = nullptr;
  CUdevice device_0 = 0, device_1 = 0, asked = -1;
  show("init", cuInit(0));
  show("device 0", cuDeviceGet(&device_0, 0));
  show("device 1", cuDeviceGet(&device_1, 1));
  show("device 99", cuDeviceGet(&asked, 99));
  show("retain 0", cuDevicePrimaryCtxRetain(&of_0, device_0));
  show("create on 1", cuCtxCreate(&of_1, nullptr, 0, device_1));
  show("device", cuCtxGetDevice(&asked));
  std::printf("it is %d\n", asked);
  int by_runtime = -1;
  CHECK(cudaGetDevice(&by_runtime));
  std::printf("the runtime says %d\n", by_runtime);
  CUdeviceptr first = 0, second = 0;
  CUstream stream_1 = nullptr, stream_0 = nullptr;
  CUevent event_0 = nullptr;
  show("allocate on 1", cuMemAlloc(&second, 64));
  show("stream of 1", cuStreamCreate(&stream_1, 0));
  show("fill", cuMemsetD32(second, 17, 16));
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  show("load on 1", cuModuleLoadData(&module, module_text));
  show("function", cuModuleGetFunction(&function, module, "set_number"));
  void* arguments[] = {&second};
  show("launch on 1", cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream_1, arguments, nullptr));
  show("end", cuCtxSynchronize());
  show("set 0", cuCtxSetCurrent(of_0));
  show("allocate on 0", cuMemAlloc(&first, 64));
  show("launch of 1's function in 0's stream", cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  show("launch of it in its stream", cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream_1, arguments, nullptr));
  CUdeviceptr number = 0;
  std::size_t bytes = 0;
  show("variable of 1's module", cuModuleGetGlobal(&number, &bytes, module, "number"));
  show("stream of 0", cuStreamCreate(&stream_0, 0));
  show("event of 0", cuEventCreate(&event_0, 0));
  show("record in the stream of 1", cuEventRecord(event_0, stream_1));
  show("peer copy", cuMemcpyPeer(first, of_0, second, of_1, 64));
  int value = 0;
  show("copy out", cuMemcpyDtoH(&value, first, 4));
  std::printf("value %d\n", value);
  show("enable", cuCtxEnablePeerAccess(of_1, 0));
  show("enable again", cuCtxEnablePeerAccess(of_1, 0));
  show("itself", cuCtxEnablePeerAccess(of_0, 0));
  show("disable", cuCtxDisablePeerAccess(of_1));
  show("disable again", cuCtxDisablePeerAccess(of_1));
  int ordinal = -1;
  show("ordinal", cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, second));
  CUcontext of_memory = nullptr;
  show("context", cuPointerGetAttribute(&of_memory, CU_POINTER_ATTRIBUTE_CONTEXT, second));
  std::printf("ordinal %d, its context: %d\n", ordinal, of_memory == of_1);
  show("destroy", cuCtxDestroy(of_1));
  show("memory that is gone", cuMemcpyDtoH(&value, second, 4));
  show("stream that is gone", cuMemsetD32Async(first, 1, 16, stream_0));
  show("current", cuCtxGetCurrent(&now));
  std::printf("that of 0: %d\n", now == of_0);
}

struct Scenario {
  const char* name;
  void (*run)();
};
static const Scenario scenarios[] = {{"devices", devices},
                                     {"memory", memory},
                                     {"symbols", symbols},
                                     {"streams", streams},
                                     {"peers", peers},
                                     {"no_access", no_access},
                                     {"one_way", one_way},
                                     {"disabled", disabled},
                                     {"pools", pools},
                                     {"pool_of_peer", pool_of_peer},
                                     {"reset", reset},
                                     {"flags", flags},
                                     {"graphs", graphs},
                                     {"attributes", attributes},
                                     {"virtual_memory", virtual_memory},
                                     {"contexts", contexts}};

int main(int count, char** arguments) {
  for (const Scenario& each : scenarios) {
    if (count > 1 && std::strcmp(arguments[1], each.name) == 0) {
      each.run();
      return 0;
    }
    if (count > 1) continue;
    std::printf("[%s]\n", each.name);
    std::fflush(stdout);
    if (fork() == 0) execl("/proc/self/exe", arguments[0], each.name, static_cast<char*>(nullptr));
    int status = 0;
    wait(&status);
    if (status != 0) std::printf("ended with status %d\n", status);
  }
}
