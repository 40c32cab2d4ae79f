// The kernel that is tested: C = A * B by one warp. A is 16x16 and B 16x8 of f16, C 16x8 of f32, all of them row by row.
#include <cuda_fp16.h>

__global__ void tile_product(const __half* a, const __half* b, float* c) {
  __shared__ alignas(16) __half tile[16 * 16];
  const unsigned lane = threadIdx.x;
  reinterpret_cast<uint4*>(tile)[lane] = reinterpret_cast<const uint4*>(a)[lane];  // 8 elements a lane
  __syncthreads();

  // A's four 8x8 matrices: lane l holds the address of row l % 16, in the left or the right half.
  unsigned a0, a1, a2, a3;
  const auto row = static_cast<unsigned>(__cvta_generic_to_shared(tile + lane % 16 * 16 + lane / 16 * 8));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a0), "=r"(a1), "=r"(a2), "=r"(a3) : "r"(row));

  // B: lane l holds column l / 4, in each register two rows that follow each other.
  const unsigned column = lane / 4, k = lane % 4 * 2;
  const __half2 low = __halves2half2(b[k * 8 + column], b[(k + 1) * 8 + column]);
  const __half2 high = __halves2half2(b[(k + 8) * 8 + column], b[(k + 9) * 8 + column]);

  float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(*reinterpret_cast<const unsigned*>(&low)), "r"(*reinterpret_cast<const unsigned*>(&high)));

  float* const out = c + lane / 4 * 8 + lane % 4 * 2;
  out[0] = d0;
  out[1] = d1;
  out[8 * 8] = d2;
  out[8 * 8 + 1] = d3;
}
