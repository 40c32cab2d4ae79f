// Comparison and selection: PTX ISA 9.1 sections 9.7.6 and 9.7.7 (halves).

#include <string>

#include <warpmat/ptx/catalogue/kernel_row.h>
#include <warpmat/ptx/catalogue/rows.h>

namespace warpmat::catalogue {
namespace {

constexpr Requirement sm53_to_integer = since(53, {6, 5});

constexpr const char* of_floats = "(.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan)";
constexpr const char* combinations = "(.and|.or|.xor)";

/// A comparison and its source types.
struct Comparison {
  const char *opcode, *types;
};

constexpr Comparison comparisons[]{{"(.eq|.ne)", "(.b16|.b32|.b64)"},
                                   {"(.eq|.ne|.lt|.le|.gt|.ge)", "(.s16|.s32|.s64)"},
                                   {"(.eq|.ne|.lt|.le|.gt|.ge|.lo|.ls|.hi|.hs)", "(.u16|.u32|.u64)"},
                                   {of_floats, ".f64"}};

/// Adds set or setp with and without a combination with a predicate.
void add_pair(std::vector<KernelRow>& rows, const std::string& mnemonic, const std::string& comparison, const std::string& types,
              const std::string& results, const std::string& sources, const Requirement& requirement, const std::string& kernel = {}) {
  rows.push_back({mnemonic + comparison + types, results + " = " + sources, requirement, kernel});
  rows.push_back({mnemonic + comparison + combinations + types, results + " = " + sources + ", c", requirement, kernel});
}

void add_setp(std::vector<KernelRow>& rows) {
  const auto add = [&](const std::string& comparison, const std::string& types, const std::string& results,
                       const Requirement& requirement) { add_pair(rows, "setp", comparison, types, results, "a:T, b:T", requirement); };
  for (const Comparison& c : comparisons) add(c.opcode, c.types, "p[|q]", any_target);
  add(std::string(of_floats) + "(.ftz)?", ".f32", "p[|q]", any_target);
  add(std::string(of_floats) + "(.ftz)?", ".f16", "p", sm53);
  add(std::string(of_floats) + "(.ftz)?", ".f16x2", "p|q", sm53);
  add(of_floats, ".bf16", "p", sm90);
  add(of_floats, ".bf16x2", "p|q", sm90);
}

void add_set(std::vector<KernelRow>& rows) {
  const auto add = [&](const std::string& comparison, const std::string& results, const std::string& sources,
                       const Requirement& requirement) {
    add_pair(rows, "set", comparison, results + sources, "d:T", "a:U, b:U", requirement, "set.U");
  };
  for (const Comparison& c : comparisons) {
    add(c.opcode, "(.u32|.s32|.f32)", c.types, any_target);
    add(c.opcode, ".f16", c.types, sm53);
    add(c.opcode, ".bf16", c.types, sm90);
  }
  const std::string flushed = std::string(of_floats) + "(.ftz)?";
  add(flushed, "(.u32|.s32|.f32)", ".f32", any_target);
  add(flushed, ".f16", "(.f32|.f16)", sm53);
  add(of_floats, ".bf16", "(.f32|.f16)", sm90);
  add(flushed, "(.u16|.s16|.u32|.s32)", ".f16", sm53_to_integer);
  add(of_floats, "(.u16|.s16|.u32|.s32|.bf16)", ".bf16", sm90);
  add(flushed, ".f16x2", ".f16x2", sm53);
  add(flushed, "(.u32|.s32)", ".f16x2", sm53_to_integer);
  add(of_floats, "(.u32|.s32|.bf16x2)", ".bf16x2", sm90);
}

}  // namespace

void add_compare_rows(std::vector<Row>& rows) {
  std::vector<KernelRow> table;
  add_setp(table);
  add_set(table);
  const std::string types = "(.b16|.u16|.s16|.b32|.u32|.s32|.f32|.b64|.u64|.s64|.f64)";
  table.push_back({"slct" + types + ".s32", "d:T = a:T, b:T, c:s32"});
  table.push_back({"slct(.ftz)?" + types + ".f32", "d:T = a:T, b:T, c:f32"});
  add_kernel_rows(rows, table);
}

}  // namespace warpmat::catalogue
