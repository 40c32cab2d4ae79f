// Defects of asynchronous copies, mbarriers, wgmma and tensor memory, or their right twins: async_defects NAME [right].
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "check.h"

namespace {

constexpr unsigned count = 256, half_bytes = count / 2 * sizeof(int);
bool right = false;

__device__ unsigned shared_address(const void* at) { return static_cast<unsigned>(__cvta_generic_to_shared(at)); }
__device__ void init(std::uint64_t* bar, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(arrivals) : "memory");
}
__device__ void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ void fence_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void expect(std::uint64_t* bar, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes) : "memory");
}
__device__ void arrive(std::uint64_t* bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory");
}
__device__ void wait(std::uint64_t* bar, unsigned parity) {
  unsigned is_done = 0;
  while (is_done == 0)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(is_done)
                 : "r"(shared_address(bar)), "r"(parity)
                 : "memory");
}
__device__ void load(void* to, const void* from, unsigned bytes, std::uint64_t* bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)), "l"(from),
               "r"(bytes), "r"(shared_address(bar))
               : "memory");
}
__device__ void store(void* to, const void* from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2; cp.async.bulk.commit_group;" ::"l"(to),
               "r"(shared_address(from)), "r"(bytes)
               : "memory");
}

struct Loads {
  unsigned expected = 2 * half_bytes;
  bool syncs = true, expects = true, waits = true;
  unsigned parity = 0, arrivals = 1;
  bool order = true;  ///< the expectation comes first
};
template <bool fences = true>
__global__ void loads(int* to, const int* from, Loads how) {
  __shared__ alignas(128) int tile[count];
  __shared__ std::uint64_t bar;
  if (threadIdx.x == 0) {
    init(&bar, how.arrivals);
    if (fences) fence_init();
  }
  if (how.syncs) __syncthreads();
  if (threadIdx.x == 0) {
    if (how.order && how.expects) expect(&bar, how.expected);
    load(tile, from, half_bytes, &bar);
    load(tile + count / 2, from + count / 2, half_bytes, &bar);
    if (!how.order && how.expects) expect(&bar, how.expected);
    if (!how.expects) arrive(&bar);
  }
  if (!how.syncs) __syncthreads();
  if (how.waits) wait(&bar, how.parity);
  to[threadIdx.x] = tile[threadIdx.x];
}
/// Two phases of one mbarrier.
__global__ void stages(int* to, const int* from, unsigned second, bool waits_between) {
  __shared__ alignas(128) int tile[count];
  __shared__ std::uint64_t bar;
  if (threadIdx.x == 0) {
    init(&bar, 1);
    fence_init();
  }
  __syncthreads();
  int sum = 0;
  for (unsigned stage = 0; stage < 2; ++stage) {
    if (threadIdx.x == 0) {
      expect(&bar, stage == 0 ? 2 * half_bytes : second);
      load(tile, from, half_bytes, &bar);
      load(tile + count / 2, from, half_bytes, &bar);
    }
    wait(&bar, stage);
    sum += tile[threadIdx.x];
    if (waits_between) __syncthreads();
  }
  to[threadIdx.x] = sum;
}
__global__ void arrivals_of_warps(int* to, bool syncs) {
  __shared__ std::uint64_t bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  if (syncs) __syncthreads();
  arrive(&bar);
  wait(&bar, 0);
  to[threadIdx.x] = 1;
}

struct Stores {
  bool fences = true, waits = true, reads_only = false, overwrites = false, loads = false;
};
__global__ void stores(int* to, int* other, Stores how) {
  __shared__ alignas(128) int tile[count];
  tile[threadIdx.x] = threadIdx.x;
  if (how.fences) fence_proxy();
  __syncthreads();
  if (threadIdx.x == 0) {
    store(to, tile, sizeof tile);
    if (how.overwrites) tile[0] = 1;
    if (how.waits && how.reads_only) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    if (how.waits && !how.reads_only) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
  __syncthreads();
  if (how.loads) other[threadIdx.x] = to[threadIdx.x];
}

#ifdef WGMMA
struct Multiplies {
  bool fence = true, proxy = true, waits = true, again = false, overwrites = false;
};
__global__ void multiplies(float* to, Multiplies how) {
  __shared__ alignas(128) half a[64 * 16], b[16 * 8];
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < 64 * 16; i += 128) a[i] = __float2half(1);
  b[t] = __float2half(1);
  if (how.proxy) fence_proxy();
  __syncthreads();
  const auto descriptor = [](const void* at, std::uint64_t leading) {
    return static_cast<std::uint64_t>(shared_address(at) >> 4) | leading >> 4 << 16 | std::uint64_t{128 >> 4} << 32;
  };
  const std::uint64_t da = descriptor(a, 1024), db = descriptor(b, 128);
  float d[4];
  if (how.fence) asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 0, 1, 1, 0, 0; wgmma.commit_group.sync.aligned;"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "l"(da), "l"(db)
      : "memory");
  if (how.overwrites) a[t] = __float2half(2);
  if (how.waits) asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  if (how.again) {
    for (float& x : d) x *= to[0] + 2;
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0; wgmma.commit_group.sync.aligned;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "l"(da), "l"(db)
        : "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  to[t] = d[0] + d[1] + d[2] + d[3];
  if (!how.waits) asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}
