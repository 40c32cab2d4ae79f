
#include <regex>

#include <warpmat/observer.h>
#include <warpmat/wgmma.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::wgmma_test {
namespace {

// wgmma in kernels. All of A and B is 1.0, so every element of m64n8k16 is 16.

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

/// The only warning of a launch of the kernel.
std::string warning_of(const std::string& body) {
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4 * 128, "out");
  const LaunchResult launched = launch(Kernel(word_kernel(body, "sm_90a", variables), "k"), {{1}, {128}}, memory, {out});
  return launched.warnings.size() == 1 ? launched.warnings.front() : fmt::format("{} warnings", launched.warnings.size());
}

bool all_are(const std::vector<std::uint32_t>& words, float expected) {
  return std::ranges::all_of(words, [&](std::uint32_t word) { return word == std::bit_cast<std::uint32_t>(expected); });
}

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

TEST_CASE("an observer is told what a product is, which shared memory it reads, and when it has read it", "[machine][wgmma][observer]") {
  struct Products : machine::Observer {
    Products() : Observer(machine::EventKinds::products) {}
    void performs(const machine::Event&) override { ++performed; }
    void product_issues(const machine::ProductEvent& e) override { add("issues", e.event, e.product); }
    void products_read(const machine::Event& e, std::span<const machine::Product> products) override {
      for (const machine::Product& each : products) add("read", e, each);
    }
    void product_completes(const machine::ProductEvent& e) override { add("completes", e.event, e.product); }
    void add(const char* what, const machine::Event& e, const machine::Product& p) {
      if (e.warp() != 1) return;
      if (p.statement() != e.statement()) CHECK(e.opcode() == "wgmma.wait_group.sync.aligned");
      const auto a = p.a_chunks(), b = p.b_chunks();
      CHECK(p.a_in_registers() == (p.a_descriptor() == 0));
      CHECK(p.b_descriptor() != 0);
      lines.push_back(fmt::format("{} {}: {} chunks of A from {}, {} of B from {}{}", what, p.instruction().form().opcode, a.size(),
                                  a.empty() ? 0 : a[0] - base, b.size(), b[0] - base, p.accumulates() ? ", accumulates" : ""));
    }
    std::uint32_t base = 0x400;  ///< of shared memory
    std::vector<std::string> lines;
    int performed = 0;
  } seen;
  const std::string of = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, ";
  run(operands + fence + product + of + "{%r4, %r4, %r4, %r4}, %l2, 0, 1, 1, 0;\n" + commit + wait + result, 128, {.observers = {&seen}});
  // Warp 1 reads the second 16 of A's 64 rows: chunks of 16 bytes, 8 rows in 128 bytes, in two halves of k.
  const std::string opcode = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16: ";
  std::vector<std::string> expected;
  for (const std::string what : {"issues ", "read ", "completes "}) {
    expected.push_back(what + opcode + "32 chunks of A from 512, 16 of B from 2048, accumulates");
    expected.push_back(what + opcode + "0 chunks of A from 0, 16 of B from 2048");
  }
  CHECK(seen.lines == expected);
  CHECK(seen.performed == 8);  // two products, four warps
}

TEST_CASE("of two groups the first may be used while the second is under way", "[machine][wgmma]") {
  const std::string second = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4, %f5, %f6, %f7}, %l1, %l2, 0, 1, 1, 0, 0;\n";
  const std::string two = operands + fence + product + commit + second + commit + "wgmma.wait_group.sync.aligned 1;\n";
  CHECK(all_are(run(two + result + wait), 17));
  CHECK(all_are(run(two + "mov.b32 %d, %f4;\n" + wait, 128), 16 + 0));
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

