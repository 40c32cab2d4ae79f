// One product of matrices with the bits of an A100 and of an H100, on whatever GPU this is: gemm [SIZE]

#include <warpmat/device/gemm.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace warpmat::device;

namespace {

constexpr Opcode opcode = Opcode::mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32;

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 77 : 1);
}

/// f16 numbers from 1/2 to 2 with random signs.
std::vector<unsigned short> numbers(std::size_t count, unsigned seed) {
  std::vector<unsigned short> out(count);
  for (unsigned short& bits : out) {
    seed = seed * 1664525u + 1013904223u;
    bits = static_cast<unsigned short>((seed >> 16 & 0x87ffu) | 0x3800u);
  }
  return out;
}

template <Hardware hardware>
std::vector<float> product(const GemmOperands& operands, int size) {
  const dim3 grid(static_cast<unsigned>((size + 31) / 32), static_cast<unsigned>((size + 15) / 16));
  cudaEvent_t before, after;
  check(cudaEventCreate(&before), "cudaEventCreate");
  check(cudaEventCreate(&after), "cudaEventCreate");
  gemm<opcode, hardware><<<grid, 128>>>(operands);  // loads the code
  check(cudaEventRecord(before), "cudaEventRecord");
  gemm<opcode, hardware><<<grid, 128>>>(operands);
  check(cudaEventRecord(after), "cudaEventRecord");
  std::vector<float> d(static_cast<std::size_t>(size) * static_cast<std::size_t>(size));
  check(cudaMemcpy(d.data(), operands.d.data, d.size() * sizeof(float), cudaMemcpyDeviceToHost), "gemm");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, before, after), "cudaEventElapsedTime");
  std::printf("%.1f ms, %.3g products a second\n", milliseconds, std::pow(size, 3.0) / milliseconds * 1e3);
  return d;
}

MatrixView on_gpu(const void* from, int size, std::size_t element) {
  MatrixView m{nullptr, size, size, size, 1, 0};
  const std::size_t bytes = static_cast<std::size_t>(size) * static_cast<std::size_t>(size) * element;
  check(cudaMalloc(&m.data, bytes), "cudaMalloc");
  if (from != nullptr) check(cudaMemcpy(m.data, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  return m;
}

}  // namespace

int main(int count, char** arguments) {
  const int size = count > 1 ? std::atoi(arguments[1]) : 1024;
  if (size < 1 || size > 16384) {
    std::fprintf(stderr, "usage: %s [SIZE of the square matrices, 1 to 16384]\n", arguments[0]);
    return 2;
  }
  const auto elements = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  const GemmOperands operands{on_gpu(nullptr, size, 4), on_gpu(numbers(elements, 1).data(), size, 2),
                              on_gpu(numbers(elements, 2).data(), size, 2), {}, 0};
  std::printf("as sm_80: ");
  const std::vector<float> a100 = product<Hardware::sm_80>(operands, size);
  std::printf("as sm_90: ");
  const std::vector<float> h100 = product<Hardware::sm_90>(operands, size);
  std::size_t different = 0;
  for (std::size_t i = 0; i < a100.size(); ++i) different += std::memcmp(&a100[i], &h100[i], sizeof(float)) != 0;
  std::printf("%zu of %zu elements differ\n", different, a100.size());
}
