// C = A B on Hopper: f16 products, f32 sums. A is m x k by rows, B is k x n by columns, C is m x n by rows; m and n are multiples of 128.
//
// A block computes a tile of 128 x 128. Its first warpgroup is the producer: one thread makes the TMA load tiles of A and B, 64 columns of
// K at a time, into a ring of stages. The other two warpgroups are consumers, each with 64 rows. A phase of `full` ends when a stage's
// bytes have arrived, one of `empty` when both consumers have read them.
#include "hopper.cuh"

constexpr int tile = 128, tile_k = 64, stages = 3, consumers = 2, threads = (1 + consumers) * warpgroup;
constexpr uint32_t tile_bytes = tile * tile_row_bytes, stage_bytes = 2 * tile_bytes;

struct Ring {
  uint64_t full[stages], empty[stages];
};

/// The stage of step `i` in the ring, and the parity of that stage's phase.
__device__ inline int stage_of(int i) {
  return i % stages;
}
__device__ inline uint32_t parity_of(int i) {
  return i / stages % 2;
}

__device__ inline void produce(Ring& ring, uint32_t tiles, const CUtensorMap& a, const CUtensorMap& b, int steps) {
  for (int i = 0; i < steps; ++i) {
    const int s = stage_of(i);
    const uint32_t a_tile = tiles + s * stage_bytes, b_tile = a_tile + tile_bytes;
    wait(ring.empty[s], parity_of(i) ^ 1);
    arrive_expecting(ring.full[s], stage_bytes);
    load_tile(a_tile, a, i * tile_k, blockIdx.y * tile, ring.full[s]);
    load_tile(b_tile, b, i * tile_k, blockIdx.x * tile, ring.full[s]);
  }
}

/// Computes the sums of 64 rows from `row` on. While a step's products run, the previous step's are complete, so its stage is released
/// then.
__device__ inline void consume(float (&sums)[64], Ring& ring, uint32_t tiles, int row, int steps) {
  for (int i = 0; i < steps; ++i) {
    const int s = stage_of(i);
    const uint32_t a_tile = tiles + s * stage_bytes, b_tile = a_tile + tile_bytes;
    wait(ring.full[s], parity_of(i));
    begin_products();
#pragma unroll
    for (int byte = 0; byte < tile_row_bytes; byte += product_bytes)
      multiply_f16(sums, descriptor(a_tile, row, byte), descriptor(b_tile, 0, byte), i > 0 || byte > 0);
    commit_products();
    wait_for_products<1>();
    if (i > 0 && threadIdx.x % warpgroup == 0) arrive(ring.empty[stage_of(i - 1)]);
  }
  wait_for_products<0>();
}

extern "C" __global__ void __launch_bounds__(threads, 1)
    gemm_wgmma(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c, int n, int k) {
  extern __shared__ __align__(1024) uint8_t bytes[];
  __shared__ Ring ring;
  const uint32_t tiles = shared_address(bytes);
  const int steps = (k + tile_k - 1) / tile_k;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      init_barrier(ring.full[s], 1);
      init_barrier(ring.empty[s], consumers);
    }
    publish_barriers();
  }
  __syncthreads();

  if (threadIdx.x < warpgroup) {
    give_registers<40>();
    if (threadIdx.x < 32 && elected()) produce(ring, tiles, a, b, steps);
    return;
  }
  take_registers<232>();
  const int row = threadIdx.x / warpgroup * 64 - 64;
  float sums[64];
  consume(sums, ring, tiles, row, steps);
  float* const corner = c + static_cast<size_t>(blockIdx.y * tile + row + accumulator_row()) * n + blockIdx.x * tile + accumulator_column();
  for (int j = 0; j < 16; ++j)
    for (int half = 0; half < 2; ++half)
      *reinterpret_cast<float2*>(corner + 8 * half * n + 8 * j) = make_float2(sums[4 * j + 2 * half], sums[4 * j + 2 * half + 1]);
}
