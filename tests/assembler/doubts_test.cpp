
#include <warpmat/machine/internals.h>
#include <warpmat/ptx/syntax/module.h>

#include "machine/kernel.h"
#include "test.h"
#include "warpmat/ir/code.h"

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
  std::string body;
  std::vector<std::string> doubted;
};

void check(const std::string& start, const std::vector<Case>& cases, Why why) {
  for (const Case& c : cases) {
    CAPTURE(c.body);
    CHECK(doubted(start + c.body, why) == c.doubted);
  }
}

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

// Of each, ptxas 13.0 makes machine code with or without the second shuffle. An H200 gave its lanes the value where their source had left.
TEST_CASE("a shuffle of what a warp's exchange has made common is in doubt", "[assembler]") {
  const std::string shuffle = " shfl.sync.down.b32 %d, %r5, %r0, 31, -1;";
  const std::vector<std::string> in_doubt{"shfl.sync.down.b32"}, not_in_doubt;
  struct Made {
    const char* statements;
    bool common;
  };
  for (const Made& made : {Made{"shfl.sync.idx.b32 %r5, %i, 24, 31, -1;", true},
                           {"shfl.sync.idx.b32 %r5|%p2, %i, %c, 31, 0xffff;", true},
                           {"shfl.sync.idx.b32 %r5, %i, 24, 31, -1; mov.b32 %r6, %r5; add.u32 %r5, %r6, 7;", true},
                           {"shfl.sync.idx.b32 %r5, %i, 24, 4127, -1;", false},
                           {"shfl.sync.idx.b32 %r5, %i, %r0, 31, -1;", false},
                           {"shfl.sync.bfly.b32 %r5, %i, 24, 31, -1;", false},
                           {"vote.sync.ballot.b32 %r5, %p1, -1;", true},
                           {"vote.sync.all.pred %p2, %p1, -1; selp.u32 %r5, 3, 9, %p2;", true},
                           {"redux.sync.add.u32 %r5, %i, -1;", true},
                           {"match.all.sync.b32 %r5|%p2, %i, -1;", true},
                           {"match.any.sync.b32 %r5, %i, -1;", false},
                           {"activemask.b32 %r5;", true},
                           {"elect.sync %r5|%p2, -1;", true},
                           {"bar.red.popc.u32 %r5, 0, %p1;", false},
                           {"mov.u32 %r5, %warpid;", true},
                           {"mov.u32 %r5, %clock;", true},
                           {"mov.u32 %r5, %laneid;", false},
                           {"mov.u32 %r5, %lanemask_lt;", false}}) {
    CAPTURE(made.statements);
    const std::string body = "mov.u32 %r0, %tid.x; setp.ne.u32 %p1, %r0, 3;\n" + std::string(made.statements) + shuffle;
    CHECK(doubted(body, Why::shuffle) == (made.common ? in_doubt : not_in_doubt));
  }
}

// ptxas 13.0 computes the vote behind the exit, where the lanes that leave no longer vote.
TEST_CASE("a vote that is first read behind an exit or a branch is in doubt", "[assembler]") {
  check("setp.ne.u32 %p1, %i, 3; setp.ne.u32 %p2, %n, 7;\n",
        {{"vote.sync.all.pred %p3, %p1, -1; @%p2 ret; @!%p3 ld.global.u32 %d, [%out];", {"vote.sync.all.pred"}},
         {"vote.sync.any.pred %p3, %p1, -1; @%p2 exit; @%p3 st.global.u32 [%out], %n;", {"vote.sync.any.pred"}},
         {"vote.sync.uni.pred %p3, %p1, -1; @%p2 bra L; selp.u32 %d, 1, 2, %p3; L:", {"vote.sync.uni.pred"}},
         {"vote.sync.all.pred %p3, %p1, -1; selp.u32 %d, 1, 2, %p3; @%p2 ret; @!%p3 ld.global.u32 %d, [%out];", {}},
         {"vote.sync.all.pred %p3, %p1, -1; @%p3 bra L; add.u32 %d, %n, 1; L:", {}},
         {"vote.sync.ballot.b32 %d, %p1, -1; @%p2 ret;", {}}},
        Why::shuffle);
}

