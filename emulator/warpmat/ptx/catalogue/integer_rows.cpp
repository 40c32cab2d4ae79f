// Integers, logic, shifts and bit fields: PTX ISA 9.1 sections 9.7.1, 9.7.2 and 9.7.8, and prmt (9.7.9.7).

#include <warpmat/ptx/catalogue/kernel_row.h>
#include <warpmat/ptx/catalogue/rows.h>

namespace warpmat::catalogue {
namespace {

constexpr Requirement sm32 = since(32, {3, 1}), sm50 = since(50, {4, 3});
constexpr Requirement carry_32 = since(1, {1, 2}), carry_64 = since(20, {4, 3}), mad_carry = since(20, {3, 0});
constexpr Requirement sm30_fns = since(30, {6, 0}), sm61 = since(61, {5, 0}), sm70 = since(70, {7, 6});
constexpr Requirement sm90_packed = since(90, {8, 0});

std::vector<KernelRow> arithmetic() {
  return {
      {"add(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T"},
      {"add.sat.s32", "d:T = a:T, b:T"},
      {"add(.u16x2|.s16x2)", "d:T = a:T, b:T", sm90_packed, "add.b16x2"},
      {"sub(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T"},
      {"sub.sat.s32", "d:T = a:T, b:T"},
      {"mul.lo(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T"},
      {"mul.hi(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T"},
      {"mul.wide.u16", "d:u32 = a:T, b:T"},
      {"mul.wide.s16", "d:s32 = a:T, b:T"},
      {"mul.wide.u32", "d:u64 = a:T, b:T"},
      {"mul.wide.s32", "d:s64 = a:T, b:T"},
      {"mad.lo(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T, c:T"},
      {"mad.hi(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T, c:T"},
      {"mad.hi.sat.s32", "d:T = a:T, b:T, c:T"},
      {"mad.wide.u16", "d:u32 = a:T, b:T, c:u32"},
      {"mad.wide.s16", "d:s32 = a:T, b:T, c:s32"},
      {"mad.wide.u32", "d:u64 = a:T, b:T, c:u64"},
      {"mad.wide.s32", "d:s64 = a:T, b:T, c:s64"},
      {"mul24.lo(.u32|.s32)", "d:T = a:T, b:T"},
      {"mul24.hi(.u32|.s32)", "d:T = a:T, b:T"},
      {"mad24.lo(.u32|.s32)", "d:T = a:T, b:T, c:T"},
      {"mad24.hi(.u32|.s32)", "d:T = a:T, b:T, c:T"},
      {"mad24.hi.sat.s32", "d:T = a:T, b:T, c:T"},
      {"sad(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T, c:T"},
      {"div(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T"},
      {"rem(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T"},
      {"abs(.s16|.s32|.s64)", "d:T = a:T"},
      {"neg(.s16|.s32|.s64)", "d:T = a:T"},
      {"min(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T"},
      {"min(.u16x2|.s16x2)", "d:T = a:T, b:T", sm90_packed},
      {"min.relu(.s16x2|.s32)", "d:T = a:T, b:T", sm90_packed},
      {"max(.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:T"},
      {"max(.u16x2|.s16x2)", "d:T = a:T, b:T", sm90_packed},
      {"max.relu(.s16x2|.s32)", "d:T = a:T, b:T", sm90_packed},
      {"dp4a(.u32|.s32)(.u32|.s32)", "d:b32 = a:T, b:U, c:b32", sm61},
      {"dp2a.lo(.u32|.s32)(.u32|.s32)", "d:b32 = a:T, b:U, c:b32", sm61},
      {"dp2a.hi(.u32|.s32)(.u32|.s32)", "d:b32 = a:T, b:U, c:b32", sm61},
  };
}

std::vector<KernelRow> carries() {
  return {
      {"add.cc(.u32|.s32)", "d:T, cc = a:T, b:T", carry_32, "addc.T"},
      {"add.cc(.u64|.s64)", "d:T, cc = a:T, b:T", carry_64, "addc.T"},
      {"addc(.u32|.s32)", "d:T = a:T, b:T, cc", carry_32},
      {"addc(.u64|.s64)", "d:T = a:T, b:T, cc", carry_64},
      {"addc.cc(.u32|.s32)", "d:T, cc = a:T, b:T, cc", carry_32, "addc.T"},
      {"addc.cc(.u64|.s64)", "d:T, cc = a:T, b:T, cc", carry_64, "addc.T"},
      {"sub.cc(.u32|.s32)", "d:T, cc = a:T, b:T", carry_32, "subc.T"},
      {"sub.cc(.u64|.s64)", "d:T, cc = a:T, b:T", carry_64, "subc.T"},
      {"subc(.u32|.s32)", "d:T = a:T, b:T, cc", carry_32},
      {"subc(.u64|.s64)", "d:T = a:T, b:T, cc", carry_64},
      {"subc.cc(.u32|.s32)", "d:T, cc = a:T, b:T, cc", carry_32, "subc.T"},
      {"subc.cc(.u64|.s64)", "d:T, cc = a:T, b:T, cc", carry_64, "subc.T"},
      {"mad.lo.cc(.u32|.s32)", "d:T, cc = a:T, b:T, c:T", mad_carry, "madc.lo.T"},
      {"mad.lo.cc(.u64|.s64)", "d:T, cc = a:T, b:T, c:T", carry_64, "madc.lo.T"},
      {"mad.hi.cc(.u32|.s32)", "d:T, cc = a:T, b:T, c:T", mad_carry, "madc.hi.T"},
      {"mad.hi.cc(.u64|.s64)", "d:T, cc = a:T, b:T, c:T", carry_64, "madc.hi.T"},
      {"madc.lo(.u32|.s32)", "d:T = a:T, b:T, c:T, cc", mad_carry},
      {"madc.lo(.u64|.s64)", "d:T = a:T, b:T, c:T, cc", carry_64},
      {"madc.hi(.u32|.s32)", "d:T = a:T, b:T, c:T, cc", mad_carry},
      {"madc.hi(.u64|.s64)", "d:T = a:T, b:T, c:T, cc", carry_64},
      {"madc.lo.cc(.u32|.s32)", "d:T, cc = a:T, b:T, c:T, cc", mad_carry, "madc.lo.T"},
      {"madc.lo.cc(.u64|.s64)", "d:T, cc = a:T, b:T, c:T, cc", carry_64, "madc.lo.T"},
      {"madc.hi.cc(.u32|.s32)", "d:T, cc = a:T, b:T, c:T, cc", mad_carry, "madc.hi.T"},
      {"madc.hi.cc(.u64|.s64)", "d:T, cc = a:T, b:T, c:T, cc", carry_64, "madc.hi.T"},
  };
}

std::vector<KernelRow> bits() {
  return {
      {"and(.b16|.b32|.b64)", "d:T = a:T, b:T"},
      {"or(.b16|.b32|.b64)", "d:T = a:T, b:T"},
      {"xor(.b16|.b32|.b64)", "d:T = a:T, b:T"},
      {"not(.b16|.b32|.b64)", "d:T = a:T"},
      {"cnot(.b16|.b32|.b64)", "d:T = a:T"},
      {"lop3.b32", "d:T = a:T, b:T, c:T, lut:b32", sm50},
      {"lop3(.or|.and).b32", "d:T|p = a:T, b:T, c:T, lut:b32, q", since(70, {8, 2}), "lop3.predicate.b32"},
      {"shl(.b16|.b32|.b64)", "d:T = a:T, b:u32"},
      {"shr(.b16|.b32|.b64|.u16|.u32|.u64|.s16|.s32|.s64)", "d:T = a:T, b:u32"},
      {"shf.l(.clamp|.wrap).b32", "d:T = a:T, b:T, c:u32", sm32},
      {"shf.r(.clamp|.wrap).b32", "d:T = a:T, b:T, c:u32", sm32},
      {"popc(.b32|.b64)", "d:u32 = a:T", sm20},
      {"clz(.b32|.b64)", "d:u32 = a:T", sm20},
      {"brev(.b32|.b64)", "d:T = a:T", sm20},
      {"bfind(.u32|.u64|.s32|.s64)", "d:u32 = a:T", sm20},
      {"bfind.shiftamt(.u32|.u64|.s32|.s64)", "d:u32 = a:T", sm20},
      {"bfe(.u32|.u64|.s32|.s64)", "d:T = a:T, b:u32, c:u32", sm20},
      {"bfi(.b32|.b64)", "f:T = a:T, b:T, c:u32, d:u32", sm20},
      {"bmsk(.clamp|.wrap).b32", "d:T = a:T, b:T", sm70},
      {"szext(.clamp|.wrap)(.u32|.s32)", "d:T = a:T, b:u32", sm70},
      {"fns.b32", "d:T = mask:T, base:b32, offset:b32", sm30_fns},
      {"prmt.b32", "d:T = a:T, b:T, c:T", sm20},
      {"prmt.b32.f4e", "d:T = a:T, b:T, c:T", sm20},
      {"prmt.b32.b4e", "d:T = a:T, b:T, c:T", sm20},
      {"prmt.b32.rc8", "d:T = a:T, b:T, c:T", sm20},
      {"prmt.b32.ecl", "d:T = a:T, b:T, c:T", sm20},
      {"prmt.b32.ecr", "d:T = a:T, b:T, c:T", sm20},
      {"prmt.b32.rc16", "d:T = a:T, b:T, c:T", sm20},
  };
}

}  // namespace

void add_integer_rows(std::vector<Row>& rows) {
  for (const auto table : {arithmetic, carries, bits}) add_kernel_rows(rows, table());
}

}  // namespace warpmat::catalogue
