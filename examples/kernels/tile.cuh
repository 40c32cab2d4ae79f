// Shared by the kernels: tiles in shared memory, fragments from them, and results back to global memory.
//
// A tile has rows of 128 bytes of K: 64 f16, or 128 elements of 8 bits. Chunk c of 16 bytes of row r is stored at chunk c ^ (r & 7), so
// that the eight rows of one ldmatrix are in different banks. B is stored by columns, so a row of its tile is a column of the matrix.
#pragma once

#include <cstdint>

constexpr int row_bytes = 128;
constexpr int steps = row_bytes / 32;  // one mma takes 32 bytes of each row

__device__ inline uint32_t shared_address(const void* pointer) { return static_cast<uint32_t>(__cvta_generic_to_shared(pointer)); }

__device__ inline uint32_t swizzled(int row, int chunk) { return row * row_bytes + (chunk ^ (row & 7)) * 16; }

/// Begins to copy `rows` rows of a tile; in global memory they are `pitch` bytes apart. All threads of the block must call it.
template <int rows, int threads>
__device__ inline void copy_tile(uint32_t to, const uint8_t* from, size_t pitch) {
#pragma unroll
  for (int i = 0; i < rows * 8 / threads; ++i) {
    const int row = (threadIdx.x + i * threads) / 8, chunk = (threadIdx.x + i * threads) % 8;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + swizzled(row, chunk)), "l"(from + row * pitch + chunk * 16) : "memory");
  }
}

__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until all but the last `pending` groups of copies have arrived.
template <int pending>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

__device__ inline void ldmatrix(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

/// Operand a of an mma: 16 rows from `row` on, 32 bytes.
__device__ inline void load_a(uint32_t (&a)[4], uint32_t tile, int row, int step) {
  const int lane = threadIdx.x % 32;
  ldmatrix(a, tile + swizzled(row + lane % 16, 2 * step + lane / 16));
}

/// Operands b of two mma: 2 x 8 columns from `column` on, 32 bytes. Registers 0 and 1 are for the first eight columns.
__device__ inline void load_b(uint32_t (&b)[4], uint32_t tile, int column, int step) {
  const int lane = threadIdx.x % 32;
  ldmatrix(b, tile + swizzled(column + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));
}

/// The row (of 16) and column (of 8) of a lane's first accumulator; the second is in the next column, the others are 8 rows below.
__device__ inline int accumulator_row() { return threadIdx.x % 32 / 4; }
__device__ inline int accumulator_column() { return threadIdx.x % 4 * 2; }