// In an H200's results of the first and the third, 0 of the logic counted as the predicate %p1.
TEST_CASE("a comparison with 0 of what a lop3 with a predicate computed is in doubt", "[assembler]") {
  check("setp.ne.u32 %p1, %i, 3; add.u32 %r1, %n, 5;\n",
        {{"lop3.and.b32 %r2|%p2, %i, %n, %r1, 0x7f, %p1; div.u32 %d, %i, %r2;", {"div.u32"}},
         {"lop3.and.b32 %r2|%p2, %i, %n, %r1, 0x7f, %p1; rem.s32 %d, %i, %r2;", {"rem.s32"}},
         {"lop3.or.b32 %r2|%p2, %i, %n, %r1, 0x7f, %p1; setp.ne.u32 %p3, %r2, 0;", {"setp.ne.u32"}},
         {"lop3.or.b32 %r2|%p2, %i, %n, %r1, 0x7f, %p1; mov.b32 %r3, %r2; setp.eq.s32 %p3, 0, %r3;", {"setp.eq.s32"}},
         {"lop3.or.b32 %r2|%p2, %i, %n, %r1, 0x7f, %p1; set.ne.u32.u32 %d, %r2, 0;", {"set.ne.u32.u32"}},
         {"lop3.or.b32 %r2|%p2, %i, %n, %r1, 0x7f, %p1; setp.ne.u32 %p3, %r2, 5;", {}},
         {"lop3.or.b32 %r2|%p2, %i, %n, %r1, 0x7f, %p1; setp.lt.u32 %p3, %r2, 0;", {}},
         {"lop3.or.b32 %r2|%p2, %i, %n, %r1, 0x7f, %p1; div.u32 %d, %r2, %i;", {}},
         {"lop3.b32 %r2, %i, %n, %r1, 0x7f; div.u32 %d, %i, %r2;", {}}},
        Why::merged_logic);
}

// ptxas 13.0 makes one PLOP3 of both, and with the guard loses one of the two results.
TEST_CASE("a guarded and or or of predicates beside the other of the two is in doubt", "[assembler]") {
  check("setp.ne.u32 %p1, %i, 3; setp.ne.u32 %p2, %n, 7; setp.ne.u32 %p3, %c, 1;\n",
        {{"or.pred %p4, %p1, %p2; @%p1 and.pred %p1, %p2, %p1;", {"and.pred"}},
         {"and.pred %p4, %p1, %p2; @!%p1 or.pred %p1, %p1, %p2;", {"or.pred"}},
         {"or.pred %p4, %p1, %p2; and.pred %p1, %p2, %p1;", {}},
         {"or.pred %p4, %p1, %p2; @%p3 and.pred %p1, %p2, %p1;", {}},
         {"or.pred %p4, %p1, %p3; @%p1 and.pred %p1, %p2, %p1;", {}},
         {"@%p1 and.pred %p1, %p2, %p1;", {}}},
        Why::merged_logic);
}

