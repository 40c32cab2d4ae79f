// C = scale * A B on Hopper with clusters: e4m3 products, bf16 results. A is m x k by rows, B is k x n by columns, C is m x n by rows; m
// and n are multiples of 128.
//
// A block computes a tile of 64 x 128. The two blocks of a cluster are vertical neighbours and need the same tile of B. Each makes the TMA
// load half of it into both (multicast). So a stage may be refilled only when the consumers of both blocks have read it, and each consumer
// arrives at the `empty` of both. Sums of 128 products have few bits in the tensor core; they are added up in f32, as DeepGEMM does. The
// TMA stores the results.
#include <cuda_bf16.h>

#include "hopper.cuh"

constexpr int tile_m = 64, tile_n = 128, tile_k = 128, stages = 4, blocks = 2, threads = warpgroup + 32;
constexpr uint32_t a_bytes = tile_m * tile_row_bytes, b_bytes = tile_n * tile_row_bytes, stage_bytes = a_bytes + b_bytes;

struct Ring {
  uint64_t full[stages], empty[stages];
};

__device__ inline uint32_t rank_in_cluster() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ inline void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ inline void produce(Ring& ring, uint32_t tiles, const CUtensorMap& a, const CUtensorMap& b, int steps) {
  const int half = rank_in_cluster() * tile_n / blocks;
  for (int i = 0; i < steps; ++i) {
    const int s = i % stages;
    const uint32_t a_tile = tiles + s * stage_bytes, b_tile = a_tile + a_bytes;
    wait(ring.empty[s], i / stages % 2 ^ 1);
    arrive_expecting(ring.full[s], stage_bytes);
    load_tile(a_tile, a, i * tile_k, blockIdx.y * tile_m, ring.full[s]);
    load_tile_into(0b11, b_tile + half * tile_row_bytes, b, i * tile_k, blockIdx.x * tile_n + half, ring.full[s]);
  }
}

__device__ inline void consume(float (&sums)[64], Ring& ring, uint32_t tiles, int steps) {
  for (float& sum : sums) sum = 0;
  for (int i = 0; i < steps; ++i) {
    const int s = i % stages;
    const uint32_t a_tile = tiles + s * stage_bytes, b_tile = a_tile + a_bytes;
    wait(ring.full[s], i / stages % 2);
    float few[64];
    begin_products();
#pragma unroll
    for (int byte = 0; byte < tile_row_bytes; byte += product_bytes)
      multiply_e4m3(few, descriptor(a_tile, 0, byte), descriptor(b_tile, 0, byte), byte > 0);
    commit_products();
    wait_for_products<0>();
    if (threadIdx.x < blocks) arrive_at(ring.empty[s], threadIdx.x);
    for (int j = 0; j < 64; ++j) sums[j] += few[j];
  }
}

extern "C" __global__ void __cluster_dims__(1, blocks, 1) __launch_bounds__(threads, 1)
    gemm_cluster(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, const __grid_constant__ CUtensorMap c, int k,
                 float scale) {
  extern __shared__ __align__(1024) uint8_t bytes[];
  __shared__ Ring ring;
  __shared__ __align__(128) __nv_bfloat16 results[tile_m][tile_n];
  const uint32_t tiles = shared_address(bytes);
  const int steps = (k + tile_k - 1) / tile_k;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      init_barrier(ring.full[s], 1);
      init_barrier(ring.empty[s], blocks);
    }
    publish_barriers();
  }
  sync_cluster();

  if (threadIdx.x >= warpgroup) {
    if (elected()) produce(ring, tiles, a, b, steps);
  } else {
    float sums[64];
    consume(sums, ring, tiles, steps);
    for (int j = 0; j < 16; ++j)
      for (int half = 0; half < 2; ++half)
        *reinterpret_cast<__nv_bfloat162*>(&results[accumulator_row() + 8 * half][accumulator_column() + 8 * j]) =
            __floats2bfloat162_rn(sums[4 * j + 2 * half] * scale, sums[4 * j + 2 * half + 1] * scale);
    fence_stores();
    sync_warpgroup(1);
    if (threadIdx.x == 0) {
      store_tile(c, blockIdx.x * tile_n, blockIdx.y * tile_m, shared_address(results));
      finish_stores();
    }
  }
  __syncwarp();
  sync_cluster();  // the other block's multicast writes here, and its consumers arrive here
}
