// How many cycles of an SM's shared memory a warp's access takes, by pattern of addresses: nvcc -std=c++17 -O3 -arch=sm_90a measure.cu &&
// ./a.out > banks.tsv. Lines: access, pattern, cycles. README.md says what is measured.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "patterns.h"

#define CHECK(call)                                                       \
  do {                                                                    \
    const cudaError_t error = (call);                                     \
    if (error != cudaSuccess) {                                           \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
      std::exit(1);                                                       \
    }                                                                     \
  } while (0)

constexpr int threads = 512, batch = 8, shared_bytes = 200 * 1024;  // so much shared memory that a block has its SM alone

enum class Access {
  ld8,
  ld16,
  ld32,
  ld64,
  ld128,
  st8,
  st16,
  st32,
  st64,
  st128,
  ldm1,
  ldm2,
  ldm4,
  ldm1t,
  ldm2t,
  ldm4t,
  stm1,
  stm2,
  stm4,
  stm1t,
  stm2t,
  stm4t,
  cp4,
  cp8,
  cp16
};
struct Row {
  Access access;
  const char* name;
  int bytes;
};
constexpr Row rows[] = {{Access::ld8, "ld.8", 1},
                        {Access::ld16, "ld.16", 2},
                        {Access::ld32, "ld.32", 4},
                        {Access::ld64, "ld.64", 8},
                        {Access::ld128, "ld.128", 16},
                        {Access::st8, "st.8", 1},
                        {Access::st16, "st.16", 2},
                        {Access::st32, "st.32", 4},
                        {Access::st64, "st.64", 8},
                        {Access::st128, "st.128", 16},
                        {Access::ldm1, "ldmatrix.x1", 16},
                        {Access::ldm2, "ldmatrix.x2", 16},
                        {Access::ldm4, "ldmatrix.x4", 16},
                        {Access::ldm1t, "ldmatrix.x1.trans", 16},
                        {Access::ldm2t, "ldmatrix.x2.trans", 16},
                        {Access::ldm4t, "ldmatrix.x4.trans", 16},
                        {Access::stm1, "stmatrix.x1", 16},
                        {Access::stm2, "stmatrix.x2", 16},
                        {Access::stm4, "stmatrix.x4", 16},
                        {Access::stm1t, "stmatrix.x1.trans", 16},
                        {Access::stm2t, "stmatrix.x2.trans", 16},
                        {Access::stm4t, "stmatrix.x4.trans", 16},
                        {Access::cp4, "cp.async.4", 4},
                        {Access::cp8, "cp.async.8", 8},
                        {Access::cp16, "cp.async.16", 16}};

template <Access access>
__device__ __forceinline__ void once(std::uint32_t at, const void* global, std::uint32_t (&r)[4]) {
  if constexpr (access == Access::ld8)
    asm volatile("{.reg .u16 h; ld.volatile.shared.u8 h, [%1]; cvt.u32.u16 %0, h;}" : "=r"(r[0]) : "r"(at));
  if constexpr (access == Access::ld16)
    asm volatile("{.reg .u16 h; ld.volatile.shared.u16 h, [%1]; cvt.u32.u16 %0, h;}" : "=r"(r[0]) : "r"(at));
  if constexpr (access == Access::ld32) asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(r[0]) : "r"(at));
  if constexpr (access == Access::ld64) asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(at));
  if constexpr (access == Access::ld128)
    asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
  if constexpr (access == Access::st8) asm volatile("st.volatile.shared.u8 [%0], %1;" ::"r"(at), "r"(at));
  if constexpr (access == Access::st16)
    asm volatile("{.reg .u16 h; cvt.u16.u32 h, %1; st.volatile.shared.u16 [%0], h;}" ::"r"(at), "r"(at));
  if constexpr (access == Access::st32) asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(at), "r"(at));
  if constexpr (access == Access::st64) asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %1};" ::"r"(at), "r"(at));
  if constexpr (access == Access::st128) asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(at));