// cos of 1.0 as an immediate is not that of the multi-function unit. Which of these ptxas 13.0 knows, its machine code shows.
TEST_CASE("an approximate function or division whose operand ptxas may know is in doubt", "[assembler]") {
  const std::string end = " mov.b32 %f1, %r1; cos.approx.f32 %f2, %f1; mov.b32 %d, %f2;";
  struct Made {
    std::string statements;
    bool known;
  };
  for (const Made& made : {Made{"set.eq.f32.u32 %f3, %i, %i; mov.b32 %r1, %f3;", true},
                           {"xor.b32 %r1, %i, %i; or.b32 %r1, %r1, 0x40200000;", true},
                           {"mov.b32 %r2, %i; set.le.u32.s32 %r1, %i, %r2;", true},
                           {"and.b32 %r1, %i, 0; add.u32 %r1, %r1, 0x40200000;", true},
                           {"mul.lo.u32 %r1, 0, %i; add.u32 %r1, %r1, 0x40200000;", true},
                           {"or.b32 %r1, %i, -1; and.b32 %r1, %r1, 0x40200000;", true},
                           {"shr.u32 %r1, %i, 32; add.u32 %r1, %r1, 0x40200000;", true},
                           {"mul.f32 %f3, 0f3fc00000, 0f40200000; mov.b32 %r1, %f3;", true},
                           {"cvt.rn.f32.s32 %f3, 5; mov.b32 %r1, %f3;", true},
                           {"setp.eq.u32 %p1, %i, %i; selp.b32 %r1, 0x40200000, %i, %p1;", true},
                           {"mov.u32 %r2, 0; L: cvt.rn.f32.u32 %f3, %r2; mov.b32 %r1, %f3; ex2.approx.f32 %f4, %f3; add.u32 %r2, %r2, 1; "
                            "setp.ne.u32 %p1, %r2, 5; @%p1 bra L;",
                            true},
                           {"set.eq.f32.u32 %f3, %i, %n; mov.b32 %r1, %f3;", false},
                           {"set.eq.f32.f32 %f3, %f9, %f9; mov.b32 %r1, %f3;", false},
                           {"and.b32 %r1, %i, 1; add.u32 %r1, %r1, 0x40200000;", false},
                           {"shr.u32 %r1, %i, 31; add.u32 %r1, %r1, 0x40200000;", false},
                           {"add.u32 %r1, %i, 0;", false},
                           {"selp.b32 %r1, 0x40200000, %i, %p2;", false},
                           {"mov.u32 %r1, %ntid.x;", false},
                           {"mov.u32 %r1, 0x40200000;", false}}) {
    CAPTURE(made.statements);
    const std::string start = "mov.b32 %f9, %i; setp.ne.u32 %p2, %n, 7;\n";
    const std::vector<std::string> found = doubted(start + made.statements + end, Why::constant);
    CHECK((std::ranges::find(found, "cos.approx.f32") != found.end()) == made.known);
  }
  check("mov.b32 %f1, %i; set.eq.f32.u32 %f3, %i, %i;\n",
        {{"div.full.f32 %f2, %f1, %f3;", {"div.full.f32"}}, {"div.approx.f32 %f2, %f3, %f1;", {}}, {"div.rn.f32 %f2, %f1, %f3;", {}}},
        Why::constant);
}

