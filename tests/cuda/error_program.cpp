// A program of the CUDA runtime as nvcc makes one: it registers a fatbinary of PTX and calls the runtime's functions. Its argument names
// what it does; it prints each call with the name of its result.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "cuda/host_code.h"

using warpmat::cuda::GridSize;

extern "C" {
void __cudaRegisterFatBinaryEnd(void** module);
int cudaHostGetDevicePointer(void** device, void* host, unsigned flags);
int cudaGetLastError();
int cudaPeekAtLastError();
int cudaSetDevice(int device);
int cudaGetDeviceCount(int* count);
int cudaDeviceGetAttribute(int* value, int attribute, int device);
int cudaDeviceGetLimit(std::size_t* value, int limit);
int cudaEventElapsedTime(float* milliseconds, Handle start, Handle end);
int cudaEventCreateWithFlags(Handle* event, unsigned flags);
int cudaIpcOpenMemHandle(void** pointer, Ipc handle, unsigned flags);
int cudaIpcCloseMemHandle(void* pointer);
int cudaIpcGetEventHandle(Ipc* handle, Handle event);
int cudaIpcOpenEventHandle(Handle* event, Ipc handle);
int cudaFuncSetAttribute(const void* function, int attribute, int value);
int cudaGraphicsUnregisterResource(void* resource);
}

namespace {

const char* const module_text = R"(
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 total = 5;
.visible .entry store(.param .u64 to, .param .u32 value) {
  .reg .u64 %address; .reg .u32 %value;
  ld.param.u64 %address, [to];
  ld.param.u32 %value, [value];
  st.global.u32 [%address], %value;
  ld.global.u32 %value, [total];
  add.u32 %value, %value, 1;
  st.global.u32 [total], %value;
  ret;
}
.visible .entry stop() { trap; }
.visible .entry unwritten(.param .u64 to) {
  .shared .align 4 .b8 tile[4];
  .reg .u64 %address; .reg .u32 %value;
  ld.param.u64 %address, [to];
  ld.shared.u32 %value, [tile];
  st.global.u32 [%address], %value;
  ret;
}
.visible .entry wait_for_ever() {
  .shared .align 8 .b64 barrier;
  .reg .u32 %address; .reg .pred %done;
  mov.u32 %address, barrier;
  mbarrier.init.shared.b64 [%address], 1;
again:
  mbarrier.test_wait.parity.shared.b64 %done, [%address], 0;
  @!%done bra again;
  ret;
}
)";

char store_stub, stop_stub, unwritten_stub, wait_stub, total_shadow, no_stub;

