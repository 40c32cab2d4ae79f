// One defect that a sanitizer finds for each name, or its right twin: defects NAME [right]. The twin has what the defect lacks.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda.h>

#include "check.h"

namespace {

constexpr int count = 64;
bool right = false;

struct Padded {
  char tag;
  double value;
};

__device__ int* kept;

__global__ void add_one(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x] + 1; }
__global__ void copy(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void positive(int* to, const int* from) {
  if (from[threadIdx.x] > 0) to[threadIdx.x] = 1;
}
__global__ void low_bytes(int* to, const int* from) {
  if ((from[threadIdx.x] & 255) == 0) to[threadIdx.x] = from[threadIdx.x] & 255;
}
__global__ void scatter(int* to, const int* at) { to[at[threadIdx.x] & 63] = 1; }
__global__ void write(int* to, int first) {
  if (static_cast<int>(threadIdx.x) >= first) to[threadIdx.x] = 7;
}
__global__ void number(int* counter, int* to) { to[atomicAdd(counter, 1) & 63] = 1; }
__global__ void total(int* counter, const int* from) { atomicAdd(counter, from[threadIdx.x]); }
__global__ void by_shared(int* to, const int* from) {
  __shared__ int tile[count];
  tile[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  if (tile[threadIdx.x ^ 1] > 0) to[threadIdx.x] = 1;
}
__global__ void vectors(int* to, const int4* from) {
  const int4 four = from[threadIdx.x];
  if (four.w > 0) to[threadIdx.x] = 1;
}
__global__ void fill(Padded* to, const Padded* from) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void make(Padded* to) {
  to[threadIdx.x].tag = 'x';
  to[threadIdx.x].value = 1;
}
__global__ void tag(int* to, const Padded* from) {
  if (from[threadIdx.x].tag == 'x') to[threadIdx.x] = 1;
}

__global__ void reduce(int* to, const int* from, bool synchronises) {
  __shared__ int tile[32];
  const unsigned lane = threadIdx.x;
  tile[lane] = from[lane];
  if (synchronises) __syncwarp();
  for (unsigned step = 16; step > 0; step /= 2) {
    int other = 0;
    if (lane < step) other = tile[lane + step];
    if (synchronises) __syncwarp();
    if (lane < step) tile[lane] += other;
    if (synchronises) __syncwarp();
  }
  if (lane == 0) to[0] = tile[0];
}
__global__ void broadcast(int* to, const int* from, bool synchronises) {
  __shared__ int value[4];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) value[warp] = from[warp];
  if (synchronises) __syncwarp();
  to[threadIdx.x] = value[warp];
}
__global__ void shift(int* to, const int* from, bool synchronises) {
  __shared__ int tile[33];
  const unsigned lane = threadIdx.x;
  tile[lane] = from[lane];
  if (lane == 0) tile[32] = 0;
  __syncwarp();
  const int next = tile[lane + 1];
  if (synchronises) __syncwarp();
  tile[lane] = next;
  __syncwarp();
  to[lane] = tile[lane];
}
__global__ void histogram(int* to, const int* from, bool synchronises) {
  __shared__ int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  if (synchronises) __syncwarp();
  atomicAdd(&bins[from[threadIdx.x] & 7], 1);
  __syncwarp();
  if (threadIdx.x < 8) to[threadIdx.x] = bins[threadIdx.x];
}
__global__ void halves(int* to, const int* from, bool synchronises) {
  __shared__ int tile[32];
  const unsigned lane = threadIdx.x, half = lane < 16 ? 0xffffu : 0xffff0000u;
  tile[lane] = from[lane];
  __syncwarp(half);
  to[lane] = tile[synchronises ? lane ^ 1 : lane ^ 16];
}

__global__ void heap_index(int* to, int at) {
  auto* const part = static_cast<int*>(malloc(10 * sizeof(int)));
  for (int i = 0; i < 10; ++i) part[i] = i;
  to[threadIdx.x] = part[at];
  free(part);
}
__global__ void heap_after_free(int* to, bool early) {
  auto* const part = static_cast<int*>(malloc(sizeof(int)));
  *part = 3;
  if (early) free(part);
  to[0] = *part;
  if (!early) free(part);
}
__global__ void heap_free_twice(bool twice) {
  void* const part = malloc(8);
  free(part);
  if (twice) free(part);
}
__global__ void heap_free_other(int more) {
  auto* const part = static_cast<int*>(malloc(64));
  free(part + more);
}
__global__ void heap_unwritten(int* to, bool writes) {
  auto* const part = static_cast<int*>(malloc(8));
  if (writes) part[1] = 1;
  if (part[1] > 0) to[0] = 1;
  free(part);
}
__global__ void heap_leak(bool frees) {
  auto* const part = static_cast<int*>(malloc(24));
  part[0] = 1;
  if (frees) free(part);
}
__global__ void heap_keep(bool frees) {
  if (frees)
    free(kept);
  else
    kept = static_cast<int*>(malloc(4));
}

// Blocks of a grid, of 64 threads each.
__global__ void own_number(int* to, bool own) { to[own ? blockIdx.x * blockDim.x + threadIdx.x : threadIdx.x] = blockIdx.x; }
__global__ void stencil(int* to, const int* from) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, next = (i + 1) % (gridDim.x * blockDim.x);
  to[i] = from[next] + 1;
}
__global__ void bins(int* to, bool atomic) {
  if (atomic)
    atomicAdd(to + threadIdx.x % 8, 1);
  else
    to[threadIdx.x % 8] += 1;
}
__device__ int parts[64], done;
enum class Fence { none, of_block, of_gpu };
template <Fence fence>
__global__ void last_block(int* to) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x + 1;
    if (fence == Fence::of_block) __threadfence_block();
    if (fence == Fence::of_gpu) __threadfence();
    last = atomicAdd(&done, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += parts[i];
  if (fence == Fence::of_gpu) __threadfence();
  *to = sum;
  done = 0;
}
__global__ void maximum(int* to, bool atomic) {
  const int mine = blockIdx.x;
  if (atomic)
    atomicMax(to, mine);
  else if (*to < mine)
    *to = mine;
}

