
#include "machine/kernel.h"
#include "machine/tensor_kernel.h"
#include "test.h"

namespace warpmat::tensor_pairs_test {
namespace {

// tcgen05 with .cta_group::2 in a cluster of two blocks, and what moves data in tensor memory: cp, shift, ld.red.

using tensor_kernel::variables, tensor_kernel::wait;

/// Block 0 has rows of A of 1.0 and columns of B of 1.0, block 1 rows of 2.0 and columns of 3.0.
const std::string operands = R"(
    mov.u32 %i, %tid.x;
    setp.lt.u32 %p0, %i, 32;
    mov.u32 %r9, %cluster_ctarank;
    setp.eq.u32 %p6, %r9, 0;
    setp.lt.u32 %p5, %i, 64;
    selp.b32 %r5, 0x40004000, 0x42004200, %p5;
    selp.b32 %r6, 0x3c003c00, %r5, %p6;
)" + tensor_kernel::operands("%r6", "0x10080010") +
                             R"(
    mov.u16 %s1, 3;
    and.pred %p2, %p1, %p6;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
)";

std::string allocated(int group, int columns, const std::string& body) {
  return tensor_kernel::allocate(columns, group) + body + tensor_kernel::free(columns, group);
}

const std::string product = "@%p2 tcgen05.mma.cta_group::2.kind::f16 [%r10], %l1, %l2, %r13, %p3;\n";
const std::string commit = "@%p2 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], %s1;\n";
std::vector<std::uint32_t> run(const std::string& body, std::uint32_t blocks = 2) {
  const Module module = word_kernel(body, "sm_100a", variables);
  DeviceMemory memory;
  const std::uint64_t count = std::uint64_t{blocks} * 128, out = memory.allocate(4 * count, "out");
  LaunchConfig config{{blocks}, {128}};
  config.cluster = {blocks};
  launch(Kernel(module, "k"), config, memory, {out});
  return memory.read<std::uint32_t>(out, count);
}

std::string trap_of(const std::string& body, std::uint32_t blocks = 2) {
  return message_of([&] { run(body, blocks); });
}

std::string load(int column) {
  return fmt::format("tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%d}}, [%r12+{}];\ntcgen05.wait::ld.sync.aligned;\n", column);
}

TEST_CASE("two blocks compute one product: rows of A of each, columns of B of both", "[machine][tcgen05]") {
  for (const int column : {0, 15, 16, 31}) {
    const auto words = run(operands + allocated(2, 32, product + commit + wait + load(column)));
    for (std::size_t i = 0; i < words.size(); ++i)
      REQUIRE(std::bit_cast<float>(words[i]) == 16.0f * (i < 128 ? 1 : 2) * (column < 16 ? 1 : 3));
  }
}

TEST_CASE("layout B: with M = 128 each block has 64 rows, and halves of the columns lie in halves of the lanes", "[machine][tcgen05]") {
  std::string setup = operands;
  setup.replace(setup.find("0x10080010"), 10, "0x08080010");
  const auto words = run(setup + allocated(2, 32, product + commit + wait + load(3)));
  for (std::size_t i = 0; i < words.size(); ++i)
    REQUIRE(std::bit_cast<float>(words[i]) == 16.0f * (i < 128 ? 1 : 2) * (i % 128 < 64 ? 1 : 3));
}

TEST_CASE("what a pair of blocks does wrong traps with its statement", "[machine][tcgen05]") {
  const std::string unwaited = "no thread has waited for the mbarrier of a tcgen05.commit behind it";
  const std::string before = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
  CHECK_THAT(trap_of(operands + allocated(2, 32, product + before + load(0))),
             ContainsSubstring("; the product: line ") && ContainsSubstring(unwaited));
  CHECK_THAT(trap_of(operands + allocated(2, 32, ""), 1), ContainsSubstring(".cta_group::2 is for pairs of blocks"));
  CHECK_THAT(trap_of(operands + "@!%p6 bra END;\n" + allocated(2, 32, "") + "END:\n"),
             ContainsSubstring("has ended") || ContainsSubstring("deadlock"));
  // PTX ISA 9.1 table 48: the release of one block before the cluster's barrier, that of the other behind it.
  const std::string barrier = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
  CHECK_THAT(trap_of(operands + allocated(2, 32, "@!%p6 bra LATER;\n" + barrier + "LATER:\n") + "@%p6 bra END;\n" + barrier + "END:\n"),
             ContainsSubstring("deadlock"));
}

