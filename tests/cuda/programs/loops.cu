// A kernel whose sum has one instruction, and one whose sum ptxas rounds in the first round of an unrolled loop and fuses in others.
__global__ void multiply_add(const float* p, float* out) { *out = p[0] * p[1] + p[2]; }

__global__ void recurrence(const float* p, float* out) {
  float value = p[0] - p[0];
  for (int i = 0; i < static_cast<int>(threadIdx.x & 3) + 3; ++i) value = (p[1] + value) * (p[2] + p[2]);
  *out = fabsf(value) + (p[0] - 6.2831853f);
}

int main() {
  float *operands = nullptr, *out = nullptr;
  cudaMalloc(&operands, 3 * sizeof(float));
  cudaMalloc(&out, sizeof(float));
  cudaMemset(operands, 0x40, 3 * sizeof(float));
  multiply_add<<<1, 1>>>(operands, out);
  recurrence<<<1, 1>>>(operands, out);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