// Warps of a block, of 64 threads.
__global__ void reverse(int* to, const int* from, bool first, bool second) {
  __shared__ int tile[count];
  for (int round = 0; round < 2; ++round) {
    tile[threadIdx.x] = from[threadIdx.x] + round;
    if (first) __syncthreads();
    to[threadIdx.x] = tile[count - 1 - threadIdx.x];
    if (second) __syncthreads();
  }
}
__global__ void counted(int* to, bool atomic) {
  __shared__ int number;
  if (threadIdx.x == 0) number = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    if (atomic)
      atomicAdd(&number, 1);
    else
      ++number;
  }
  __syncthreads();
  to[threadIdx.x] = number;
}
__global__ void from_first_warp(int* to, const int* from, bool waits) {
  __shared__ int value;
  if (threadIdx.x == 0) value = *from;
  if (waits)
    __syncthreads();
  else
    __syncwarp();
  to[threadIdx.x] = value;
}

__global__ void store_at(int* to, long at) { to[at] = 1; }
__global__ void store_bytes_at(char* to, int at) { *reinterpret_cast<int*>(to + at) = 1; }
__global__ void shared_at(int* to, int at) {
  extern __shared__ int tile[];
  tile[at] = 1;
  to[0] = tile[at];
}
__global__ void unset(int* to, int set) {
  __shared__ int tile[count];
  if (static_cast<int>(threadIdx.x) < set) tile[threadIdx.x] = 1;
  __syncthreads();
  if (tile[threadIdx.x] > 0) to[threadIdx.x] = 1;
}
__global__ void sum_of_unset(int* to, int set) {
  __shared__ int tile[count];
  for (int i = threadIdx.x; i < set; i += 32) tile[i] = i;
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += tile[i];
  if (sum > 0) to[threadIdx.x] = 1;
}

