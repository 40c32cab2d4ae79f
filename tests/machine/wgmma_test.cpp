#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

#include "catch.h"
#include "machine/kernel.h"

using namespace warpmat;

// wgmma in kernels. All of A and B is 1.0, so every element of m64n8k16 is 16.

namespace {

const std::string variables = ".shared .align 1024 .b8 tile[8192];";

/// A and B in shared memory, K-major without a swizzle: %l1 and %l2 are their descriptors, %r1 is A's address.
const std::string operands = R"(
    mov.u32 %r1, tile;
    mov.u32 %r2, %tid.x;
    shl.b32 %r3, %r2, 5;
    add.s32 %r3, %r3, %r1;
    mov.b32 %r4, 0x3c003c00;
    st.shared.v4.b32 [%r3], {%r4, %r4, %r4, %r4};
    st.shared.v4.b32 [%r3+16], {%r4, %r4, %r4, %r4};
    fence.proxy.async;
    bar.sync 0;
    cvt.u64.u32 %l1, %r1;
    shr.u64 %l1, %l1, 4;
    or.b64 %l1, %l1, 0x0000001000080000;
    add.s64 %l2, %l1, 128;
    mov.f32 %f0, 0f3F800000; mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f3F800000; mov.f32 %f3, 0f3F800000;
)";
const std::string fence = "wgmma.fence.sync.aligned;\n";
const std::string product = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %l1, %l2, 1, 1, 1, 0, 0;\n";
const std::string commit = "wgmma.commit_group.sync.aligned;\n";
const std::string wait = "wgmma.wait_group.sync.aligned 0;\n";
const std::string result = "mov.b32 %d, %f0;\n";

std::vector<std::uint32_t> run(const std::string& body, std::uint32_t threads = 128, const LaunchOptions& options = {}) {
  return words_of(word_kernel(body, "sm_90a", variables), {1}, {threads}, options);
}

/// What a launch of the kernel ends with.
std::string trap_of(const std::string& body, std::uint32_t threads = 128, const LaunchOptions& options = {}) {
  return message_of([&] { run(body, threads, options); });
}

bool all_are(const std::vector<std::uint32_t>& words, float expected) {
  return std::ranges::all_of(words, [&](std::uint32_t word) { return word == std::bit_cast<std::uint32_t>(expected); });
}

}  // namespace

TEST_CASE("a warpgroup multiplies, and its results are there after the wait", "[machine][wgmma]") {
  CHECK(all_are(run(operands + fence + product + commit + wait + result), 17));
  CHECK(all_are(run(operands + fence + product + product + commit + wait + result), 33));
  CHECK(all_are(run(operands + fence + product + commit + wait + result, 256), 17));
}

TEST_CASE("scale-d, negation and A in registers", "[machine][wgmma]") {
  const std::string of = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, ";
  CHECK(all_are(run(operands + fence + of + "%l1, %l2, 0, 1, 1, 0, 0;\n" + commit + wait + result), 16));
  CHECK(all_are(run(operands + "setp.ne.u32 %p1, %r1, %r1;\n" + fence + of + "%l1, %l2, %p1, 1, 1, 0, 0;\n" + commit + wait + result), 16));
  CHECK(all_are(run(operands + fence + of + "%l1, %l2, 1, -1, 1, 0, 0;\n" + commit + wait + result), -15));
  CHECK(all_are(run(operands + fence + of + "{%r4, %r4, %r4, %r4}, %l2, 1, 1, -1, 0;\n" + commit + wait + result), -15));
}

TEST_CASE("of two groups the first may be used while the second is under way", "[machine][wgmma]") {
  const std::string second = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4, %f5, %f6, %f7}, %l1, %l2, 0, 1, 1, 0, 0;\n";
  const std::string two = operands + fence + product + commit + second + commit + "wgmma.wait_group.sync.aligned 1;\n";
  CHECK(all_are(run(two + result + wait), 17));
  CHECK_THAT(trap_of(two + "mov.b32 %d, %f4;\n" + wait), ContainsSubstring("an accumulator is read before wgmma.wait_group"));
}

