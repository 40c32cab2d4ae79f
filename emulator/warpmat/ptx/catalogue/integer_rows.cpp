// Integers, logic, shifts and bit fields: PTX ISA 9.1 sections 9.7.1, 9.7.2 and 9.7.8, and prmt (9.7.9.7).

#include <warpmat/ptx/catalogue/kernel_row.h>
#include <warpmat/ptx/catalogue/rows.h>

namespace warpmat::inline v0_1::catalogue {
namespace {

constexpr Requirement sm32 = since(32, {3, 1}), sm50 = since(50, {4, 3});
constexpr Requirement carry_32 = since(1, {1, 2}), carry_64 = since(20, {4, 3}), mad_carry = since(20, {3, 0});
constexpr Requirement sm30_fns = since(30, {6, 0}), sm61 = since(61, {5, 0}), sm70 = since(70, {7, 6});
constexpr Requirement sm90_packed = since(90, {8, 0});

std::vector<KernelRow> arithmetic() {
  return {
      {"add(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T", "add.T"},
      {"add.sat.s32", "d:T = a:T, b:T", "add.sat.s32"},
      {"add(.u16x2|.s16x2)", "d:T = a:T, b:T", "add.b16x2", sm90_packed},
      {"sub(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T", "sub.T"},
      {"sub.sat.s32", "d:T = a:T, b:T", "sub.sat.s32"},
      {"mul.lo(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T", "mul.lo.T"},
      {"mul.hi(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T", "mul.hi.T"},
      {"mul.wide.u16", "d:u32 = a:T, b:T", "mul.wide.T"},
      {"mul.wide.s16", "d:s32 = a:T, b:T", "mul.wide.T"},
      {"mul.wide.u32", "d:u64 = a:T, b:T", "mul.wide.T"},
      {"mul.wide.s32", "d:s64 = a:T, b:T", "mul.wide.T"},
      {"mad.lo(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T, c:T", "mad.lo.T"},
      {"mad.hi(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T, c:T", "mad.hi.T"},
      {"mad.hi.sat.s32", "d:T = a:T, b:T, c:T", "mad.hi.sat.s32"},
      {"mad.wide.u16", "d:u32 = a:T, b:T, c:u32", "mad.wide.T"},
      {"mad.wide.s16", "d:s32 = a:T, b:T, c:s32", "mad.wide.T"},
      {"mad.wide.u32", "d:u64 = a:T, b:T, c:u64", "mad.wide.T"},
      {"mad.wide.s32", "d:s64 = a:T, b:T, c:s64", "mad.wide.T"},
      {"mul24.lo(.u32|.s32)", "d:T = a:T, b:T", "mul24.lo.T"},
      {"mul24.hi(.u32|.s32)", "d:T = a:T, b:T", "mul24.hi.T"},
      {"mad24.lo(.u32|.s32)", "d:T = a:T, b:T, c:T", "mad24.lo.T"},
      {"mad24.hi(.u32|.s32)", "d:T = a:T, b:T, c:T", "mad24.hi.T"},
      {"mad24.hi.sat.s32", "d:T = a:T, b:T, c:T", "mad24.hi.sat.s32"},
      {"sad(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T, c:T", "sad.T"},
      {"div(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T", "div.T"},
      {"rem(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T", "rem.T"},
      {"abs(.s16|.s32|.s64)", "d:T = a:T", "abs.T"},
      {"neg(.s16|.s32|.s64)", "d:T = a:T", "neg.T"},
      {"min(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T", "min.T"},
      {"min(.u16x2|.s16x2)", "d:T = a:T, b:T", "min.T", sm90_packed},
      {"min.relu(.s16x2|.s32)", "d:T = a:T, b:T", "min.relu.T", sm90_packed},
      {"max(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T", "max.T"},
      {"max(.u16x2|.s16x2)", "d:T = a:T, b:T", "max.T", sm90_packed},
      {"max.relu(.s16x2|.s32)", "d:T = a:T, b:T", "max.relu.T", sm90_packed},
      {"dp4a(.u32|.s32)(.u32|.s32)", "d:b32 = a:T, b:U, c:b32", "dp4a.T.U", sm61},
      {"dp2a.lo(.u32|.s32)(.u32|.s32)", "d:b32 = a:T, b:U, c:b32", "dp2a.lo.T.U", sm61},
      {"dp2a.hi(.u32|.s32)(.u32|.s32)", "d:b32 = a:T, b:U, c:b32", "dp2a.hi.T.U", sm61},
  };
}

std::vector<KernelRow> carries() {
  return {
      {"add.cc(.u32|.s32)", "d:T, cc = a:T, b:T", "addc.T", carry_32},
      {"add.cc(.u64|.s64)", "d:T, cc = a:T, b:T", "addc.T", carry_64},
      {"addc(.u32|.s32)", "d:T = a:T, b:T, cc", "addc.T", carry_32},
      {"addc(.u64|.s64)", "d:T = a:T, b:T, cc", "addc.T", carry_64},
      {"addc.cc(.u32|.s32)", "d:T, cc = a:T, b:T, cc", "addc.T", carry_32},
      {"addc.cc(.u64|.s64)", "d:T, cc = a:T, b:T, cc", "addc.T", carry_64},
      {"sub.cc(.u32|.s32)", "d:T, cc = a:T, b:T", "subc.T", carry_32},
      {"sub.cc(.u64|.s64)", "d:T, cc = a:T, b:T", "subc.T", carry_64},
      {"subc(.u32|.s32)", "d:T = a:T, b:T, cc", "subc.T", carry_32},
      {"subc(.u64|.s64)", "d:T = a:T, b:T, cc", "subc.T", carry_64},
      {"subc.cc(.u32|.s32)", "d:T, cc = a:T, b:T, cc", "subc.T", carry_32},
      {"subc.cc(.u64|.s64)", "d:T, cc = a:T, b:T, cc", "subc.T", carry_64},
      {"mad.lo.cc(.u32|.s32)", "d:T, cc = a:T, b:T, c:T", "madc.lo.T", mad_carry},
      {"mad.lo.cc(.u64|.s64)", "d:T, cc = a:T, b:T, c:T", "madc.lo.T", carry_64},
      {"mad.hi.cc(.u32|.s32)", "d:T, cc = a:T, b:T, c:T", "madc.hi.T", mad_carry},
      {"mad.hi.cc(.u64|.s64)", "d:T, cc = a:T, b:T, c:T", "madc.hi.T", carry_64},
      {"madc.lo(.u32|.s32)", "d:T = a:T, b:T, c:T, cc", "madc.lo.T", mad_carry},
      {"madc.lo(.u64|.s64)", "d:T = a:T, b:T, c:T, cc", "madc.lo.T", carry_64},
      {"madc.hi(.u32|.s32)", "d:T = a:T, b:T, c:T, cc", "madc.hi.T", mad_carry},
      {"madc.hi(.u64|.s64)", "d:T = a:T, b:T, c:T, cc", "madc.hi.T", carry_64},
      {"madc.lo.cc(.u32|.s32)", "d:T, cc = a:T, b:T, c:T, cc", "madc.lo.T", mad_carry},
      {"madc.lo.cc(.u64|.s64)", "d:T, cc = a:T, b:T, c:T, cc", "madc.lo.T", carry_64},
      {"madc.hi.cc(.u32|.s32)", "d:T, cc = a:T, b:T, c:T, cc", "madc.hi.T", mad_carry},
      {"madc.hi.cc(.u64|.s64)", "d:T, cc = a:T, b:T, c:T, cc", "madc.hi.T", carry_64},
  };
}

std::vector<KernelRow> bits() {
  return {
      {"and(.b16|.b32|.b64)", "d:T = a:T, b:T", "and.T"},
      {"or(.b16|.b32|.b64)", "d:T = a:T, b:T", "or.T"},
      {"xor(.b16|.b32|.b64)", "d:T = a:T, b:T", "xor.T"},
      {"not(.b16|.b32|.b64)", "d:T = a:T", "not.T"},
      {"cnot(.b16|.b32|.b64)", "d:T = a:T", "cnot.T"},
      {"lop3.b32", "d:T = a:T, b:T, c:T, lut:b32", "lop3.b32", sm50},
      {"lop3(.or|.and).b32", "d:T|p = a:T, b:T, c:T, lut:b32, q", "lop3.predicate.b32", since(70, {8, 2})},
      {"shl(.b16|.b32|.b64)", "d:T = a:T, b:u32", "shl.T"},
      {"shr(.b16|.b32|.b64|.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:u32", "shr.T"},
      {"shf.l(.clamp|.wrap).b32", "d:T = a:T, b:T, c:u32", "shf.l.b32", sm32},
      {"shf.r(.clamp|.wrap).b32", "d:T = a:T, b:T, c:u32", "shf.r.b32", sm32},
      {"popc(.b32|.b64)", "d:u32 = a:T", "popc.T", sm20},
      {"clz(.b32|.b64)", "d:u32 = a:T", "clz.T", sm20},
      {"brev(.b32|.b64)", "d:T = a:T", "brev.T", sm20},
      {"bfind(.u32|.u64|.s32|.s64)", "d:u32 = a:T", "bfind.T", sm20},
      {"bfind.shiftamt(.u32|.u64|.s32|.s64)", "d:u32 = a:T", "bfind.shiftamt.T", sm20},
      {"bfe(.u32|.u64|.s32|.s64)", "d:T = a:T, b:u32, c:u32", "bfe.T", sm20},
      {"bfi(.b32|.b64)", "f:T = a:T, b:T, c:u32, d:u32", "bfi.T", sm20},
      {"bmsk(.clamp|.wrap).b32", "d:T = a:T, b:T", "bmsk.b32", sm70},
      {"szext(.clamp|.wrap)(.u32|.s32)", "d:T = a:T, b:u32", "szext.T", sm70},
      {"fns.b32", "d:T = mask:T, base:b32, offset:b32", "fns.b32", sm30_fns},
      {"prmt.b32", "d:T = a:T, b:T, c:T", "prmt.b32", sm20},
      {"prmt.b32.f4e", "d:T = a:T, b:T, c:T", "prmt.b32.f4e", sm20},
      {"prmt.b32.b4e", "d:T = a:T, b:T, c:T", "prmt.b32.b4e", sm20},
      {"prmt.b32.rc8", "d:T = a:T, b:T, c:T", "prmt.b32.rc8", sm20},
      {"prmt.b32.ecl", "d:T = a:T, b:T, c:T", "prmt.b32.ecl", sm20},
      {"prmt.b32.ecr", "d:T = a:T, b:T, c:T", "prmt.b32.ecr", sm20},
      {"prmt.b32.rc16", "d:T = a:T, b:T, c:T", "prmt.b32.rc16", sm20},
  };
}

}  // namespace

void add_integer_rows(std::vector<Row>& rows) {
  for (const auto table : {arithmetic, carries, bits}) add_kernel_rows(rows, table());
}

}  // namespace warpmat::inline v0_1::catalogue
