
#include "machine/kernel.h"
#include "machine/tensor_kernel.h"
#include "test.h"

namespace warpmat::tensor_memory_test {
namespace {

// tcgen05 in kernels of four warps. A and B of products are 1.0, so every element of m128n16k16 is 16.

using tensor_kernel::allocate, tensor_kernel::free, tensor_kernel::variables, tensor_kernel::wait;

const std::string operands = tensor_kernel::operands("0x3c003c00", "0x08040010");  // of 1.0, m128n16k16
const std::string product = "@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r10], %l1, %l2, %r13, %p3;\n";
const std::string more = "@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r10], %l1, %l2, %r13, 1;\n";
const std::string commit = "@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [bar];\n";
const std::string load = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%d}, [%r12+3];\n";
const std::string loaded = load + "tcgen05.wait::ld.sync.aligned;\n";

std::vector<std::uint32_t> run(const std::string& body, std::uint32_t threads = 128, const std::string& target = "sm_100a") {
  return words_of(word_kernel(body, target, variables), {1}, {threads});
}

std::string trap_of(const std::string& body, std::uint32_t threads = 128) {
  return message_of([&] { run(body, threads); });
}

bool all_are(const std::vector<std::uint32_t>& words, float expected) {
  return std::ranges::all_of(words, [&](std::uint32_t word) { return word == std::bit_cast<std::uint32_t>(expected); });
}

TEST_CASE("what tcgen05.st writes, tcgen05.ld reads, by every shape", "[machine][tcgen05]") {
  // Each register is stored as 1000 r + thread by one shape; 32x32b then reads columns of lanes: figures 183 to 186 of PTX ISA 9.1.
  struct Case {
    const char *shape, *registers;
    int column;
    std::uint32_t (*expected)(std::uint32_t lane, int column);  ///< of the first 16 lanes
  };
  for (const Case& c : {
           Case{"16x64b.x2", "{%r1, %r2}", 3, [](std::uint32_t lane, int) { return 1000 + lane % 8 * 4 + 2 + lane / 8; }},
           Case{"16x128b.x1", "{%r1, %r2}", 2, [](std::uint32_t lane, int) { return lane / 8 * 1000 + lane % 8 * 4 + 2; }},
           Case{"16x256b.x1", "{%r1, %r2, %r3, %r4}", 5, [](std::uint32_t lane, int) { return lane / 8 * 2000 + 1000 + lane % 8 * 4 + 2; }},
       })
    for (const int second : {0, 16}) {
      INFO(c.shape << " " << second);
      const std::string body =
          allocate(32) + R"(
    and.b32 %r1, %i, 31;
    add.u32 %r2, %r1, 1000;
    add.u32 %r3, %r1, 2000;
    add.u32 %r4, %r1, 3000;
)" + fmt::format("tcgen05.st.sync.aligned.{}.b32 [%r12+{}], {};\n", c.shape, second << 16, c.registers) +
          "tcgen05.wait::st.sync.aligned;\n" +
          fmt::format("tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%d}}, [%r12+{}];\ntcgen05.wait::ld.sync.aligned;\n", c.column) + free(32);
      const std::vector<std::uint32_t> words = run(body);
      for (std::uint32_t i = 0; i < 128; ++i) {
        const bool inside = i % 32 / 16 == static_cast<std::uint32_t>(second) / 16;
        REQUIRE(words[i] == (inside ? c.expected(i % 16, c.column) : 0));
      }
    }
}

TEST_CASE("pack and unpack move halves to neighbouring columns", "[machine][tcgen05]") {
  const std::string body = allocate(32) + R"(
    add.u32 %r1, %i, 0x70000;
    tcgen05.st.sync.aligned.32x32b.x1.unpack::16b.b32 [%r12+4], {%r1};
    tcgen05.wait::st.sync.aligned;
)";
  const std::vector<std::uint32_t> high =
      run(body + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%d}, [%r12+5];\n" + free(32).insert(1, "tcgen05.wait::ld.sync.aligned;\n"));
  CHECK(std::ranges::all_of(high, [](std::uint32_t word) { return word == 7; }));
  const std::vector<std::uint32_t> both = run(body + "tcgen05.ld.sync.aligned.32x32b.x1.pack::16b.b32 {%d}, [%r12+4];\n" +
                                              free(32).insert(1, "tcgen05.wait::ld.sync.aligned;\n"));
  for (std::uint32_t i = 0; i < 128; ++i) CHECK(both[i] == 0x70000 + i);
}

