#include "tables/assembler.h"
#include "test.h"

#include <warpmat/forms.h>
#include <warpmat/launch.h>

// Which types of registers ptxas 13.0 takes for an operand: a list of statements and a module take the same.

namespace warpmat::register_types_test {
namespace {

/// A statement whose operand $ is a register of 32 bits, and the types that ptxas takes for it.
struct Case {
  std::string_view statement, types;
};
constexpr Case cases[] = {
    {"add.u32 $, b, b;", "b32 u32 s32 f16x2"},
    {"add.u32 b, b, $;", "b32 u32 s32 f16x2"},
    {"add.u16x2 b, $, b;", "b32 f16x2"},
    {"add.rn.f16x2 b, $, b;", "b32 f16x2"},
    {"add.rn.bf16x2 b, $, b;", "b32"},
    {"and.b32 b, $, b;", "b32 u32 s32 f32 f16x2"},
    {"shl.b32 $, b, b;", "b32 u32 s32 f32 f16x2"},
    {"shl.b32 b, $, b;", "b32 u32 s32 f32 f16x2"},
    {"shl.b32 b, b, $;", "b32 u32 s32"},
    {"shr.u32 b, $, b;", "b32 u32 s32 f16x2"},
    {"shr.b32 b, b, $;", "b32 u32 s32"},
    {"shf.l.wrap.b32 b, b, b, $;", "b32 u32 s32"},
    {"bfe.u32 b, $, b, b;", "b32 u32 s32 f16x2"},
    {"bfe.u32 b, b, $, b;", "b32 u32 s32"},
    {"bfi.b32 b, b, b, b, $;", "b32 u32 s32"},
    {"clz.b32 $, b;", "b32 u32 s32"},
    {"clz.b32 b, $;", "b32 u32 s32 f32 f16x2"},
    {"szext.wrap.u32 b, b, $;", "b32 u32 s32"},
    {"slct.b32.s32 b, b, b, $;", "b32 u32 s32 f16x2"},
    {"mad.wide.u16 b, h, h, $;", "b32 u32 s32 f16x2"},
    {"fns.b32 b, b, b, $;", "b32 u32 s32 f32 f16x2"},
    {"vote.sync.ballot.b32 b, p, $;", "b32 u32 s32"},
    {"match.any.sync.b32 $, b, b;", "b32 u32 s32"},
    {"shfl.sync.idx.b32 b, $, b, b, b;", "b32 u32 s32 f32 f16x2"},
    {"shfl.sync.idx.b32 b, b, b, b, $;", "b32 u32 s32"},
    {"redux.sync.add.u32 $, b, b;", "b32 u32 s32"},
    {"redux.sync.min.s32 b, $, b;", "b32 u32 s32"},
    {"redux.sync.and.b32 b, $, b;", "b32 u32 s32"},
    {"bar.warp.sync $;", "b32 u32 s32"},
    {"activemask.b32 $;", "b32 u32 s32 f32 f16x2"},
};

constexpr auto declarations =
    ".reg .b32 b; .reg .b16 h; .reg .pred p; .reg .u32 r_u32; .reg .s32 r_s32; .reg .f32 r_f32; .reg .b32 r_b32; .reg .f16x2 r_f16x2;\n";

/// Each statement with each type of 32 bits, and whether ptxas takes it.
std::vector<std::pair<std::string, bool>> statements() {
  std::vector<std::pair<std::string, bool>> all;
  for (const Case& shown : cases)
    for (const std::string_view type : {"b32", "u32", "s32", "f32", "f16x2"}) {
      std::string text(shown.statement);
      text.replace(text.find('$'), 1, fmt::format("r_{}", type));
      all.emplace_back(text, fmt::format(" {} ", shown.types).find(fmt::format(" {} ", type)) != std::string::npos);
    }
  return all;
}

TEST_CASE("a list takes the types of registers that ptxas takes", "[lists][types]") {
  for (const auto& [statement, taken] : statements()) {
    INFO(statement);
    CHECK(warpmat_says("sm_90a", {9, 0}, declarations, {statement}).empty() == taken);
  }
}

TEST_CASE("a module takes the types of registers that ptxas takes", "[ptx][types]") {
  for (const auto& [statement, taken] : statements()) {
    INFO(statement);
    const std::string text =
        fmt::format(".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {{ {} {} ret; }}", declarations, statement);
    const auto resolves = [&] {
      try {
        static_cast<void>(Kernel(Module(text), "k"));
        return true;
      } catch (const std::exception&) {
        return false;
      }
    };
    CHECK(resolves() == taken);
  }
}

TEST_CASE("the installed ptxas takes these types of registers", "[ptxas]") {
  if (!has_ptxas()) {
    WARN("skipped: no ptxas 13.0 to compare with");
    return;
  }
  std::vector<std::string> all;
  std::vector<int> expected;
  for (const auto& [statement, taken] : statements()) {
    if (taken) expected.push_back(static_cast<int>(all.size()));
    all.push_back(statement);
  }
  CHECK(ptxas_accepts("sm_90a", {9, 0}, declarations, all) == expected);
}

}  // namespace
}  // namespace warpmat::register_types_test
