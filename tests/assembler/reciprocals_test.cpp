
#include <warpmat/machine/internals.h>

#include "assembler/nan_kernel.h"
#include "machine/kernel.h"
#include "test.h"
#include "warpmat/ir/code.h"

namespace warpmat::reciprocals_test {

using namespace nan_kernel;

TEST_CASE("the reciprocal of a reciprocal, and division by it, is a move and a product, as ptxas has them", "[assembler]") {
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

TEST_CASE("the reciprocal of what an instruction without operands gives is computed", "[assembler]") {
  constexpr std::uint32_t infinity = 0x7f800000;
  CHECK(word_of("mov.u32 %r5, %laneid; rcp.approx.ftz.f32 %f3, %r5; mov.b32 %d, %f3;") == infinity);
  CHECK(word_of("activemask.b32 %r5; rcp.approx.ftz.f32 %f3, %r5; mov.b32 %d, %f3;") != 0);
  CHECK(word_of("activemask.b32 %r5; mov.b32 %f4, 0f3F800000; div.full.ftz.f32 %f3, %f4, %r5; mov.b32 %d, %f3;") != 0);
}

TEST_CASE("the reciprocal of a power, and division by it, has the power of the negative, as ptxas has it", "[assembler]") {
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

TEST_CASE("the program lists reciprocals that are left out", "[assembler]") {
  const Module module = word_kernel("mov.b32 %f1, %r1; rcp.approx.ftz.f32 %f2, %f1; rcp.approx.ftz.f32 %f3, %f2; mov.b32 %d, %f3;");
  const Kernel kernel(module, "k");
  const std::vector<code::Folded>& folded = program_of(kernel).folded;
  REQUIRE(folded.size() == 1);
  CHECK(folded[0].kind == code::Folded::Kind::inverted);
}

}  // namespace warpmat::reciprocals_test
