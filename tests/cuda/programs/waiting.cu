// Kernels that wait: each way of polling with each way of being woken, and programs of several kernels. Prints a line for each.
// With an argument: a program whose kernel waits for what never comes.

#include <cuda.h>
#include <cuda_runtime.h>

#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "check.h"

namespace {

enum Poll { with_volatile, acquire, add_zero, compare, sleeps, by_clock, by_timer, at_barrier, told, weak, polls };
const char* const poll_names[polls] = {"volatile",  "ld.acquire", "atomicAdd",   "atomicCAS",
                                       "nanosleep", "clock64",    "globaltimer", "barrier",  "told", "weak"};

template <Poll poll>
__device__ int look(int* flag) {
  int found;
  if (poll == acquire) {
    asm volatile("ld.acquire.sys.s32 %0, [%1];" : "=r"(found) : "l"(flag) : "memory");
    return found;
  }
  if (poll == add_zero) return atomicAdd_system(flag, 0);
  if (poll == compare) return atomicCAS_system(flag, 0, 0);
  return *static_cast<volatile int*>(flag);
}

/// Waits until `*flag` is at least `least`.
template <Poll poll>
__device__ void wait_for(int* flag, int least) {
  if (poll == at_barrier) {
    if (threadIdx.x == 0)
      while (look<poll>(flag) < least) continue;
    __syncthreads();
    return;
  }
  if (poll == told) {  // one thread looks, and the block hears it
    __shared__ int seen;
    for (bool waits = true; waits;) {
      if (threadIdx.x == 0) seen = look<poll>(flag);
      __syncthreads();
      waits = seen < least;
      __syncthreads();
    }
    return;
  }
  if (poll == weak) {
    while (*flag < least) __threadfence();
    return;
  }
  unsigned time = 8;
  while (look<poll>(flag) < least) {
    if (poll == sleeps) {
      __nanosleep(time);
      if (time < 256) time *= 2;
    }
    if (poll == by_clock)
      for (const long long begin = clock64(); clock64() - begin < 1000;) continue;
    if (poll == by_timer) {
      unsigned long long begin, now;
      asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
      do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
      while (now - begin < 1000);
    }
  }
  __threadfence_system();
}

template <Poll poll>
__global__ void wait(int* flag, int least, int* out) {
  wait_for<poll>(flag, least);
  if (threadIdx.x == 0) atomicAdd(out, 1);
}

__global__ void set(int* flag, int value) {
  __threadfence_system();
  *static_cast<volatile int*>(flag) = value;
}

void wait(Poll poll, int blocks, cudaStream_t stream, int* flag, int least, int* out) {
  using Kernel = void (*)(int*, int, int*);
  const Kernel kernels[polls] = {wait<with_volatile>, wait<acquire>,  wait<add_zero>, wait<compare>,
                                 wait<sleeps>,        wait<by_clock>, wait<by_timer>, wait<at_barrier>,
                                 wait<told>,          wait<weak>};
  kernels[poll]<<<blocks, 64, 0, stream>>>(flag, least, out);
}

struct State {
  int *flag, *out, *ones;  // flag and out are managed; ones is device memory
  cudaStream_t first, second;
  cudaGraphExec_t graph;
};

void host_sets(void* flag) {
  *static_cast<volatile int*>(flag) = 1;
}

enum Waker { kernel, copy, pageable, fill, function, store, thread, graph, event, wakers };
const char* const waker_names[wakers] = {"kernel", "copy", "copy of pageable", "fill", "host function", "host store", "host thread",
                                         "graph",  "event"};

void wake(State& s, Waker waker) {
  int one = 1;
  switch (waker) {
    case kernel: set<<<1, 1, 0, s.second>>>(s.flag, 1); break;
    case copy: CHECK(cudaMemcpyAsync(s.flag, s.ones, 4, cudaMemcpyDefault, s.second)); break;
    case pageable: CHECK(cudaMemcpyAsync(s.flag, &one, 4, cudaMemcpyDefault, s.second)); break;
    case fill: CHECK(cudaMemsetAsync(s.flag, 1, 4, s.second)); break;
    case function: CHECK(cudaLaunchHostFunc(s.second, host_sets, s.flag)); break;
    case store: host_sets(s.flag); break;
    case thread: std::thread(host_sets, s.flag).join(); break;
    case graph: CHECK(cudaGraphLaunch(s.graph, s.second)); break;
    case event: {
      cudaEvent_t done;
      CHECK(cudaEventCreate(&done));
      set<<<1, 1, 0, s.second>>>(s.flag, 1);
      CHECK(cudaEventRecord(done, s.first));
      CHECK(cudaEventSynchronize(done));
      CHECK(cudaEventDestroy(done));
      break;
    }
    default: break;
  }
}

/// Work behind the waiting kernel in its stream comes after it: the copy brings what the kernel counted.
void wait_and_wake(State& s, Poll poll, Waker waker) {
  *s.flag = *s.out = 0;
  int* counted;
  CHECK(cudaMallocHost(&counted, 4));
  *counted = -1;
  const int blocks = 1 + poll % 3;
  wait(poll, blocks, s.first, s.flag, 1, s.out);
  CHECK(cudaMemcpyAsync(counted, s.out, 4, cudaMemcpyDefault, s.first));
  const cudaError_t before = cudaStreamQuery(s.first);
  const int copied_before = *counted;
  wake(s, waker);
  CHECK(cudaStreamSynchronize(s.first));
  std::printf("%s, %s: before %s %d, then %d of %d\n", poll_names[poll], waker_names[waker], cudaGetErrorName(before), copied_before,
              *counted, blocks);
  CHECK(cudaFreeHost(counted));
}

/// The host asks, the kernel answers, until it is told to stop.
__global__ void serve(volatile int* request, volatile int* answer) {
  for (int served = 0;; ++served) {
    while (*request == served) continue;
    __threadfence_system();
    if (*request < 0) break;
    *answer = *request * *request;
    __threadfence_system();
  }
  printf("served\n");
}

void persistent(State& s) {
  volatile int* mailbox;
  CHECK(cudaHostAlloc((void**)&mailbox, 8, cudaHostAllocMapped));
  mailbox[0] = mailbox[1] = 0;
  serve<<<1, 1, 0, s.first>>>(mailbox, mailbox + 1);
  long long sum = 0;
  for (int i = 1; i <= 20; ++i) {
    mailbox[0] = i;
    while (mailbox[1] != i * i) continue;  // no call of CUDA
    sum += mailbox[1];
  }
  mailbox[0] = -1;
  std::printf("the host stops it\n");
  CHECK(cudaStreamSynchronize(s.first));
  std::printf("persistent: %lld\n", sum);
  CHECK(cudaFreeHost((void*)mailbox));
}

__global__ void play(volatile int* ball, int own, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    while (*ball % 2 != own) continue;
    __threadfence();
    *ball = *ball + 1;
  }
  printf("player %d ends at %d\n", own, *ball);
}