#endif

#ifdef TENSOR_MEMORY
__global__ void tensor(unsigned* to, bool waits, bool uses) {
  __shared__ unsigned address;
  const unsigned warp = threadIdx.x / 32;
  if (warp == 0)
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(shared_address(&address)) : "memory");
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  const unsigned mine = address + (warp * 32 << 16);
  asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1}; tcgen05.wait::st.sync.aligned;" ::"r"(mine), "r"(threadIdx.x) : "memory");
  unsigned value;
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(value) : "r"(mine) : "memory");
  if (waits) asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
  if (uses) to[threadIdx.x] = value + 1;
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  if (warp == 0) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(address) : "memory");
}
#endif

void run(const char* name, int* in, int* out, int* other) {
  const auto is = [name](const char* text) { return std::strcmp(name, text) == 0; };
  Loads l;
  Stores s;
  if (is("too few bytes")) {
    if (!right) l.expected = half_bytes;
    loads<><<<1, count>>>(out, in, l);
  } else if (is("too few bytes, announced later")) {
    l.order = false;
    if (!right) l.expected = half_bytes;
    loads<><<<1, count>>>(out, in, l);
  } else if (is("too few bytes by a part")) {
    if (!right) l.expected = 2 * half_bytes - 16;
    loads<><<<1, count>>>(out, in, l);
  } else if (is("too many bytes")) {
    if (!right) l.expected = 2 * half_bytes + 64;
    loads<><<<1, count>>>(out, in, l);
  } else if (is("no bytes announced")) {
    l.expects = right;
    l.order = false;
    loads<><<<1, count>>>(out, in, l);
  } else if (is("too few bytes in the second phase")) {
    stages<<<1, count>>>(out, in, right ? 2 * half_bytes : half_bytes, true);
  } else if (is("stage filled again")) {
    stages<<<1, count>>>(out, in, 2 * half_bytes, right);
  } else if (is("mbarrier used at once")) {
    l.syncs = false;
    right ? loads<true><<<1, count>>>(out, in, l) : loads<false><<<1, count>>>(out, in, l);
  } else if (is("mbarrier used by other warps")) {
    arrivals_of_warps<<<1, 64>>>(out, right);
  } else if (is("load without a wait")) {
    l.waits = right;
    loads<><<<1, count>>>(out, in, l);
  } else if (is("other parity")) {
    l.parity = right ? 0 : 1;
    loads<><<<1, count>>>(out, in, l);
  } else if (is("arrival that does not come")) {
    l.arrivals = right ? 1 : 2;
    loads<><<<1, count>>>(out, in, l);
  } else if (is("store in flight")) {
    s.waits = right;
    stores<<<1, count>>>(out, other, s);
  } else if (is("wait for the source alone")) {
    s.reads_only = !right;
    s.loads = true;
    stores<<<1, count>>>(out, other, s);
  } else if (is("source overwritten")) {
    s.overwrites = !right;
    stores<<<1, count>>>(out, other, s);
  } else if (is("store without a proxy fence")) {
    s.fences = right;
    stores<<<1, count>>>(out, other, s);
#ifdef WGMMA
  } else if (is("product without a fence")) {
    Multiplies m;
    m.fence = right;
    multiplies<<<1, 128>>>(reinterpret_cast<float*>(out), m);
  } else if (is("product without a proxy fence")) {
    Multiplies m;
    m.proxy = right;
    multiplies<<<1, 128>>>(reinterpret_cast<float*>(out), m);
  } else if (is("accumulators before the wait")) {
    Multiplies m;
    m.waits = right;
    multiplies<<<1, 128>>>(reinterpret_cast<float*>(out), m);
  } else if (is("operand overwritten")) {
    Multiplies m;
    m.overwrites = !right;
    multiplies<<<1, 128>>>(reinterpret_cast<float*>(out), m);
  } else if (is("accumulators changed")) {
    Multiplies m;
    m.again = !right;
    multiplies<<<1, 128>>>(reinterpret_cast<float*>(out), m);
#endif
#ifdef TENSOR_MEMORY
  } else if (is("register before the wait")) {
    tensor<<<1, 128>>>(reinterpret_cast<unsigned*>(out), right, true);
  } else if (is("freed before the wait")) {
    tensor<<<1, 128>>>(reinterpret_cast<unsigned*>(out), right, false);
#endif
  } else {
    std::fprintf(stderr, "there is no '%s'\n", name);
    std::exit(2);
  }
  static_cast<void>(cudaDeviceSynchronize());
}

}  // namespace

int main(int count_of_arguments, char** arguments) {
  right = count_of_arguments > 2;
  int *in, *out, *other;
  for (int** const each : {&in, &out, &other}) {
    CHECK(cudaMalloc(each, count * sizeof(int)));
    CHECK(cudaMemset(*each, 0, count * sizeof(int)));
  }
  run(arguments[1], in, out, other);
  for (int* const each : {in, out, other}) static_cast<void>(cudaFree(each));
}