void register_module() {
  static const std::string fatbinary = host_code::fatbinary_of(module_text);
  static host_code::Wrapper wrapper{.data = fatbinary.data()};
  void** const module = __cudaRegisterFatBinary(&wrapper);
  const auto add = [&](const char* stub, const char* name) {
    __cudaRegisterFunction(module, stub, nullptr, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  };
  add(&store_stub, "store");
  add(&stop_stub, "stop");
  add(&unwritten_stub, "unwritten");
  add(&wait_stub, "wait_for_ever");
  __cudaRegisterVar(module, &total_shadow, nullptr, "total", 0, 4, 0, 0);
  __cudaRegisterFatBinaryEnd(module);
}

#define SHOW(call) std::printf("%s: %s\n", #call, cudaGetErrorName(call))

enum Kind { host_to_host, host_to_device, device_to_host, device_to_device, by_address };

int launch(const char* stub, GridSize grid = {1, 1, 1}, GridSize block = {1, 1, 1}, void** arguments = nullptr,
           std::size_t shared_bytes = 0, Handle stream = nullptr) {
  return cudaLaunchKernel(stub, grid, block, arguments, shared_bytes, stream);
}

int store(void* to, std::uint32_t value, GridSize grid = {1, 1, 1}, GridSize block = {1, 1, 1}, std::size_t shared_bytes = 0) {
  void* arguments[] = {&to, &value};
  return launch(&store_stub, grid, block, arguments, shared_bytes);
}

void works() {
  void *device = nullptr, *managed = nullptr, *pinned = nullptr;
  std::uint32_t got = 0;
  SHOW(cudaMalloc(&device, 4));
  SHOW(store(device, 42));
  SHOW(cudaMemcpy(&got, device, 4, device_to_host));
  std::printf("%u\n", got);
  SHOW(cudaMallocManaged(&managed, 4, 1));
  SHOW(store(managed, 43));
  SHOW(cudaDeviceSynchronize());
  std::printf("%u\n", *static_cast<std::uint32_t*>(managed));
  SHOW(cudaMallocHost(&pinned, 4));
  SHOW(store(pinned, 44));
  SHOW(cudaDeviceSynchronize());
  std::printf("%u\n", *static_cast<std::uint32_t*>(pinned));
  std::uint32_t own = 0;
  SHOW(cudaHostRegister(&own, 4, 0));
  SHOW(store(&own, 45));
  SHOW(cudaHostUnregister(&own));
  std::printf("%u\n", own);
  SHOW(cudaMemcpyFromSymbol(&got, &total_shadow, 4, 0, device_to_host));
  std::printf("%u\n", got);
  SHOW(cudaFree(device));
  SHOW(cudaFree(managed));
  SHOW(cudaFreeHost(pinned));
}

void calls() {
  void *device = nullptr, *pointer = nullptr;
  std::vector<std::uint8_t> host(4096);
  std::size_t limit = 0;
  int value = 0;
  float milliseconds = 0;
  Handle start = nullptr, end = nullptr;
  Handle stream = nullptr;
  cudaMalloc(&device, 64);
  SHOW(cudaMalloc(nullptr, 4));
  SHOW(cudaMalloc(&pointer, std::size_t{1} << 60));
  SHOW(cudaFree(static_cast<char*>(device) + 4));
  SHOW(cudaFree(host.data()));
  SHOW(cudaFreeHost(device));
  SHOW(cudaMemcpy(device, host.data(), 65, host_to_device));
  SHOW(cudaMemcpy(host.data(), device, 64, host_to_device));
  SHOW(cudaMemcpy(host.data(), device, 64, host_to_host));
  SHOW(cudaMemcpy(device, host.data(), 64, device_to_host));
  SHOW(cudaMemcpy(device, host.data(), 64, 7));
  SHOW(cudaMemcpy2D(device, 8, host.data(), 16, 16, 2, host_to_device));
  SHOW(cudaMemset(device, 0, 65));
  SHOW(cudaMemcpyToSymbol(&no_stub, host.data(), 4, 0, host_to_device));
  SHOW(cudaMemcpyToSymbol(&total_shadow, host.data(), 8, 0, host_to_device));
  SHOW(cudaMemcpyToSymbol(&total_shadow, host.data(), 4, 0, device_to_host));
  SHOW(cudaHostUnregister(host.data()));
  SHOW(cudaHostGetDevicePointer(&pointer, host.data(), 0));
  SHOW(cudaHostRegister(host.data(), 4096, 0));
  SHOW(cudaHostRegister(host.data() + 16, 16, 0));
  SHOW(cudaMallocManaged(&pointer, 4, 9));
  SHOW(cudaSetDevice(3));
  SHOW(cudaDeviceGetAttribute(&value, 100000, 0));
  SHOW(cudaDeviceGetLimit(&limit, 99));
  SHOW(cudaDeviceGetLimit(&limit, 3));
  SHOW(cudaDeviceSetLimit(4, 4096));
  SHOW(cudaStreamSynchronize(&value));
  SHOW(cudaStreamDestroy(&value));
  SHOW(cudaStreamCreate(nullptr));
  cudaEventCreate(&start);
  cudaEventCreate(&end);
  SHOW(cudaEventElapsedTime(&milliseconds, start, end));
  cudaEventRecord(start, nullptr);
  cudaEventRecord(end, nullptr);
  SHOW(cudaEventElapsedTime(&milliseconds, start, end));
  SHOW(cudaEventRecord(&value, nullptr));
  cudaStreamCreate(&stream);
  cudaStreamDestroy(stream);
  SHOW(launch(&stop_stub, {1, 1, 1}, {1, 1, 1}, nullptr, 0, stream));
  SHOW(launch(&no_stub));
  SHOW(store(device, 1, {0, 1, 1}));
  SHOW(store(device, 1, {1, 65536, 1}));
  SHOW(store(device, 1, {1, 1, 1}, {1025, 1, 1}));
  SHOW(store(device, 1, {1, 1, 1}, {1, 1, 65}));
  SHOW(store(device, 1, {1, 1, 1}, {1, 1, 1}, 64 << 10));
  SHOW(cudaFuncSetAttribute(&store_stub, 8, 1 << 20));
  SHOW(cudaFuncSetAttribute(&store_stub, 8, 64 << 10));
  SHOW(store(device, 1, {1, 1, 1}, {1, 1, 1}, 64 << 10));
  SHOW(cudaGraphicsUnregisterResource(pointer));
  SHOW(cudaPeekAtLastError());
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());
  cudaFree(device);
  SHOW(cudaFree(device));
  SHOW(cudaMemcpy(host.data(), device, 4, device_to_host));
}