TEST_CASE("wgmma statements that cannot be are refused with what would be right", "[machine][wgmma]") {
  const std::string of = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, ";
  CHECK_THAT(trap_of(operands + of + "%l1, %l2, 1, 2, 1, 0, 0;\n"), ContainsSubstring("imm-scale-a is 1 or -1; it is '2'"));
  CHECK_THAT(trap_of(operands + of + "%l1, %l2, 1, 1, 1, 0;\n"), ContainsSubstring("takes 8 operands here, 7 are given"));
  CHECK_THAT(trap_of(operands + of + "{%r1, %r2, %r3}, %l2, 1, 1, 1, 0;\n"), ContainsSubstring("takes 4 registers here, 3 are given"));
  CHECK_THAT(trap_of(operands + "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%f0}, %l1, %l2, 1, 1, 1, 0, 0;\n"),
             ContainsSubstring("m64n16k16"));
  CHECK_THAT(message_of([] { words_of(word_kernel(operands + fence + product, "sm_90", variables), {1}, {128}); }),
             ContainsSubstring("needs sm_90a; the target is sm_90"));
}

TEST_CASE("planted: accumulators are read or written before the wait", "[machine][wgmma]") {
  CHECK_THAT(trap_of(operands + fence + product + commit + result + wait),
             ContainsSubstring("an accumulator is read before wgmma.wait_group"));
  CHECK_THAT(trap_of(operands + fence + product + commit + "mov.f32 %f1, 0f00000000;\n" + wait),
             ContainsSubstring("an accumulator is written before wgmma.wait_group"));
  CHECK_THAT(trap_of(operands + fence + product + wait + result), ContainsSubstring("an accumulator is read before wgmma.wait_group"));
}

TEST_CASE("planted: wgmma.fence is missing", "[machine][wgmma]") {
  CHECK_THAT(trap_of(operands + product + commit + wait + result), ContainsSubstring("no wgmma.fence comes before"));
  CHECK_THAT(trap_of(operands + fence + "mov.f32 %f2, 0f00000000;\n" + product + commit + wait + result),
             ContainsSubstring("an accumulator was written at line"));
  const std::string from_registers =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r4, %r5, %r4, %r4}, %l2, 1, 1, 1, 0;\n";
  CHECK_THAT(trap_of(operands + fence + "mov.b32 %r5, 0;\n" + from_registers + commit + wait + result),
             ContainsSubstring("a register of operand a was written at line"));
}

TEST_CASE("planted: shared memory is overwritten while a product may read it", "[machine][wgmma]") {
  const std::string overwrite = "mov.b32 %r5, 0;\nst.shared.b32 [%r3], %r5;\n";
  CHECK_THAT(trap_of(operands + fence + product + commit + overwrite + wait + result),
             ContainsSubstring("of the product at line") && ContainsSubstring("has changed since that statement"));
  CHECK(all_are(run(operands + fence + product + commit + wait + "bar.sync 0;\n" + overwrite + result), 17));
}

TEST_CASE("planted: the warps of a warpgroup disagree", "[machine][wgmma]") {
  CHECK_THAT(trap_of(operands + "and.b32 %r5, %r2, 32;\ncvt.u64.u32 %l3, %r5;\nshr.u64 %l3, %l3, 5;\nadd.s64 %l2, %l2, %l3;\n" + fence +
                     product + commit + wait + result),
             ContainsSubstring("the warps of a warpgroup give different descriptors"));
  CHECK_THAT(trap_of(operands + "setp.ge.u32 %p1, %r2, 96;\n@%p1 bra done;\n" + fence + product + commit + wait + "done:\n" + result),
             ContainsSubstring("deadlock"));
  CHECK_THAT(trap_of(operands + fence + product + commit + wait + result, 96), ContainsSubstring("needs all 128 threads of the warpgroup"));
  CHECK_THAT(trap_of(operands + "and.b32 %r5, %r2, 1;\nsetp.eq.u32 %p1, %r5, 1;\n@%p1 bra done;\n" + fence + product + commit + wait +
                     "done:\n" + result),
             ContainsSubstring("which must take part, are elsewhere and do not come"));
}

TEST_CASE("planted: lanes give different descriptors, or one that leaves shared memory", "[machine][wgmma]") {
  CHECK_THAT(trap_of(operands + "cvt.u64.u32 %l3, %r2;\nadd.s64 %l2, %l2, %l3;\n" + fence + product + commit + wait + result),
             ContainsSubstring("the descriptor of operand b is"));
  CHECK_THAT(trap_of(operands + "or.b64 %l2, %l2, 0x3fff;\n" + fence + product + commit + wait + result),
             ContainsSubstring("operand b names leaves shared memory"));
}
