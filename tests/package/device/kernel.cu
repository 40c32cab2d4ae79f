// Products of several kinds, each with the bits of some other GPU.

#include <warpmat/device/mma.h>

using namespace warpmat::device;

__global__ void products(u32* words, const u32* operands) {
  u32 a[4], b[2], c[4], d[4];
  for (int i = 0; i < 4; ++i) a[i] = operands[threadIdx.x + 32 * i];
  for (int i = 0; i < 2; ++i) b[i] = operands[threadIdx.x + 32 * (4 + i)];
  for (int i = 0; i < 4; ++i) c[i] = operands[threadIdx.x + 32 * (6 + i)];
  mma<Opcode::mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32, Hardware::sm_80>(d, a, b, c);
  mma<Opcode::mma_sync_aligned_m16n8k32_row_col_f32_e4m3_e4m3_f32, Hardware::sm_90>(c, a, b, d);
  mma<Opcode::mma_sync_aligned_m16n8k32_row_col_s32_s8_s8_s32, Hardware::sm_80>(d, a, b, c);
  const u32 e = operands[threadIdx.x + 32 * 10];
  u32 wide[4];
  for (int i = 0; i < 4; ++i) wide[i] = operands[threadIdx.x + 32 * (11 + i)];
  mma<Opcode::mma_sp_sync_aligned_m16n8k32_row_col_f32_f16_f16_f32, Hardware::sm_90>(c, a, wide, d, e, 0u);
  mma<Opcode::mma_sync_aligned_m16n8k64_row_col_kind_mxf4_block_scale_scale_vec_2X_f32_e2m1_e2m1_f32_ue8m0, Hardware::sm_120>(
      d, a, b, c, Scales{e, 0, 0}, Scales{e, 2, 1});
  for (int i = 0; i < 4; ++i) words[threadIdx.x + 32 * i] = d[i];
}

__global__ void products_of_f64(u32* words, const u32* operands) {
  u32 a[2], b[2], c[4], d[4];
  for (int i = 0; i < 2; ++i) a[i] = operands[threadIdx.x + 32 * i];
  for (int i = 0; i < 2; ++i) b[i] = operands[threadIdx.x + 32 * (2 + i)];
  for (int i = 0; i < 4; ++i) c[i] = operands[threadIdx.x + 32 * (4 + i)];
  mma<Opcode::mma_sync_aligned_m8n8k4_row_col_f64_f64_f64_f64, Hardware::sm_90>(d, a, b, c);
  for (int i = 0; i < 4; ++i) words[threadIdx.x + 32 * i] = d[i];
}
