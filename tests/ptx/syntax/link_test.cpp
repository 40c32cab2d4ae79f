
#include <warpmat/ptx/syntax/link.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::link_test {
namespace {

const std::string head = ".version 9.0\n.target sm_90\n.address_size 64\n";

/// What a word kernel of two modules writes. Both have a file 1, a function `own`, and a variable `hidden`.
const std::string main_module = head + R"(
.extern .global .align 4 .u32 counter;
.extern .func (.param .b32 result) scale (.param .b32 x);
.global .align 4 .u32 hidden = 3;
.weak .func (.param .b32 result) twice (.param .b32 x);
.func (.param .b32 result) own (.param .b32 x);
.file 1 "main.cu"
.func (.param .b32 result) own (.param .b32 x) {
  .reg .b32 %r<4>;
  .loc 1 7 0
  ld.param.b32 %r1, [x]; ld.global.u32 %r2, [hidden]; mul.lo.u32 %r3, %r1, %r2; st.param.b32 [result], %r3; ret;
}
.weak .func (.param .b32 result) twice (.param .b32 x) {
  .reg .b32 %r<4>;
  ld.param.b32 %r1, [x]; add.u32 %r2, %r1, %r1; st.param.b32 [result], %r2; ret;
}
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<8>; .reg .b64 %l<4>;
  ld.param.u64 %l1, [out];
  { .param .b32 a; .param .b32 b; st.param.b32 [a], 5; call.uni (b), own, (a); ld.param.b32 %r1, [b]; }
  { .param .b32 a; .param .b32 b; st.param.b32 [a], 5; call.uni (b), scale, (a); ld.param.b32 %r2, [b]; }
  { .param .b32 a; .param .b32 b; st.param.b32 [a], 5; call.uni (b), twice, (a); ld.param.b32 %r3, [b]; }
  ld.global.u32 %r4, [counter];
  st.global.u32 [%l1], %r1; st.global.u32 [%l1+4], %r2; st.global.u32 [%l1+8], %r3; st.global.u32 [%l1+12], %r4;
  ret;
}
)";

const std::string other_module = head + R"(
.visible .global .align 4 .u32 counter = 17;
.global .align 4 .u32 hidden = 1000;
.file 1 "other.cu"
.weak .func (.param .b32 result) twice (.param .b32 x) {
  .reg .b32 %r<4>;
  .loc 1 9 0
  mov.u32 %r1, 0; st.param.b32 [result], %r1; ret;
}
.func (.param .b32 result) own (.param .b32 x) {
  .reg .b32 %r<4>;
  ld.param.b32 %r1, [x]; ld.global.u32 %r2, [hidden]; add.u32 %r3, %r1, %r2; st.param.b32 [result], %r3; ret;
}
.visible .func (.param .b32 result) scale (.param .b32 x) {
  .reg .b32 %r<4>;
  .loc 1 30 0
  ld.param.b32 %r1, [x];
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), own, (a); ld.param.b32 %r2, [b]; }
  st.param.b32 [result], %r2; ret;
}
)";

std::vector<std::uint32_t> run(const std::string& text) {
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(16, "out");
  launch(Kernel(Module(text), "k"), {{1}, {1}}, memory, {out});
  return memory.read<std::uint32_t>(out, 4);
}

TEST_CASE("linked modules share what is visible and keep what is their own", "[ptx][link]") {
  const std::vector<std::uint32_t> expected{15, 1005, 10, 17};
  CHECK(run(syntax::link_modules({main_module, other_module})) == expected);
  // The other way round the other module's weak definition is the first.
  const std::vector<std::uint32_t> turned{15, 1005, 0, 17};
  CHECK(run(syntax::link_modules({other_module, main_module})) == turned);
  CHECK(syntax::link_modules({main_module}) == main_module);
}

TEST_CASE("places of linked modules name their files", "[ptx][link]") {
  std::string faulty = other_module;
  faulty.replace(faulty.find("ld.param.b32 %r1, [x];\n  {"), 22, ".reg .b64 %z; mov.u64 %z, 8; ld.global.u32 %r1, [%z];");
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(16, "out");
  const Kernel kernel(Module(syntax::link_modules({main_module, faulty})), "k");
  CHECK_THAT(message_of([&] { launch(kernel, {{1}, {1}}, memory, {out}); }), ContainsSubstring("other.cu:30"));
}

TEST_CASE("symbols that several modules declare, or define", "[ptx][link]") {
  const std::string shared = ".extern .shared .align 16 .b8 tile[];\n", strong = ".visible .global .u32 x = 1;\n",
                    weak = ".weak .global .u32 x = 2;\n", common = ".common .global .u32 x;\n", user = ".extern .global .u32 x;\n";
  const auto count = [](const std::string& text, const std::string& part) {
    int found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  CHECK(count(syntax::link_modules({shared, shared, shared}), "tile") == 1);
  const std::string linked = syntax::link_modules({user, weak, common, strong, weak});
  CHECK(count(linked, "x") == 1);
  CHECK_THAT(linked, ContainsSubstring(".visible .global .u32 x = 1;"));
  CHECK(count(syntax::link_modules({user, common, user}), "x") == 1);
  CHECK_THROWS_WITH(syntax::link_modules({strong, user, strong}), "'x' is defined in object 1 and in object 3");
}

}  // namespace
}  // namespace warpmat::link_test
