#include <cstdint>
#include <string>
#include <vector>

#include <warpmat/machine/internals.h>

#include "catch.h"
#include "machine/kernel.h"
#include "warpmat/ptx/program/code.h"

namespace warpmat::folding_test {

namespace {

std::uint32_t word_of(const std::string& body) {
  return words_of(word_kernel(body), {1}, {32})[5];
}

/// `opcode` of one f32 constant.
std::uint32_t folded(const std::string& opcode, std::uint32_t source) {
  return word_of("mov.b32 %f1, " + std::to_string(source) + "; " + opcode + " %f2, %f1; mov.b32 %d, %f2;");
}

/// The same of a number that ptxas does not know.
std::uint32_t at_run_time(const std::string& opcode, std::uint32_t source) {
  return word_of("shr.u32 %r1, %n, 20; add.u32 %r1, %r1, " + std::to_string(source) + "; mov.b32 %f1, %r1; " + opcode +
                 " %f2, %f1; mov.b32 %d, %f2;");
}

/// The two words of an f64 statement's result %l3; %l9 is a 0 that ptxas does not know.
std::uint64_t wide_of(const std::string& body) {
  const std::string start = "shr.u32 %r1, %n, 20; cvt.u64.u32 %l9, %r1;\n";
  const auto half = [&](const char* which) { return word_of(start + body + " mov.b64 {%r2, %r3}, %l3; mov.b32 %d, " + which + ";"); };
  return std::uint64_t{half("%r3")} << 32 | half("%r2");
}

}  // namespace

// Immediates in ptxas 13.0.88's machine code for sm_90a; what an H100's unit gives where it differs.
TEST_CASE("ptxas rounds approximate functions of constants correctly", "[folding]") {
  struct Case {
    const char* opcode;
    std::uint32_t source, folded, computed;
  };
  for (const Case& c : {
           Case{"rsqrt.approx.f32", 0x43000000, 0x3db504f3, 0x3db504f2},
           Case{"rsqrt.approx.f32", 0x00000001, 0x64b504f3, 0x64b504f2},
           Case{"rsqrt.approx.ftz.f32", 0x3f000000, 0x3fb504f3, 0x3fb504f2},
           Case{"rsqrt.approx.ftz.f32", 0x41c211db, 0x3e4fe7d0, 0x3e4fe7d1},
           Case{"sqrt.approx.f32", 0x00000003, 0x1a9cc471, 0x1a9cc470},
           Case{"sqrt.approx.ftz.f32", 0x6f9845de, 0x578b9c25, 0x578b9c24},
           Case{"rcp.approx.f32", 0x02cce60a, 0x7c1fec4b, 0x7c1fec4a},
           Case{"rcp.approx.ftz.f32", 0xdc025b5c, 0xa2fb5f19, 0xa2fb5f1a},
           Case{"ex2.approx.f32", 0x406c8c24, 0x414f5e5b, 0x414f5e5c},
           Case{"ex2.approx.ftz.f32", 0xbf83f3ff, 0x3efa93fc, 0x3efa93fb},
           Case{"lg2.approx.f32", 0x3f000000, 0xbf800000, 0xbf7ffffe},
           Case{"lg2.approx.ftz.f32", 0x3f7fffff, 0xb3b8aa3c, 0xb24b4000},
           Case{"sin.approx.f32", 0x3f000000, 0x3ef57744, 0x3ef57740},
           Case{"sin.approx.ftz.f32", 0x1f800001, 0x1f800001, 0x00000000},
           Case{"cos.approx.f32", 0x7a90c59f, 0xbe63897a, 0x3f800000},
           Case{"cos.approx.ftz.f32", 0x406c8c24, 0xbf59a5b0, 0xbf59a5af},
       }) {
    CAPTURE(c.opcode, c.source);
    CHECK(folded(c.opcode, c.source) == c.folded);
    CHECK(at_run_time(c.opcode, c.source) == c.computed);
  }
}

TEST_CASE("without .ftz each step that keeps subnormal numbers is rounded", "[folding]") {
  struct Case {
    const char* opcode;
    std::uint32_t source, folded;
  };
  for (const Case& c : {
           Case{"ex2.approx.f32", 0xc3017131, 0x000bc6cc},
           Case{"ex2.approx.f32", 0xc301e37b, 0x0008a46a},
           Case{"rcp.approx.f32", 0x7ef5f9d2, 0x00429bb0},
           Case{"rcp.approx.f32", 0x7e9a4700, 0x006a32c8},
           Case{"lg2.approx.f32", 0x00000042, 0xc30ef4a2},
           Case{"lg2.approx.f32", 0x001f42d9, 0xc30008a0},
           Case{"sin.approx.f32", 0x80000001, 0x80000000},
       }) {
    CAPTURE(c.opcode, c.source);
    CHECK(folded(c.opcode, c.source) == c.folded);
  }
}

TEST_CASE("what ptxas knows to be constant", "[folding]") {
  constexpr std::uint32_t known = 0x3db504f3, unknown = 0x3db504f2;  // 1 / sqrt(128)
  struct Case {
    const char* body;
    std::uint32_t word;
  };
  for (const Case& c : {
           Case{"mov.f32 %f1, 0f43000000;", known},
           Case{"add.f32 %f1, 0f42800000, 0f42800000;", known},
           Case{"mul.rn.f32 %f2, 0f41000000, 0f41800000; mov.f32 %f1, %f2;", known},
           Case{"mov.u32 %r1, 32; shl.b32 %r1, %r1, 2; cvt.rn.f32.s32 %f1, %r1;", known},
           Case{"setp.lt.s32 %p1, 3, 4; selp.f32 %f1, 0f43000000, 0f42800000, %p1;", known},
           Case{"mov.b32 {%s1, %s2}, 0x43000000; mov.b32 %f1, {%s1, %s2};", known},
           // Branches: both paths agree, or only one is taken.
           Case{"mov.f32 %f1, 0f43000000; setp.gt.u32 %p1, %i, 3; @%p1 bra L; mov.f32 %f1, 0f43000000; L:", known},
           Case{"mov.f32 %f1, 0f43000000; setp.gt.u32 %p1, 2, 1; @%p1 bra L; mov.f32 %f1, 0f42800000; L:", known},
           Case{"mov.f32 %f1, 0f43000000; setp.gt.u32 %p1, %i, 40; @%p1 bra L; bra M; L: mov.f32 %f1, 0f42800000; M:", unknown},
           Case{"mov.f32 %f1, 0f43000000; setp.gt.u32 %p1, %i, 40; @%p1 mov.f32 %f1, 0f42800000;", unknown},
           Case{"mov.f32 %f1, 0f43000000; setp.gt.u32 %p1, %i, 40; @%p1 mov.f32 %f1, 0f43000000;", known},
           // Left to the machine.
           Case{"fma.rn.f32 %f1, 0f41000000, 0f41800000, 0f00000000;", unknown},
           Case{"add.rz.f32 %f1, 0f42800000, 0f42800000;", unknown},
           Case{"shl.b32 %r1, %n, 2; cvt.rn.f32.u32 %f1, %r1;", unknown},
       }) {
    INFO(c.body);
    CHECK(word_of(std::string(c.body) + " rsqrt.approx.f32 %f9, %f1; mov.b32 %d, %f9;") == c.word);
  }
  CHECK(word_of("mov.f32 %f1, 0f43000000; mov.f32 %f9, 0f00000000; setp.lt.u32 %p1, %i, 40; @%p1 rsqrt.approx.f32 %f9, %f1; "
                "mov.b32 %d, %f9;") == known);
}

// In ptxas's code the functions remain; that called once returns an immediate, that called twice computes.
TEST_CASE("a function that is called at one place knows its constant arguments", "[folding]") {
  const std::string by_memory =
      ".func (.param .b32 r) root(.param .b32 p) { .reg .f32 %a<3>; ld.param.f32 %a1, [p]; rsqrt.approx.f32 %a2, %a1; "
      "st.param.f32 [r], %a2; ret; }\n";
  const std::string by_register = ".func (.reg .f32 r) root(.reg .f32 p) { rsqrt.approx.f32 r, p; ret; }\n";
  const std::string call = "{ .param .b32 q; .param .b32 s; st.param.f32 [q], %f1; call.uni (s), root, (q); ld.param.f32 %f2, [s]; }\n";
  const auto result = [](const std::string& function, const std::string& body) {
    return words_of(word_kernel("mov.f32 %f1, 0f43000000; " + body + " mov.b32 %d, %f2;", "sm_90", function), {1}, {32})[5];
  };
  CHECK(result(by_memory, call) == 0x3db504f3);
  CHECK(result(by_memory, call + call) == 0x3db504f2);
  CHECK(result(by_memory, "mov.b32 %f1, %n; cvt.rn.f32.u32 %f1, %n; add.f32 %f1, %f1, 0f42C00000; " + call) == 0x3db504f2);
  CHECK(result(by_register, "call.uni (%f2), root, (%f1);") == 0x3db504f3);
}

TEST_CASE("NaNs that ptxas computes keep other bits than the machine's", "[folding]") {
  struct Case {
    const char* opcode;
    std::uint32_t source, folded, computed;
  };
  for (const Case& c : {
           Case{"abs.f32", 0x7f800001, 0x7fc00001, 0x7fffffff},
           Case{"neg.f32", 0x7fc00005, 0xffc00005, 0x7fffffff},
           Case{"neg.ftz.f32", 0x7fffffff, 0xffffffff, 0x7fffffff},
           Case{"abs.f16x2", 0xfc013800, 0x7c013800, 0x7fff3800},
           Case{"neg.f16x2", 0x1ff7e05, 0x81fffe05, 0x81ff7fff},
           Case{"abs.bf16x2", 0xffc53f80, 0x7fff3f80, 0x7fff3f80},
           Case{"neg.bf16x2", 0xffc53f80, 0x7fffbf80, 0x7fffbf80},
           Case{"cvt.ftz.f32.f32", 0x7f800001, 0x7fc00001, 0x7fffffff},
       }) {
    CAPTURE(c.opcode, c.source);
    const bool packed = std::string(c.opcode).ends_with("x2");
    const std::string instruction = packed ? std::string(c.opcode) + " %r3, %r2; mov.b32 %d, %r3;"
                                           : "mov.b32 %f1, %r2; " + std::string(c.opcode) + " %f2, %f1; mov.b32 %d, %f2;";
    CHECK(word_of("mov.b32 %r2, " + std::to_string(c.source) + "; " + instruction) == c.folded);
    CHECK(word_of("shr.u32 %r1, %n, 20; add.u32 %r2, %r1, " + std::to_string(c.source) + "; " + instruction) == c.computed);
  }
  CHECK(word_of("mov.b16 %s1, 0x7f81; cvt.f32.bf16 %f1, %s1; mov.b32 %d, %f1;") == 0x7fffffff);
  CHECK(wide_of("mov.b64 %l1, 0x7ff0000000000001; neg.f64 %l3, %l1;") == 0xfff0000000000001);
  CHECK(wide_of("mov.b16 %s1, 0x7c01; cvt.f64.f16 %l3, %s1;") == 0x7fffffffe0000000);
}

// From here on an H100's answers.
TEST_CASE("instructions with some operands constant become simpler, as ptxas makes them", "[folding]") {
  const std::string unknown = "shr.u32 %r1, %n, 20; ";  // 0
  const auto of = [&](std::uint32_t a, const std::string& rest) {
    return word_of(unknown + "add.u32 %r2, %r1, " + std::to_string(a) + "; mov.b32 %f1, %r2; " + rest);
  };
  CHECK(of(0xff800001, "mul.f32 %f2, %f1, 0f3F800000; mov.b32 %d, %f2;") == 0xff800001);
  CHECK(of(0xff800001, "mul.rn.f32 %f2, %f1, 0f3F800000; mov.b32 %d, %f2;") == 0x7fffffff);
  CHECK(of(0x7fd503d7, "div.full.f32 %f2, %f1, 0f3F800000; mov.b32 %d, %f2;") == 0x7fd503d7);
  CHECK(of(0xbfc00000, "div.full.f32 %f2, %f1, 0f0EBE7A69; mov.b32 %d, %f2;") == 0xf08105cd);
  CHECK(of(0xbd043b01, "div.approx.f32 %f2, %f1, 0f0EBE7A69; mov.b32 %d, %f2;") == 0xedb1b747);
  CHECK(word_of("div.full.f32 %f2, 0f80000002, 0f15BC49B6; mov.b32 %d, %f2;") == 0x9f2e0805);
  CHECK(word_of("div.approx.ftz.f32 %f2, 0f80400001, 0f8012561F; mov.b32 %d, %f2;") == 0x7f800000);
  CHECK(of(0x1668bade, "mov.b32 %r3, 0xffff; bfe.s32 %d, %r2, %r3, 0x3f;") == 0xffffffff);
  CHECK(word_of("mov.b32 %r2, 0x1668bade; mov.b32 %r3, 0xffff; bfe.s32 %d, %r2, %r3, 0x3f;") == 0);
  CHECK(of(0xb5f76f8, "mov.b32 %r3, 0xa7fdb6; bfi.b32 %d, 0x7133, %r2, 1, %r3;") == 0xb00e266);
  CHECK(of(0xffffffe8, "mov.b32 %r3, 0xa7fdb6; bfi.b32 %d, 0x7133, %r2, 1, %r3;") == 0xff80e266);
  CHECK(of(0x1ec51, "slct.s32.s32 %d, %r2, 0xc0000000, 0x7fffffe7;") == 0xc0000000);
}

TEST_CASE("constants of f64 come second, where of two NaNs they count", "[folding]") {
  const std::string a = "mov.b64 %l1, 0xfffb9c567fffffff; ";
  const auto unknown = [](const char* number) { return std::string("add.u64 %l2, %l9, ") + number + "; "; };
  for (const char* operation : {"add.f64", "add.rz.f64", "mul.f64", "mul.rn.f64"}) {
    CAPTURE(operation);
    CHECK(wide_of(a + unknown("0x7fffffffffffffff") + operation + " %l3, %l1, %l2;") == 0xfffb9c567fffffff);
  }
  CHECK(wide_of(a + unknown("0x7fffffffffffffff") + "fma.rn.f64 %l3, %l1, %l2, 0d800ffffffffffffe;") == 0xfffb9c567fffffff);
  CHECK(wide_of(a + unknown("0x7fffffffffffffff") + "sub.f64 %l3, %l1, %l2;") == 0xfffb9c567fffffff);
  CHECK(wide_of("sub.f64 %l3, 0d7FF8000000000005, 0dFFF0000000000001;") == 0x7ff8000000000005);
  CHECK(wide_of("add.f64 %l3, 0d7FF8000000000005, 0dFFF0000000000001;") == 0xfff8000000000001);
  CHECK(wide_of("mul.rz.f64 %l3, 0dBFF8000000000001, 0d7FF8000000000005;") == 0xfff8000000000005);
  CHECK(wide_of("fma.rn.f64 %l3, 0dFFFFFFFFFFFFFFFF, 0d8000000000000003, 0dFFF8000000000000;") == 0xffffffffffffffff);
  CHECK(wide_of(unknown("0xfff0000000000001") + "fma.rn.f64 %l3, 0d8000000000000002, 0dFFFFFFFFFFFFFFFF, %l2;") == 0xffffffffffffffff);
  CHECK(wide_of(unknown("0x7ff031acea22e1b1") + "fma.rn.f64 %l3, 0d0000000000000000, %l2, 0d7FF8000000000000;") == 0x7ff831acea22e1b1);
  // A NaN that is subtracted is the negative of it.
  CHECK(wide_of(unknown("0x7fe0000000000000") + "sub.f64 %l3, %l2, 0d7FF8000000000005;") == 0xfff8000000000005);
  CHECK(wide_of(a + "mul.f64 %l3, %l1, 0d8010000000000000;") == 0x7ffb9c567fffffff);
  CHECK(wide_of(unknown("0xfff0000000000001") + "mul.f64 %l3, %l2, 0d3FF0000000000000;") == 0xfff0000000000001);
}

TEST_CASE("the report says what was folded, and contraction sees no product of constants", "[folding]") {
  const Kernel kernel(word_kernel("mul.f32 %f1, 0f40000000, 0f42800000;\n rsqrt.approx.f32 %f2, %f1;\n add.f32 %f3, %f1, %f4;\n"
                                  " div.full.f32 %f5, %f4, 0f40400000;\n mov.b32 %d, %f2;"),
                      "k");
  const code::Program& program = program_of(kernel);
  CHECK(program.contracted.empty());
  REQUIRE(program.folded.size() == 3);
  const auto opcode = [&](std::size_t i) { return program.statements[program.folded[i].statement]->opcode; };
  CHECK(opcode(0) == "mul.f32");
  CHECK(program.folded[0].bits == 0x43000000);
  CHECK_FALSE(program.folded[0].own_bits);
  CHECK(opcode(1) == "rsqrt.approx.f32");
  CHECK(program.folded[1].bits == 0x3db504f3);
  CHECK(program.folded[1].own_bits);
  CHECK(opcode(2) == "div.full.f32");
  CHECK(program.folded[2].bits == 0x3eaaaaab);
}

}  // namespace warpmat::folding_test
