// Video instructions: PTX ISA 9.1 section 9.7.18. A selector after an operand's name selects a part of its register: video_selectors.h.

#include <string>

#include <warpmat/ptx/catalogue/kernel_row.h>
#include <warpmat/ptx/catalogue/rows.h>

namespace warpmat::catalogue {
namespace {

constexpr Requirement sm30 = since(30, {3, 0});

}  // namespace

void add_video_rows(std::vector<Row>& rows) {
  const std::string type = "(.u32|.s32)", comparison = "(.eq|.ne|.lt|.le|.gt|.ge)";
  // c is present if a second operation or a selector of d needs it. Some spellings are left out, because ptxas 13.0's code for sm_90
  // differs from the PTX ISA in undocumented ways: .min and .max as second operations (correct for vset), vshl.sat, vmad.sat with a shift,
  // and .sat with a selector of d.
  const std::string scalar_operands = "d:b32 = a:b32, b:b32[, c:b32]", simd_operands = "d:b32 = a:b32, b:b32, c:b32";
  const auto add = [&](const std::string& opcode, const std::string& operands, const std::string& kernel, const Requirement& requirement,
                       int elements) {
    rows.push_back({opcode, operands, nullptr, Semantics::compute, requirement, kernel, static_cast<std::uint8_t>(elements)});
  };
  const auto add_simd = [&](const std::string& mnemonic, const std::string& types, int count) {
    for (const char* second : {"(.sat)?", ".add"}) add(mnemonic + types + second, simd_operands, mnemonic, sm30, count);
  };
  for (const std::string mnemonic : {"vadd", "vsub", "vabsdiff", "vmin", "vmax"}) {
    add(mnemonic + type + type + type + "(.sat)?(.add)?", scalar_operands, mnemonic, sm20, 1);
    for (const int count : {2, 4}) add_simd(mnemonic + std::to_string(count), type + type + type, count);
  }
  for (const int count : {2, 4}) add_simd("vavrg" + std::to_string(count), type + type + type, count);
  add("vshl" + type + type + ".u32(.clamp|.wrap)(.add)?", scalar_operands, "vshl", sm20, 1);
  add("vshr" + type + type + ".u32(.sat)?(.clamp|.wrap)(.add)?", scalar_operands, "vshr", sm20, 1);
  add("vset" + type + type + comparison + "(.add|.min|.max)?", scalar_operands, "vset", sm20, 1);
  for (const int count : {2, 4}) {
    const std::string mnemonic = "vset" + std::to_string(count);
    add(mnemonic + type + type + comparison + "(.add)?", simd_operands, mnemonic, sm30, count);
  }
  add("vmad" + type + type + type + "(.po)?(.sat)?", simd_operands, "vmad", sm20, 1);
  add("vmad" + type + type + type + "(.po)?(.shr7|.shr15)", simd_operands, "vmad", sm20, 1);
}

}  // namespace warpmat::catalogue