TEST_CASE("a product is there after the wait for its commit", "[machine][tcgen05]") {
  const std::string setup = allocate(32) + operands;
  CHECK(all_are(run(setup + product + commit + wait + loaded + free(32)), 16));
  CHECK(all_are(run(setup + product + more + commit + wait + loaded + free(32)), 32));
  CHECK(all_are(run(setup + product + commit + wait + loaded + free(32), 128, "sm_110f"), 16));
  const std::string masked =
      "mov.u32 %r15, 0xffff0000;\n@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r10], %l1, %l2, %r13, {%r14, %r15, %r14, %r15}, 1;\n";
  const std::vector<std::uint32_t> words = run(setup + product + masked + commit + wait + loaded + free(32));
  for (std::uint32_t i = 0; i < 128; ++i) CHECK(std::bit_cast<float>(words[i]) == (i / 32 % 2 == 1 && i % 32 >= 16 ? 16.0f : 32.0f));
}

TEST_CASE("an mbarrier of two commits has two phases", "[machine][tcgen05]") {
  std::string second = wait;
  for (std::size_t at = 0; (at = second.find("AGAIN", at)) != std::string::npos; at += 6) second.insert(at + 5, "2");
  second.replace(second.find("[bar], 0"), 8, "[bar], 1");
  // One warp waits for one phase, then for the next: both commits are still under way at its first wait.
  const std::string both = "@!%p0 bra PAST;\n" + wait + second + "PAST:\nbar.sync 0;\n";
  CHECK(all_are(run(allocate(32) + operands + product + commit + more + commit + both + loaded + free(32)), 32));
}

TEST_CASE("what comes too early traps with the statement that it must wait for", "[machine][tcgen05]") {
  const std::string setup = allocate(32) + operands;
  const std::string unwaited = "no thread has waited for the mbarrier of a tcgen05.commit behind it";
  CHECK_THAT(trap_of(setup + product + "bar.sync 0;\n" + loaded + free(32)),
             ContainsSubstring("may still write these columns") && ContainsSubstring(unwaited));
  CHECK_THAT(trap_of(setup + product + commit + "bar.sync 0;\n" + loaded + free(32)), ContainsSubstring(unwaited));
  CHECK_THAT(trap_of(setup + product + free(32)), ContainsSubstring(unwaited));
  CHECK_THAT(
      trap_of(setup + product + commit + "bar.sync 0;\nst.shared.b32 [%r3], %r14;\n" + wait + loaded + free(32)),
      ContainsSubstring("memory that operand a of the product reads has changed") && ContainsSubstring("has changed since that statement"));
  const std::string store = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12+3], {%r4};\n";
  CHECK_THAT(trap_of(setup + store + "bar.sync 0;\n" + product + commit + wait + free(32)),
             ContainsSubstring("tcgen05.wait::st has not followed it"));
  CHECK_THAT(trap_of(setup + load + store + free(32)), ContainsSubstring("tcgen05.wait::st has not followed it"));
  const std::string other_store = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12+9], {%r4};\n";
  CHECK_THAT(trap_of(setup + store + other_store + load + free(32)), ContainsSubstring("tcgen05.wait::st has not followed it"));
}

