// Products by wmma on random operands, one a block of one warp. D of each goes to a file. Every shape of f16 with sums of f16 and f32, and
// the layouts of A, B and C.
//
// products BLOCKS FILE
#include <cuda_fp16.h>
#include <mma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

using namespace nvcuda;
using row = wmma::row_major;
using column = wmma::col_major;

static const int stride = 32, elements = 32 * stride;  // of a matrix in memory, whatever its shape

template <int m, int n, int k, typename Sum, typename LayoutA, typename LayoutB>
__global__ void multiply(const half* a, const half* b, const Sum* c, Sum* d, wmma::layout_t layout) {
  const int first = blockIdx.x * elements;
  wmma::fragment<wmma::matrix_a, m, n, k, half, LayoutA> fragment_a;
  wmma::fragment<wmma::matrix_b, m, n, k, half, LayoutB> fragment_b;
  wmma::fragment<wmma::accumulator, m, n, k, Sum> sums;
  wmma::load_matrix_sync(fragment_a, a + first, stride);
  wmma::load_matrix_sync(fragment_b, b + first, stride);
  wmma::load_matrix_sync(sums, c + first, stride, layout);
  wmma::mma_sync(sums, fragment_a, fragment_b, sums);
  wmma::store_matrix_sync(d + first, sums, stride, layout);
}

static void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s\n", cudaGetErrorString(error));
  exit(1);
}

static uint32_t random_bits() {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33);
}

// From 2^-8 to 2^7, of both signs, with random fractions.
static void fill(half* values, int count) {
  for (int i = 0; i < count; ++i) {
    const uint32_t bits = random_bits();
    const __half_raw raw = {(unsigned short)((bits & 0x83ff) | (7 + bits / 65536 % 16) << 10)};
    values[i] = half(raw);
  }
}
static void fill(float* values, int count) {
  for (int i = 0; i < count; ++i) values[i] = ((int)random_bits() - (1 << 30)) * 0x1p-24f;
}

template <typename T>
static T* on_device(const T* values, int count) {
  T* copy = NULL;
  check(cudaMalloc((void**)&copy, count * sizeof(T)));
  check(cudaMemcpy(copy, values, count * sizeof(T), cudaMemcpyHostToDevice));
  return copy;
}

template <int m, int n, int k, typename Sum, typename LayoutA, typename LayoutB>
static void run(int blocks, wmma::layout_t layout, FILE* file) {
  const int count = blocks * elements;
  half* operands = (half*)malloc(count * sizeof(half));
  Sum* sums = (Sum*)calloc(count, sizeof(Sum));
  fill(operands, count);
  const half* a = on_device(operands, count);
  fill(operands, count);
  const half* b = on_device(operands, count);
  Sum* d = on_device(sums, count);
  fill(sums, count);
  const Sum* c = on_device(sums, count);
  multiply<m, n, k, Sum, LayoutA, LayoutB><<<blocks, 32>>>(a, b, c, d, layout);
  check(cudaDeviceSynchronize());
  check(cudaMemcpy(sums, d, count * sizeof(Sum), cudaMemcpyDeviceToHost));
  const int lines = layout == wmma::mem_row_major ? m : n;
  for (int block = 0; block < blocks; ++block)
    for (int line = 0; line < lines; ++line) fwrite(sums + block * elements + line * stride, sizeof(Sum), m * n / lines, file);
  free(operands);
  free(sums);
}

int main(int argc, char** argv) {
  FILE* file = argc == 3 ? fopen(argv[2], "wb") : NULL;
  if (file == NULL) return fprintf(stderr, "usage: products BLOCKS FILE\n"), 2;
  const int blocks = atoi(argv[1]);
  run<16, 16, 16, float, row, column>(blocks, wmma::mem_row_major, file);
  run<16, 16, 16, half, row, column>(blocks, wmma::mem_row_major, file);
  run<16, 16, 16, float, column, row>(blocks, wmma::mem_col_major, file);
  run<32, 8, 16, float, row, row>(blocks, wmma::mem_row_major, file);
  run<32, 8, 16, half, column, column>(blocks, wmma::mem_col_major, file);
  run<8, 32, 16, float, row, column>(blocks, wmma::mem_col_major, file);
  run<8, 32, 16, half, column, row>(blocks, wmma::mem_row_major, file);
  return fclose(file) != 0;
}