TEST_CASE("an accumulator that is read before the wait is waited for, with a warning", "[machine][wgmma]") {
  const auto warnings_of = [](const std::string& body) {
    const Module module = word_kernel(body, "sm_90a", variables);
    DeviceMemory memory;
    const std::uint64_t out = memory.allocate(128 * 4, "out");
    const LaunchResult done = launch(Kernel(module, "k"), {{1}, {128}}, memory, {out});
    CHECK(all_are(memory.read<std::uint32_t>(out, 128), 17));
    return done.warnings;
  };
  const std::string loop = "mov.b32 %r8, 0;\nAGAIN:\n";
  const std::string end = "add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 1; @%p1 bra AGAIN;\n";
  for (const std::string& body : {operands + fence + product + commit + result + wait, operands + fence + product + wait + result,
                                  operands + fence + product + result,  //
                                  operands + loop + fence + product + commit + end + result + wait}) {
    INFO(body);
    const std::vector<std::string> warnings = warnings_of(body);
    REQUIRE(warnings.size() == 1);
    CHECK_THAT(warnings.front(), ContainsSubstring("(mov.b32)") && ContainsSubstring("an accumulator is read before wgmma.wait_group") &&
                                     ContainsSubstring("the product: line "));
  }
  CHECK(warnings_of(operands + fence + product + commit + wait + result).empty());
}

TEST_CASE("planted: accumulators are written before the wait", "[machine][wgmma]") {
  CHECK_THAT(trap_of(operands + fence + product + commit + "mov.f32 %f1, 0f00000000;\n" + wait),
             ContainsSubstring("an accumulator is written before wgmma.wait_group"));
  // The place is that of the statement also among others that only compute.
  const std::string before = "mov.b32 %r8, %r4;\nadd.u32 %r8, %r8, 1;\n", after = "shl.b32 %r8, %r8, 1;\n";
  CHECK_THAT(trap_of(operands + fence + product + commit + before + "neg.f32 %f1, %f5;\n" + after + wait),
             ContainsSubstring("(neg.f32): an accumulator is written before wgmma.wait_group"));
  CHECK_THAT(
      trap_of(operands + fence + product + commit + wait + before + "neg.f32 %f1, %f5;\n" + after + product + commit + wait + result),
      ContainsSubstring("without a wgmma.fence since; written here: line ") && ContainsSubstring("(neg.f32)"));
}

TEST_CASE("a product that a function leaves pending has registers that no other function has", "[machine][wgmma]") {
  std::string other;  // writes and reads 16 registers
  for (int i = 0; i < 16; ++i) other += fmt::format("mov.u32 %a{}, %ntid.x; ", i);
  for (int i = 0; i < 16; ++i) other += fmt::format("add.u32 %t, %t, %a{}; ", i);
  const std::string registers = ".reg .b32 %a<16>, %t; mov.u32 %t, 0; ", use = other + "st.shared.u32 [tile + 4096], %t; ret; }\n";
  const std::string functions = variables + ".func multiply(.reg .b64 %l1, .reg .b64 %l2) { .reg .f32 %f<4>;" +
                                "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;" + fence + product +
                                commit + "ret; }\n.func inner() { " + registers + use + ".func outer() { " + registers + "call inner; " +
                                use;
  const auto outcome = [&](const std::string& calls) {
    return message_of([&] { words_of(word_kernel(operands + calls + wait, "sm_90a", functions), {1}, {128}); });
  };
  CHECK(outcome("call multiply, (%l1, %l2); call outer;\n") == "nothing");
  CHECK_THAT(outcome("call multiply, (%l1, %l2); call multiply, (%l1, %l2);\n"),
             ContainsSubstring("an accumulator is written before wgmma.wait_group"));
}

