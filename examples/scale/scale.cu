// A program with a fault, which `warpmat cuda` names: the README's first example.
#include <cstdio>
#include <vector>

__global__ void scale(float* x, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) x[i] *= factor;
}

int main() {
  const int n = 1000;
  std::vector<float> x(n, 1.0f);
  float* device = nullptr;
  cudaMalloc(&device, n * sizeof(float));
  cudaMemcpy(device, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  scale<<<8, 128>>>(device, 2.0f, n);
  cudaMemcpy(x.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("x[0] is %g\n", x[0]);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
