#include <warpmat/forms.h>

#include "device/comparison.h"
#include "test.h"

namespace warpmat::mma_test {
namespace {

using device::Opcode;

/// Some opcodes on one hardware.
template <device::Hardware hardware, Opcode... opcodes>
void compare(DeviceComparison& comparison) {
  (compare_with_reference<opcodes, hardware>(case_count(2), comparison), ...);
}

// The header as host code: what a GPU computes but for the exchange between lanes. A form of each rule and each pair of widths; the test
// "every form of the device header" has all of them.
TEST_CASE("the device header has the reference's bits: a form of each kind") {
  using H = device::Hardware;
  DeviceComparison comparison;
  compare<H::sm_70, Opcode::mma_sync_aligned_m8n8k4_row_col_f32_f16_f16_f32, Opcode::mma_sync_aligned_m8n8k4_col_row_f16_f16_f16_f16,
          Opcode::wmma_mma_sync_aligned_row_col_m16n16k16_f32_f16>(comparison);
  compare<H::sm_75, Opcode::mma_sync_aligned_m16n8k8_row_col_f32_f16_f16_f32, Opcode::mma_sync_aligned_m8n8k4_col_col_f32_f16_f16_f16>(
      comparison);
  compare<H::sm_80, Opcode::mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32, Opcode::mma_sync_aligned_m16n8k16_row_col_f16_f16_f16_f16,
          Opcode::mma_sync_aligned_m16n8k16_row_col_f32_bf16_bf16_f32, Opcode::mma_sync_aligned_m16n8k8_row_col_f32_tf32_tf32_f32,
          Opcode::mma_sync_aligned_m8n8k4_row_row_f32_f16_f16_f16, Opcode::mma_sync_aligned_m8n8k4_row_col_f16_f16_f16_f16,
          Opcode::mma_sync_aligned_m8n8k4_row_col_rp_f64_f64_f64_f64>(comparison);
  compare<H::sm_89, Opcode::mma_sync_aligned_m16n8k32_row_col_f32_e4m3_e5m2_f32,
          Opcode::mma_sync_aligned_m16n8k32_row_col_f16_e5m2_e5m2_f16>(comparison);
  compare<H::sm_90, Opcode::mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32, Opcode::mma_sync_aligned_m16n8k16_row_col_f16_f16_f16_f16,
          Opcode::mma_sync_aligned_m16n8k16_row_col_f32_bf16_bf16_f32, Opcode::mma_sync_aligned_m16n8k8_row_col_f32_tf32_tf32_f32,
          Opcode::mma_sync_aligned_m16n8k32_row_col_f32_e4m3_e5m2_f32, Opcode::mma_sync_aligned_m16n8k16_row_col_f16_e4m3_e4m3_f16,
          Opcode::mma_sync_aligned_m16n8k16_row_col_f64_f64_f64_f64, Opcode::mma_sync_aligned_m16n8k32_row_col_satfinite_s32_s8_u8_s32,
          Opcode::mma_sync_aligned_m8n8k32_row_col_s32_u4_s4_s32, Opcode::mma_sync_aligned_m16n8k256_row_col_s32_b1_b1_s32_xor_popc,
          Opcode::mma_sp_sync_aligned_m16n8k32_row_col_f32_f16_f16_f32, Opcode::mma_sp_sync_aligned_m16n8k16_row_col_f16_f16_f16_f16,
          Opcode::mma_sp_ordered_metadata_sync_aligned_m16n8k16_row_col_f32_tf32_tf32_f32,
          Opcode::mma_sp_sync_aligned_m16n8k64_row_col_f32_e4m3_e4m3_f32, Opcode::mma_sp_sync_aligned_m16n8k64_row_col_s32_s8_s8_s32,
          Opcode::mma_sp_sync_aligned_m16n8k64_row_col_s32_s4_u4_s32, Opcode::wmma_mma_sync_aligned_col_col_m16n16k16_f16_f32,
          Opcode::wmma_mma_sync_aligned_row_col_m8n32k16_f32_f16, Opcode::wmma_mma_sync_aligned_row_col_m32n8k16_f32_bf16_bf16_f32,
          Opcode::wmma_mma_sync_aligned_row_col_m16n16k8_f32_tf32_tf32_f32, Opcode::wmma_mma_sync_aligned_row_col_m32n8k16_s32_s8_s8_s32,
          Opcode::wgmma_tile_sync_aligned_m16n8k32_row_col_f32_e4m3_e5m2_f32>(comparison);
  compare<H::sm_120, Opcode::mma_sync_aligned_m16n8k32_row_col_kind_f8f6f4_f32_e4m3_e2m1_f32,
          Opcode::mma_sp_ordered_metadata_sync_aligned_m16n8k64_row_col_kind_f8f6f4_f16_e3m2_e2m3_f16,
          Opcode::mma_sync_aligned_m16n8k32_row_col_kind_mxf8f6f4_block_scale_scale_vec_1X_f32_e5m2_e2m3_f32_ue8m0,
          Opcode::mma_sync_aligned_m16n8k64_row_col_kind_mxf4_block_scale_scale_vec_2X_f32_e2m1_e2m1_f32_ue8m0,
          Opcode::mma_sp_ordered_metadata_sync_aligned_m16n8k128_row_col_kind_mxf4nvf4_block_scale_scale_vec_4X_f32_e2m1_e2m1_f32_ue4m3>(
      comparison);
  CHECK(comparison.first == "");
  CHECK(comparison.different == 0);
  CHECK(comparison.forms == 41);
  CHECK(comparison.words > 100'000);
}

TEST_CASE("the device header has a form where the reference has one, on each hardware") {
  for (int number = 0; number < device::form_count; ++number) {
    const auto [form, wgmma] = device_form(number);
    for (int h = 0; h <= static_cast<int>(Hardware::sm_121); ++h) {
      const auto& lowering = device::lowerings[device::lowering_sets[device::forms[number].lowering_set][h]];
      const auto hardware = static_cast<Hardware>(h);
      CAPTURE(form->opcode, h);
      CHECK((lowering.arithmetic != device::Arithmetic::none) ==
            (wgmma != nullptr ? hardware == Hardware::sm_90 : find_lowering(*form, hardware) != nullptr));
    }
  }
}

}  // namespace
}  // namespace warpmat::mma_test
