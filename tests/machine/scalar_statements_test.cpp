// Scalar statements whose operands take more than registers and numbers.

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::scalar_statements_test {
namespace {

std::uint32_t result_of(const std::string& body) {
  return words_of(word_kernel("mov.u32 %r1, 0x81020304; mov.u32 %r2, 0xfff60007; mov.u32 %r3, 100;\n" + body), {1}, {32})[3];
}

TEST_CASE("video instructions take the parts of registers that their selectors name", "[machine]") {
  CHECK(result_of("vadd.u32.u32.u32 %d, %r1.b0, %r2.h1;") == 4 + 0xfff6);
  CHECK(result_of("vadd.u32.s32.s32 %d, %r1.b3, %r2.h1;") == static_cast<std::uint32_t>(-127 - 10));
  CHECK(result_of("vadd.u32.u32.u32 %d, %r1, %r2;") == 0x80f8030b);
  CHECK(result_of("mov.u32 %d, %r1; vadd.u32.u32.u32 %d.b1, %r1.b0, %r1.b1, %r3;") == 100 + 0x700);
  CHECK(result_of("vmad.s32.s32.s32 %d, %r1.b0, -%r2.b0, %r3;") == 100 - 4 * 7);
  // A statement's selectors are its own.
  CHECK(result_of("vadd.u32.u32.u32 %r4, %r1.b0, %r1.b0; vadd.u32.u32.u32 %r5, %r1.b1, %r1.b1; sub.u32 %d, %r4, %r5;") == 2);
}

TEST_CASE("additions and subtractions read each other's CC.CF, which is 1 where nothing is borrowed", "[machine]") {
  const auto before_and_behind = [](const char* before, const char* behind) {
    return result_of(std::string(before) + " " + behind + " %d, %r3, 7;");
  };
  const char* const carries = "add.cc.u32 %r4, %r1, %r1;";
  const char* const carries_not = "add.cc.u32 %r4, %r3, %r3;";
  const char* const borrows = "sub.cc.u32 %r4, %r3, %r1;";
  const char* const borrows_not = "sub.cc.u32 %r4, %r1, %r3;";
  CHECK(before_and_behind(carries, "subc.u32") == 93);  // an H200's: the PTX ISA's text says 92
  CHECK(before_and_behind(carries_not, "subc.u32") == 92);
  CHECK(before_and_behind(borrows, "subc.u32") == 92);
  CHECK(before_and_behind(borrows_not, "subc.u32") == 93);
  CHECK(before_and_behind(borrows, "addc.u32") == 107);
  CHECK(before_and_behind(borrows_not, "addc.u32") == 108);
  CHECK(before_and_behind(carries, "addc.u32") == 108);
  CHECK(before_and_behind(carries_not, "addc.u32") == 107);
}

TEST_CASE("min and max of f32 take two operands, and three from sm_100 on", "[machine]") {
  const auto result = [](const std::string& statement, const char* target) {
    const std::string numbers = "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0fC0000000; mov.f32 %f3, 0f40400000; mov.f32 %f4, 0f7FC00001;\n";
    return words_of(word_kernel(numbers + statement + " mov.b32 %d, %f5;", target), {1}, {32})[3];
  };
  CHECK(result("max.f32 %f5, %f1, %f2;", "sm_100") == 0x3f800000);
  CHECK(result("max.f32 %f5, %f1, %f2, %f3;", "sm_100") == 0x40400000);
  CHECK(result("min.ftz.f32 %f5, %f1, %f3, %f2;", "sm_120") == 0xc0000000);
  CHECK(result("max.abs.f32 %f5, %f1, %f2, %f1;", "sm_100") == 0x40000000);
  CHECK(result("max.f32 %f5, %f1, %f4, %f2;", "sm_100") == 0x3f800000);
  CHECK(result("max.NaN.f32 %f5, %f1, %f4, %f2;", "sm_100") == 0x7fffffff);
  const auto message = [&](const char* statement, const char* target) { return message_of([&] { result(statement, target); }); };
  CHECK(message("max.f32 %f5, %f1, %f2, %f3;", "sm_90").find("sm_100") != std::string::npos);
  CHECK(message("max.xorsign.abs.f32 %f5, %f1, %f2, %f3;", "sm_100").find("takes 3 operands") != std::string::npos);
}

TEST_CASE("mov.v2 and mov.v4 read all registers before they write, in either order of the qualifiers", "[machine]") {
  CHECK(result_of("mov.v2.u32 {%r1, %r2}, {%r2, %r1}; sub.u32 %d, %r1, %r2;") == 0xfff60007 - 0x81020304);
  CHECK(result_of("mov.u32.v2 {%r1, %r2}, {%r2, %r1}; sub.u32 %d, %r1, %r2;") == 0xfff60007 - 0x81020304);
  CHECK(result_of("mov.v4.b32 {%r4, %r5, %r6, %r7}, {%r3, %r2, %r1, %r3}; mov.u32 %d, %r6;") == 0x81020304);
  CHECK(result_of("mov.v2.b64 {%l1, %l2}, {7, 9}; cvt.u32.u64 %d, %l2;") == 9);
  CHECK(result_of("mov.v4.u32 {%r4, %r5, %r6, %r7}, %ntid; shl.b32 %r5, %r5, 8; add.u32 %d, %r4, %r5;") == 32 + 256);
  CHECK(result_of("mov.v4.u32 {%r4, %r5, %r6, %r7}, %laneid; add.u32 %d, %r4, %r5;") == 3);
  CHECK(result_of("mov.b32 {%r4}, %r2; mov.b32 %d, {%r4};") == 0xfff60007);
  // Halves that nothing needs, as Triton's compiler writes them; ptxas takes all but one.
  CHECK(result_of("mov.b32 {_, %s1}, %r2; cvt.u32.u16 %d, %s1;") == 0xfff6);
  CHECK(result_of("mov.b32 {%s1, _}, %r2; cvt.u32.u16 %d, %s1;") == 0x0007);
  CHECK(result_of("mov.b64 %l1, {%r2, %r2}; mov.b64 {_, _, %s1, _}, %l1; cvt.u32.u16 %d, %s1;") == 0x0007);
}

// ptxas 13.0 takes no others.
TEST_CASE("mov moves vectors of bits, integers and f32, four of at most 32 bits, and packs untyped ones", "[machine]") {
  const auto message = [](const std::string& body) { return message_of([&] { result_of(body); }); };
  for (const char* wrong : {"mov.v4.u64 {%l1, %l2, %l3, %l4}, {%l1, %l2, %l3, %l4};", "mov.v2.f16 {%s1, %s2}, {%s1, %s2};",
                            "mov.v2.f16x2 {%r1, %r2}, {%r1, %r2};", "mov.v2.b8 {%s1, %s2}, {%s1, %s2};", "mov.f16x2 %r1, {%s1, %s2};"}) {
    INFO(wrong);
    CHECK(message(wrong).find("is not a form that warpmat executes; the nearest is mov") != std::string::npos);
  }
  CHECK(message("mov.v2.u32 {%r1, %r2}, {%r1, %r2}, %r3;").find("mov.v2.u32 takes 2 operands") != std::string::npos);
  CHECK(message("mov.v2.u32 {%r1, %r2}, %r3;").find("takes 2 registers in braces here") != std::string::npos);
  for (const char* wrong :
       {"mov.u32 %r1, {%s1, %s2};", "mov.f32 {%s1, %s2}, %f1;", "mov.s64 {%r1, %r2}, %l1;", "mov.pred %p1, {%p2, %p3};"}) {
    INFO(wrong);
    CHECK(message(wrong).find("packs and unpacks no registers: .b16, .b32, .b64 and .b128 do") != std::string::npos);
  }
  CHECK(message("mov.b32 %r1, {%s1, %s2}, 0;").find("mov.b32 takes 2 operands") != std::string::npos);
  CHECK(message("mov.b32 %r1, {%s1, %s2, %s3};").find("3 registers do not make up .b32") != std::string::npos);
  CHECK(message("mov.b32 {_, _}, %r3;").find("_") != std::string::npos);
  CHECK(message("mov.b32 {%r1, %r2, _}, %r3;").find("3 registers do not make up .b32") != std::string::npos);
  CHECK(message("mov.b64 %l1, {1, 2, 3, 4, 5, 6, 7, 8};").find("8 registers do not make up .b64") != std::string::npos);
  CHECK(message("mov.b32 {%r1}, {%r2};").find("1 registers do not make up .b32") != std::string::npos);
}

TEST_CASE("a minus or a selector where there is none is an error", "[machine]") {
  const auto message = [](const std::string& body) { return message_of([&] { result_of(body); }); };
  CHECK(message("add.u32 %d, %r1, -%r2;").find("add.u32 takes no minus before the register '%r2'") != std::string::npos);
  CHECK(message("vadd.u32.u32.u32 %d, %r1.q0, %r2;").find("vadd.u32.u32.u32 has no selector .q0 here") != std::string::npos);
  for (const char* statement : {"vadd.u32.u32.u32 %d.b0, %r1, %r2;", "vadd.u32.u32.u32.add %d, %r1, %r2;"})  // ptxas 13.0 refuses them, too
    CHECK(message(statement).find("takes a third source") != std::string::npos);
  CHECK(message("vadd.u32.u32.u32 %d, -%r1, %r2;").find("vadd.u32.u32.u32 takes no minus here") != std::string::npos);
}

TEST_CASE("a comparison with one result writes that alone, under a guard too", "[machine]") {
  const std::string compare =
      "mov.b16 %s1, 0x3c00; mov.b16 %s2, 0x4000; and.b32 %r4, %i, 1; setp.eq.u32 %p2, %r4, 1; setp.ne.u32 %p1, %i, %i;\n";
  const auto all = words_of(word_kernel(compare + "setp.lt.f16 %p1, %s1, %s2; selp.u32 %d, 1, 0, %p1;"), {1}, {32});
  const auto odd = words_of(word_kernel(compare + "@%p2 setp.lt.f16 %p1, %s1, %s2; selp.u32 %d, 1, 0, %p1;"), {1}, {32});
  for (std::uint32_t thread = 0; thread < 32; ++thread) {
    CHECK(all[thread] == 1);
    CHECK(odd[thread] == thread % 2);
  }
}

}  // namespace
}  // namespace warpmat::scalar_statements_test
