// Operations that a run executes by shortcuts: moves that keep a register's place, special registers.

#include <warpmat/ir/code.h>
#include <warpmat/machine/internals.h>
#include <warpmat/ptx/syntax/module.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::shortcut_test {
namespace {

using code::Shortcut;

/// The shortcuts of the kernel's moves, in their order.
std::vector<Shortcut> moves_of(const Module& module) {
  const Kernel kernel(module, "k");
  std::vector<Shortcut> found;
  for (const code::Operation& operation : program_of(kernel).operations)
    if (program_of(kernel).statements[operation.statement]->opcode.starts_with("mov.")) found.push_back(operation.shortcut);
  return found;
}

TEST_CASE("a move that is the last read of a register keeps its place", "[machine][frame]") {
  using enum Shortcut;
  const auto moves = [](const std::string& body) {
    return moves_of(module_of(".param .u64 out", ".reg .b32 %r<9>; .reg .b64 %l<9>; .reg .pred %p<3>; ld.param.u64 %l1, [out];" + body +
                                                     " st.global.u32 [%l1], %r1; st.global.u32 [%l1+4], %r2; ret;"));
  };
  CHECK(moves("mov.u32 %r1, %tid.x; mov.u32 %r2, 7;") == std::vector{special_register, keeps, copies_words});
  CHECK(moves("add.u32 %r3, 1, 2; mov.u32 %r1, %r3; mov.u32 %r2, %r1;") == std::vector{keeps, copies_words});
  CHECK(moves("mov.u32 %r1, %r5; add.u32 %r2, %r1, %r5;") == std::vector{copies_words});  // %r5 is needed
  CHECK(moves("mov.u32 %r2, 1; add.u32 %r3, 1, 2; setp.eq.u32 %p1, %r2, 1; @%p1 mov.u32 %r1, %r3;") == std::vector{copies_words, none});
  CHECK(moves("mov.u32 %r1, %clock; mov.u32 %r2, 0;")[0] == none);
}

TEST_CASE("moves leave every value as it is, whatever lanes execute them", "[machine][frame]") {
  struct Case {
    const char* body;
    std::uint32_t (*expected)(std::uint32_t i);
  };
  for (const Case& c : {
           // A register that moves in a loop, where the old value is needed in the next round.
           Case{"mov.u32 %r1, 1; mov.u32 %r2, 1; mov.u32 %r3, 0; L: add.u32 %r4, %r1, %r2; mov.u32 %r1, %r2; mov.u32 %r2, %r4; "
                "add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 5; @%p1 bra L; add.u32 %d, %r1, %r2;",
                [](std::uint32_t) -> std::uint32_t { return 8 + 13; }},
           // Lanes of an arm that move; the others need the register afterwards.
           Case{"add.u32 %r1, %i, 5; mov.u32 %r2, 9; setp.lt.u32 %p1, %i, 7; @!%p1 bra E; mov.u32 %r2, %r1; add.u32 %r2, %r2, 100; "
                "E: add.u32 %d, %r1, %r2;",
                [](std::uint32_t i) -> std::uint32_t { return i < 7 ? 2 * i + 110 : i + 14; }},
           // Both arms move the same register, and each changes its copy.
           Case{"add.u32 %r1, %i, 5; setp.lt.u32 %p1, %i, 7; @%p1 bra T; mov.u32 %r2, %r1; add.u32 %d, %r2, 1; bra E; "
                "T: mov.u32 %r3, %r1; add.u32 %d, %r3, 2; E:",
                [](std::uint32_t i) -> std::uint32_t { return i + (i < 7 ? 7 : 6); }},
           // A register that not all lanes have written before.
           Case{"setp.lt.u32 %p1, %i, 7; @%p1 mov.u32 %r1, 3; mov.u32 %r2, %r1; add.u32 %d, %r2, 1;",
                [](std::uint32_t i) -> std::uint32_t { return i < 7 ? 4 : 1; }},
           Case{"mov.u64 %l1, %out; mov.u64 %l2, %l1; sub.u64 %l3, %l2, %out; mov.u64 %l4, %l3; cvt.u32.u64 %d, %l4; mov.u16 %s1, 9; "
                "mov.u16 %s2, %s1; cvt.u32.u16 %r1, %s2; add.u32 %d, %d, %r1;",
                [](std::uint32_t) -> std::uint32_t { return 9; }},
           Case{"mov.u32 %r1, %laneid; mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %d, %r3, %r2, %r1;",
                [](std::uint32_t i) { return i; }},
       }) {
    CAPTURE(c.body);
    std::vector<std::uint32_t> expected(32);
    for (std::uint32_t i = 0; i < 32; ++i) expected[i] = c.expected(i);
    CHECK(words_of(word_kernel(c.body), {1}, {32}) == expected);
  }
}

TEST_CASE("a register that none has written is zero, also in a block that gets the memory of another", "[machine][frame]") {
  // What a block leaves in its registers, all of them.
  const std::string leave = "mul.lo.u32 %r6, %i, 7; add.u32 %r7, %r6, %d; xor.b32 %r8, %r7, %r6; mad.lo.u32 %r9, %r7, %r8, %r6; ";
  const std::string use = "setp.eq.u32 %p3, %i, 99999; @%p3 add.u32 %d, %r9, %r8;";
  for (const std::string& body :
       {"add.u32 %d, %r5, 1; " + leave + use, "setp.eq.u32 %p1, %c, 99; @%p1 mov.u32 %r5, 8; add.u32 %d, %r5, 1; " + leave + use,
        "setp.eq.u32 %p1, %c, 99; @%p1 bra E; mov.u32 %r4, 8; E: mov.u32 %d, 1; @%p1 add.u32 %d, %r4, 1; " + leave + use,
        "selp.u32 %d, 5, 1, %p5; setp.eq.u32 %p6, %d, 1; " + leave + "@!%p6 add.u32 %d, %d, %r9;"}) {
    CAPTURE(body);
    const Module module = word_kernel(body);
    CHECK(program_of(Kernel(module, "k")).clears_registers);
    CHECK(words_of(module, {40}, {64}, {.jobs = 1}) == std::vector<std::uint32_t>(40 * 64, 1));
  }
  CHECK_FALSE(program_of(Kernel(word_kernel("add.u32 %r1, %i, 1; mul.lo.u32 %d, %r1, %r1;"), "k")).clears_registers);
}

TEST_CASE("operations without work count as before", "[machine][frame]") {
  const Module module = module_of("", ".reg .b32 %r<4>; mov.u32 %r1, %tid.x; mov.u32 %r2, %r1; mov.u32 %r3, %r2; ret;");
  DeviceMemory memory;
  const LaunchResult result = launch(Kernel(module, "k"), {{3}, {64}}, memory, {});
  CHECK(result.operations == 3 * 2 * 5);  // %tid.x is an operation of its own
}

}  // namespace
}  // namespace warpmat::shortcut_test