/// A kernel that fails: the launch succeeds, the next synchronising call and all later ones fail.
void fails(int (*failing)()) {
  void* pointer = nullptr;
  SHOW(failing());
  SHOW(cudaGetLastError());
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());
  SHOW(cudaMalloc(&pointer, 4));
  SHOW(failing());
}

int beyond() {
  static void* device = nullptr;
  if (device == nullptr) cudaMalloc(&device, 4);
  return store(static_cast<char*>(device) + 4, 1);
}

int misaligned() {
  static void* device = nullptr;
  if (device == nullptr) cudaMalloc(&device, 8);
  return store(static_cast<char*>(device) + 2, 1);
}

int into_host() {
  static std::uint32_t own;
  return store(&own, 1);
}

int after_free() {
  static void* device = nullptr;
  if (device == nullptr) cudaMalloc(&device, 4);
  static const int freed = cudaFree(device);
  return freed != 0 ? freed : store(device, 1);
}

int stop() {
  return launch(&stop_stub);
}

int deadlock() {
  return launch(&wait_stub);
}

/// A kernel that stores what nothing has written, twice.
void store_unwritten() {
  void* device = nullptr;
  cudaMalloc(&device, 4);
  void* arguments[] = {&device};
  for (int i = 0; i < 2; ++i) SHOW(launch(&unwritten_stub, {1, 1, 1}, {1, 1, 1}, arguments));
  SHOW(cudaDeviceSynchronize());
}

void touch_device_memory() {
  void* device = nullptr;
  cudaMalloc(&device, 4);
  *static_cast<volatile int*>(device) = 1;
}

/// Eight threads launch; each store adds one to `total`, which starts with 5.
void threads() {
  std::vector<std::thread> all;
  std::uint32_t got[8] = {}, total = 0;
  for (std::uint32_t i = 0; i < 8; ++i)
    all.emplace_back([i, &got] {
      void* device = nullptr;
      cudaMalloc(&device, 4);
      for (std::uint32_t round = 0; round < 50; ++round) store(device, 100 * i + round);
      cudaMemcpy(&got[i], device, 4, device_to_host);
    });
  for (std::thread& thread : all) thread.join();
  for (const std::uint32_t value : got) std::printf("%u ", value);
  cudaMemcpyFromSymbol(&total, &total_shadow, 4, 0, device_to_host);
  std::printf("%u\n", total);
}

/// A child process has a copy of all memory, pinned memory included.
void fork_child() {
  void *device = nullptr, *pinned = nullptr;
  cudaMalloc(&device, 4);
  cudaMallocHost(&pinned, 4);
  store(device, 1);
  store(pinned, 2);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) store(pinned, 3);
  std::uint32_t got = 0;
  cudaMemcpy(&got, device, 4, device_to_host);
  if (child != 0) waitpid(child, nullptr, 0);
  std::printf("%s: %u %u\n", child == 0 ? "child" : "parent", got, *static_cast<std::uint32_t*>(pinned));
}

struct Handles {
  Ipc memory, event;
};

