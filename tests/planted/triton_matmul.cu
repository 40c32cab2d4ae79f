// The shape in which Triton lowers triton_matmul.py, with blocks of 32 and four warps: its statements have the lines of that file, whose line
// `N` is LINE(N). The masked copies have a size of 0 or 16, and the sums go through shared memory to whole rows.
#include "planted.cuh"

constexpr int block = 32, tile_bytes = block * block * 2;

extern "C" __global__ void __launch_bounds__(128)
    triton_matmul(const uint16_t* A, const uint16_t* B, float* C, int M, int N, int K, int stride_am, int stride_bk, int stride_cm,
                  void* global_scratch, void* profile_scratch) {
  extern __shared__ __align__(16) uint8_t global_smem[];
  const uint32_t smem = shared_address(global_smem);
  const int thread = threadIdx.x, lane = thread % 32, m0 = thread / 64 * 16, n0 = thread / 32 % 2 * 16, row = thread / 4, chunk = thread % 4;
  const uint32_t place = row * 64 + (chunk ^ (row >> 1 & 3)) * 16;
#line 9 "triton_matmul.py"
  const int pid = blockIdx.x;
#line 10 "triton_matmul.py"
  const int pid_m = pid / ((N + block - 1) / block);
#if PLANT == 1
#line 11 "triton_matmul.py"
  const int pid_n = pid / ((N + block - 1) / block);
#else
#line 11 "triton_matmul.py"
  const int pid_n = pid % ((N + block - 1) / block);
#endif
#line 15 "triton_matmul.py"
  const uint16_t* a_ptrs = A + (pid_m * block + row) * stride_am + chunk * 8;
#line 16 "triton_matmul.py"
  const uint16_t* b_ptrs = B + row * stride_bk + pid_n * block + chunk * 8;
#line 17 "triton_matmul.py"
  float acc[2][4] = {};
  for (int k = 0; k < (K + block - 1) / block; ++k) {
    const uint32_t buffer = smem + k % 2 * 2 * tile_bytes;
#if PLANT == 2
#line 19 "triton_matmul.py"
    copy_part(buffer + place, a_ptrs, chunk * 8 < K - (k + 1) * block ? 16 : 0);
#else
#line 19 "triton_matmul.py"
    copy_part(buffer + place, a_ptrs, chunk * 8 < K - k * block ? 16 : 0);
#endif
#line 20 "triton_matmul.py"
    copy_part(buffer + tile_bytes + place, b_ptrs, row < K - k * block ? 16 : 0);
#line 18 "triton_matmul.py"
    commit_copies(), wait_for_copies<0>(), __syncthreads();
    for (int step = 0; step < 2; ++step) {
      uint32_t a[4], b[4];
      const int a_row = m0 + lane % 16, b_row = 16 * step + lane % 16;
#line 19 "triton_matmul.py"
      ldmatrix(a, buffer + a_row * 64 + (2 * step + lane / 16 ^ (a_row >> 1 & 3)) * 16);
#line 20 "triton_matmul.py"
      ldmatrix_trans(b, buffer + tile_bytes + b_row * 64 + (n0 / 8 + lane / 16 ^ (b_row >> 1 & 3)) * 16);
#line 21 "triton_matmul.py"
      mma_f16(acc[0], a[0], a[1], a[2], a[3], b[0], b[1]), mma_f16(acc[1], a[0], a[1], a[2], a[3], b[2], b[3]);
    }
#line 22 "triton_matmul.py"
    a_ptrs += block;
#if PLANT == 3
#line 23 "triton_matmul.py"
    b_ptrs += block;
#else
#line 23 "triton_matmul.py"
    b_ptrs += block * stride_bk;
#endif
  }
#line 25 "triton_matmul.py"
  __syncthreads();
  float* const rows = reinterpret_cast<float*>(global_smem);
  for (int j = 0; j < 2; ++j)
    for (int half = 0; half < 2; ++half)
#line 25 "triton_matmul.py"
      *reinterpret_cast<float2*>(rows + (m0 + lane / 4 + 8 * half) * 36 + n0 + 8 * j + lane % 4 * 2) = make_float2(acc[j][2 * half], acc[j][2 * half + 1]);
#line 25 "triton_matmul.py"
  __syncthreads();
  for (int i = 0; i < 2; ++i) {
    const int m = pid_m * block + thread / 8 + 16 * i, n = pid_n * block + thread % 8 * 4;
#if PLANT == 4
#line 24 "triton_matmul.py"
    float* const c_ptrs = C + (pid_n * block + thread / 8 + 16 * i) * stride_cm + pid_m * block + thread % 8 * 4;
#else
#line 24 "triton_matmul.py"
    float* const c_ptrs = C + m * stride_cm + n;
#endif
#line 25 "triton_matmul.py"
    if (m < M && n < N) *reinterpret_cast<float4*>(c_ptrs) = *reinterpret_cast<float4*>(rows + (thread / 8 + 16 * i) * 36 + thread % 8 * 4);
  }
}
