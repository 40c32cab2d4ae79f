#include <cstdint>
#include <string>

#include <warpmat/machine/internals.h>

#include "catch.h"
#include "machine/kernel.h"
#include "ptx/program/nan_kernel.h"
#include "warpmat/ptx/program/code.h"

namespace warpmat::inverses_test {

using namespace nan_kernel;

TEST_CASE("neg of neg is a move, which keeps a NaN's payload, as ptxas has it", "[inverses]") {
  struct Case {
    const char* body;
    std::uint32_t result;
  };
  for (const Case& c : {
           Case{"neg.f32 %f2, %f1; mov.b32 %d, %f2;", canonical},
           Case{"neg.f32 %f2, %f1; neg.f32 %f3, %f2; mov.b32 %d, %f3;", payload},
           Case{"neg.f32 %f1, %f1; neg.f32 %f1, %f1; mov.b32 %d, %f1;", payload},
           Case{"neg.f32 %f2, %f1; mov.b32 %r5, %f2; neg.f32 %f3, %r5; mov.b32 %d, %f3;", payload},
           // The first one's source is overwritten in between.
           Case{"neg.f32 %f2, %f1; mov.b32 %f1, 0; neg.f32 %f3, %f2; mov.b32 %d, %f3;", payload},
           Case{"neg.f32 %f2, %f1; neg.f32 %f2, %f2; neg.f32 %f2, %f2; mov.b32 %d, %f2;", canonical},
           Case{"neg.f32 %f2, %f1; neg.f32 %f2, %f2; neg.f32 %f2, %f2; neg.f32 %f2, %f2; mov.b32 %d, %f2;", payload},
           // In another block, and with a guard.
           Case{"neg.f32 %f2, %f1; @%p2 bra L; neg.f32 %f3, %f2; mov.b32 %d, %f3; L:", payload},
           Case{"neg.f32 %f2, %f1; @%p1 neg.f32 %f3, %f2; mov.b32 %d, %f3;", payload},
           // Of two values that may come there, and of one with a guard, the machine computes neg.
           Case{"neg.f32 %f2, %f1; @%p2 bra L; neg.f32 %f2, %f1; L: neg.f32 %f3, %f2; mov.b32 %d, %f3;", canonical},
           Case{"mov.b32 %f2, %f1; @%p1 neg.f32 %f2, %f1; neg.f32 %f3, %f2; mov.b32 %d, %f3;", canonical},
           // Of a loop's, if nothing else may stand in its register behind it.
           Case{"mov.b32 %r3, %n; mov.b32 %d, 0; L: neg.f32 %f3, %f1; sub.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra L;"
                "neg.f32 %f4, %f3; mov.b32 %d, %f4;",
                payload},
           Case{
               "mov.b32 %r3, %n; mov.b32 %f3, 0; @%p2 bra M; L: neg.f32 %f3, %f1; sub.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra L;"
               "neg.f32 %f4, %f3; M: mov.b32 %d, %f3; mov.b32 %d, %f4;",
               canonical},
           Case{"mov.b32 %r3, 5; mov.b32 %f3, 0; @%p2 bra M; L: neg.f32 %f3, %f1; sub.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra L;"
                "neg.f32 %f4, %f3; M: mov.b32 %d, %f3; mov.b32 %d, %f4;",
                canonical},
           // .ftz, abs and other types are no pairs.
           Case{"neg.ftz.f32 %f2, %f1; neg.f32 %f3, %f2; mov.b32 %d, %f3;", canonical},
           Case{"neg.f32 %f2, %f1; neg.ftz.f32 %f3, %f2; mov.b32 %d, %f3;", canonical},
           Case{"neg.f32 %f2, %f1; abs.f32 %f3, %f2; mov.b32 %d, %f3;", canonical},
           Case{"abs.f32 %f2, %f1; neg.f32 %f3, %f2; mov.b32 %d, %f3;", canonical},
           Case{"neg.f16x2 %r5, %r2; neg.f16x2 %d, %r5;", payload},
           // A product with -1 without rounding is neg.
           Case{"mul.f32 %f2, %f1, 0fBF800000; neg.f32 %f3, %f2; mov.b32 %d, %f3;", payload},
           Case{"neg.f32 %f2, %f1; mul.f32 %f3, 0fBF800000, %f2; mov.b32 %d, %f3;", payload},
           Case{"mul.rn.f32 %f2, %f1, 0fBF800000; neg.f32 %f3, %f2; mov.b32 %d, %f3;", canonical},
           Case{"mul.ftz.f32 %f2, %f1, 0fBF800000; neg.f32 %f3, %f2; mov.b32 %d, %f3;", canonical},
       }) {
    CAPTURE(c.body);
    CHECK(word_of(c.body) == c.result);
  }
  // Numbers are as they were.
  CHECK(word_of("neg.f32 %f2, %f1; neg.f32 %f3, %f2; mov.b32 %d, %f3;", 0x80000000) == 0x80000000);
  CHECK(word_of("mul.f32 %f2, %f1, 0fBF800000; mov.b32 %d, %f2;", 0x3f800000) == 0xbf800000);
}

TEST_CASE("min and max of one register twice are moves, as ptxas has them", "[inverses]") {
  struct Case {
    const char* opcode;
    std::uint32_t result;
  };
  for (const Case& c :
       {Case{"min.f32", payload}, Case{"max.f32", payload}, Case{"min.ftz.f32", canonical}, Case{"min.NaN.f32", canonical}}) {
    CAPTURE(c.opcode);
    CHECK(word_of(std::string(c.opcode) + " %f2, %f1, %f1; mov.b32 %d, %f2;") == c.result);
    CHECK(word_of("mov.b32 %f3, %r2;" + std::string(c.opcode) + " %f2, %f1, %f3; mov.b32 %d, %f2;") == canonical);
  }
  const std::string halves = "cvt.u16.u32 %s1, %r2; ", store = " cvt.u32.u16 %d, %s2;";  // 0x7d01 signals
  CHECK(word_of(halves + "max.f16 %s2, %s1, %s1;" + store, 0x7d01) == 0x7d01);
  CHECK(word_of(halves + "max.bf16 %s2, %s1, %s1;" + store, 0x7f81) == 0x7fff);
}

TEST_CASE("the reciprocal of a reciprocal, and division by it, is a move and a product, as ptxas has them", "[inverses]") {
  struct Case {
    const char* body;
    std::uint32_t result;
  };
  for (const Case& c : {
           Case{"rcp.approx.ftz.f32 %f2, %f1; rcp.approx.ftz.f32 %f3, %f2; mov.b32 %d, %f3;", payload},
           // The qualifiers in another order: the same machine code.
           Case{"rcp.ftz.approx.f32 %f2, %f1; rcp.approx.f32.ftz %f3, %f2; mov.b32 %d, %f3;", payload},
           Case{"rcp.approx.ftz.f32 %f2, %f1; mov.b32 %r5, %f2; mov.b32 %f1, 0; rcp.approx.ftz.f32 %f3, %r5; mov.b32 %d, %f3;", payload},
           Case{"rcp.approx.ftz.f32 %f2, %f1; @%p2 bra L; rcp.approx.ftz.f32 %f3, %f2; mov.b32 %d, %f3; L:", payload},
           Case{"rcp.approx.ftz.f32 %f2, %f1; @%p1 rcp.approx.ftz.f32 %f3, %f2; mov.b32 %d, %f3;", payload},
           Case{"rcp.approx.ftz.f32 %f2, %f1; add.f32 %f4, %f2, %f2; rcp.approx.ftz.f32 %f3, %f2; mov.b32 %r5, %f4; and.b32 %r5, %r5, 0;"
                "mov.b32 %r6, %f3; or.b32 %d, %r5, %r6;",
                payload},
           // What has a guard, a sign or keeps subnormal numbers is computed.
           Case{"mov.b32 %f2, %f1; @%p1 rcp.approx.ftz.f32 %f2, %f1; rcp.approx.ftz.f32 %f3, %f2; mov.b32 %d, %f3;", canonical},
           Case{"rcp.approx.ftz.f32 %f2, %f1; neg.f32 %f2, %f2; rcp.approx.ftz.f32 %f3, %f2; mov.b32 %d, %f3;", canonical},
           Case{"rcp.approx.f32 %f2, %f1; rcp.approx.ftz.f32 %f3, %f2; mov.b32 %d, %f3;", canonical},
           Case{"rcp.approx.ftz.f32 %f2, %f1; rcp.approx.f32 %f3, %f2; mov.b32 %d, %f3;", canonical},
           Case{"rcp.rn.ftz.f32 %f2, %f1; rcp.approx.ftz.f32 %f3, %f2; mov.b32 %d, %f3;", canonical},
       }) {
    CAPTURE(c.body);
    CHECK(word_of(c.body) == c.result);
  }
  // 3 and 1/3 · 3: a product is exact; two reciprocals are not. 0x7f000000 is 2^127, whose reciprocal is flushed.
  const std::string divided = "rcp.approx.ftz.f32 %f2, %f1; mov.b32 %f4, 0f3F000000; ";
  CHECK(word_of(divided + "div.approx.ftz.f32 %f3, %f4, %f2; mov.b32 %d, %f3;", 0x7f000000) == 0x7e800000);
  CHECK(word_of(divided + "div.full.ftz.f32 %f3, %f4, %f2; mov.b32 %d, %f3;", 0x7f000000) == 0x7f800000);
  // The product may be fused: 2^127 · 0.5 - 2^126 is 0 either way, with a NaN where it is not.
  CHECK(word_of(divided + "div.approx.ftz.f32 %f3, %f4, %f2; sub.ftz.f32 %f3, %f3, 0f7E800000; mov.b32 %d, %f3;", 0x7f000000) == 0);
}

// ptxas 13.0.88 for sm_90a: FMUL.FTZ of the factors before F2F.F64.F32; FMUL, and FMUL.FTZ with 1, where it stays.
TEST_CASE("cvt.ftz.f64.f32 of a product flushes the factors, as ptxas has it", "[inverses]") {
  constexpr std::uint32_t subnormal = 0x00400000, product = 0x3e400000;  // 2^-127; the upper half of 2^-27, that times 2^100
  const std::string multiply = "mov.b32 %f4, 0f71800000; mul.f32 %f2, %f1, %f4; ", store = " mov.b64 {%r5, %d}, %l5;";
  struct Case {
    std::string body;
    std::uint32_t result;
  };
  for (const Case& c : {
           Case{multiply + "cvt.ftz.f64.f32 %l5, %f2;" + store, 0},
           Case{multiply + "mov.b32 %r6, %f2; mov.b32 %f1, 0f3F800000; cvt.ftz.f64.f32 %l5, %r6;" + store, 0},
           Case{"mul.f32 %f2, 0f71800000, %f1; cvt.ftz.f64.f32 %l5, %f2;" + store, 0},
           Case{"mov.b64 %l5, 0; " + multiply + "@%p1 cvt.ftz.f64.f32 %l5, %f2;" + store, 0},
           // Another use, a rounding modifier, a guard, a sign, another conversion.
           Case{multiply + "cvt.ftz.f64.f32 %l5, %f2;" + store + "mov.b32 %r6, %f2; and.b32 %r6, %r6, 0; or.b32 %d, %d, %r6;", product},
           Case{"mul.rn.f32 %f2, %f1, 0f71800000; cvt.ftz.f64.f32 %l5, %f2;" + store, product},
           Case{"mov.b32 %f2, 0; @%p1 mul.f32 %f2, %f1, 0f71800000; cvt.ftz.f64.f32 %l5, %f2;" + store, product},
           Case{multiply + "neg.f32 %f2, %f2; cvt.ftz.f64.f32 %l5, %f2;" + store, product | 0x80000000},
           Case{multiply + "cvt.f64.f32 %l5, %f2;" + store, product},
       }) {
    CAPTURE(c.body);
    CHECK(word_of(c.body, subnormal) == c.result);
  }
}

TEST_CASE("the reciprocal of a power, and division by it, has the power of the negative, as ptxas has it", "[inverses]") {
  const std::string power = "ex2.approx.ftz.f32 %f2, %f1; ", negative = "neg.f32 %f2, %f1; ex2.approx.ftz.f32 %f3, %f2; mov.b32 %d, %f3;";
  const std::string needed = " mov.b32 %r5, %f2; shr.u32 %r5, %r5, 31; or.b32 %d, %d, %r5;";  // the power's sign: 0
  const std::uint32_t x = 0x42fe8000;  // 127.25: the power's reciprocal is flushed, that of the negative is too; 2^-127.25
  const std::uint32_t y = 0x3e99999a;  // 0.3: the reciprocal of the power is rounded twice
  for (const std::uint32_t bits : {x, y}) {
    CAPTURE(bits);
    CHECK(word_of(power + "rcp.approx.ftz.f32 %f3, %f2; mov.b32 %d, %f3;", bits) == word_of(negative, bits));
    CHECK(word_of(power + "@%p1 rcp.approx.ftz.f32 %f3, %f2; mov.b32 %d, %f3;", bits) == word_of(negative, bits));
    CHECK(word_of(power + "mov.b32 %f4, 0f3F800000; div.approx.ftz.f32 %f3, %f4, %f2; mov.b32 %d, %f3;", bits) == word_of(negative, bits));
  }
  int differ = 0;
  for (std::uint32_t bits = y; bits != y + 64; ++bits) {
    CAPTURE(bits);
    const std::uint32_t twice = word_of(power + "rcp.approx.ftz.f32 %f3, %f2; mov.b32 %d, %f3;" + needed, bits);
    differ += twice != word_of(negative, bits);
    CHECK(word_of(power + "div.full.ftz.f32 %f3, 0f3F800000, %f2; mov.b32 %d, %f3;", bits) == twice);
    CHECK(word_of("ex2.approx.f32 %f2, %f1; rcp.approx.ftz.f32 %f3, %f2; mov.b32 %d, %f3;", bits) == twice);
  }
  CHECK(differ > 0);
}

TEST_CASE("the program lists moves that ptxas makes of arithmetic", "[inverses]") {
  const Module module = word_kernel("mov.b32 %f1, %r1; neg.f32 %f2, %f1; neg.f32 %f3, %f2; mov.b32 %d, %f3;");
  const Kernel kernel(module, "k");
  const std::vector<code::Folded>& folded = program_of(kernel).folded;
  REQUIRE(folded.size() == 1);
  CHECK(folded[0].kind == code::Folded::Kind::copied);
  CHECK(program_of(kernel).statements[folded[0].statement]->opcode == "neg.f32");
}

}  // namespace warpmat::inverses_test