/// Another program, which gets the handles on standard input.
void other_process() {
  Handles handles;
  if (read(STDIN_FILENO, &handles, sizeof handles) != sizeof handles) return;
  void *memory = nullptr, *again = nullptr;
  Handle event = nullptr;
  std::uint32_t got = 0;
  SHOW(cudaIpcOpenMemHandle(&memory, handles.memory, 1));
  SHOW(cudaIpcOpenMemHandle(&again, handles.memory, 1));
  SHOW(cudaIpcOpenEventHandle(&event, handles.event));
  SHOW(cudaStreamWaitEvent(nullptr, event, 0));
  SHOW(cudaMemcpy(&got, memory, 4, device_to_host));
  std::printf("%u, %s address\n", got, memory == again ? "one" : "another");
  SHOW(store(static_cast<char*>(memory) + 4, 8));
  SHOW(cudaFree(memory));
  SHOW(cudaIpcCloseMemHandle(memory));
  SHOW(cudaIpcCloseMemHandle(again));
  SHOW(cudaIpcCloseMemHandle(memory));
  handles.memory.bytes[0] ^= 1;
  SHOW(cudaIpcOpenMemHandle(&memory, handles.memory, 1));
  handles.memory.bytes[0] ^= 1;
  SHOW(cudaIpcOpenMemHandle(&memory, handles.memory, 1));
  SHOW(store(static_cast<char*>(memory) + 8, 9));
  SHOW(cudaDeviceSynchronize());
}

/// Memory and an event that another program opens.
void share(const char* program) {
  void *device = nullptr, *again = nullptr;
  Handle event = nullptr;
  Handles handles;
  std::uint32_t got[2] = {};
  cudaMalloc(&device, 8);
  store(device, 7);
  decltype(handles.memory) inside;
  SHOW(cudaIpcGetMemHandle(&inside, static_cast<char*>(device) + 4));
  SHOW(cudaIpcGetMemHandle(&handles.memory, device));
  std::puts(std::memcmp(&inside, &handles.memory, sizeof inside) == 0 ? "one handle" : "two handles");
  SHOW(cudaIpcOpenMemHandle(&again, handles.memory, 1));
  SHOW(cudaEventCreateWithFlags(&event, 4));
  SHOW(cudaEventCreateWithFlags(&event, 2));
  SHOW(cudaIpcGetEventHandle(&handles.event, event));
  SHOW(cudaEventCreateWithFlags(&event, 6));
  SHOW(cudaIpcGetEventHandle(&handles.event, event));
  SHOW(cudaEventRecord(event, nullptr));
  std::fflush(stdout);
  int ends[2] = {};
  if (pipe(ends) != 0) return;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[0], STDIN_FILENO);
    execl(program, program, "opens", nullptr);
    _exit(1);
  }
  if (write(ends[1], &handles, sizeof handles) != sizeof handles) return;
  waitpid(child, nullptr, 0);
  cudaMemcpy(got, device, 8, device_to_host);
  std::printf("%u %u\n", got[0], got[1]);
  SHOW(cudaFree(device));
  SHOW(cudaMemcpy(got, device, 8, device_to_host));
}

/// Two allocations: the place of the second depends on the size of the first.
void allocate_two() {
  void *first = nullptr, *second = nullptr;
  SHOW(cudaMalloc(&first, 4));
  SHOW(cudaMalloc(&second, 4));
  std::printf("%u\n", static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(second) % 512));
}

/// Frees its memory when the destructors of globals run.
struct FreedAtExit {
  void* device = nullptr;
  ~FreedAtExit() {
    if (device != nullptr) std::printf("%s\n", cudaGetErrorName(cudaFree(device)));
  }
} freed_at_exit;

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  register_module();
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (what == "works") works();
  if (what == "calls") calls();
  if (what == "two") allocate_two();
  if (what == "beyond") fails(beyond);
  if (what == "later") works(), fails(beyond);
  if (what == "misaligned") fails(misaligned);
  if (what == "into_host") fails(into_host);
  if (what == "after_free") fails(after_free);
  if (what == "stop") fails(stop);
  if (what == "deadlock") fails(deadlock);
  if (what == "threads") threads();
  if (what == "fork") fork_child();
  if (what == "unwritten") store_unwritten();
  if (what == "share") share(argv[0]);
  if (what == "opens") other_process();
  if (what == "exit") SHOW(cudaMalloc(&freed_at_exit.device, 4));
  if (what == "touch") touch_device_memory();
  return argc > 2 ? std::atoi(argv[2]) : 0;
}
