// Shared by the kernels for Hopper: mbarriers, tiles that the tensor memory accelerator (TMA) loads, and warpgroup products (wgmma).
//
// A tile has rows of 128 bytes of K (64 f16, 128 e4m3) with swizzle 128B, which the TMA writes and wgmma reads: chunk c of row r is stored
// at chunk c ^ (r & 7). Tiles begin at multiples of 1024 bytes, eight rows.
#pragma once

#include <cuda.h>

#include <cstdint>

constexpr int tile_row_bytes = 128;
constexpr int warpgroup = 128;     // threads that execute wgmma together
constexpr int product_bytes = 32;  // of K, in one wgmma

__device__ inline uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Whether this thread is the one of its warp that issues copies.
__device__ inline bool elected() {
  uint32_t chosen;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(chosen));
  return chosen != 0;
}

// An mbarrier's phases have parities 0, 1, 0, ... A wait for parity p ends when the phase of that parity has completed. At a new barrier a
// wait for parity 1 ends at once.

__device__ inline void init_barrier(uint64_t& barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)), "r"(arrivals) : "memory");
}

/// Makes init_barrier visible to the TMA and to the other blocks of the cluster; a barrier of the threads must follow.
__device__ inline void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void wait(uint64_t& barrier, uint32_t parity) {
  asm volatile(
      "{ .reg .pred done;\n"
      "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra AGAIN; }" ::"r"(shared_address(&barrier)),
      "r"(parity)
      : "memory");
}

__device__ inline void arrive(uint64_t& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier)) : "memory");
}

/// Arrives at the same barrier of the block of that rank in the cluster.
__device__ inline void arrive_at(uint64_t& barrier, uint32_t rank) {
  asm volatile(
      "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there]; }" ::"r"(shared_address(&barrier)),
      "r"(rank)
      : "memory");
}

/// Arrives, and makes the phase wait for this many bytes of copies.
__device__ inline void arrive_expecting(uint64_t& barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)), "r"(bytes) : "memory");
}

/// Begins to copy the map's box at column `x`, row `y` of the matrix.
__device__ inline void load_tile(uint32_t to, const CUtensorMap& map, int x, int y, uint64_t& barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
               "l"(&map), "r"(x), "r"(y), "r"(shared_address(&barrier))
               : "memory");
}

/// The same for all blocks of the cluster whose bit of `blocks` is set; the barrier of each counts the bytes.
__device__ inline void load_tile_into(uint16_t blocks, uint32_t to, const CUtensorMap& map, int x, int y, uint64_t& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::
          "r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(shared_address(&barrier)), "h"(blocks)
      : "memory");
}

/// Begins to copy a box from shared memory to column `x`, row `y`; the caller has executed fence_stores and a barrier.
__device__ inline void store_tile(const CUtensorMap& map, int x, int y, uint32_t from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x), "r"(y), "r"(from)
               : "memory");
}

__device__ inline void finish_stores() {
  asm volatile("cp.async.bulk.commit_group;\n cp.async.bulk.wait_group 0;" ::: "memory");
}

/// Makes this thread's stores to shared memory visible to the TMA.
__device__ inline void fence_stores() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Threads of a warpgroup wait for each other.
__device__ inline void sync_warpgroup(int id) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(warpgroup) : "memory");
}

template <int registers>
__device__ inline void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
__device__ inline void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

/// The matrix descriptor of a tile, from its row and byte of K on: start address, leading byte offset (unused with a swizzle, 1 by custom),
/// stride byte offset from eight rows to the next eight, swizzle 128B. In units of 16 bytes, at bits 0, 16, 32 and 62.
__device__ inline uint64_t descriptor(uint32_t tile, int row, int byte) {
  const uint32_t address = tile + row * tile_row_bytes + byte;
  return (address >> 4 & 0x3fff) | uint64_t{1} << 16 | uint64_t{8 * tile_row_bytes >> 4} << 32 | uint64_t{1} << 62;
}

/// Must precede the first product, and follow any other access to the accumulators.
__device__ inline void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Waits until all but the last `pending` groups of products are done.
template <int pending>
__device__ inline void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

#define WARPMAT_8(i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])

/// Begins D = A B + D, or D = A B: 64 x 128 sums from 32 bytes of K. OPCODE ends with the types.
#define WARPMAT_PRODUCT(OPCODE, MORE)                                                                                                   \
  asm volatile(                                                                                                                         \
      "{ .reg .pred add; setp.ne.b32 add, %66, 0;\n" OPCODE                                                                             \
      " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, " \
      "%27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, "   \
      "%52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, add, 1, 1" MORE "; }"                                     \
      : WARPMAT_8(0), WARPMAT_8(8), WARPMAT_8(16), WARPMAT_8(24), WARPMAT_8(32), WARPMAT_8(40), WARPMAT_8(48), WARPMAT_8(56)            \
      : "l"(a), "l"(b), "r"(static_cast<int>(add)))

__device__ inline void multiply_f16(float (&d)[64], uint64_t a, uint64_t b, bool add) {
  WARPMAT_PRODUCT("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16", ", 0, 0");
}

__device__ inline void multiply_e4m3(float (&d)[64], uint64_t a, uint64_t b, bool add) {
  WARPMAT_PRODUCT("wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3", "");
}

// A thread's accumulators in the 64 x 128 results of its warpgroup: number 4 j + 2 h + i is in row accumulator_row() + 8 h, column
// accumulator_column() + 8 j + i.
__device__ inline int accumulator_row() {
  return threadIdx.x % warpgroup / 32 * 16 + threadIdx.x % 32 / 4;
}
__device__ inline int accumulator_column() {
  return threadIdx.x % 4 * 2;
}
