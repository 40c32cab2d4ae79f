// Conversion: PTX ISA 9.1 sections 9.7.9.21 (cvt) and 9.7.9.22 (cvt.pack).

#include <string>

#include <warpmat/ptx/catalogue/kernel_row.h>
#include <warpmat/ptx/catalogue/rows.h>

namespace warpmat::catalogue {
namespace {

constexpr Requirement sm80_wide = since(80, {7, 1}), sm80_finite = since(80, {8, 1});
constexpr Requirement sm72 = since(72, {6, 5}), sm100_families{.families = {100, 110, 120}, .ptx = {8, 6}};
constexpr Requirement blackwell_91{.families = {100, 110, 120}, .ptx = {9, 1}},
    stochastic{.families = {100}, .architecture = true, .ptx = {8, 7}};

std::string integers() {
  return "(.u8|.s8|.u16|.s16|.u32|.s32|.u64|.s64)";
}
std::string to_whole() {
  return "(.rni|.rzi|.rmi|.rpi)";
}
std::string rounded() {
  return "(.rn|.rz|.rm|.rp)";
}

std::vector<KernelRow> with_integers() {
  return {
      {"cvt" + integers() + integers(), "d:T+ = a:U+"},
      // Only if a source can be outside the result's range.
      {"cvt.sat.u8(.s8|.u16|.s16|.u32|.s32|.u64|.s64)", "d:T+ = a:U+"},
      {"cvt.sat.s8(.u8|.u16|.s16|.u32|.s32|.u64|.s64)", "d:T+ = a:U+"},
      {"cvt.sat.u16(.s8|.s16|.u32|.s32|.u64|.s64)", "d:T+ = a:U+"},
      {"cvt.sat.s16(.u16|.u32|.s32|.u64|.s64)", "d:T+ = a:U+"},
      {"cvt.sat.u32(.s8|.s16|.s32|.u64|.s64)", "d:T+ = a:U+"},
      {"cvt.sat.s32(.u32|.u64|.s64)", "d:T+ = a:U+"},
      {"cvt.sat.u64(.s8|.s16|.s32|.s64)", "d:T+ = a:U+"},
      {"cvt.sat.s64.u64", "d:T+ = a:U+"},
      {"cvt" + to_whole() + "(.ftz)?(.sat)?" + integers() + ".f32", "d:T+ = a:U+"},
      {"cvt" + to_whole() + "(.sat)?" + integers() + "(.f16|.f64)", "d:T+ = a:U+"},
      {"cvt" + to_whole() + integers() + ".bf16", "d:T = a:U", sm90},
      {"cvt" + rounded() + "(.ftz)?(.sat)?.f32" + integers(), "d:T+ = a:U+"},
      {"cvt" + rounded() + "(.sat)?.f64" + integers(), "d:T+ = a:U+"},
      {"cvt" + rounded() + "(.sat)?.f16" + integers(), "d:T+ = a:U+", any_target, "cvt.small.U"},
      {"cvt" + rounded() + ".bf16" + integers(), "d:T = a:U", sm90, "cvt.small.U"},
  };
}

std::vector<KernelRow> between_floats() {
  return {
      {"cvt(.ftz)?(.sat)?.f32.f16", "d:T+ = a:U+"},
      // Where the result is exact, ptxas 13.0 takes a rounding; between the formats of 16 bits none is .rn: an H200's answers.
      {"cvt" + rounded() + "?.f32.bf16", "d:T = a:U", sm80_wide},
      {"cvt" + rounded() + "?.ftz.f32.bf16", "d:T = a:U", sm90, "cvt.T.U"},
      {"cvt" + rounded() + "(.ftz)?(.sat)?.f32.f64", "d:T+ = a:U+"},
      {"cvt(.ftz)?(.sat)?.f64.f32", "d:T+ = a:U+"},
      {"cvt(.sat)?.f64.f16", "d:T+ = a:U+"},
      {"cvt" + rounded() + "?.f64.bf16", "d:T = a:U", sm90},
      {"cvt" + rounded() + "(.ftz)?(.sat)?.f16.f32", "d:T+ = a:U+", any_target, "cvt.small.U"},
      {"cvt" + rounded() + "(.sat)?.f16.f64", "d:T+ = a:U+", any_target, "cvt.small.U"},
      {"cvt" + rounded() + "?.f16.bf16", "d:T = a:U", sm90, "cvt.small.U"},
      {"cvt" + rounded() + ".bf16.f64", "d:T = a:U", sm90, "cvt.small.U"},
      {"cvt" + rounded() + "?.bf16.f16", "d:T = a:U", sm90, "cvt.small.U"},
      {"cvt(.rn|.rz).relu.f16.f32", "d:T+ = a:U+", sm80, "cvt.small.U"},
      {"cvt(.rn|.rz)(.relu)?.satfinite.f16.f32", "d:T+ = a:U+", sm80_finite, "cvt.small.U"},
      {"cvt(.rn|.rz)(.relu)?.bf16.f32", "d:T = a:U", sm80, "cvt.small.U"},
      {"cvt(.rm|.rp).bf16.f32", "d:T = a:U", sm90, "cvt.small.U"},
      {"cvt(.rn|.rz)(.relu)?.satfinite.bf16.f32", "d:T = a:U", sm80_finite, "cvt.small.U"},
      {"cvt.rna.tf32.f32", "d:b32 = a:U", sm80},
      {"cvt.rna.satfinite.tf32.f32", "d:b32 = a:U", sm80_finite, "cvt.rna.tf32.f32"},
      {"cvt(.rn|.rz)(.relu)?.tf32.f32", "d:b32 = a:U", sm90, "cvt.small.U"},
      {"cvt(.rn|.rz).satfinite(.relu)?.tf32.f32", "d:b32 = a:U", sm100, "cvt.small.U"},
      {"cvt" + to_whole() + "?(.ftz)?(.sat)?.f32.f32", "d:T+ = a:U+", any_target, "cvt.same.U"},
      {"cvt" + to_whole() + "?(.sat)?.f64.f64", "d:T+ = a:U+", any_target, "cvt.same.U"},
      {"cvt" + to_whole() + "?(.sat)?.f16.f16", "d:T+ = a:U+", any_target, "cvt.same.U"},
      {"cvt" + to_whole() + "?.bf16.bf16", "d:T = a:U", sm90, "cvt.same.U"},
  };
}

/// f16x2 of two small numbers, whose format is that of the source.
KernelRow to_halves(const std::string& small, const Requirement& requirement) {
  return {"cvt.rn(.relu)?.f16x2" + small, "d:T = a:U", requirement, "cvt.f16x2.pair", 1};
}

std::vector<KernelRow> packed() {
  return {
      {"cvt(.rn|.rz)(.relu)?(.f16x2|.bf16x2).f32", "d:T = a:U, b:U", sm80, "cvt.pair.U"},
      {"cvt(.rn|.rz)(.relu)?.satfinite(.f16x2|.bf16x2).f32", "d:T = a:U, b:U", sm80_finite, "cvt.pair.U"},
      {"cvt.rs(.relu)?(.satfinite)?(.f16x2|.bf16x2).f32", "d:T = a:U, b:U, rbits:b32", stochastic, "cvt.rs.pair.U"},
      {"cvt.rn.satfinite(.relu)?(.e4m3x2|.e5m2x2).f32", "d:T = a:U, b:U", sm89, "cvt.pair.U"},
      {"cvt.rn.satfinite(.relu)?(.e4m3x2|.e5m2x2).f16x2", "d:T = a:U", sm89, "cvt.pair.U"},
      {"cvt.rn.satfinite(.relu)?(.e4m3x2|.e5m2x2).bf16x2", "d:T = a:U", blackwell_91, "cvt.pair.U"},
      to_halves("(.e4m3x2|.e5m2x2)", sm89),
      {"cvt.rs(.relu)?.satfinite(.e4m3x4|.e5m2x4|.e2m3x4|.e3m2x4|.e2m1x4).f32", "d:T = a:U*4, rbits:b32", stochastic, "cvt.rs.quad.U"},
      {"cvt.rn.satfinite(.relu)?(.e2m1x2|.e2m3x2|.e3m2x2).f32", "d:T = a:U, b:U", sm100_families, "cvt.pair.U"},
      {"cvt.rn.satfinite(.relu)?(.e2m1x2|.e2m3x2|.e3m2x2)(.f16x2|.bf16x2)", "d:T = a:U", blackwell_91, "cvt.pair.U"},
      to_halves("(.e2m1x2|.e2m3x2|.e3m2x2)", sm100_families),
      {"cvt(.rz|.rp)(.satfinite)?.ue8m0x2.f32", "d:T = a:U, b:U", sm100_families, "cvt.power.U"},
      {"cvt(.rz|.rp)(.satfinite)?.ue8m0x2.bf16x2", "d:T = a:U", sm100_families, "cvt.power.U"},
      {"cvt.rn.bf16x2.ue8m0x2", "d:T = a:U", sm100_families, "cvt.bf16x2.power"},
      {"cvt.pack.sat.u16.s32", "d:u32 = a:s32, b:s32", sm72, "cvt.pack.u16"},
      {"cvt.pack.sat.s16.s32", "d:u32 = a:s32, b:s32", sm72, "cvt.pack.s16"},
      {"cvt.pack.sat.u8.s32.b32", "d:u32 = a:s32, b:s32, c:b32", sm72, "cvt.pack.u8"},
      {"cvt.pack.sat.s8.s32.b32", "d:u32 = a:s32, b:s32, c:b32", sm72, "cvt.pack.s8"},
      {"cvt.pack.sat.u4.s32.b32", "d:u32 = a:s32, b:s32, c:b32", sm75, "cvt.pack.u4"},
      {"cvt.pack.sat.s4.s32.b32", "d:u32 = a:s32, b:s32, c:b32", sm75, "cvt.pack.s4"},
      {"cvt.pack.sat.u2.s32.b32", "d:u32 = a:s32, b:s32, c:b32", sm75, "cvt.pack.u2"},
      {"cvt.pack.sat.s2.s32.b32", "d:u32 = a:s32, b:s32, c:b32", sm75, "cvt.pack.s2"},
  };
}

}  // namespace

void add_convert_rows(std::vector<Row>& rows) {
  for (const auto table : {with_integers, between_floats, packed}) add_kernel_rows(rows, table());
}

}  // namespace warpmat::catalogue