TEST_CASE("planted: wgmma.fence is missing", "[machine][wgmma]") {
  CHECK_THAT(trap_of(operands + product + commit + wait + result), ContainsSubstring("no wgmma.fence comes before"));
  const std::string first = operands + fence + product + commit + wait;
  CHECK_THAT(trap_of(first + "mov.f32 %f2, 0f00000000;\n" + product + commit + wait + result),
             ContainsSubstring("an accumulator was written, without a wgmma.fence since; written here: line"));
  const std::string from_registers =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r4, %r5, %r4, %r4}, %l2, 1, 1, 1, 0;\n";
  CHECK_THAT(trap_of(operands + fence + from_registers + commit + wait + "mov.b32 %r5, 0;\n" + from_registers + commit + wait + result),
             ContainsSubstring("a register of operand a was written, without a wgmma.fence since; written here: line"));
  // Of a second group the products of the first one count, too, also where these have used a fence of their own.
  CHECK_THAT(trap_of(operands + fence + product + fence + product + commit + wait + "mov.f32 %f2, 0f00000000;\n" + product + commit + wait +
                     result),
             ContainsSubstring("without a wgmma.fence since"));
}

TEST_CASE("what the compiler moves behind wgmma.fence is a warning, and the product is right", "[machine][wgmma]") {
  const std::string clear = "mov.f32 %f0, 0f00000000;\n";
  CHECK_THAT(warning_of(operands + fence + clear + product + commit + wait + result), ContainsSubstring("behind the wgmma.fence"));
  CHECK(all_are(run(operands + fence + clear + product + commit + wait + result), 16));
  const std::string from_registers =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r4, %r5, %r4, %r4}, %l2, 1, 1, 1, 0;\n";
  CHECK_THAT(warning_of(operands + fence + "mov.b32 %r5, %r4;\n" + from_registers + commit + wait + result),
             ContainsSubstring("behind the wgmma.fence"));
  CHECK(warning_of(operands + clear + fence + product + commit + wait + result) == "0 warnings");
  CHECK(warning_of(operands + fence + product + commit + wait + clear + fence + product + commit + wait + result) == "0 warnings");
}

TEST_CASE("planted: shared memory is overwritten while a product may read it", "[machine][wgmma]") {
  const std::string overwrite = "mov.b32 %r5, 0;\nst.shared.b32 [%r3], %r5;\n";
  CHECK_THAT(trap_of(operands + fence + product + commit + "bar.sync 0;\n" + overwrite + wait + result),
             ContainsSubstring("of a product reads has changed since that statement") && ContainsSubstring("; the product: line"));
  // Where some warps have yet to come to the product, too.
  CHECK_THAT(trap_of(operands + fence + product + commit + overwrite + wait + result),
             ContainsSubstring("has changed since that statement"));
  CHECK(all_are(run(operands + fence + product + commit + wait + "bar.sync 0;\n" + overwrite + result), 17));
}

