// C = A * B^T by one warp with mma.sync: 16 by 8 by 32 elements. FAULT: the second step reads B at the first step's place.
#include <cstdio>

#include <cuda_fp16.h>

constexpr int m = 16, n = 8, k = 32;

__global__ void product(const __half* a, const __half* b, float* c) {
  const int lane = threadIdx.x, row = lane / 4, pair = lane % 4 * 2;
  float d[4] = {};
  for (int step = 0; step < k; step += 16) {
#ifdef FAULT
    const int of_b = 0;
#else
    const int of_b = step;
#endif
    const auto word = [](const __half* at) { return *reinterpret_cast<const unsigned*>(at); };
    const unsigned a0 = word(a + row * k + step + pair), a1 = word(a + (row + 8) * k + step + pair);
    const unsigned a2 = word(a + row * k + step + pair + 8), a3 = word(a + (row + 8) * k + step + pair + 8);
    const unsigned b0 = word(b + row * k + of_b + pair), b1 = word(b + row * k + of_b + pair + 8);
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  for (int i = 0; i < 4; ++i) c[(row + i / 2 * 8) * n + pair + i % 2] = d[i];
}

__global__ void fill(__half* a, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) a[i] = __int2half_rn(i % 7 - 3);
}

int main() {
  __half *a, *b;
  float *c, result[m * n];
  cudaMalloc(&a, m * k * sizeof *a);
  cudaMalloc(&b, n * k * sizeof *b);
  cudaMalloc(&c, sizeof result);
  fill<<<1, 32>>>(a, m * k);
  fill<<<1, 32>>>(b, n * k);
  product<<<1, 32>>>(a, b, c);
  cudaMemcpy(result, c, sizeof result, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < m * n; ++i) {
    float expected = 0;
    for (int j = 0; j < k; ++j) expected += static_cast<float>((i / n * k + j) % 7 - 3) * static_cast<float>((i % n * k + j) % 7 - 3);
    wrong += result[i] != expected ? 1 : 0;
  }
  std::printf("%d wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
