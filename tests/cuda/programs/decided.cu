#include <vector>

#include "check.h"

// Products that the floor of the alignment decides, and constants that ptxas computes otherwise than the GPU does.

constexpr int shifts = 12;

/// Row 0 of A times column 0 of B, with f16 sums and C = 0: 2^-12 · 2^-13 is a tie between 0 and the smallest half, and a second product,
/// 2^-24 · 2^(shift-24), counts only if it lies above the last bit that the unit keeps.
__global__ void break_ties(unsigned short* d) {
  const unsigned lane = threadIdx.x, shift = blockIdx.x;
  const unsigned second = shift < 10 ? 1u << shift : (shift - 9) << 10;  // 2^(shift-24) in f16
  const unsigned a0 = lane == 0 ? 0x0001'0c00 : 0, b0 = lane == 0 ? second << 16 | 0x0800 : 0;
  unsigned d0 = 0, d1 = 0;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %3, %3}, {%4, %3}, {%0, %1};"
               : "+r"(d0), "+r"(d1)
               : "r"(a0), "r"(0), "r"(b0));
  if (lane == 0) d[shift] = static_cast<unsigned short>(d0);
}

/// An instruction on a constant, which ptxas folds, and on the same number from memory.
#define ON_BOTH(index, instruction, number)                                          \
  asm volatile(instruction " %0, %1;" : "=f"(folded[index]) : "f"(number));          \
  asm volatile(instruction " %0, %1;" : "=f"(computed[index]) : "f"(numbers[index]))

constexpr int constants = 8;
__constant__ float numbers[constants];

__global__ void fold_constants(float* folded, float* computed) {
  ON_BOTH(0, "rsqrt.approx.f32", 0.5f);
  ON_BOTH(1, "sqrt.approx.f32", 1.5f);
  ON_BOTH(2, "rcp.approx.f32", 3.0f);
  ON_BOTH(3, "ex2.approx.f32", 1.3f);
  ON_BOTH(4, "ex2.approx.f32", 1.7f);
  ON_BOTH(5, "lg2.approx.f32", 0.7f);
  ON_BOTH(6, "sin.approx.f32", 1.0f);
  ON_BOTH(7, "cos.approx.f32", 1.0f);
}

int main() {
  unsigned short* ties = nullptr;
  float *folded = nullptr, *computed = nullptr;
  CHECK(cudaMalloc(&ties, shifts * sizeof *ties));
  CHECK(cudaMalloc(&folded, constants * sizeof *folded));
  CHECK(cudaMalloc(&computed, constants * sizeof *computed));
  break_ties<<<shifts, 32>>>(ties);
  const float values[constants] = {0.5f, 1.5f, 3.0f, 1.3f, 1.7f, 0.7f, 1.0f, 1.0f};
  CHECK(cudaMemcpyToSymbol(numbers, values, sizeof values));
  fold_constants<<<1, 1>>>(folded, computed);
  unsigned short halves[shifts];
  unsigned both[2][constants];
  CHECK(cudaMemcpy(halves, ties, sizeof halves, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(both[0], folded, sizeof both[0], cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(both[1], computed, sizeof both[1], cudaMemcpyDeviceToHost));
  for (const unsigned short half : halves) std::printf("%04x ", half);
  for (int i = 0; i < constants; ++i) std::printf("\n%08x %08x", both[0][i], both[1][i]);
  std::printf("\n");
}