void players(State& s) {
  *s.flag = 0;
  play<<<1, 1, 0, s.first>>>(s.flag, 1, 8);
  play<<<1, 1, 0, s.second>>>(s.flag, 0, 8);
  CHECK(cudaDeviceSynchronize());
  std::printf("players: %d\n", *s.flag);
}

__global__ void produce(volatile int* items, volatile int* count, int n) {
  for (int i = 0; i < n; ++i) {
    items[i] = i * i;
    __threadfence();
    *count = i + 1;
  }
}

__global__ void consume(volatile int* items, volatile int* count, int n, int* sum) {
  for (int i = 0; i < n; ++i) {
    while (*count <= i) __nanosleep(20);
    *sum += items[i];
  }
}

void producer_and_consumer(State& s, bool consumer_first) {
  constexpr int n = 16;
  int* memory;
  CHECK(cudaMalloc(&memory, (n + 2) * sizeof(int)));
  CHECK(cudaMemset(memory, 0, (n + 2) * sizeof(int)));
  for (int i = 0; i < 2; ++i) {
    if ((i == 0) == consumer_first)
      consume<<<1, 1, 0, s.first>>>(memory, memory + n, n, memory + n + 1);
    else
      produce<<<1, 1, 0, s.second>>>(memory, memory + n, n);
  }
  int sum = 0;
  CHECK(cudaStreamSynchronize(s.first));
  CHECK(cudaMemcpy(&sum, memory + n + 1, 4, cudaMemcpyDeviceToHost));
  std::printf("producer and consumer, %s first: %d\n", consumer_first ? "consumer" : "producer", sum);
  CHECK(cudaFree(memory));
}

