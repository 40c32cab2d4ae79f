// Constants as ptxas 13.0 takes them: expressions, numbers of more bits than their place, and modules of GPUs before sm_70.

#include <warpmat/launch.h>

#include "kernel.h"
#include "test.h"

namespace warpmat::constants_test {
namespace {

std::uint64_t wide_result(const std::string& expression) {
  const Module module = module_of(".param .u64 out",
                                  ".reg .b64 %o, %d; ld.param.u64 %o, [out]; mov.u64 %d, " + expression + "; st.global.u64 [%o], %d; ret;");
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(8, "out");
  launch(Kernel(module, "k"), {{1}, {1}, 0}, memory, {out});
  return memory.read<std::uint64_t>(out, 1).front();
}

/// The expression as PTX and as C++ compute it: the operators bind alike.
struct Expression {
  const char* text;
  std::uint64_t value;
};

TEST_CASE("Constant expressions are computed in 64 bits", "[machine][constants]") {
  const std::vector<Expression> expressions{
      {"((128 >> 4) << 16)", (128 >> 4) << 16},
      {"3*4+1", 13},
      {"3+4*2", 11},
      {"20-7-5", 8},
      {"100/7/2", 7},
      {"-7/2", static_cast<std::uint64_t>(-3)},
      {"-7 % 4", static_cast<std::uint64_t>(-3)},
      {"0xffffffffffffffff/16", 0x0fffffffffffffff},
      {"-16>>2", static_cast<std::uint64_t>(-4)},
      {"0xfffffffffffffff0>>2", 0x3ffffffffffffffc},
      {"16U-17", ~std::uint64_t{0}},
      {"~7", ~std::uint64_t{7}},
      {"!4+!0", 1},
      {"-(4+3)", static_cast<std::uint64_t>(-7)},
      {"5&3|8^2", (5 & 3) | (8 ^ 2)},
      {"1|6&4", 5},
      {"(1<2)?7:9", 7},
      {"2>=3?7:9", 9},
      {"-1<1", 1},
      {"(.u64)-1<1", 0},
      {"1==1&&2!=2||0<=0", 1},
      {"1<<3==8", 1},
  };
  for (const Expression& e : expressions) {
    INFO(e.text);
    CHECK(wide_result(e.text) == e.value);
  }
}

TEST_CASE("Constant expressions stand where numbers stand", "[machine][constants]") {
  const auto word = [](const std::string& body) { return words_of(word_kernel(body), {1}, {1}).front(); };
  CHECK(word("add.u32 %d, %d, (2+3)*4;") == 20);
  CHECK(word("st.global.u32 [%out+(4-4)*2], 5; ld.global.u32 %d, [%out+2*2-4];") == 5);
  CHECK(word("setp.eq.u32 %p1, %i, 1-1; selp.u32 %d, 6/2, 9, %p1;") == 3);
}

TEST_CASE("Constant expressions that cannot be computed are refused", "[machine][constants]") {
  const auto refusal = [](const std::string& body) { return message_of([&] { words_of(word_kernel(body), {1}, {1}); }); };
  CHECK(contains(refusal("mov.u32 %d, 1/(2-2);"), "a constant is divided by zero"));
  CHECK(contains(refusal("mov.u32 %d, 1<<64;"), "shifted by 0 to 63 bits, not by 64"));
}

TEST_CASE("Integer constants are cut to the type of their place", "[machine][constants]") {
  const auto word = [](const std::string& body) { return words_of(word_kernel(body), {1}, {1}).front(); };
  CHECK(word("add.u32 %d, %d, 0x1ffffffff;") == 0xffffffff);
  CHECK(word("add.s32 %d, %d, -5000000000;") == static_cast<std::uint32_t>(-5000000000));
  CHECK(word("mov.u16 %s1, -40000; cvt.u32.u16 %d, %s1;") == 65536 - 40000 % 65536);
  const std::string table = ".global .align 4 .b8 table[4] = {300, -200, 511, -1};";
  CHECK(words_of(word_kernel("mov.u64 %l1, table; ld.global.u32 %d, [%l1];", "sm_90", table), {1}, {1}).front() == 0xffff382c);
}

TEST_CASE("Modules of GPUs before sm_70 run on later ones", "[machine][constants]") {
  const Module module = word_kernel("mov.u32 %d, 7;", "sm_35");
  const auto words = [&](std::string_view target) { return words_of(module, {1}, {1}, {}, 0, {.target = target}).front(); };
  CHECK(words("sm_90") == 7);
  CHECK(contains(message_of([&] { words(""); }), "name a later target"));
  CHECK(contains(message_of([&] { words_of(word_kernel("", "sm_72"), {1}, {1}, {}, 0, {.target = "sm_70"}); }),
                 "PTX for sm_72 does not run on sm_70"));
  CHECK(contains(message_of([&] { words_of(word_kernel("", "sm_36"), {1}, {1}, {}, 0, {.target = "sm_90"}); }), "knows no target 'sm_36'"));
}

TEST_CASE("Functions of PTX 2 are declared without a semicolon", "[machine][constants]") {
  const std::string before = ".visible .func (.param .b32 r) twice (.param .b32 a)\n.visible .func other\n";
  const std::string after =
      ".func (.param .b32 r) twice (.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; add.u32 %x, %x, %x; "
      "st.param.b32 [r], %x; ret; }\n";
  const std::string body = "{ .param .b32 a; .param .b32 r; st.param.b32 [a], 21; call (r), twice, (a); ld.param.b32 %d, [r]; }";
  CHECK(words_of(word_kernel(body, "sm_90", before + after), {1}, {1}).front() == 42);
}

TEST_CASE("Accesses to memory-mapped places name their order", "[machine][constants]") {
  const auto word = [](const std::string& body) { return words_of(word_kernel(body), {1}, {1}).front(); };
  CHECK(word("st.mmio.relaxed.sys.global.u32 [%out], 9; ld.mmio.relaxed.sys.global.u32 %d, [%out];") == 9);
  CHECK(contains(message_of([] { words_of(word_kernel("ld.mmio.sys.global.u32 %d, [%out];"), {1}, {1}); }), "only goes with an order"));
}

TEST_CASE("Integers are no floating-point numbers", "[machine][constants]") {
  const auto refusal = [](const std::string& body) { return message_of([&] { words_of(word_kernel(body), {1}, {1}); }); };
  CHECK(contains(refusal("add.f32 %f1, %f2, 1;"), "'1' is not a number that fits .f32"));
  CHECK(contains(refusal("setp.lt.f32 %p1, %f1, 0;"), "'0' is not a number that fits .f32"));
  CHECK(contains(refusal("mov.u32 %d, 0f3F800000;"), "'0f3F800000' is not a number that fits .u32"));
  CHECK(refusal("mov.b32 %d, 0f3F800000; mov.f32 %f1, 1.0;") == "nothing");
  // ptxas 13.0: numbers have no floating-point format besides .f32 and .f64.
  CHECK(contains(refusal("add.f16 %s1, %s2, 5;"), "'5' is not a number that fits .f16"));
  CHECK(contains(refusal("fma.rn.bf16x2 %r1, %r2, %r3, 0x3f803f80;"), "'0x3f803f80' is not a number that fits .bf16x2"));
  CHECK(contains(refusal("cvt.rn.f16x2.e4m3x2 %r1, 5;"), "'5' is not a number that fits .e4m3x2"));
  CHECK(refusal("add.u16x2 %r1, %r2, 5; st.global.b16 [%out], 5;") == "nothing");
}

TEST_CASE("What ptxas refuses: types that mov, selp, ld and st do not have, types of cvt the wrong way round", "[machine][constants]") {
  for (const char* statement :
       {"mov.f16 %s1, %s2;", "mov.bf16x2 %r1, %r2;", "selp.f16 %s1, %s2, %s3, %p1;", "ld.global.f16 %s1, [%out];",
        "st.global.bf16x2 [%out], %r1;", "cvt.rn.f32.f16 %r1, %s1;", "cvt.rn.f32.f16 %s1, %r1;", "cvt.rni.f32.s32 %r1, %r2;"}) {
    INFO(statement);
    CHECK(contains(message_of([&] { words_of(word_kernel(statement), {1}, {1}); }), "is not a form that warpmat executes"));
  }
  const auto minus = [](const std::string& body) { return message_of([&] { words_of(word_kernel(body), {1}, {1}); }); };
  CHECK(contains(minus("ld.global.u32 %d, [%out-4];"), "ptxas takes no minus here: write +-"));
  CHECK(minus("ld.global.u32 %d, [%out+16-8-8]; ld.global.u32 %d, [%out+-4+4];") == "nothing");
}

}  // namespace
}  // namespace warpmat::constants_test