TEST_CASE("rules of allocation", "[machine][tcgen05]") {
  const std::string one = "setp.lt.u32 %p0, %i, 32;\n@!%p0 bra END;\n";
  const std::string alloc = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 ";
  const std::string dealloc = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 ";
  const std::string end = "END:\n";
  CHECK(run(one + alloc + "[where], 64;\nld.shared.u32 %r1, [where];\n" + alloc + "[where], 32;\nld.shared.u32 %d, [where];\n" + dealloc +
            "%r1, 64;\n" + dealloc + "%d, 32;\n" + end)[0] == 64);
  CHECK_THAT(trap_of(one + alloc + "[where], 32;\n" + end),
             ContainsSubstring("the block has ended without tcgen05.dealloc of the 32 columns from column 0 on"));
  CHECK_THAT(trap_of(one + alloc + "[where], 32;\n" + alloc + "[other], 64;\n" + end),
             ContainsSubstring("64 columns are more than the 32 of the allocation before"));
  CHECK_THAT(trap_of(one + "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" + alloc + "[where], 32;\n" + end),
             ContainsSubstring("the block has given up allocating"));
  CHECK_THAT(trap_of(one + "mov.u32 %r1, 48;\n" + alloc + "[where], %r1;\n" + end),
             ContainsSubstring("the number of columns is 32, 64, 128, 256 or 512; it is 48"));
  CHECK_THAT(
      trap_of(one + alloc + "[where], 64;\n" + dealloc + "32, 32;\n" + end),
      ContainsSubstring("32 columns from lane 0, column 32 on are none that tcgen05.alloc has given: columns 0 to 63 are allocated"));
  CHECK_THAT(trap_of(one + alloc + "[where], 512;\n" + alloc + "[other], 32;\n" + end),
             ContainsSubstring("deadlock") && ContainsSubstring("tensor memory has 0 free columns; columns 0 to 511 are allocated"));
  // Another warp frees what this one waits for.
  CHECK(run("setp.lt.u32 %p0, %i, 32;\n@!%p0 bra OTHER;\n" + alloc + "[where], 512;\nld.shared.u32 %r1, [where];\nbar.sync 0;\n" + alloc +
            "[other], 512;\n" + dealloc +
            "0, 512;\nmov.u32 %d, 5;\nbra END;\nOTHER:\nbar.sync 0;\nsetp.lt.u32 %p1, %i, 64;\n@!%p1 bra END;\n" + dealloc + "0, 512;\n" +
            end)[0] == 5);
}

TEST_CASE("a load with the address of lane 0 takes the warp's own lanes, as DeepGEMM relies on, with a warning", "[machine][tcgen05]") {
  const std::string body = allocate(32) + R"(
    tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12], {%i};
    tcgen05.wait::st.sync.aligned;
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%d}, [%r10];
    tcgen05.wait::ld.sync.aligned;
)" + free(32);
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4 * 128, "out");
  const LaunchResult result = launch(Kernel(word_kernel(body, "sm_100a", variables), "k"), {.grid = {1}, .block = {128}}, memory, {out});
  const auto words = memory.read<std::uint32_t>(out, 128);
  for (std::uint32_t i = 0; i < 128; ++i) REQUIRE(words[i] == i);
  REQUIRE(result.warnings.size() == 1);
  CHECK_THAT(result.warnings.front(),
             ContainsSubstring("warp 3, line ") &&
                 ContainsSubstring("the address has lane 0, which another warp reaches; this one takes its own lanes, from 96 on"));
}