#define LDM(n, t, ...) asm volatile("ldmatrix.sync.aligned.m8n8.x" #n t ".shared.b16 " __VA_ARGS__)
  if constexpr (access == Access::ldm1) LDM(1, "", "{%0}, [%1];" : "=r"(r[0]) : "r"(at));
  if constexpr (access == Access::ldm2) LDM(2, "", "{%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(at));
  if constexpr (access == Access::ldm4) LDM(4, "", "{%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
  if constexpr (access == Access::ldm1t) LDM(1, ".trans", "{%0}, [%1];" : "=r"(r[0]) : "r"(at));
  if constexpr (access == Access::ldm2t) LDM(2, ".trans", "{%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(at));
  if constexpr (access == Access::ldm4t)
    LDM(4, ".trans", "{%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
#define STM(n, t, list) asm volatile("stmatrix.sync.aligned.m8n8.x" #n t ".shared.b16 [%0], " list ";" ::"r"(at), "r"(at))
  if constexpr (access == Access::stm1) STM(1, "", "{%1}");
  if constexpr (access == Access::stm2) STM(2, "", "{%1, %1}");
  if constexpr (access == Access::stm4) STM(4, "", "{%1, %1, %1, %1}");
  if constexpr (access == Access::stm1t) STM(1, ".trans", "{%1}");
  if constexpr (access == Access::stm2t) STM(2, ".trans", "{%1, %1}");
  if constexpr (access == Access::stm4t) STM(4, ".trans", "{%1, %1, %1, %1}");
  if constexpr (access == Access::cp4) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(global));
  if constexpr (access == Access::cp8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(at), "l"(global));
  if constexpr (access == Access::cp16) asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(at), "l"(global));
}

/// Block b measures pattern b: cycles[b] of `rounds` batches by all of its warps.
template <Access access>
__global__ void __launch_bounds__(threads)
    measure(const std::uint32_t* addresses, const std::uint8_t* global, int rounds, long long* cycles, std::uint32_t* sink) {
  extern __shared__ __align__(1024) std::uint8_t memory[];
  const int lane = threadIdx.x % 32;
  for (int i = threadIdx.x; i < 32768 / 4; i += threads) reinterpret_cast<std::uint32_t*>(memory)[i] = i;
  const std::uint32_t at = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory)) + addresses[blockIdx.x * 32 + lane];
  std::uint32_t sum = 0;
  long long start = 0;
  for (int run = 0; run < 2; ++run) {  // the first one warms up
    __syncthreads();
    start = clock64();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
      std::uint32_t results[batch][4] = {};
#pragma unroll
      for (int i = 0; i < batch; ++i)
        once<access>(at + (i + round % 2 * batch) * 128, global + lane * 16,
                     results[i]);  // the same banks, but no access that another repeats
      if constexpr (access == Access::cp4 || access == Access::cp8 || access == Access::cp16) asm volatile("cp.async.wait_all;");
#pragma unroll
      for (int i = 0; i < batch; ++i) sum ^= results[i][0] ^ results[i][1] ^ results[i][2] ^ results[i][3];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - start;
  if (sum == 0x12345679) sink[0] = sum;
}

template <Access access>
std::vector<long long> cycles_of(const Row& row, int rounds) {
  std::vector<std::uint32_t> host;
  for (int p = 0; p < bank_patterns::patterns; ++p)
    for (const std::uint32_t a : bank_patterns::addresses(row.bytes, p)) host.push_back(a);
  std::uint32_t *addresses, *sink;
  std::uint8_t* global;
  long long* cycles;
  CHECK(cudaMalloc(&addresses, host.size() * 4));
  CHECK(cudaMalloc(&sink, 4));
  CHECK(cudaMalloc(&global, 4096));
  CHECK(cudaMalloc(&cycles, bank_patterns::patterns * sizeof(long long)));
  CHECK(cudaMemcpy(addresses, host.data(), host.size() * 4, cudaMemcpyHostToDevice));
  CHECK(cudaFuncSetAttribute(measure<access>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  measure<access><<<bank_patterns::patterns, threads, shared_bytes>>>(addresses, global, rounds, cycles, sink);
  CHECK(cudaGetLastError());
  std::vector<long long> out(bank_patterns::patterns);
  CHECK(cudaMemcpy(out.data(), cycles, out.size() * sizeof(long long), cudaMemcpyDeviceToHost));
  cudaFree(addresses), cudaFree(sink), cudaFree(global), cudaFree(cycles);
  return out;
}

template <int index>
void all() {
  if constexpr (index < static_cast<int>(sizeof(rows) / sizeof(rows[0]))) {
    constexpr int few = 32, many = 96;
    const auto once_few = cycles_of<rows[index].access>(rows[index], few), once_many = cycles_of<rows[index].access>(rows[index], many);
    for (int p = 0; p < bank_patterns::patterns; ++p)
      std::printf("%s\t%d\t%.3f\n", rows[index].name, p,
                  static_cast<double>(once_many[p] - once_few[p]) / ((many - few) * batch * (threads / 32)));
    all<index + 1>();
  }
}

int main() {
  all<0>();
}
