// Shared by the kernels for Blackwell: tensor memory, and products in it (tcgen05). Tiles in shared memory are those of hopper.cuh.
//
// A block has 128 lanes of 512 columns of tensor memory. A product of 128 x n results holds row i in lane i, column j in column j. Warp w
// loads lanes 32 w to 32 w + 31, by all its threads; one thread alone begins a product.
#pragma once

#include "hopper.cuh"

/// Gives the block `count` columns, a power of two from 32 on, for one warp; their address lies in `address` after a barrier of the block.
/// The block allocates no more.
__device__ inline void allocate_columns(uint32_t& address, uint32_t count) {
  asm volatile(
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;\n"
      "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::"r"(shared_address(&address)),
      "r"(count)
      : "memory");
}

__device__ inline void free_columns(uint32_t address, uint32_t count) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address), "r"(count) : "memory");
}

// Around a barrier that orders statements of tcgen05 of several threads.
__device__ inline void before_sync() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
__device__ inline void after_sync() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

/// The descriptor of a tile from its byte of K on, as hopper.cuh's: bits 46 to 48 are 0b001, the swizzle of 128 bytes is 2 in bits 61 to 63.
__device__ inline uint64_t tensor_descriptor(uint32_t tile, int byte) {
  const uint32_t address = tile + byte;
  return (address >> 4 & 0x3fff) | uint64_t{1} << 16 | uint64_t{8 * tile_row_bytes >> 4} << 32 | uint64_t{1} << 46 | uint64_t{2} << 61;
}

/// The instruction descriptor of products of m x n f32 from f16, both K-major.
__device__ constexpr uint32_t f16_product(int m, int n) {
  return 1u << 4 | static_cast<uint32_t>(n / 8) << 17 | static_cast<uint32_t>(m / 16) << 24;
}

/// Begins D = A B + D, or D = A B, from 32 bytes of K.
__device__ inline void multiply_f16(uint32_t d, uint64_t a, uint64_t b, uint32_t product, bool add) {
  asm volatile(
      "{ .reg .pred add; setp.ne.b32 add, %4, 0;\n"
      "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, add; }" ::"r"(d),
      "l"(a), "l"(b), "r"(product), "r"(static_cast<int>(add))
      : "memory");
}

/// Arrives at `barrier` when this thread's products so far are done.
__device__ inline void commit_to(uint64_t& barrier) {
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(shared_address(&barrier)) : "memory");
}

#define WARPMAT_OUT_8(i) "=r"(r[i]), "=r"(r[i + 1]), "=r"(r[i + 2]), "=r"(r[i + 3]), "=r"(r[i + 4]), "=r"(r[i + 5]), "=r"(r[i + 6]), "=r"(r[i + 7])

/// This thread's lane of 32 columns; `address` names the first lane of the warp.
__device__ inline void load_columns(uint32_t (&r)[32], uint32_t address) {
  asm volatile(
      "tcgen05.ld.sync.aligned.32x32b.x32.b32 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
      "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, [%32];\n"
      "tcgen05.wait::ld.sync.aligned;"
      : WARPMAT_OUT_8(0), WARPMAT_OUT_8(8), WARPMAT_OUT_8(16), WARPMAT_OUT_8(24)
      : "r"(address)
      : "memory");
}