TEST_CASE("a commit without .shared::cluster takes an address of shared memory, as ThunderKittens relies on, with a warning",
          "[machine][tcgen05]") {
  const std::string setup = allocate(32) + operands;
  const auto launched = [&](const std::string& address, const std::string& committed) {
    const std::string body = setup + product + address + committed + wait + loaded + free(32);
    DeviceMemory memory;
    const std::uint64_t out = memory.allocate(4 * 128, "out");
    const LaunchResult result = launch(Kernel(word_kernel(body, "sm_100a", variables), "k"), {.grid = {1}, .block = {128}}, memory, {out});
    CHECK(all_are(memory.read<std::uint32_t>(out, 128), 16));
    return result.warnings;
  };
  const std::string by_word = "@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%r14];\n",
                    by_register = "@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%l3];\n",
                    multicast =
                        "mov.u16 %s1, 1;\n@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.multicast::cluster.b64 [%l3], %s1;\n";
  const std::string warned =
      "(tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64): without .shared::cluster the "
      "address is a generic one, and this is one of shared memory; it is taken for that";
  for (const auto& warnings : {launched("mov.u32 %r14, bar;\n", by_word), launched("mov.u64 %l3, bar;\n", by_register)}) {
    REQUIRE(warnings.size() == 1);
    CHECK_THAT(warnings.front(), ContainsSubstring(warned));
  }
  CHECK(launched("mov.u64 %l3, bar;\n", multicast).size() == 1);
  CHECK(launched("cvta.shared.u64 %l3, bar;\n", by_register).empty());
  CHECK(launched("cvta.shared.u64 %l3, bar;\n", multicast).empty());
  CHECK(launched("mov.u32 %r14, bar;\n", "@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r14];\n").empty());
  // Neither window: of a block that the cluster does not have, and beyond 32 bits.
  const auto refused = [&](const std::string& address) { return trap_of(setup + product + address + by_register + wait + free(32)); };
  CHECK_THAT(refused("mov.u64 %l3, 0xff000400;\n"), ContainsSubstring("the address is one of block 255 of a cluster of 1"));
  CHECK_THAT(refused("mov.u64 %l3, 0x100000400;\n"), ContainsSubstring("the address is none of shared memory"));
}

TEST_CASE("rules of access", "[machine][tcgen05]") {
  const auto says = [](const std::string& body) { return trap_of(allocate(32) + operands + body + free(32)); };
  CHECK_THAT(says("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%d}, [%r10+2097152];\n"),
             ContainsSubstring("alone, and .32x32b takes 32 lanes from lane") && ContainsSubstring("the address has lane 32"));
  CHECK_THAT(says("tcgen05.ld.sync.aligned.16x64b.x1.b32 {%d}, [%r12+524288];\n"), ContainsSubstring(".16x64b takes 16 lanes from lane"));
  CHECK_THAT(says("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%d}, [%r12+32];\n"),
             ContainsSubstring("the load takes 1 columns from column 32 on, and columns 0 to 31 are allocated"));
  for (const char* const second : {"32", "0x7fffffff", "-2147483647"})
    CHECK_THAT(says(fmt::format("tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {{%d}}, [%r12], {};\n", second)),
               ContainsSubstring("are allocated"));
  CHECK_THAT(says("add.u32 %r12, %r12, %i;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%d}, [%r12];\n"),
             ContainsSubstring("all lanes must give the same"));
  CHECK_THAT(says("add.u32 %r10, %r10, 24;\n" + product), ContainsSubstring("D takes 16 columns from column 24 on"));
  CHECK_THAT(says("add.u32 %r10, %r10, 1048576;\n" + product), ContainsSubstring("D begins in lane 16; with M = 128 it begins in lane 0"));
  CHECK_THAT(says("mov.u32 %r13, 0x08040050;\n" + product), ContainsSubstring("bit 6, which is reserved"));
  CHECK_THAT(says("mov.u64 %l1, 0;\n" + product), ContainsSubstring("the descriptor of operand a has 0 in bits 46 to 48"));
  CHECK_THAT(says("or.b64 %l2, %l2, 0x3fff;\n" + product), ContainsSubstring("operand b names leaves shared memory"));
  CHECK_THAT(says("or.b64 %l2, %l2, 0x2000000000000000;\n" + product),
             ContainsSubstring("which only transposed matrices of 32-bit elements have"));
  CHECK_THAT(says("@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r10], [%r10+1048576], %l2, %r13, 1;\n"),
             ContainsSubstring("A begins in lane 16"));
}

TEST_CASE("more registers than tcgen05.ld has are refused", "[machine][tcgen05]") {
  const auto says = [](const std::string& body) { return message_of([&] { Kernel(word_kernel(body, "sm_100a", variables), "k"); }); };
  CHECK_THAT(says("tcgen05.ld.sync.aligned.16x256b.x64.b32 {%r1}, [%r2];"),
             ContainsSubstring("would move 256 registers; 128 are the most, with .x32"));
}

}  // namespace
}  // namespace warpmat::tensor_memory_test
