// The kernel of the debugger's tests. steps.ptx is what nvcc makes of it, with the file's name alone:
//   nvcc -arch=sm_80 -ptx -lineinfo steps.cu -o - | sed 's|"/.*/steps.cu"|"steps.cu"|' > steps.ptx
__device__ __forceinline__ unsigned mix(unsigned value, unsigned other) {
  const unsigned turned = value * 3 + other;
  return turned ^ (turned >> 5);
}

extern "C" __global__ void steps(unsigned* x) {
  __shared__ unsigned tile[64];
  unsigned value = threadIdx.x + blockIdx.x * 100;
  tile[threadIdx.x] = value;
  __syncthreads();
#pragma unroll 1
  for (unsigned i = 0; i < 4; ++i)
    value = mix(value, tile[(threadIdx.x + i) % 64]);
  if (threadIdx.x % 2 == 1)
    value += x[threadIdx.x];
  x[blockIdx.x * 64 + threadIdx.x] = value;
}
