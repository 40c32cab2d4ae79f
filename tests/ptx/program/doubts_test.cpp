#include <string>
#include <vector>

#include <warpmat/machine/internals.h>
#include <warpmat/program.h>

#include "catch.h"
#include "machine/kernel.h"
#include "warpmat/ptx/program/code.h"

namespace warpmat::doubts_test {
namespace {

/// The opcodes of the statements in doubt for that reason.
std::vector<std::string> doubted(const std::string& body, code::Doubt::Why why) {
  const Kernel kernel(word_kernel(body), "k");
  std::vector<std::string> opcodes;
  for (const code::Doubt& doubt : program_of(kernel).doubted)
    if (doubt.why == why) opcodes.push_back(program_of(kernel).statements[doubt.statement]->opcode);
  return opcodes;
}

}  // namespace

// ptxas 13.0 makes LOP3 of both statements, in which one of the equal operands is RZ.
TEST_CASE("logic that reads a lop3 of equal operands with a predicate, and one of these, is in doubt", "[doubts]") {
  struct Case {
    const char* body;
    std::vector<std::string> doubted;
  };
  const std::string start = "setp.eq.u32 %p2, %n, 7; mov.u32 %r1, %i; add.u32 %r2, %n, %i; mov.u32 %r3, %n;\n";
  for (const Case& c : {
           Case{"lop3.or.b32 %r4|%p1, %r1, %r2, %r2, 0x04, %p2; xor.b32 %d, %r2, %r4;", {"xor.b32"}},
           Case{"lop3.and.b32 %r4|%p1, %r2, %r1, %r2, 0x10, %p2; lop3.b32 %d, %r4, %r1, %r3, 0x96;", {"lop3.b32"}},
           Case{"lop3.or.b32 %r4|%p1, %r1, %r1, %r2, 0x96, %p2; or.b32 %d, %r4, %r1;", {"or.b32"}},
           // Three different operands, no predicate, none of the operands, no logic, another value in the register.
           Case{"lop3.or.b32 %r4|%p1, %r1, %r2, %r3, 0x04, %p2; xor.b32 %d, %r2, %r4;", {}},
           Case{"lop3.b32 %r4, %r1, %r2, %r2, 0x04; xor.b32 %d, %r2, %r4;", {}},
           Case{"lop3.or.b32 %r4|%p1, %r1, %r2, %r2, 0x04, %p2; xor.b32 %d, %r3, %r4;", {}},
           Case{"lop3.or.b32 %r4|%p1, %r1, %r2, %r2, 0x04, %p2; add.u32 %d, %r2, %r4;", {}},
           Case{"lop3.or.b32 %r4|%p1, %r1, %r2, %r2, 0x04, %p2; mov.u32 %r4, %r3; xor.b32 %d, %r2, %r4;", {}},
           // In a loop the result is read before it is written.
           Case{"mov.u32 %r5, %n; L: xor.b32 %r2, %r2, %r1; lop3.or.b32 %r1|%p1, %r1, %r2, %r2, 0x04, %p2; sub.u32 %r5, %r5, 1; "
                "setp.ne.u32 %p3, %r5, 0; @%p3 bra L; mov.u32 %d, %r2;",
                {"xor.b32", "lop3.or.b32"}},
       }) {
    CAPTURE(c.body);
    CHECK(doubted(start + c.body, code::Doubt::Why::merged_logic) == c.doubted);
  }
}

TEST_CASE("what a guarded statement of f32 overwrites in a loop is in doubt where a neg may have written it", "[doubts]") {
  const std::string start = "setp.eq.u32 %p2, %n, 7; mov.u32 %r5, %n; mov.b32 %f1, %i; mov.b32 %f2, %n; mov.b32 %f3, %n;\n";
  const std::string end = " sub.u32 %r5, %r5, 1; setp.ne.u32 %p3, %r5, 0; bar.sync 0; @%p3 bra L; mov.b32 %d, %f3;";
  const auto of = [&](const std::string& body) { return doubted(start + body + end, code::Doubt::Why::sign); };
  CHECK(of("L: @%p2 add.f32 %f3, %f2, %f1; neg.f32 %f3, %f3;") == std::vector<std::string>{"neg.f32", "add.f32"});
  CHECK(of("L: selp.f32 %f2, %f3, %f1, %p2; abs.f32 %f3, %f2;") == std::vector<std::string>{"selp.f32"});
  // Without a guard, of bits, with a neg of the same round alone, which is known; nor behind branches, where two values meet.
  CHECK(of("L: add.f32 %f3, %f2, %f1; neg.f32 %f3, %f3;").empty());
  CHECK(of("L: selp.b32 %f2, %f3, %f1, %p2; neg.f32 %f3, %f2;").empty());
  CHECK(of("L: neg.f32 %f3, %f1; @%p2 add.f32 %f3, %f2, %f1;").empty());
  CHECK(of("neg.f32 %f3, %f1; @%p2 bra B; neg.f32 %f3, %f2; B: selp.f32 %f3, %f3, %f2, %p2; L:").empty());
}

TEST_CASE("a neg of what another neg may have written in another block or round is in doubt", "[doubts]") {
  const std::string loop = " add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, %n; bar.sync 0; @%p3 bra L;";
  const auto of = [&](const std::string& body) {
    return doubted("mov.u32 %r5, 0; cvt.rn.f32.u32 %f1, %i; setp.eq.u32 %p2, %n, 7;\n" + body + " mov.b32 %d, %f1;",
                   code::Doubt::Why::sign);
  };
  CHECK(of("L: neg.f32 %f1, %f1;" + loop) == std::vector<std::string>{"neg.f32"});
  CHECK(of("L: mov.f32 %f2, %f1; neg.f32 %f1, %f2;" + loop) == std::vector<std::string>{"neg.f32"});
  CHECK(of("neg.f32 %f1, %f1; @%p2 bra L; neg.f32 %f1, %f1; L:") == std::vector<std::string>{"neg.f32"});
  // In one block it is known; other types and values.
  CHECK(of("neg.f32 %f2, %f1; mov.f32 %f3, %f2; neg.f32 %f1, %f3;").empty());
  CHECK(of("neg.f32 %f2, %f1; @%p2 bra L; abs.f32 %f1, %f2; L:").empty());
  CHECK(of("neg.f32 %f2, %f1; @%p2 bra L; neg.ftz.f32 %f1, %f2; L:").empty());
  CHECK(of("L: neg.f32 %f1, %f2;" + loop).empty());
}

}  // namespace warpmat::doubts_test