/// Three streams, each behind an event of the one before.
void chain(State& s) {
  cudaStream_t third;
  cudaEvent_t one, two;
  CHECK(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&one));
  CHECK(cudaEventCreate(&two));
  *s.flag = *s.out = 0;
  wait(with_volatile, 1, s.first, s.flag, 1, s.out);
  CHECK(cudaEventRecord(one, s.first));
  CHECK(cudaStreamWaitEvent(s.second, one));
  set<<<1, 1, 0, s.second>>>(s.out, 7);
  CHECK(cudaEventRecord(two, s.second));
  const cudaError_t query = cudaEventQuery(two);
  set<<<1, 1, 0, third>>>(s.flag, 1);
  CHECK(cudaEventSynchronize(two));
  float time = -1;
  CHECK(cudaEventElapsedTime(&time, one, two));
  std::printf("chain: %s, then %d, time %s\n", cudaGetErrorName(query), *s.out, time > 0 ? "positive" : "none");
  CHECK(cudaStreamDestroy(third));
  CHECK(cudaEventDestroy(one));
  CHECK(cudaEventDestroy(two));
}

/// The branches of a graph wait for each other.
void branches(State& s) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaGraphNode_t node;
  CHECK(cudaGraphCreate(&graph, 0));
  int least = 1, value = 1;
  void* wait_arguments[] = {&s.flag, &least, &s.out};
  void* set_arguments[] = {&s.flag, &value};
  cudaKernelNodeParams waits{(void*)static_cast<void (*)(int*, int, int*)>(wait<sleeps>), 1, 1, 0, wait_arguments, nullptr};
  cudaKernelNodeParams sets{(void*)set, 1, 1, 0, set_arguments, nullptr};
  CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &waits));
  CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &sets));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  *s.flag = *s.out = 0;
  CHECK(cudaGraphLaunch(executable, s.first));
  CHECK(cudaStreamSynchronize(s.first));
  std::printf("branches: %d\n", *s.out);
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
}

/// A wait that gives up by the clock, as nothing comes before the program synchronises.
__global__ void give_up(volatile int* flag, int* out) {
  const long long begin = clock64();
  while (*flag == 0 && clock64() - begin < 1000000) continue;
  *out = *flag == 0 ? 2 : 1;
}

void timeouts(State& s) {
  for (const bool comes : {true, false}) {
    *s.flag = *s.out = 0;
    give_up<<<1, 1, 0, s.first>>>(s.flag, s.out);
    if (comes) set<<<1, 1, 0, s.second>>>(s.flag, 1);
    CHECK(cudaStreamSynchronize(s.first));
    std::printf("gives up by the clock: %d\n", *s.out);
  }
}

using WaitValue = CUresult (*)(CUstream, CUdeviceptr, unsigned, unsigned);

WaitValue function_of_driver(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  CHECK(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result));
  return reinterpret_cast<WaitValue>(found);
}

