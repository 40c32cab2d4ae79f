// Some forms of the device header, on hardware that a card need not be: compiled for every GPU that nvcc knows (every_card.cmake), not run.
// `warpmat device` runs all forms.
#include <warpmat/device/mma.h>

using namespace warpmat::device;

template <Opcode opcode, Hardware hardware, typename P = Product<opcode, hardware>>
__global__ void one(u32* words) {
  u32 a[P::fragment_a.words()], b[P::fragment_b.words()], c[P::fragment_c.words()], d[P::fragment_d.words()];
  u32* next = words + threadIdx.x;
  for (u32& word : a) word = *(next += 32);
  for (u32& word : b) word = *(next += 32);
  for (u32& word : c) word = *(next += 32);
  const Scales scales{*(next += 32), 0, 0};
  const u32 metadata = *(next += 32);
  if constexpr (P::sparse && P::scaled)
    mma<opcode, hardware>(d, a, b, c, metadata, 0, scales, scales);
  else if constexpr (P::sparse)
    mma<opcode, hardware>(d, a, b, c, metadata, 0);
  else if constexpr (P::scaled)
    mma<opcode, hardware>(d, a, b, c, scales, scales);
  else
    mma<opcode, hardware>(d, a, b, c);
  for (const u32 word : d) *(next += 32) = word;
}

// nvcc 13.0 compiles for sm_75 and later, 12.9 for sm_70, too.
using O = Opcode;
using H = Hardware;
template __global__ void one<O::mma_sync_aligned_m8n8k4_row_col_f32_f16_f16_f32, H::sm_70>(u32*);
template __global__ void one<O::mma_sync_aligned_m16n8k8_row_col_f16_f16_f16_f16, H::sm_75>(u32*);
template __global__ void one<O::mma_sync_aligned_m16n8k8_row_col_f32_tf32_tf32_f32, H::sm_80>(u32*);
template __global__ void one<O::mma_sync_aligned_m16n8k32_row_col_f32_e4m3_e4m3_f32, H::sm_89>(u32*);
template __global__ void one<O::mma_sp_sync_aligned_m16n8k32_row_col_f32_f16_f16_f32, H::sm_90>(u32*);
template __global__ void one<O::mma_sync_aligned_m8n8k4_row_col_f64_f64_f64_f64, H::sm_80>(u32*);
template __global__ void one<O::mma_sync_aligned_m16n8k32_row_col_s32_s8_s8_s32, H::sm_80>(u32*);
template __global__ void one<O::mma_sync_aligned_m16n8k256_row_col_s32_b1_b1_s32_and_popc, H::sm_90>(u32*);
template __global__ void one<O::wmma_mma_sync_aligned_row_col_m16n16k16_f32_f32, H::sm_70>(u32*);
template __global__ void one<O::mma_sync_aligned_m16n8k64_row_col_kind_mxf4nvf4_block_scale_scale_vec_2X_f32_e2m1_e2m1_f32_ue8m0, H::sm_120>(u32*);