__global__ void divided_barrier(int* to, int most) {
  if (static_cast<int>(threadIdx.x) < most) {
    __syncthreads();
    to[threadIdx.x] = 1;
  }
  __syncwarp();
  to[threadIdx.x ^ 1] += 1;
}
__global__ void mask_without_lane(int* to, unsigned mask) {
  if (threadIdx.x < 16) {
    __syncwarp(mask);
    to[threadIdx.x] = 1;
  }
}
__global__ void absent_lane(int* to, const int* from, int most) {
  if (static_cast<int>(threadIdx.x) < most) to[threadIdx.x] = __shfl_down_sync(0xffffffff >> (32 - most), from[threadIdx.x], 16);
}

__global__ void copied(int* to, const int* from, int waits, bool barrier) {
  __shared__ alignas(16) int tile[2][count];
  const auto start = [&](int i) {
    const auto at = static_cast<unsigned>(__cvta_generic_to_shared(tile[i] + threadIdx.x));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.commit_group;" ::"r"(at), "l"(from + threadIdx.x) : "memory");
  };
  start(0);
  start(1);
  if (waits == 0) asm volatile("cp.async.wait_group 0;" ::: "memory");
  if (waits == 1) asm volatile("cp.async.wait_group 1;" ::: "memory");
  if (barrier) __syncthreads();
  to[threadIdx.x] = tile[1][count - 1 - threadIdx.x];
}

int *in, *out, host[count];

template <typename T>
T* device(int n = count) {
  T* pointer;
  CHECK(cudaMalloc(&pointer, n * sizeof(T)));
  return pointer;
}

