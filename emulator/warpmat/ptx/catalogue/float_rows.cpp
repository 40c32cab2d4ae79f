// Floating-point arithmetic: PTX ISA 9.1 sections 9.7.3 (f32, f64), 9.7.4 (halves) and 9.7.5 (mixed).

#include <warpmat/ptx/catalogue/kernel_row.h>
#include <warpmat/ptx/catalogue/rows.h>

namespace warpmat::catalogue {
namespace {

constexpr Requirement sm53_signs = since(53, {6, 0});
constexpr Requirement sm53_abs = since(53, {6, 5}), sm86 = since(86, {7, 2});
constexpr Requirement sm90_oob = since(90, {8, 1});
constexpr Requirement sm100_three = since(100, {8, 8});

std::vector<KernelRow> single_and_double() {
  return {
      {"add(.rn|.rz|.rm|.rp)?(.ftz)?(.sat)?.f32", "d:T = a:T, b:T"},
      {"add(.rn|.rz|.rm|.rp)?.f64", "d:T = a:T, b:T"},
      {"add(.rn|.rz|.rm|.rp)?(.ftz)?.f32x2", "d:T = a:T, b:T", sm100},
      {"sub(.rn|.rz|.rm|.rp)?(.ftz)?(.sat)?.f32", "d:T = a:T, b:T"},
      {"sub(.rn|.rz|.rm|.rp)?.f64", "d:T = a:T, b:T"},
      {"sub(.rn|.rz|.rm|.rp)?(.ftz)?.f32x2", "d:T = a:T, b:T", sm100},
      {"mul(.rn|.rz|.rm|.rp)?(.ftz)?(.sat)?.f32", "d:T = a:T, b:T"},
      {"mul(.rn|.rz|.rm|.rp)?.f64", "d:T = a:T, b:T"},
      {"mul(.rn|.rz|.rm|.rp)?(.ftz)?.f32x2", "d:T = a:T, b:T", sm100},
      {"fma(.rn|.rz|.rm|.rp)(.ftz)?(.sat)?.f32", "d:T = a:T, b:T, c:T", sm20},
      {"fma(.rn|.rz|.rm|.rp).f64", "d:T = a:T, b:T, c:T"},
      {"fma(.rn|.rz|.rm|.rp)(.ftz)?.f32x2", "d:T = a:T, b:T, c:T", sm100},
      {"mad(.rn|.rz|.rm|.rp)(.ftz)?(.sat)?.f32", "d:T = a:T, b:T, c:T", sm20, "fma.T"},
      {"mad(.rn|.rz|.rm|.rp).f64", "d:T = a:T, b:T, c:T", any_target, "fma.T"},
      {"div(.rn|.rz|.rm|.rp)(.ftz)?.f32", "d:T = a:T, b:T", sm20},
      {"div(.rn|.rz|.rm|.rp).f64", "d:T = a:T, b:T"},
      {"rcp(.rn|.rz|.rm|.rp)(.ftz)?.f32", "d:T = a:T", sm20},
      {"rcp(.rn|.rz|.rm|.rp).f64", "d:T = a:T"},
      {"sqrt(.rn|.rz|.rm|.rp)(.ftz)?.f32", "d:T = a:T", sm20},
      {"sqrt(.rn|.rz|.rm|.rp).f64", "d:T = a:T"},
      {"abs(.ftz)?.f32", "d:T = a:T"},
      {"abs.f64", "d:T = a:T"},
      {"neg(.ftz)?.f32", "d:T = a:T"},
      {"neg.f64", "d:T = a:T"},
      {"min(.ftz)?.f32", "d:T = a:T, b:T"},
      {"min(.ftz)?.NaN.f32", "d:T = a:T, b:T", sm80, "min.T"},
      {"min(.ftz)?(.NaN)?.xorsign.abs.f32", "d:T = a:T, b:T", sm86, "min.T"},
      {"min(.ftz)?(.NaN)?(.abs)?.f32", "d:T = a:T, b:T, c:T", sm100_three, "min3.T"},
      {"min.f64", "d:T = a:T, b:T"},
      {"max(.ftz)?.f32", "d:T = a:T, b:T"},
      {"max(.ftz)?.NaN.f32", "d:T = a:T, b:T", sm80, "max.T"},
      {"max(.ftz)?(.NaN)?.xorsign.abs.f32", "d:T = a:T, b:T", sm86, "max.T"},
      {"max(.ftz)?(.NaN)?(.abs)?.f32", "d:T = a:T, b:T, c:T", sm100_three, "max3.T"},
      {"max.f64", "d:T = a:T, b:T"},
      {"copysign(.f32|.f64)", "d:T = a:T, b:T", sm20},
      {"testp.finite(.f32|.f64)", "p = a:T", sm20},
      {"testp.infinite(.f32|.f64)", "p = a:T", sm20},
      {"testp.number(.f32|.f64)", "p = a:T", sm20},
      {"testp.notanumber(.f32|.f64)", "p = a:T", sm20},
      {"testp.normal(.f32|.f64)", "p = a:T", sm20},
      {"testp.subnormal(.f32|.f64)", "p = a:T", sm20},
  };
}

std::vector<KernelRow> halves() {
  return {
      {"add(.rn)?(.ftz)?(.sat)?(.f16|.f16x2)", "d:T = a:T, b:T", sm53},
      {"add(.rn)?(.bf16|.bf16x2)", "d:T = a:T, b:T", sm90},
      {"sub(.rn)?(.ftz)?(.sat)?(.f16|.f16x2)", "d:T = a:T, b:T", sm53},
      {"sub(.rn)?(.bf16|.bf16x2)", "d:T = a:T, b:T", sm90},
      {"mul(.rn)?(.ftz)?(.sat)?(.f16|.f16x2)", "d:T = a:T, b:T", sm53},
      {"mul(.rn)?(.bf16|.bf16x2)", "d:T = a:T, b:T", sm90},
      {"fma.rn(.ftz)?(.sat)?(.f16|.f16x2)", "d:T = a:T, b:T, c:T", sm53, "fma.T"},
      {"fma.rn(.ftz)?.relu(.f16|.f16x2)", "d:T = a:T, b:T, c:T", sm80, "fma.T"},
      {"fma.rn(.relu)?(.bf16|.bf16x2)", "d:T = a:T, b:T, c:T", sm80, "fma.T"},
      {"fma.rn.oob(.relu)?(.f16|.f16x2|.bf16|.bf16x2)", "d:T = a:T, b:T, c:T", sm90_oob, "fma.T"},
      {"neg(.ftz)?(.f16|.f16x2)", "d:T = a:T", sm53_signs},
      {"neg(.bf16|.bf16x2)", "d:T = a:T", sm80},
      {"abs(.ftz)?(.f16|.f16x2)", "d:T = a:T", sm53_abs},
      {"abs(.bf16|.bf16x2)", "d:T = a:T", sm80},
      {"min(.ftz)?(.NaN)?(.f16|.f16x2)", "d:T = a:T, b:T", sm80},
      {"min(.NaN)?(.bf16|.bf16x2)", "d:T = a:T, b:T", sm80},
      {"min(.ftz)?(.NaN)?.xorsign.abs(.f16|.f16x2)", "d:T = a:T, b:T", sm86, "min.T"},
      {"min(.NaN)?.xorsign.abs(.bf16|.bf16x2)", "d:T = a:T, b:T", sm86, "min.T"},
      {"max(.ftz)?(.NaN)?(.f16|.f16x2)", "d:T = a:T, b:T", sm80},
      {"max(.NaN)?(.bf16|.bf16x2)", "d:T = a:T, b:T", sm80},
      {"max(.ftz)?(.NaN)?.xorsign.abs(.f16|.f16x2)", "d:T = a:T, b:T", sm86, "max.T"},
      {"max(.NaN)?.xorsign.abs(.bf16|.bf16x2)", "d:T = a:T, b:T", sm86, "max.T"},
  };
}

/// FMUL with a scale, by the names that machine code has for it: which mul becomes one, the assembler decides.
std::vector<KernelRow> scaled() {
  std::vector<KernelRow> rows;
  for (const std::string scale : {"d8", "d4", "d2", "m2", "m4", "m8"})
    rows.push_back({"%fmul." + scale + "(.ftz)?(.sat)?.f32", "d:T = a:T, b:T", any_target, "mul_" + scale + ".T"});
  return rows;
}

std::vector<KernelRow> mixed() {
  return {
      {"add(.rn|.rz|.rm|.rp)?(.sat)?.f32(.f16|.bf16)", "d:T = a:U, c:T", sm100},
      {"sub(.rn|.rz|.rm|.rp)?(.sat)?.f32(.f16|.bf16)", "d:T = a:U, c:T", sm100},
      {"fma(.rn|.rz|.rm|.rp)(.sat)?.f32(.f16|.bf16)", "d:T = a:U, b:U, c:T", sm100},
  };
}

}  // namespace

void add_float_rows(std::vector<Row>& rows) {
  for (const auto table : {single_and_double, halves, scaled, mixed}) add_kernel_rows(rows, table());
}

}  // namespace warpmat::catalogue
