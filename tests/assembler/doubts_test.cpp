#include <string>
#include <vector>

#include <warpmat/machine/internals.h>

#include "catch.h"
#include "machine/kernel.h"
#include "warpmat/ptx/program/code.h"

namespace warpmat::doubts_test {
namespace {

using Why = code::Doubt::Why;

/// The opcodes of the statements in doubt for that reason.
std::vector<std::string> doubted(const std::string& body, Why why) {
  const Kernel kernel(word_kernel(body), "k");
  std::vector<std::string> opcodes;
  for (const code::Doubt& doubt : program_of(kernel).doubted)
    if (doubt.why == why) opcodes.push_back(program_of(kernel).statements[doubt.statement]->opcode);
  return opcodes;
}

struct Case {
  const char* body;
  std::vector<std::string> doubted;
};

void check(const std::string& start, const std::vector<Case>& cases, Why why) {
  for (const Case& c : cases) {
    CAPTURE(c.body);
    CHECK(doubted(start + c.body, why) == c.doubted);
  }
}

}  // namespace

// ptxas 13.0 makes LOP3 of both statements, in which one of the equal operands is RZ.
TEST_CASE("a lop3 of equal operands with a predicate is in doubt", "[assembler]") {
  check("setp.eq.u32 %p2, %n, 7; mov.u32 %r1, %i; add.u32 %r2, %n, %i; mov.u32 %r3, %n;\n",
        {{"lop3.or.b32 %r4|%p1, %r1, %r2, %r2, 0x04, %p2; xor.b32 %d, %r2, %r4;", {"lop3.or.b32"}},
         {"mov.b32 %r5, %r2; lop3.and.b32 %r4|%p1, %r1, %r2, %r5, 0x04, %p2; xor.b32 %d, %r2, %r4;", {"lop3.and.b32"}},
         {"mov.b32 %r5, %r2; add.u32 %r2, %r2, 1; lop3.or.b32 %r4|%p1, %r1, %r2, %r5, 0x04, %p2; xor.b32 %d, %r2, %r4;", {}},
         {"lop3.or.b32 %r4|%p1, %r1, %r2, %r3, 0x04, %p2; xor.b32 %d, %r2, %r4;", {}},
         {"lop3.b32 %r4, %r1, %r2, %r2, 0x04; xor.b32 %d, %r2, %r4;", {}}},
        Why::merged_logic);
}

TEST_CASE("a shuffle of what all lanes have in common is in doubt", "[assembler]") {
  check("mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; add.u32 %r2, %r1, %n;\n",
        {{"shfl.sync.bfly.b32 %d, %r1, 31, 31, -1;", {"shfl.sync.bfly.b32"}},
         {"shfl.sync.bfly.b32 %d, %r2, 31, 31, -1;", {"shfl.sync.bfly.b32"}},
         {"shfl.sync.bfly.b32 %d|%p1, 7, 31, 31, -1;", {"shfl.sync.bfly.b32"}},
         {"shfl.sync.bfly.b32 %d, %r0, 31, 31, -1;", {}},
         {"add.u32 %r2, %r2, %r0; shfl.sync.bfly.b32 %d, %r2, 31, 31, -1;", {}}},
        Why::shuffle);
}

TEST_CASE("what may keep a NaN's payload through neg, abs, min or max is in doubt", "[assembler]") {
  check("mov.b32 %f1, %i; mov.b32 %f2, %n; setp.eq.u32 %p2, %n, 7;\n",
        {{"neg.f32 %f3, %f1; neg.f32 %f4, %f3;", {"neg.f32"}},
         {"neg.f32 %f3, %f1; mov.f32 %f4, %f3; neg.f32 %f5, %f4;", {"neg.f32"}},
         {"neg.f32 %f3, %f1; @%p2 bra L; neg.f32 %f3, %f2; L: neg.f32 %f5, %f3;", {"neg.f32"}},
         {"L: neg.f32 %f1, %f1; bar.sync 0; @%p2 bra L;", {"neg.f32"}},
         {"neg.f32 %f3, %f1; abs.f32 %f4, %f3;", {}},
         {"neg.f32 %f3, %f1; neg.ftz.f32 %f4, %f3;", {}},
         {"neg.f32 %f3, %f1; selp.f32 %f4, %f3, %f2, %p2;", {"selp.f32"}},
         {"neg.f32 %f3, %f1; selp.b32 %f4, %f3, %f2, %p2;", {}},
         {"abs.f32 %f3, %f1; @%p2 add.f32 %f3, %f1, %f2;", {"add.f32"}},
         {"abs.f32 %f3, %f1; add.f32 %f3, %f1, %f2;", {}},
         {"@%p2 neg.f32 %f3, %f1;", {"neg.f32"}},
         {"min.f32 %f3, %f1, %f1;", {"min.f32"}},
         {"min.f32 %f3, %f1, %f2;", {}}},
        Why::sign);
}

TEST_CASE("a store or shift of a number's bits is in doubt", "[assembler]") {
  check("mov.b32 %f1, %i; mov.b64 %l1, %out;\n",
        {{"add.f32 %f2, %f1, %f1; mov.b32 %r5, %f2; st.global.u16 [%out], %r5;", {"st.global.u16"}},
         {"add.f32 %f2, %f1, %f1; st.global.f32 [%out], %f2;", {}},
         {"cvt.rzi.s32.f32 %r5, %f1; st.global.u8 [%out], %r5;", {}},
         {"add.u32 %r5, %i, %n; st.global.u16 [%out], %r5;", {}},
         {"add.f32 %f2, %f1, %f1; mov.b32 %r5, %f2; shl.b64 %l2, %l1, %r5;", {"shl.b64"}},
         {"add.u32 %r5, %i, %n; shl.b64 %l2, %l1, %r5;", {}}},
        Why::converted);
}

TEST_CASE("what ptxas has something simpler for, which may give other bits, is in doubt", "[assembler]") {
  check("mov.b32 %f1, %i; mov.u32 %r1, %i;\n",
        {{"mul.f32 %f2, %f1, 0f3F800000;", {"mul.f32"}},
         {"mul.f32 %f2, 0fBF800000, %f1;", {"mul.f32"}},
         {"mul.rn.f32 %f2, %f1, 0f3F800000;", {}},
         {"mul.f32 %f2, %f1, 0f40000000;", {}},
         {"bfe.s32 %r2, %r1, 40, 3;", {"bfe.s32"}},
         {"bfe.s32 %r2, %r1, 4, 3;", {}},
         {"bfe.u32 %r2, %r1, 40, 3;", {}},
         {"bfi.b32 %r2, 7, %r1, 3, 40;", {"bfi.b32"}},
         {"slct.s32.s32 %r2, %r1, 3, 9;", {"slct.s32.s32"}},
         {"slct.s32.s32 %r2, 5, 3, %r1;", {}},
         {"neg.f32 %f2, 0f7FC00001;", {"neg.f32"}}},
        Why::constant);
  check("mov.b32 %f1, %i; .reg .f64 %q1;\n",
        {{"mul.f32 %f2, %f1, %f1; cvt.ftz.f64.f32 %q1, %f2;", {"cvt.ftz.f64.f32"}},
         {"mul.ftz.f32 %f2, %f1, %f1; cvt.ftz.f64.f32 %q1, %f2;", {}},
         {"mul.f32 %f2, %f1, %f1; cvt.f64.f32 %q1, %f2;", {}}},
        Why::flushed);
}

}  // namespace warpmat::doubts_test