void run(const char* name) {
  const auto is = [name](const char* text) { return std::strcmp(name, text) == 0; };
  const auto clear = [](int* at, std::size_t bytes) { CHECK(cudaMemset(at, 0, bytes)); };
  const std::size_t all = sizeof host, part = right ? all : all - sizeof(int);
  if (is("never written")) {
    if (right) clear(in, all);
    add_one<<<1, count>>>(out, in);
  } else if (is("branch")) {
    if (right) CHECK(cudaMemcpy(in, host, all, cudaMemcpyHostToDevice));
    positive<<<1, count>>>(out, in);
  } else if (is("index")) {
    if (right) CHECK(cudaMemcpyAsync(in, host, all, cudaMemcpyHostToDevice));
    scatter<<<1, count>>>(out, in);
  } else if (is("one element short")) {
    CHECK(cudaMemcpy(in, host, part, cudaMemcpyHostToDevice));
    positive<<<1, count>>>(out, in);
  } else if (is("memset of elements")) {
    clear(in, right ? all : count);
    add_one<<<1, count>>>(out, in);
  } else if (is("word in part")) {
    clear(in, all - 1);
    if (right)
      low_bytes<<<1, count>>>(out, in);
    else
      add_one<<<1, count>>>(out, in);
  } else if (is("copy that is too long")) {
    static_cast<void>(cudaMemcpy(in, host, right ? all : all + 1, cudaMemcpyHostToDevice));
  } else if (is("copy by the driver")) {
    static_cast<void>(cuMemcpyHtoD(reinterpret_cast<CUdeviceptr>(in), host, right ? all : all + 1));
  } else if (is("too many threads")) {
    write<<<1, right ? 1024 : 1025>>>(out, 1024);
  } else if (is("too much shared memory")) {
    write<<<1, 1, right ? 48 << 10 : (48 << 10) + 1>>>(out, 0);
  } else if (is("memory that is not there")) {
    int* all_of_it = nullptr;
    if (cudaMalloc(&all_of_it, right ? all : std::size_t{1} << 60) == cudaSuccess) CHECK(cudaFree(all_of_it));
    static_cast<void>(cudaGetLastError());
  } else if (is("counter")) {
    if (right) clear(in, sizeof(int));
    number<<<1, count>>>(in, out);
  } else if (is("sum")) {
    int* const from = device<int>();
    clear(from, all);
    if (right) clear(in, sizeof(int));
    total<<<1, count>>>(in, from);
    CHECK(cudaFree(from));
  } else if (is("copied on the device")) {
    if (right) clear(in, all);
    int* const other = device<int>();
    CHECK(cudaMemcpy(other, in, all, cudaMemcpyDeviceToDevice));
    positive<<<1, count>>>(out, other);
    CHECK(cudaFree(other));
  } else if (is("copied by a kernel")) {
    if (right) clear(in, all);
    int* const other = device<int>();
    copy<<<1, count>>>(other, in);
    positive<<<1, count>>>(out, other);
    CHECK(cudaFree(other));
  } else if (is("copied back")) {
    write<<<1, count>>>(out, right ? 0 : 8);
    CHECK(cudaMemcpy(host, out, all, cudaMemcpyDeviceToHost));
  } else if (is("rows")) {
    CHECK(cudaMemcpy2D(in, 32, host, 32, 32, right ? 8 : 7, cudaMemcpyHostToDevice));
    positive<<<1, count>>>(out, in);
  } else if (is("rows of a memset")) {
    CHECK(cudaMemset2D(in, 32, 0, right ? 32 : 28, 8));
    positive<<<1, count>>>(out, in);
  } else if (is("pool")) {
    int* other;
    CHECK(cudaMallocAsync(&other, all, nullptr));
    if (right) CHECK(cudaMemsetAsync(other, 0, all));
    positive<<<1, count>>>(out, other);
    CHECK(cudaFreeAsync(other, nullptr));
  } else if (is("shared memory")) {
    if (right) clear(in, all);
    by_shared<<<1, count>>>(out, in);
  } else if (is("vectors")) {
    int4* const other = device<int4>();
    CHECK(cudaMemset2D(other, 16, 0, right ? 16 : 12, count));
    vectors<<<1, count>>>(out, other);
    CHECK(cudaFree(other));
  } else if (is("graph")) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    if (right) CHECK(cudaMemsetAsync(in, 0, all, stream));
    positive<<<1, count, 0, stream>>>(out, in);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaStreamSynchronize(stream));
  } else if (is("structures")) {
    Padded *one = device<Padded>(), *other = device<Padded>();
    if (right) make<<<1, count>>>(one);
    fill<<<1, count>>>(other, one);
    tag<<<1, count>>>(out, other);
    CHECK(cudaFree(one));
    CHECK(cudaFree(other));
  } else if (is("reduce")) {
    clear(in, all);
    reduce<<<1, 32>>>(out, in, right);
  } else if (is("broadcast")) {
    clear(in, all);
    broadcast<<<1, count>>>(out, in, right);
  } else if (is("shift")) {
    clear(in, all);
    shift<<<1, 32>>>(out, in, right);
  } else if (is("histogram")) {
    clear(in, all);
    histogram<<<1, 32>>>(out, in, right);
  } else if (is("halves")) {
    clear(in, all);
    halves<<<1, 32>>>(out, in, right);
  } else if (is("beyond a part")) {
    heap_index<<<1, 2>>>(out, right ? 9 : 10);
  } else if (is("before a part")) {
    heap_index<<<1, 2>>>(out, right ? 0 : -1);
  } else if (is("after free")) {
    heap_after_free<<<1, 1>>>(out, !right);
  } else if (is("freed twice")) {
    heap_free_twice<<<1, 1>>>(!right);
  } else if (is("freed inside")) {
    heap_free_other<<<1, 1>>>(right ? 0 : 4);
  } else if (is("unwritten part")) {
    heap_unwritten<<<1, 1>>>(out, right);
  } else if (is("leak in a kernel")) {
    heap_leak<<<1, 4>>>(right);
  } else if (is("leak over launches")) {
    heap_keep<<<1, 1>>>(false);
    if (right) heap_keep<<<1, 1>>>(true);
  } else if (is("leak of the host")) {
    void* other;
    CHECK(cudaMalloc(&other, 100));
    if (right) CHECK(cudaFree(other));
  } else if (is("one number of all blocks")) {
    int* const to = device<int>(4 * count);
    own_number<<<4, count>>>(to, right);
    CHECK(cudaFree(to));
  } else if (is("stencil in place")) {
    int *const from = device<int>(4 * count), *const to = device<int>(4 * count);
    CHECK(cudaMemset(from, 0, 4 * all));
    stencil<<<4, count>>>(right ? to : from, from);
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
  } else if (is("histogram of blocks")) {
    clear(out, all);
    bins<<<4, count>>>(out, right);
  } else if (is("last block without a fence")) {
    right ? last_block<Fence::of_gpu><<<4, 32>>>(out) : last_block<Fence::none><<<4, 32>>>(out);
  } else if (is("fence of the block")) {
    right ? last_block<Fence::of_gpu><<<4, 32>>>(out) : last_block<Fence::of_block><<<4, 32>>>(out);
  } else if (is("maximum")) {
    clear(out, all);
    maximum<<<4, 1>>>(out, right);
  } else if (is("no barrier")) {
    clear(in, all);
    reverse<<<1, count>>>(out, in, right, true);
  } else if (is("no barrier behind")) {
    clear(in, all);
    reverse<<<1, count>>>(out, in, true, right);
  } else if (is("counter of warps")) {
    counted<<<1, count>>>(out, right);
  } else if (is("barrier of the warp")) {
    clear(in, all);
    from_first_warp<<<1, count>>>(out, in, right);
  } else if (is("beyond the end")) {
    store_at<<<1, 1>>>(out, right ? count - 1 : count);
  } else if (is("before the beginning")) {
    store_at<<<1, 1>>>(out, right ? 0 : -1);
  } else if (is("far away")) {
    store_at<<<1, 1>>>(out, right ? 1 : 1L << 40);
  } else if (is("misaligned")) {
    store_bytes_at<<<1, 1>>>(reinterpret_cast<char*>(out), right ? 8 : 6);
  } else if (is("null pointer")) {
    store_at<<<1, 1>>>(right ? out : nullptr, 0);
  } else if (is("pointer of the host")) {
    store_at<<<1, 1>>>(right ? out : host, 0);
  } else if (is("memory that is freed")) {
    int* const other = device<int>();
    if (!right) CHECK(cudaFree(other));
    store_at<<<1, 1>>>(other, 0);
    if (right) {
      CHECK(cudaDeviceSynchronize());
      CHECK(cudaFree(other));
    }
  } else if (is("beyond shared memory")) {
    shared_at<<<1, 1, 64>>>(out, right ? 15 : 16);
  } else if (is("unset shared memory")) {
    unset<<<1, count>>>(out, right ? count : 0);
  } else if (is("last of shared memory")) {
    unset<<<1, count>>>(out, right ? count : count - 1);
  } else if (is("sum of unset")) {
    sum_of_unset<<<1, 32>>>(out, right ? count : count - 8);
  } else if (is("barrier in a branch")) {
    divided_barrier<<<1, 32>>>(out, right ? 32 : 16);
  } else if (is("mask without a lane")) {
    mask_without_lane<<<1, 32>>>(out, right ? 0xffff : 0xff00);
  } else if (is("absent lane")) {
    clear(in, all);
    absent_lane<<<1, 32>>>(out, in, right ? 32 : 16);
  } else if (is("copy without a wait")) {
    clear(in, all);
    copied<<<1, count>>>(out, in, right ? 0 : 2, true);
  } else if (is("wait for another group")) {
    clear(in, all);
    copied<<<1, count>>>(out, in, right ? 0 : 1, true);
  } else if (is("wait without a barrier")) {
    clear(in, all);
    copied<<<1, count>>>(out, in, 0, right);
  } else {
    std::fprintf(stderr, "there is no '%s'\n", name);
    std::exit(2);
  }
  static_cast<void>(cudaDeviceSynchronize());
}

}  // namespace

int main(int count_of_arguments, char** arguments) {
  right = count_of_arguments > 2;
  in = device<int>();
  out = device<int>();
  run(arguments[1]);
  static_cast<void>(cudaFree(in));
  static_cast<void>(cudaFree(out));
}