/// Streams wait for a number in memory, with each comparison; kernels and another stream write it.
void values(State& s) {
  const WaitValue wait_value = function_of_driver("cuStreamWaitValue32"), write_value = function_of_driver("cuStreamWriteValue32");
  unsigned* numbers;
  CHECK(cudaMalloc(&numbers, 16));
  CHECK(cudaMemset(numbers, 0, 16));
  const auto at = reinterpret_cast<CUdeviceptr>(numbers);
  const struct {
    unsigned comparison, value, none, ends;
  } waits[] = {{CU_STREAM_WAIT_VALUE_GEQ, 3, 0xfffffff0, 4},
               {CU_STREAM_WAIT_VALUE_EQ, 3, 4, 3},
               {CU_STREAM_WAIT_VALUE_AND, 6, 9, 2},
               {CU_STREAM_WAIT_VALUE_NOR, 0xfffffff0, 0xf, 3}};
  for (const auto& each : waits) {
    *s.out = 0;
    const int refused = write_value(s.first, at, each.none, 0) | wait_value(s.first, at, each.value, each.comparison);
    set<<<1, 1, 0, s.first>>>(s.out, 7);
    const cudaError_t query = cudaStreamQuery(s.first);
    set<<<1, 1, 0, s.second>>>(reinterpret_cast<int*>(numbers), each.ends);
    CHECK(cudaStreamSynchronize(s.first));
    std::printf("value %u: %d, %s, then %d\n", each.comparison, refused, cudaGetErrorName(query), *s.out);
  }
  std::printf("misaligned, managed, comparison: %d %d %d\n", wait_value(s.first, at + 2, 0, 0),
              write_value(s.first, reinterpret_cast<CUdeviceptr>(s.out), 0, 0), wait_value(s.first, at, 0, 4));
  CHECK(cudaFree(numbers));
}

/// Each thread's own default stream: the program is compiled with --default-stream per-thread.
void threads(State& s) {
  *s.flag = *s.out = 0;
  cudaError_t waited = cudaErrorUnknown;
  std::thread waiter([&] {
    wait(by_timer, 1, nullptr, s.flag, 1, s.out);
    waited = cudaStreamSynchronize(nullptr);
  });
  std::thread setter([&] {
    set<<<1, 1>>>(s.flag, 1);
    CHECK(cudaStreamSynchronize(nullptr));
  });
  waiter.join();
  setter.join();
  std::printf("threads: %s, %d\n", cudaGetErrorName(waited), *s.out);
}

void work_that_waits(State& s) {
  for (int poll = 0; poll < polls; ++poll)
    for (int waker = 0; waker < wakers; ++waker) wait_and_wake(s, static_cast<Poll>(poll), static_cast<Waker>(waker));
  persistent(s);
  players(s);
  producer_and_consumer(s, true);
  producer_and_consumer(s, false);
  chain(s);
  branches(s);
  timeouts(s);
  values(s);
  threads(s);
}

/// Ends with the error of a deadlock.
void deadlock(State& s, const std::string& kind) {
  if (kind == "alone") wait(with_volatile, 2, s.first, s.flag, 1, s.out);
  if (kind == "clock") wait(by_clock, 1, s.first, s.flag, 1, s.out);
  if (kind == "behind") {  // the store comes behind the wait
    wait(sleeps, 1, s.first, s.flag, 1, s.out);
    set<<<1, 1, 0, s.first>>>(s.flag, 1);
  }
  if (kind == "both") {  // each waits for the other
    wait(with_volatile, 1, s.first, s.flag, 1, s.out);
    wait(acquire, 1, s.second, s.out, 1, s.flag);
  }
  if (kind == "value") function_of_driver("cuStreamWaitValue32")(s.first, reinterpret_cast<CUdeviceptr>(s.ones), 7, CU_STREAM_WAIT_VALUE_EQ);
  if (kind == "told") wait(told, 2, s.first, s.flag, 1, s.out);
  const cudaError_t launched = cudaGetLastError();
  std::printf("%s, %s\n", cudaGetErrorName(launched), cudaGetErrorName(cudaDeviceSynchronize()));
}

}  // namespace

int main(int count, char** arguments) {
  State s;
  CHECK(cudaMallocManaged(&s.flag, 4));
  CHECK(cudaMallocManaged(&s.out, 4));
  CHECK(cudaMalloc(&s.ones, 4));
  CHECK(cudaMemset(s.ones, 1, 4));
  CHECK(cudaStreamCreateWithFlags(&s.first, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&s.second, cudaStreamNonBlocking));
  *s.flag = *s.out = 0;
  cudaGraph_t graph;
  CHECK(cudaStreamBeginCapture(s.second, cudaStreamCaptureModeGlobal));
  set<<<1, 1, 0, s.second>>>(s.flag, 1);
  CHECK(cudaStreamEndCapture(s.second, &graph));
  CHECK(cudaGraphInstantiate(&s.graph, graph, 0));
  if (count > 1)
    deadlock(s, arguments[1]);
  else
    work_that_waits(s);
}
