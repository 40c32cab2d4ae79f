// A program of two launches for program_test.py.
#include <cstdio>

__global__ void count(int* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 10 * i;
}

__global__ void add(int* x, int more) {
  const int i = threadIdx.x;
  x[i] += more;
  if (i == 0) printf("added %d\n", more);
}

int main() {
  int *x = nullptr, last = 0;
  if (cudaMalloc(&x, 64 * sizeof(int)) != cudaSuccess) return 2;
  count<<<2, 32>>>(x);
  add<<<1, 64>>>(x, 7);
  cudaMemcpy(&last, x + 63, sizeof last, cudaMemcpyDeviceToHost);
  return last == 637 ? 0 : 1;
}
