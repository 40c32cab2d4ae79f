// Products and sums whose bits the assembler decides, with operands and bits of an H200: each line is a name and a result.
#include <cstdio>
#include <cstring>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void quarter(const T* p, T* out) { *out = (p[0] * p[1]) * 0.25f; }
template <class T>
__global__ void eighth(const T* p, T* out) { *out = (p[0] * p[1]) * 0.125f; }
template <class T>
__global__ void energy(const T* p, T* out) { *out = 0.5f * (p[0] * p[0]); }
template <class T>
__global__ void multiply_add(const T* p, T* out) { *out = p[0] * p[1] + p[2]; }

template <class T, class Bits>
static void print(const char* name, void (*kernel)(const T*, T*), Bits a, Bits b, Bits c) {
  T *operands = nullptr, *out = nullptr;
  const Bits bits[3] = {a, b, c};
  cudaMalloc(&operands, sizeof bits);
  cudaMalloc(&out, sizeof(T));
  cudaMemcpy(operands, bits, sizeof bits, cudaMemcpyHostToDevice);
  kernel<<<1, 1>>>(operands, out);
  Bits result = 0;
  cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("%s %llx\n", name, static_cast<unsigned long long>(result));
}

int main() {
  print<float, unsigned>("quarter", quarter<float>, 0x4e67, 0x417b53cf, 0);
  print<float, unsigned>("eighth", eighth<float>, 0xdde2a548, 0xe1dd556a, 0);
  print<float, unsigned>("energy", energy<float>, 0x5f800001, 0, 0);
  print<float, unsigned>("f32", multiply_add<float>, 0xa53db7bc, 0xef378e9a, 0xd2a2a099);
  print<double, unsigned long long>("f64", multiply_add<double>, 0xbf88d855afb78fdd, 0xbfd8888851680293, 0x3ea30c670353ee04);
  print<__half, unsigned short>("f16", multiply_add<__half>, 0xe370, 0x3db3, 0xbdb6);
  print<__nv_bfloat16, unsigned short>("bf16", multiply_add<__nv_bfloat16>, 0xb54a, 0xc278, 0xb378);
}
