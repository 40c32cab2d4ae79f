
#include <warpmat/assembler.h>
#include <warpmat/machine/internals.h>
#include <warpmat/ptx/syntax/module.h>

#include "machine/kernel.h"
#include "test.h"
#include "warpmat/ir/code.h"

namespace warpmat::folded_constants_test {
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

// Immediates in ptxas 13.0.88's machine code for sm_90a; what an H100's unit gives where it differs.
TEST_CASE("ptxas rounds approximate functions of constants correctly", "[assembler]") {
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

TEST_CASE("without .ftz each step that keeps subnormal numbers is rounded", "[assembler]") {
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

TEST_CASE("a number of the text is constant behind moves and such results, and nothing else is", "[assembler]") {
  constexpr std::uint32_t known = 0x3db504f3, unknown = 0x3db504f2;  // 1 / sqrt(128)
  struct Case {
    const char* body;
    std::uint32_t word;
  };
  for (const Case& c : {
           Case{"mov.f32 %f1, 0f43000000;", known},
           Case{"mov.f32 %f2, 0f43000000; mov.b32 %r5, %f2; mov.b32 %f1, %r5;", known},
           Case{"mov.f32 %f1, 0f43000000; setp.gt.u32 %p1, %i, 40; @%p1 bra L; st.global.u32 [%out], %i; L:", known},
           Case{"rcp.approx.ftz.f32 %f1, 0f3C000000;", known},
           Case{"mov.f32 %f1, 0f43000000; setp.gt.u32 %p1, %i, 40; @%p1 bra L; bra M; L: mov.f32 %f1, 0f42800000; M:", unknown},
           Case{"mov.f32 %f1, 0f43000000; setp.gt.u32 %p1, %i, 40; @%p1 mov.f32 %f1, 0f42800000;", unknown},
           Case{"shl.b32 %r1, %n, 2; cvt.rn.f32.u32 %f1, %r1;", unknown},
       }) {
    INFO(c.body);
    CHECK(word_of(std::string(c.body) + " rsqrt.approx.f32 %f9, %f1; mov.b32 %d, %f9;") == c.word);
  }
  CHECK(word_of("mov.f32 %f1, 0f43000000; mov.f32 %f9, 0f00000000; setp.lt.u32 %p1, %i, 40; @%p1 rsqrt.approx.f32 %f9, %f1; "
                "mov.b32 %d, %f9;") == known);
}

// An H100's answers.
TEST_CASE("a division by a number is a product with its reciprocal", "[assembler]") {
  const auto of = [&](std::uint32_t a, const std::string& rest) {
    return word_of("shr.u32 %r1, %n, 20; add.u32 %r2, %r1, " + std::to_string(a) + "; mov.b32 %f1, %r2; " + rest);
  };
  CHECK(of(0xbfc00000, "div.full.f32 %f2, %f1, 0f0EBE7A69; mov.b32 %d, %f2;") == 0xf08105cd);
  CHECK(of(0xbd043b01, "div.approx.f32 %f2, %f1, 0f0EBE7A69; mov.b32 %d, %f2;") == 0xedb1b747);
  CHECK(word_of("div.full.f32 %f2, 0f80000002, 0f15BC49B6; mov.b32 %d, %f2;") == 0x9f2e0805);
}

TEST_CASE("the report says what was folded, and decisions go before the rule", "[assembler]") {
  const Module module = word_kernel(
      "rsqrt.approx.f32 %f2, 0f43000000;\n div.full.f32 %f5, %f4, 0f40400000;\n ex2.approx.f32 %f6, %f4;\n"
      " add.f32 %f2, %f2, %f6; mov.b32 %d, %f2;");
  const Kernel kernel(module, "k");
  const code::Program& program = program_of(kernel);
  using Kind = code::Folded::Kind;
  REQUIRE(program.folded.size() == 2);
  CHECK(program.folded[0].kind == Kind::constant);
  CHECK(program.folded[0].bits == 0x3db504f3);
  CHECK(program.folded[1].kind == Kind::divided);
  CHECK(program.folded[1].bits == 0x3eaaaaab);
  CHECK(program.assembler.empty());
  const auto place = [&](std::string_view opcode) {
    return (*std::ranges::find(program.statements, opcode, &syntax::Statement::opcode))->location;
  };
  const AssemblerDecisions decisions{.assembler = "another",
                                     .results = {{place("rsqrt.approx.f32"), false, 0}, {place("ex2.approx.f32"), true, 0x3f800000}}};
  const Kernel decided(module, "k", {.decisions = &decisions});
  const code::Program& other = program_of(decided);
  CHECK(other.assembler == "another");
  CHECK(other.differs.size() == 2);
  REQUIRE(other.folded.size() == 2);
  CHECK(other.folded[1].bits == 0x3f800000);
}

}  // namespace
}  // namespace warpmat::folded_constants_test
