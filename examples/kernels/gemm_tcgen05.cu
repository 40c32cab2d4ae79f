// C = A B on Blackwell: f16 products, f32 sums in tensor memory. A is m x k by rows, B is k x n by columns, C is m x n by rows; m and n are
// multiples of 128.
//
// A block of four warps computes a tile of 128 x 128. One thread of warp 0 makes the TMA load tiles of A and B, 64 columns of K at a time,
// into a ring of stages. One thread of warp 1 begins the products. A phase of `full` ends when a stage's bytes have arrived, one of `empty`
// when its products are done, that of `done` when all are. Then each warp loads its 32 rows of the sums.
#include "blackwell.cuh"

constexpr int tile = 128, tile_k = 64, stages = 3, threads = 128;
constexpr uint32_t tile_bytes = tile * tile_row_bytes, stage_bytes = 2 * tile_bytes;

struct Ring {
  uint64_t full[stages], empty[stages], done;
  uint32_t sums;  // the address of 128 columns of tensor memory
};

__device__ inline void load(Ring& ring, uint32_t tiles, const CUtensorMap& a, const CUtensorMap& b, int steps) {
  for (int i = 0; i < steps; ++i) {
    const int s = i % stages;
    const uint32_t a_tile = tiles + s * stage_bytes, b_tile = a_tile + tile_bytes;
    wait(ring.empty[s], i / stages % 2 ^ 1);
    arrive_expecting(ring.full[s], stage_bytes);
    load_tile(a_tile, a, i * tile_k, blockIdx.y * tile, ring.full[s]);
    load_tile(b_tile, b, i * tile_k, blockIdx.x * tile, ring.full[s]);
  }
}

__device__ inline void multiply(Ring& ring, uint32_t tiles, int steps) {
  for (int i = 0; i < steps; ++i) {
    const int s = i % stages;
    const uint32_t a_tile = tiles + s * stage_bytes, b_tile = a_tile + tile_bytes;
    wait(ring.full[s], i / stages % 2);
    after_sync();
    for (int byte = 0; byte < tile_row_bytes; byte += product_bytes)
      multiply_f16(ring.sums, tensor_descriptor(a_tile, byte), tensor_descriptor(b_tile, byte), f16_product(tile, tile), i > 0 || byte > 0);
    commit_to(ring.empty[s]);
  }
  commit_to(ring.done);
}

extern "C" __global__ void __launch_bounds__(threads, 1)
    gemm_tcgen05(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c, int n, int k) {
  extern __shared__ __align__(1024) uint8_t bytes[];
  __shared__ Ring ring;
  const int warp = threadIdx.x / 32, steps = (k + tile_k - 1) / tile_k;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      init_barrier(ring.full[s], 1);
      init_barrier(ring.empty[s], 1);
    }
    init_barrier(ring.done, 1);
    publish_barriers();
  }
  if (warp == 2) allocate_columns(ring.sums, tile);
  before_sync();
  __syncthreads();
  after_sync();

  if (warp == 0 && elected()) load(ring, shared_address(bytes), a, b, steps);
  if (warp == 1 && elected()) multiply(ring, shared_address(bytes), steps);
  __syncwarp();
  wait(ring.done, 0);
  after_sync();
  float* const row = c + static_cast<size_t>(blockIdx.y * tile + threadIdx.x) * n + blockIdx.x * tile;
  for (int column = 0; column < tile; column += 32) {
    uint32_t sums[32];
    load_columns(sums, ring.sums + (static_cast<uint32_t>(warp) * 32 << 16) + column);
    for (int j = 0; j < 32; ++j) row[column + j] = __uint_as_float(sums[j]);
  }
  before_sync();
  __syncthreads();
  if (warp == 2) free_columns(ring.sums, tile);
}
