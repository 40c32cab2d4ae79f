// Video instructions: PTX ISA 9.1 section 9.7.18. A selector after an operand's name selects a part of its register: video_selectors.h.

#include <string>

#include <warpmat/ptx/catalogue/kernel_row.h>
#include <warpmat/ptx/catalogue/rows.h>

namespace warpmat::inline v0_1::catalogue {
namespace {

constexpr Requirement sm30 = since(30, {3, 0});

}  // namespace

void add_video_rows(std::vector<Row>& rows) {
  const std::string type = "(.u32|.s32)", comparison = "(.eq|.ne|.lt|.le|.gt|.ge)";
  // c is present if a second operation or a selector of d needs it. Some spellings are left out, because ptxas 13.0's code for sm_90
  // differs from the PTX ISA in undocumented ways: .min and .max as second operations (correct for vset), vshl.sat, vmad.sat with a shift,
  // and .sat with a selector of d.
  const std::string scalar_operands = "d:b32 = a:b32, b:b32[, c:b32]", simd_operands = "d:b32 = a:b32, b:b32, c:b32";
  std::vector<KernelRow> table;
  for (const std::string mnemonic : {"vadd", "vsub", "vabsdiff", "vmin", "vmax"}) {
    table.push_back({mnemonic + type + type + type + "(.sat)?(.add)?", scalar_operands, mnemonic, sm20});
    for (const std::string count : {"2", "4"}) {
      table.push_back({mnemonic + count + type + type + type + "(.sat)?", simd_operands, mnemonic + count, sm30});
      table.push_back({mnemonic + count + type + type + type + ".add", simd_operands, mnemonic + count, sm30});
    }
  }
  for (const std::string mnemonic : {"vavrg2", "vavrg4"}) {
    table.push_back({mnemonic + type + type + type + "(.sat)?", simd_operands, mnemonic, sm30});
    table.push_back({mnemonic + type + type + type + ".add", simd_operands, mnemonic, sm30});
  }
  table.push_back({"vshl" + type + type + ".u32(.clamp|.wrap)(.add)?", scalar_operands, "vshl", sm20});
  table.push_back({"vshr" + type + type + ".u32(.sat)?(.clamp|.wrap)(.add)?", scalar_operands, "vshr", sm20});
  table.push_back({"vset" + type + type + comparison + "(.add|.min|.max)?", scalar_operands, "vset", sm20});
  for (const std::string mnemonic : {"vset2", "vset4"})
    table.push_back({mnemonic + type + type + comparison + "(.add)?", simd_operands, mnemonic, sm30});
  table.push_back({"vmad" + type + type + type + "(.po)?(.sat)?", simd_operands, "vmad", sm20});
  table.push_back({"vmad" + type + type + type + "(.po)?(.shr7|.shr15)", simd_operands, "vmad", sm20});
  add_kernel_rows(rows, table);
}

}  // namespace warpmat::inline v0_1::catalogue
