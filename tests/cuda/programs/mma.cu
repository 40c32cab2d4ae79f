// A matrix product by mma; its bytes are compared with those of an H200.

#include <cuda_fp16.h>

#include <cstring>

#include "check.h"
#include "mma_data.h"

__global__ void multiply(const unsigned* a, const unsigned* b, __half2* product) {
  const int group = threadIdx.x / 4, thread = threadIdx.x % 4;  // a row has 8 pairs
  const unsigned a0 = a[group * 8 + thread], a1 = a[(group + 8) * 8 + thread];
  const unsigned a2 = a[group * 8 + thread + 4], a3 = a[(group + 8) * 8 + thread + 4];
  const unsigned b0 = b[group * 8 + thread], b1 = b[group * 8 + thread + 4];
  float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  product[group * 4 + thread] = __floats2half2_rn(d0, d1);
  product[(group + 8) * 4 + thread] = __floats2half2_rn(d2, d3);
}

int main() {
  unsigned *a = nullptr, *b = nullptr, got[64];
  __half2* product = nullptr;
  CHECK(cudaMalloc(&a, sizeof matrix_a));
  CHECK(cudaMalloc(&b, sizeof matrix_b));
  CHECK(cudaMalloc(&product, sizeof got));
  CHECK(cudaMemcpy(a, matrix_a, sizeof matrix_a, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, matrix_b, sizeof matrix_b, cudaMemcpyHostToDevice));
  multiply<<<1, 32>>>(a, b, product);
  CHECK(cudaMemcpy(got, product, sizeof got, cudaMemcpyDeviceToHost));
  std::printf("%s\n", std::memcmp(got, product_of_h200, sizeof got) == 0 ? "as an H200" : "different");
}
