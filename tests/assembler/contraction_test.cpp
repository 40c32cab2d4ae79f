
#include <warpmat/assembler.h>
#include <warpmat/machine/internals.h>
#include <warpmat/ptx/syntax/module.h>

#include "machine/kernel.h"
#include "test.h"
#include "warpmat/ir/code.h"

namespace warpmat::contraction_test {
namespace {

// 1 + 2^-12 squared is 1 + 2^-11 + 2^-24, f32 keeps 1 + 2^-11: the rest shows whether a product was rounded.
constexpr float a = 1.0f + 0x1p-12f, rounded = 1.0f + 0x1p-11f;

/// A kernel with %f1 = %f2 = 1 + 2^-12, %f3 = -(1 + 2^-11) and %f4 = 1 + 2^-11 before `body`, which leaves f32 in %f9. %p8 holds, %p9 does
/// not.
Module kernel_with(const std::string& body) {
  // What ptxas does not know to be constants, of which it would make other constants: %r10 is 0, %f10 is 1.
  std::string start = "shr.u32 %r10, %n, 20; add.u32 %r11, %r10, 0x3F800000; mov.b32 %f10, %r11;\n";
  for (const auto& [name, bits] : {std::pair{"%f1", "0x3F800800"}, {"%f2", "0x3F800800"}, {"%f3", "0xBF801000"}, {"%f4", "0x3F801000"}})
    start += std::string("add.u32 %r11, %r10, ") + bits + "; mov.b32 " + name + ", %r11;\n";
  start += "mov.b32 %f9, %r10; setp.eq.u32 %p8, %r10, 0; setp.ne.u32 %p9, %r10, 0;\n";
  return word_kernel(start + body + "\nmov.b32 %d, %f9;");
}

using Why = code::Doubt::Why;

std::size_t doubts(const Kernel& kernel, Why why) {
  return static_cast<std::size_t>(std::ranges::count(program_of(kernel).doubted, why, &code::Doubt::why));
}

/// The kernel as machine code shows these sums.
Kernel decided(const Module& module, std::vector<AssemblerDecisions::Sum> sums) {
  const AssemblerDecisions decisions{.assembler = "another", .sums = std::move(sums)};
  return {module, "k", {.decisions = &decisions}};
}

float result_of(const Module& module, const KernelOptions& options) {
  return std::bit_cast<float>(words_of(module, {1}, {32}, {}, 0, options)[5]);
}
float result_of(const std::string& body, bool contract) {
  return result_of(kernel_with(body), {.contract = contract});
}

TEST_CASE("unrounded products are fused into the sums that use them, as ptxas does", "[assembler]") {
  REQUIRE(a * a == rounded);
  constexpr float lost = 0x1p-24f;
  struct Case {
    const char* body;
    float fused;  ///< with contraction; without it each result is 0, or `plain`
    float plain = 0;
  };
  for (const Case& c : {
           Case{"mul.f32 %f5, %f1, %f2; add.f32 %f9, %f5, %f3;", lost},
           Case{"mul.f32 %f5, %f1, %f2; add.f32 %f9, %f3, %f5;", lost},
           Case{"mul.f32 %f5, %f1, %f2; sub.f32 %f9, %f5, %f4;", lost},
           Case{"mul.f32 %f5, %f1, %f2; sub.f32 %f9, %f4, %f5;", -lost},
           Case{"mul.f32 %f5, %f1, %f2; neg.f32 %f6, %f5; add.f32 %f9, %f6, %f4;", -lost},
           Case{"mul.ftz.f32 %f5, %f1, %f2; add.ftz.f32 %f9, %f5, %f3;", lost},
           // Two users that are both sums: the product disappears.
           Case{"mul.f32 %f5, %f1, %f2; add.f32 %f6, %f5, %f3; add.f32 %f7, %f5, %f3; add.f32 %f9, %f6, %f7;", 2 * lost},
           // The factors change between product and sum.
           Case{"mul.f32 %f5, %f1, %f2; mov.f32 %f1, 0f00000000; add.f32 %f9, %f5, %f3;", lost},
           // Of two products the first operand is fused: fma(a, a, -(rounded)).
           Case{"mul.f32 %f5, %f1, %f2; mul.f32 %f6, %f3, %f10; add.f32 %f9, %f5, %f6;", lost},
           Case{"mul.f32 %f6, %f3, %f10; mul.f32 %f5, %f1, %f2; add.f32 %f9, %f6, %f5;", 0},
           // Of two products the one with fewer uses [H200].
           Case{"mul.f32 %f5, %f1, %f2; mul.f32 %f6, %f3, %f10; add.f32 %f7, %f6, %f5; add.f32 %f8, %f6, %f4; add.rn.f32 %f9, %f7, "
                "%f8;",
                lost},
           // A use whose result is overwritten counts for nothing [H200].
           Case{"mul.f32 %f5, %f1, %f2; max.f32 %f9, %f5, %f3; add.f32 %f9, %f5, %f3;", lost},
           // Used with and without neg: -(-lost) beside lost.
           Case{"mul.f32 %f5, %f1, %f2; neg.f32 %f6, %f5; add.f32 %f7, %f5, %f3; add.f32 %f8, %f6, %f4; sub.rn.f32 %f9, %f7, %f8;",
                2 * lost},
           // What is only a name of the product: mov, neg between .ftz and not, the abs of a square.
           Case{"mul.f32 %f5, %f1, %f2; mov.f32 %f6, %f5; add.f32 %f9, %f6, %f3;", lost},
           Case{"mul.ftz.f32 %f5, %f1, %f2; neg.f32 %f6, %f5; add.ftz.f32 %f9, %f6, %f4;", -lost},
           Case{"mul.ftz.f32 %f5, %f1, %f2; neg.ftz.f32 %f6, %f5; add.ftz.f32 %f9, %f6, %f4;", -lost},
           Case{"mul.f32 %f5, %f1, %f1; abs.f32 %f6, %f5; add.f32 %f9, %f6, %f3;", lost},
           // A guard at the sum alone.
           Case{"mul.f32 %f5, %f1, %f2; @%p8 add.f32 %f9, %f5, %f3;", lost},
           Case{"mul.f32 %f5, %f1, %f2; @%p9 add.f32 %f9, %f5, %f3; add.f32 %f9, %f9, 0f3F800000;", 1, 1},
           // A sum behind a branch around nothing, and behind a block that always follows.
           Case{"mul.f32 %f5, %f1, %f2; @%p9 bra L; add.f32 %f7, %f1, %f1; L: add.f32 %f9, %f5, %f3;", lost},
           Case{"mul.f32 %f5, %f1, %f2; bra.uni L; L: add.f32 %f9, %f5, %f3;", lost},
           // Products with one use go first: %f6, though %f5 meets a sum before; the sum of %f5 alone is then rounded.
           Case{"mul.f32 %f5, %f1, %f2; mul.f32 %f6, %f3, %f10; add.f32 %f7, %f5, %f3; add.f32 %f8, %f6, %f5; add.rn.f32 %f9, %f7, %f8;",
                0},
           // Not fused: a product that is added to itself too [H200], that a guard may leave as it was, neg.ftz before a sum without.
           Case{"mul.f32 %f5, %f1, %f2; add.f32 %f6, %f5, %f5; add.f32 %f7, %f5, %f3; sub.rn.f32 %f8, %f6, %f6; add.rn.f32 %f9, %f7, %f8;",
                0},
           Case{"mul.f32 %f5, %f1, %f2; neg.ftz.f32 %f6, %f5; add.f32 %f9, %f6, %f4;", 0},
           Case{"@%p8 mul.f32 %f5, %f1, %f2; add.f32 %f9, %f5, %f3;", 0},
           Case{"mul.f32 %f9, %f1, %f2; @%p8 add.f32 %f9, %f9, %f3;", 0},
           // Not fused: a rounding modifier, another user, .ftz on one only, abs, another block.
           Case{"mul.rn.f32 %f5, %f1, %f2; add.f32 %f9, %f5, %f3;", 0},
           Case{"mul.f32 %f5, %f1, %f2; add.rn.f32 %f9, %f5, %f3;", 0},
           Case{"mul.f32 %f5, %f1, %f2; add.f32 %f9, %f5, %f3; mov.b32 %r9, %f5;  st.global.u32 [%out], %r9;", 0},
           Case{"mul.f32 %f5, %f1, %f2; add.ftz.f32 %f9, %f5, %f3;", 0},
           Case{"mul.f32 %f5, %f1, %f2; abs.f32 %f6, %f5; add.f32 %f9, %f6, %f3;", 0},
           Case{"mul.f32 %f5, %f1, %f2; @%p9 bra L; st.global.u32 [%out], %r10; L: add.f32 %f9, %f5, %f3;", 0},
           // Not fused across what ptxas makes branches or blocks of: division, fences, guarded accesses and carries.
           Case{"mul.f32 %f5, %f1, %f2; div.rn.f32 %f6, %f1, %f4; add.f32 %f9, %f5, %f3;", 0},
           Case{"mul.f32 %f5, %f1, %f2; sqrt.rn.f32 %f6, %f1; st.global.f32 [%out], %f6; add.f32 %f9, %f5, %f3;", 0},
           Case{"mul.f32 %f5, %f1, %f2; {.reg .b64 %q1; mov.b64 %q1, %out; rem.u64 %q1, %q1, 7;} add.f32 %f9, %f5, %f3;", 0},
           Case{"mul.f32 %f5, %f1, %f2; div.s32 %r9, %n, 7; st.global.u32 [%out], %r9; add.f32 %f9, %f5, %f3;", 0},
           Case{"mul.f32 %f5, %f1, %f2; membar.gl; add.f32 %f9, %f5, %f3;", 0},
           Case{"mul.f32 %f5, %f1, %f2; fence.acq_rel.gpu; add.f32 %f9, %f5, %f3;", 0},
           Case{"mul.f32 %f5, %f1, %f2; @%p8 st.global.u32 [%out], %r10; add.f32 %f9, %f5, %f3;", 0},
           // A product by a number that a guarded store in another block reads too.
           Case{"mul.f32 %f5, %f1, 0f3F800800; @%p9 bra L; add.f32 %f9, %f5, %f3; L: @%p9 st.global.f32 [%out], %f5;", 0},
           // But such a product counts as one of its sum's region: with as many uses as the other the first operand is fused, else that of
           // fewer uses, wherever they are. Moved in front of a division: HeCBench's adamw.
           Case{"mul.f32 %f5, %f1, 0f3F800800; div.rn.f32 %f7, %f1, %f4; mul.f32 %f6, %f3, %f10; "
                "st.global.f32 [%out], %f7; add.f32 %f9, %f5, %f6;",
                lost},
           Case{"mul.f32 %f5, %f1, 0f3F800800; div.rn.f32 %f7, %f1, %f4; mul.f32 %f6, %f3, %f10; st.global.f32 [%out], %f7; "
                "add.f32 %f9, %f6, %f5;",
                0},
           Case{"mul.f32 %f5, %f1, 0f3F800800; div.rn.f32 %f7, %f1, %f4; mul.f32 %f6, %f3, %f10; st.global.f32 [%out], %f7; "
                "add.f32 %f9, %f5, %f6; add.f32 %f8, %f5, %f4; st.global.f32 [%out], %f8;",
                0},
           Case{"mul.f32 %f5, %f1, 0f3F800800; add.f32 %f8, %f5, %f4; div.rn.f32 %f7, %f1, %f4; mul.f32 %f6, %f3, %f10; "
                "st.global.f32 [%out], %f7; add.f32 %f9, %f5, %f6; st.global.f32 [%out], %f8;",
                0},
           // Fused across these; and across a division of which nothing remains.
           Case{"mul.f32 %f5, %f1, %f2; div.full.f32 %f6, %f1, %f4; st.global.f32 [%out], %f6; add.f32 %f9, %f5, %f3;", lost},
           Case{"mul.f32 %f5, %f1, %f2; div.u32 %r9, %n, 7; st.global.u32 [%out], %r9; add.f32 %f9, %f5, %f3;", lost},
           Case{"mul.f32 %f5, %f1, %f2; div.s32 %r9, %n, 7; add.f32 %f9, %f5, %f3;", lost},
           Case{"mul.f32 %f5, %f1, %f2; bar.sync 0; fence.acquire.gpu; add.f32 %f9, %f5, %f3;", lost},
           Case{"mul.f32 %f5, %f1, %f2; @%p8 add.f32 %f6, %f1, %f4; st.global.f32 [%out], %f6; add.f32 %f9, %f5, %f3;", lost},
       }) {
    INFO(c.body);
    CHECK(result_of(c.body, true) == c.fused);
    CHECK(result_of(c.body, false) == c.plain);
  }
}

// On an H200 a quotient and a sum are FMUL.. MUFU.RCP, FFMA; a quotient with another use is not fused.
TEST_CASE("the product that div.approx and div.full end with is fused like any other", "[assembler]") {
  for (const std::string division : {"div.approx", "div.full"})
    for (const std::string ftz : {"", ".ftz"}) {
      CAPTURE(division + ftz);
      const std::string quotient = division + ftz + ".f32 %f5, %f1, %f2; ";
      const std::string by_hand = "rcp.approx.ftz.f32 %f7, %f2; fma.rn" + ftz + ".f32 %f8, %f1, %f7, 0fBF800000; sub.rn.f32 %f9, %f6, %f8;";
      const std::string sum = quotient + "add" + ftz + ".f32 %f6, %f5, 0fBF800000; " + by_hand;
      CHECK(result_of(sum, true) == 0);
      CHECK(result_of(sum, false) != 0);
      const std::string used = quotient + "add" + ftz + ".f32 %f6, %f5, 0fBF800000; max.f32 %f6, %f6, %f5; sub.rn.f32 %f9, %f6, %f5;";
      CHECK(result_of(used, true) == result_of(used, false));
    }
  // Beyond 2^126 both are a quarter; below the normal numbers 2^24 times as large.
  const std::string far = "mul.rn.f32 %f1, %f1, 0f71800000; mul.rn.f32 %f2, %f2, 0f7F000000; ";
  CHECK(result_of(far + "div.full.f32 %f5, %f1, %f2; add.f32 %f6, %f5, 0fB2000000; mul.rn.f32 %f1, %f1, 0f3E800000; "
                        "mul.rn.f32 %f2, %f2, 0f3E800000; rcp.approx.ftz.f32 %f7, %f2; fma.rn.f32 %f8, %f1, %f7, 0fB2000000; "
                        "sub.rn.f32 %f9, %f6, %f8;",
                  true) == 0);
  const std::string near = "add.u32 %r11, %r10, 0x401; mov.b32 %f2, %r11; add.u32 %r11, %r10, 0x403; mov.b32 %f1, %r11; ";
  CHECK(result_of(near + "div.approx.f32 %f5, %f1, %f2; add.f32 %f6, %f5, 0fBF800000; mul.rn.f32 %f1, %f1, 0f4B800000; "
                         "mul.rn.f32 %f2, %f2, 0f4B800000; rcp.approx.ftz.f32 %f7, %f2; fma.rn.f32 %f8, %f1, %f7, 0fBF800000; "
                         "sub.rn.f32 %f9, %f6, %f8;",
                  true) == 0);
}

TEST_CASE("what machine code shows goes before the rule", "[assembler]") {
  const Module module = word_kernel("mul.f32 %f5, %f1, %f2;\nmul.f32 %f6, %f3, %f4;\nadd.f32 %f9, %f5, %f6;\nmov.b32 %d, %f9;");
  const Kernel ruled(module, "k");
  const code::Program& by_rule = program_of(ruled);
  REQUIRE(by_rule.contracted.size() == 1);
  CHECK(by_rule.assembler.empty());
  const Location sum = by_rule.statements[by_rule.contracted[0]]->location;
  struct Case {
    bool fused;
    int addend_line;  ///< relative to the sum's
    std::size_t contracted, differs, inferred;
  };
  for (const Case& c : {Case{true, -1, 1, 0, 0}, Case{true, -2, 1, 1, 0}, Case{false, 0, 0, 1, 0}, Case{true, 0, 1, 0, 1}}) {
    CAPTURE(c.fused, c.addend_line);
    const Kernel kernel = decided(module, {{sum, c.fused, {c.addend_line == 0 ? 0 : sum.line + c.addend_line, 1}}});
    const code::Program& program = program_of(kernel);
    CHECK(program.assembler == "another");
    CHECK(program.contracted.size() == c.contracted);
    CHECK(program.differs.size() == c.differs);
    CHECK(doubts(kernel, Why::sum_inferred) == c.inferred);  // of two products one is fused, and which is not known
    CHECK(doubts(kernel, Why::sum) == 0);
  }
  // Of another statement: the rule.
  CHECK(program_of(decided(module, {{{sum.line + 1, 1}, false}})).contracted.size() == 1);
}

TEST_CASE("machine code may show a sum fused with a product of another region", "[assembler]") {
  const Module module = word_kernel(
      "mul.f32 %f5, %f1, %f2; setp.ge.u32 %p1, %i, 40; @%p1 bra L; st.global.u32 [%out], %i; L:\nadd.f32 %f9, %f5, %f3;\nmov.b32 %d, %f9;");
  const Kernel ruled(module, "k");
  const std::vector<const syntax::Statement*>& statements = program_of(ruled).statements;
  const auto sum = std::ranges::find_if(statements, [](const syntax::Statement* s) { return s->opcode == "add.f32"; });
  REQUIRE(sum != statements.end());
  CHECK(program_of(ruled).contracted.empty());
  const Kernel kernel = decided(module, {{(*sum)->location, true}});
  CHECK(program_of(kernel).contracted.size() == 1);
  CHECK(program_of(kernel).differs.size() == 1);
}

// Copies of rounds may differ, and instructions of pairs have the line of another sum.
TEST_CASE("a sum that machine code leaves open is the rule's", "[assembler]") {
  const Module module = kernel_with("mul.f32 %f5, %f1, %f2;\nadd.f32 %f9, %f5, %f3;");
  const AssemblerDecisions nothing{.assembler = "another"};
  const Kernel kernel(module, "k", {.decisions = &nothing});
  CHECK(program_of(kernel).contracted.size() == 1);
  CHECK(doubts(kernel, Why::sum_open) == 1);
}

// ptxas may have merged it with the equal one, or computed it with another statement's line.
TEST_CASE("a sum of which an equal one has an instruction is inferred", "[assembler]") {
  const Module module =
      word_kernel("mul.f32 %f5, %f1, %f2; add.f32 %f6, %f5, %f3;\nadd.f32 %f7, %f3, %f5;\nmax.f32 %f9, %f6, %f7;\nmov.b32 %d, %f9;");
  const Kernel ruled(module, "k");
  REQUIRE(program_of(ruled).contracted.size() == 2);
  const Location sum = program_of(ruled).statements[program_of(ruled).contracted[0]]->location;
  const Kernel kernel = decided(module, {{sum, false}});
  CHECK(program_of(kernel).contracted.empty());
  CHECK(program_of(kernel).doubted == std::vector{code::Doubt{program_of(ruled).contracted[1], Why::sum_inferred}});
  // Each has one, and they are not alike.
  const Location equal = program_of(ruled).statements[program_of(ruled).contracted[1]]->location;
  CHECK(doubts(decided(module, {{sum, false}, {equal, true}}), Why::sum_inferred) == 2);
}

// Of two equal products ptxas computes one, with the line of either.
TEST_CASE("machine code may name an equal product as the addend", "[assembler]") {
  const Module module = word_kernel(
      "mul.f32 %f5, %f1, %f2;\nmul.f32 %f6, %f3, %f4;\nadd.f32 %f9, %f5, %f6;\nmul.f32 %f7, %f2, %f1;\nmax.f32 %f9, %f9, %f7;\n"
      "mov.b32 %d, %f9;");
  const Kernel ruled(module, "k");
  const Location sum = program_of(ruled).statements[program_of(ruled).contracted.at(0)]->location;
  const Kernel equal = decided(module, {{sum, true, {sum.line + 1, 1}}}), unknown = decided(module, {{sum, true, {sum.line + 2, 1}}});
  CHECK(doubts(equal, Why::sum_inferred) == 0);
  CHECK(program_of(equal).differs.size() == 1);
  CHECK(doubts(unknown, Why::sum_inferred) == 1);
  // Both products of the sum are equal: the one that is named.
  const Module twice = word_kernel("mul.f32 %f5, %f1, %f2;\nmul.f32 %f6, %f1, %f2;\nsub.f32 %f9, %f5, %f6;\nmov.b32 %d, %f9;");
  const Kernel by_rule(twice, "k");
  const Location difference = program_of(by_rule).statements[program_of(by_rule).contracted.at(0)]->location;
  const Kernel named = decided(twice, {{difference, true, {difference.line - 2, 1}}});
  CHECK(program_of(named).contracted.size() == 1);
  CHECK(doubts(named, Why::sum_inferred) == 1);
  // Of the same registers with another value: not equal.
  const Module changed = word_kernel(
      "mul.f32 %f5, %f1, %f2;\nmul.f32 %f6, %f3, %f4;\nadd.f32 %f9, %f5, %f6;\nmax.f32 %f1, %f9, %f3;\nmul.f32 %f7, %f2, %f1;\n"
      "max.f32 %f9, %f9, %f7;\nmov.b32 %d, %f9;");
  CHECK(doubts(decided(changed, {{sum, true, {sum.line + 2, 1}}}), Why::sum_inferred) == 1);
}

// An instruction of pairs may have the line of either.
TEST_CASE("sums of halves that one product has, one fused and one rounded, are inferred", "[assembler]") {
  struct Case {
    const char* body;
    std::size_t inferred;
  };
  for (const Case& c :
       {Case{".reg .b16 %h<9>; cvt.rn.f16.f32 %h1, %f1; cvt.rn.f16.f32 %h2, %f2;\nmul.f16 %h5, %h1, %h2; add.f16 %h6, %h5, %h1;\n"
             "sub.f16 %h7, %h5, %h2;\nmax.f16 %h8, %h6, %h7; cvt.f32.f16 %f9, %h8;",
             2},
        Case{"mul.f32 %f5, %f1, %f2; add.f32 %f6, %f5, %f1;\nsub.f32 %f7, %f5, %f2;\nmax.f32 %f9, %f6, %f7;", 0}}) {
    INFO(c.body);
    const Module module = word_kernel(std::string(c.body) + "\nmov.b32 %d, %f9;");
    const Kernel ruled(module, "k");
    REQUIRE(program_of(ruled).contracted.size() == 2);
    const auto place = [&](std::size_t i) { return program_of(ruled).statements[program_of(ruled).contracted[i]]->location; };
    CHECK(doubts(decided(module, {{place(0), true}, {place(1), false}}), Why::sum_inferred) == c.inferred);
  }
}

TEST_CASE("the report names the sums that became part of an fma", "[assembler]") {
  const Module module = word_kernel("mul.f32 %f5, %f1, %f2;\n add.f32 %f9, %f5, %f3;\n mov.b32 %d, %f9;");
  const Kernel kernel(module, "k");
  REQUIRE(program_of(kernel).contracted.size() == 1);
  CHECK(program_of(kernel).statements[program_of(kernel).contracted[0]]->opcode == "add.f32");
  CHECK(program_of(Kernel(module, "k", {.contract = false})).contracted.empty());
  // Of two equal products ptxas takes one twice.
  CHECK(program_of(Kernel(word_kernel("mul.f32 %f5, %f1, %f2; mul.f32 %f6, %f2, %f1; add.f32 %f9, %f5, %f6; mov.b32 %d, %f9;"), "k"))
            .contracted.empty());
}

TEST_CASE("contraction that was not compared with a GPU is noted", "[assembler]") {
  struct Case {
    const char* body;
    std::size_t assumed;  ///< products
  };
  for (const Case& c : {
           Case{"mul.f32 %f5, %f1, %f2; add.f32 %f9, %f5, %f3;", 0},
           Case{"mul.f32 %f5, %f1, %f2; add.f32 %f6, %f5, %f3; add.f32 %f9, %f6, %f5;", 0},
           Case{"mul.f32 %f5, %f1, %f2; mul.f32 %f6, %f3, %f3; add.f32 %f9, %f5, %f6;", 0},
           Case{"mul.rn.f32 %f5, %f1, %f2; setp.ge.u32 %p1, %i, 40; @%p1 bra L; add.f32 %f9, %f5, %f3; L:", 0},
           // Beside a branch or an early end, fused or not; products without sums do not matter.
           Case{"mul.f32 %f5, %f1, %f2; add.f32 %f9, %f5, %f3; setp.ge.u32 %p1, %i, 40; @%p1 bra L; add.f32 %f9, %f9, %f3; L:", 1},
           Case{"mul.f32 %f5, %f1, %f2; setp.ge.u32 %p1, %i, 40; @%p1 ret; add.f32 %f9, %f5, %f3;", 1},
           Case{"mul.f32 %f9, %f1, %f2; setp.ge.u32 %p1, %i, 40; @%p1 ret;", 0},
           // With a guarded statement before the sum, and behind it.
           Case{"mul.f32 %f5, %f1, %f2; setp.ge.u32 %p1, %i, 40; @%p1 add.f32 %f2, %f2, %f3; add.f32 %f9, %f5, %f3;", 1},
           Case{"mul.f32 %f5, %f1, %f2; add.f32 %f9, %f5, %f3; setp.ge.u32 %p1, %i, 40; @%p1 mov.f32 %f9, %f3;", 0},
           // A product that something else uses too, and of two that meet the one with more uses: the rule says which.
           Case{"mul.f32 %f5, %f1, %f2; add.f32 %f9, %f5, %f3; mov.b32 %r9, %f5;  st.global.u32 [%out], %r9;", 0},
           Case{"mul.f32 %f5, %f1, %f2; mul.f32 %f6, %f3, %f3; add.f32 %f7, %f6, %f5; add.f32 %f8, %f6, %f4; add.f32 %f9, %f7, %f8;", 0},
           // Two equal ones.
           Case{"mul.f32 %f5, %f1, %f2; mul.f32 %f6, %f1, %f2; add.f32 %f9, %f5, %f6;", 2},
       }) {
    INFO(c.body);
    const std::string body = std::string(c.body) + "\nmov.b32 %d, %f9;";
    CHECK(doubts(Kernel(word_kernel(body), "k"), Why::sum) == c.assumed);
    CHECK(doubts(Kernel(word_kernel(body), "k", {.contract = false}), Why::sum) == 0);
  }
}

}  // namespace
}  // namespace warpmat::contraction_test