TEST_CASE("planted: the warps of a warpgroup disagree", "[machine][wgmma]") {
  CHECK_THAT(trap_of(operands + "and.b32 %r5, %r2, 32;\ncvt.u64.u32 %l3, %r5;\nshr.u64 %l3, %l3, 5;\nadd.s64 %l2, %l2, %l3;\n" + fence +
                     product + commit + wait + result),
             ContainsSubstring("the warps of a warpgroup give different descriptors"));
  CHECK_THAT(trap_of(operands + "setp.ge.u32 %p1, %r2, 96;\n@%p1 bra done;\n" + fence + product + commit + wait + "done:\n" + result),
             ContainsSubstring("needs all four warps of the warpgroup"));
  CHECK_THAT(trap_of(operands + fence + product + commit + wait + result, 96), ContainsSubstring("needs all four warps of the warpgroup"));
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

TEST_CASE("planted: operands stored without a proxy fence", "[machine][wgmma]") {
  const std::size_t at = operands.find("fence.proxy.async;");
  const std::string unfenced = operands.substr(0, at) + operands.substr(at + std::string("fence.proxy.async;").size());
  const std::string text = unfenced + fence + product + commit + wait + result, message = warning_of(text);
  CHECK(all_are(run(text), 17));  // a warning: an H200 has the stores by then
  CHECK_THAT(message,
             ContainsSubstring("has been stored by warp") && ContainsSubstring("no fence.proxy.async since then lets wgmma see that"));
  std::smatch lines;
  REQUIRE(
      std::regex_search(message, lines, std::regex(R"(line (\d+) \(wgmma.*stored here by warp \d: line (\d+) \(st\.shared\.v4\.b32\))")));
  const auto line_of = [&](const std::string& part) {
    return std::count(text.begin(), text.begin() + static_cast<int>(text.find(part)), '\n');
  };
  CHECK(std::stoi(lines[1]) - std::stoi(lines[2]) == line_of(product) - line_of("st.shared.v4"));
  // By every warp behind the barrier, or by each writer before it.
  CHECK(all_are(run(unfenced + "fence.proxy.async;\n" + fence + product + commit + wait + result), 17));
  CHECK(all_are(run(operands + fence + product + commit + wait + result), 17));
  // One store after the fence is enough.
  CHECK_THAT(warning_of(operands + "st.shared.b32 [%r3+16], %r4;\nbar.sync 0;\n" + fence + product + commit + wait + result),
             ContainsSubstring("no fence.proxy.async since then lets wgmma see that"));
}

TEST_CASE("a register of operand a that is written before the wait is a warning, and the product has its old value", "[machine][wgmma]") {
  const std::string from_registers =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r4, %r5, %r6, %r7}, %l2, 1, 1, 1, 0;\n";
  const std::string fill = "mov.b32 %r5, %r4; mov.b32 %r6, %r4; mov.b32 %r7, %r4;\n";
  const std::string overwrite = "mov.b32 %r6, 0;\n";
  const std::string early = operands + fill + fence + from_registers + commit + overwrite + wait + result;
  CHECK(all_are(run(early), 17));
  CHECK_THAT(warning_of(early),
             ContainsSubstring("a register of operand a is written before wgmma.wait_group") && ContainsSubstring("the product: line"));
  CHECK(all_are(run(operands + fill + fence + from_registers + commit + "mov.b32 %r8, %r6;\n" + wait + overwrite + result), 17));
}

TEST_CASE("planted: an uninitialised value of shared memory enters a product", "[machine][wgmma]") {
  const std::string beyond = "add.s64 %l2, %l2, 256;\n";  // B lies 4 KB on: behind what the threads store
  const std::string unwritten = "comes from uninitialised shared memory";
  CHECK_THAT(trap_of(operands + beyond + fence + product + commit + wait + result), ContainsSubstring(unwritten));
  CHECK(all_are(run(operands + beyond + fence + product + commit + wait + "mov.u32 %d, 5;\n"), std::bit_cast<float>(5u)));
  // Of half of its columns B's second 16 bytes along k lie behind what the threads store: columns 4 to 7, which lanes 2 and 3 of four hold.
  const std::string half = "add.s64 %l2, %l1, 244;\n";
  const std::string store_some = "setp.eq.u32 %p2, %r2, 3;\n@!%p2 mov.b32 %d, 0;\n@%p2 mov.b32 %d, %f0;\n";
  CHECK_THAT(trap_of(operands + half + fence + product + commit + wait + store_some), ContainsSubstring(unwritten));
  CHECK(trap_of(operands + half + fence + product + commit + wait +
                "setp.eq.u32 %p2, %r2, 0;\n@!%p2 mov.b32 %d, 0;\n@%p2 mov.b32 %d, %f0;\n") == "nothing");
}

/// A kernel whose warpgroups execute `first` and `others`, launched with `registers` a thread.
std::string registers_of(const std::string& first, const std::string& others, const std::string& limit = ".maxnreg 168",
                         const std::string& target = "sm_90a") {
  const std::string text = ".version 9.0\n.target " + target + "\n.address_size 64\n.visible .entry k(.param .u64 out) " + limit + R"( {
    .reg .b32 %r<4>; .reg .pred %p<2>;
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 128;
    @%p1 bra others;
    )" + first + R"(
    ret;
others:
    )" + others + "\nret;\n}\n";
  return message_of([&] {
    DeviceMemory memory;
    for (const std::string& warning : launch(Kernel(Module(text), "k"), {{1}, {384}}, memory, {memory.allocate(4, "out")}).warnings)
      throw std::runtime_error("warning: " + warning);
  });
}