TEST_CASE("tcgen05.cp copies lines of shared memory to lanes", "[machine][tcgen05]") {
  // Byte b of the tile is line b / 128 * 8 + b % 128 / 16 of 16 bytes: its first word is its number.
  const std::string setup = operands + R"(
    bar.sync 0;
    shl.b32 %r5, %i, 4;
    add.s32 %r5, %r5, %r1;
    st.shared.v4.b32 [%r5], {%i, %i, %i, %i};
    fence.proxy.async;
    bar.sync 0;
    and.b64 %l3, %l1, 0x3fff;
    or.b64 %l3, %l3, 0x0000400800000000;
)";
  struct Case {
    const char* shape;
    std::uint32_t (*line)(std::uint32_t lane);
  };
  for (const Case& c :
       {Case{"128x128b", [](std::uint32_t lane) { return lane; }}, Case{"32x128b.warpx4", [](std::uint32_t lane) { return lane % 32; }},
        Case{"64x128b.warpx2::02_13", [](std::uint32_t lane) { return lane % 64; }},
        Case{"64x128b.warpx2::01_23", [](std::uint32_t lane) { return lane % 32 + lane / 64 * 32; }}}) {
    INFO(c.shape);
    const std::string copy = fmt::format("@%p1 tcgen05.cp.cta_group::1.{} [%r10], %l3;\n", c.shape);
    const std::string own = "@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [bar];\n";
    const auto words = run(setup + allocated(1, 32, copy + own + wait + load(2)), 1);
    for (std::uint32_t i = 0; i < 128; ++i) REQUIRE(words[i] == c.line(i));
    CHECK_THAT(trap_of(setup + allocated(1, 32, copy + own + "bar.sync 0;\n" + load(2)), 1), ContainsSubstring("; the copy: line "));
    CHECK_THAT(trap_of(setup + allocated(1, 32, copy + own + "st.shared.u32 [%r5], %r10;\nbar.sync 0;\n" + wait + load(2)), 1),
               ContainsSubstring("memory that the copy reads has changed"));
  }
}

TEST_CASE("tcgen05.cp unpacks sixteen elements of 4 and 6 bits to bytes", "[machine][tcgen05]") {
  // Line i of the source has the words 0x9e3779b1 * (4 i + w). Element j is in the bits from 4 j or 6 j on; e2m1 lies in bits 2 to 5 of its
  // byte, as mma of kind::f8f6f4 takes it.
  const std::string setup = operands + R"(
    bar.sync 0;
    shl.b32 %r5, %i, 4;
    add.s32 %r5, %r5, %r1;
    shl.b32 %r6, %i, 2;
    mul.lo.u32 %r6, %r6, 0x9e3779b1;
    add.u32 %r7, %r6, 0x9e3779b1;
    add.u32 %r8, %r7, 0x9e3779b1;
    add.u32 %r9, %r8, 0x9e3779b1;
    st.shared.v4.b32 [%r5], {%r6, %r7, %r8, %r9};
    fence.proxy.async;
    bar.sync 0;
    and.b64 %l3, %l1, 0x3fff;
    or.b64 %l3, %l3, 0x0000400800000000;
)";
  for (const int bits : {4, 6})
    for (const int column : {0, 1, 2, 3}) {
      INFO(bits << " " << column);
      const std::string copy =
          fmt::format("@%p1 tcgen05.cp.cta_group::1.128x128b.b8x16.{} [%r10], %l3;\n", bits == 4 ? "b4x16_p64" : "b6x16_p32");
      const std::string own = "@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [bar];\n";
      const auto words = run(setup + allocated(1, 32, copy + own + wait + load(column)), 1);
      for (std::uint32_t i = 0; i < 128; ++i) {
        std::uint32_t expected = 0;
        for (int j = 0; j < 4; ++j) {
          std::uint32_t element = 0;
          for (int bit = 0; bit < bits; ++bit) {
            const auto at = static_cast<std::uint32_t>((column * 4 + j) * bits + bit);
            element |= (0x9e3779b1u * (4 * i + at / 32) >> at % 32 & 1) << bit;
          }
          expected |= (bits == 4 ? element << 2 : element) << 8 * j;
        }
        REQUIRE(words[i] == expected);
      }
    }
}

}  // namespace
}  // namespace warpmat::tensor_pairs_test