// An H200 gave the NaN of rsqrt, which ptxas 13.0 makes the first operand of the subtraction.
TEST_CASE("a sum of f64 of an approximate function's result is in doubt, which NaN it is", "[assembler]") {
  check(".reg .f64 %a, %b, %x, %y; cvt.rn.f64.u32 %a, %i; cvt.rn.f64.u32 %b, %n; rsqrt.approx.ftz.f64 %x, %a;\n",
        {{"mul.rn.f64 %b, %a, %b; sub.rn.f64 %y, %b, %x;", {"sub.rn.f64"}},
         {"add.f64 %y, %x, %b;", {"add.f64"}},
         {"mul.rn.f64 %y, %x, %x;", {}},
         {"add.f64 %y, %x, 0d3FF0000000000000;", {}},
         {"add.f64 %y, %a, %b;", {}}},
        Why::sign);
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

// Three of 300,000 random kernels on an H200 showed these errors of ptxas 13.0; neither has a NaN or a choice of the assembler's in it.
// Kernels 201003, 203154 and 213513 of seed 20261130, of which an H200 had other bits: nothing else in them is in doubt.
TEST_CASE("a narrow number that ptxas may keep in 32 bits is in doubt", "[assembler]") {
  check(".reg .s16 %h<3>; mov.u32 %r1, %i; cvt.u16.u32 %h0, %i; setp.eq.u32 %p2, %n, 7; setp.eq.u32 %p1, %n, 9;\n",
        {{"abs.s16 %h1, %h0; setp.le.and.s16 %p3|%p4, %h2, %h1, %p1;", {"setp.le.and.s16"}},
         {"abs.s32 %r2, %r1; setp.le.s32 %p3, %r2, %r1;", {}},
         {"mov.u32 %r2, 5; @%p2 ld.global.s8 %r2, [%out]; szext.wrap.u32 %r3, %r2, %r1;", {"szext.wrap.u32"}},
         {"ld.global.s8 %r2, [%out]; szext.wrap.u32 %r3, %r2, %r1;", {}},
         {"vote.sync.ballot.b32 %r2, %p1, -1; bfe.s32 %r3, %r2, %r1, %n;", {"bfe.s32"}},
         {"vote.sync.ballot.b32 %r2, %p1, -1; bfe.u32 %r3, %r2, %r1, %n;", {}}},
        Why::constant);
}

// The first is kernel 141153 of seed 20261130, shortened: `ptxas -O1` has the product of the new half, `-O0` that of the old one. The
// selection is kernel 6446: FSEL stands behind MATCH.ALL, which writes its predicate.
TEST_CASE("a statement that ptxas may move past a change of what it reads is in doubt", "[assembler]") {
  check("mov.b32 %f1, %i; mov.u32 %r1, %i; mov.u32 %r2, %n; setp.eq.u32 %p2, %n, 7; .reg .b16 %half<3>; cvt.u16.u32 %half1, %i;\n",
        {{"mul.rn.ftz.f16 %half0, %half1, %half1; @!%p2 tanh.approx.f16 %half1, %half0;", {"tanh.approx.f16"}},
         {"mul.rn.ftz.f16 %half2, %half1, %half1; @%p2 abs.ftz.f16 %half1, %half1;", {"abs.ftz.f16"}},
         {"mul.rn.ftz.f16 %half2, %half1, %half1; @%p2 shr.b16 %half1, %half0, 3;", {"shr.b16"}},
         {"mul.rn.ftz.f16 %half2, %half1, %half1; abs.ftz.f16 %half1, %half1;", {}},
         {"mul.rn.ftz.f16 %half2, %half1, %half1; @%p2 abs.ftz.f16 %half2, %half1;", {}},
         {"fma.rz.sat.f32 %f2, %f1, %f1, %f1; mov.b32 %r3, %f2; abs.f16x2 %r4, %r3;", {"abs.f16x2"}},
         {"fma.rz.f32 %f2, %f1, %f1, %f1; mov.b32 %r3, %f2; abs.f16x2 %r4, %r3;", {}},
         {"fma.rz.sat.f32 %f2, %f1, %f1, %f1; abs.f32 %f2, %f2;", {}},
         {"selp.f32 %f2, %f1, 0f00000000, %p2; match.all.sync.b32 %r4|%p2, %r1, -1;", {"selp.f32"}},
         {"selp.f32 %f2, %f1, 0f00000000, %p2; match.all.sync.b32 %r4|%p3, %r1, -1;", {}},
         {"@%p2 div.u32 %r3, %r1, %r2; shfl.sync.idx.b32 %r4|%p2, %r1, 22, 31, -1;", {"div.u32"}},
         {"@%p2 rem.u32 %r3, %r1, %r2; shfl.sync.idx.b32 %r4|%p3, %r1, 22, 31, -1;", {}},
         {"@%p2 add.u32 %r3, %r1, %r2; shfl.sync.idx.b32 %r4|%p2, %r1, 22, 31, -1;", {}}},
        Why::misplaced);
}

// Kernel 12458 of seed 20261202: where the loop goes round an even number of times, an H200 has %f1 itself.
TEST_CASE("a reciprocal of what a round before has inverted is in doubt", "[assembler]") {
  const std::string begin = "mov.b32 %f1, %i; mov.u32 %r1, %n;\n$again: ",
                    end = " sub.u32 %r1, %r1, 1; setp.ne.u32 %p2, %r1, 0; @%p2 bra $again;";
  check("",
        {{begin + "rcp.approx.ftz.f32 %f1, %f1;" + end, {"rcp.approx.ftz.f32"}},
         {begin + "ex2.approx.ftz.f32 %f2, %f1; div.approx.ftz.f32 %f1, %f1, %f2;" + end, {}},
         {begin + "div.approx.ftz.f32 %f2, %f1, %f1; ex2.approx.ftz.f32 %f1, %f2;" + end, {"div.approx.ftz.f32"}},
         {begin + "rcp.approx.f32 %f1, %f1;" + end, {}},
         {begin + "rcp.approx.ftz.f32 %f2, %f1; add.rn.ftz.f32 %f1, %f2, %f1;" + end, {}}},
        Why::misplaced);
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

}  // namespace
}  // namespace warpmat::doubts_test
