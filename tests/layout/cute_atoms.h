#pragma once

#include <string_view>

namespace warpmat {

/// An atom of CUTLASS, and a form with the same registers.
struct CuteAtom {
  std::string_view name, opcode;
};

// In names, T is a matrix stored by rows and N one by columns, of A first and then of B.
constexpr CuteAtom cute_atoms[] = {
    {"SM70_8x8x4_F16F16F16F16_NN", "mma.sync.aligned.m8n8k4.col.col.f16.f16.f16.f16"},
    {"SM70_8x8x4_F16F16F16F16_NT", "mma.sync.aligned.m8n8k4.col.row.f16.f16.f16.f16"},
    {"SM70_8x8x4_F16F16F16F16_TN", "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16"},
    {"SM70_8x8x4_F16F16F16F16_TT", "mma.sync.aligned.m8n8k4.row.row.f16.f16.f16.f16"},
    {"SM70_8x8x4_F32F16F16F32_NT", "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32"},
    {"SM70_8x8x4_F32F16F16F32_TN", "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32"},
    {"SM80_16x8x8_F32TF32TF32F32_TN", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"},
    {"SM80_16x8x16_F32F16F16F32_TN", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"},
    {"SM80_16x8x16_S32S8S8S32_TN", "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32"},
    {"SM80_16x8x32_S32S8S8S32_TN", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"},
    {"SM80_16x8x32_S32S4S4S32_TN", "mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32"},
    {"SM80_16x8x64_S32S4S4S32_TN", "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32"},
    {"SM89_16x8x32_F32E4M3E4M3F32_TN", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"},
    {"SM120_f8f6f4_k32", "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32"},
    {"SM120_mxf8f6f4_k32", "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e2m3.e4m3.f32.ue8m0"},
    {"SM120_mxf4_k64", "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0"},
    {"SM120_mxf4_k64", "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"},
    {"SM120_sp_f8f6f4_k64", "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e5m2.e2m1.f32"},
    {"SM120_sp_mxf8f6f4_k64", "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e2m1.e2m1.f32.ue8m0"},
    {"SM120_sp_mxf4_k128", "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0"},
    {"SM120_sp_mxf4_k128",
     "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"},
};

}  // namespace warpmat