TEST_CASE("setmaxnreg: what the block has is handed on, not exceeded", "[machine][wgmma]") {
  const auto dec = [](int n) { return fmt::format("setmaxnreg.dec.sync.aligned.u32 {};", n); };
  const auto inc = [](int n) { return fmt::format("setmaxnreg.inc.sync.aligned.u32 {};", n); };
  CHECK(registers_of(dec(40), inc(232)) == "nothing");  // 40 + 2 * 232 = 3 * 168
  CHECK(registers_of(inc(240), dec(128)) == "nothing");
  CHECK_THAT(registers_of(dec(40), inc(240)),
             ContainsSubstring("would wait for ever") && ContainsSubstring("66560") && ContainsSubstring("64512"));
  CHECK_THAT(registers_of(dec(40), inc(232), ".maxntid 384, 1, 1 .minnctapersm 2"), ContainsSubstring("would wait for ever"));
  CHECK(registers_of(dec(40), inc(232), ".maxntid 384, 1, 1 .minnctapersm 1") == "nothing");
  CHECK(registers_of(dec(40), inc(240), ".maxntid 384, 1, 1") == "nothing");  // ptxas ignores it
  CHECK(registers_of(dec(40), inc(240), ".maxnreg 300") == "nothing");        // likewise
  CHECK(registers_of(dec(40), inc(240), ".maxntid 4294967295, 4294967295, 4294967295 .minnctapersm 4294967295") == "nothing");
  CHECK_THAT(registers_of(dec(40), inc(232), ".maxntid 4294967296"), ContainsSubstring(".maxntid takes numbers from 1 to 2^32 - 1"));
  CHECK_THAT(registers_of(dec(176), inc(232)), ContainsSubstring("setmaxnreg.dec.sync.aligned.u32 176: each thread has 168 registers"));
  CHECK_THAT(registers_of(inc(160), inc(168)), ContainsSubstring("160: each thread has 168 registers"));
  CHECK_THAT(registers_of("and.b32 %r2, %r1, 32; setp.ne.u32 %p0, %r2, 0; @%p0 bra out; " + dec(40) + " out:", dec(40)),
             ContainsSubstring("the warps of a warpgroup part at setmaxnreg"));
  CHECK_THAT(registers_of("and.b32 %r2, %r1, 32; setp.ne.u32 %p0, %r2, 0; @%p0 bra other; " + dec(40) + " ret; other: " + dec(32), dec(40)),
             ContainsSubstring("warning: kernel 'k', block (0, 0, 0), warp 1, line ") &&
                 ContainsSubstring("the warps of a warpgroup part at setmaxnreg"));
  CHECK(registers_of("and.b32 %r2, %r1, 1; setp.ne.u32 %p0, %r2, 0; @%p0 ret; " + dec(40), dec(40)) == "nothing");  // as on an H100
}

TEST_CASE("setmaxnreg: immediates and targets as ptxas takes them", "[machine][wgmma]") {
  const auto message = [](const std::string& count, const std::string& target = "sm_90a") {
    return registers_of("setmaxnreg.dec.sync.aligned.u32 " + count + ";", "", ".maxnreg 256", target);
  };
  for (const char* count : {"24", "32", "232", "256"}) CHECK(message(count) == "nothing");
  for (const char* count : {"0", "16", "23", "100", "264"})
    CHECK_THAT(message(count), ContainsSubstring("takes a multiple of 8 from 24 to 256"));
  for (const char* target : {"sm_100f", "sm_103a", "sm_110f", "sm_121a"}) CHECK(message("40", target) == "nothing");
  for (const char* target : {"sm_90", "sm_100", "sm_120"}) CHECK_THAT(message("40", target), ContainsSubstring("; the target is"));
}

}  // namespace
}  // namespace warpmat::wgmma_test
