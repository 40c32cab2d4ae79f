
#include <regex>

#include <warpmat/machine/internals.h>
#include <warpmat/machine/warpgroup.h>
#include <warpmat/observer.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::wgmma_operands_test {
namespace {

// What a wgmma reads between its statement and its wait, and products that follow each other on the same accumulators.

const std::string variables = ".shared .align 1024 .b8 tile[8192];\n.shared .align 8 .b64 bar;\n";
const std::string wait = "wgmma.wait_group.sync.aligned 0;\n";

/// Each thread stores 64 bytes: 16-bit numbers with the bits BITS, some others of their lowest seven, and a sign. %r1 is the tile's
/// address, %r3 that of the thread's bytes; %l1 and %l2 are the descriptors of A and B, K-major without a swizzle. Special: some are NaNs,
/// infinities and subnormal numbers.
std::string operands(const std::string& bits = "0x3c003c00") {
  return R"(
    mov.u32 %r1, tile;
    mov.u32 %r2, %tid.x;
    shl.b32 %r3, %r2, 6;
    add.s32 %r3, %r3, %r1;
    mul.lo.u32 %r4, %r2, 0x01f70095;
    mul.lo.u32 %r5, %r2, 0x00330217; mul.lo.u32 %r6, %r2, 0x02090131; mul.lo.u32 %r7, %r2, 0x011b03a5;
    and.b32 %r4, %r4, 0x807f807f; and.b32 %r5, %r5, 0x007f807f; and.b32 %r6, %r6, 0x807f007f; and.b32 %r7, %r7, 0x007f007f;
    or.b32 %r4, %r4, BITS; or.b32 %r5, %r5, BITS; or.b32 %r6, %r6, BITS; or.b32 %r7, %r7, BITS;
    st.shared.v4.b32 [%r3], {%r4, %r5, %r6, %r7};
    st.shared.v4.b32 [%r3+16], {%r5, %r6, %r7, %r4};
    st.shared.v4.b32 [%r3+32], {%r6, %r7, %r4, %r5};
    st.shared.v4.b32 [%r3+48], {%r7, %r4, %r5, %r6};
)" +
         std::string(
             bits == "special"
                 ? "setp.eq.u32 %p1, %r2, 3; @%p1 st.shared.b32 [%r3+20], 0x7c007e00; setp.eq.u32 %p1, %r2, 70; @%p1 st.shared.b32 [%r3], "
                   "0x7bff0001;\n"
                 : "") +
         R"(
    setp.ne.u32 %p1, %r2, 0;
    mov.u32 %r9, bar;
    @!%p1 mbarrier.init.shared.b64 [%r9], 1;
    fence.proxy.async;
    bar.sync 0;
    cvt.u64.u32 %l1, %r1;
    shr.u64 %l1, %l1, 4;
    or.b64 %l1, %l1, 0x0000001000080000;
    add.s64 %l2, %l1, 256;
    wgmma.fence.sync.aligned;
)";
}

std::string with(std::string text, const std::string& name, const std::string& value) {
  for (std::size_t at; (at = text.find(name)) != std::string::npos;) text.replace(at, name.size(), value);
  return text;
}

/// The accumulators %f0 to %f11 come first, before another register of 32 bits has left its place to one of them: so they lie side by side.
std::string text_of(const std::string& bits, const std::string& rest) {
  std::string text;
  for (std::size_t i = 0; i < 12; ++i)
    text += fmt::format("mov.f32 %f{}, 0f{};\n", i, std::array{"3F800000", "40000000", "BF800000", "3E800000", "41A00000"}[i % 5]);
  return text + with(operands(bits), "BITS", bits == "special" ? "0x3c003c00" : bits) + rest;
}

/// A product of 64 rows into these registers, two columns for each, of A and B some bytes behind %l1 and %l2.
std::string product(const std::string& d, int a = 0, int b = 0, const std::string& accumulates = "1", const std::string& type = "f16") {
  return fmt::format(
      "add.s64 %l3, %l1, {}; add.s64 %l4, %l2, {};\nwgmma.mma_async.sync.aligned.m64n{}k16.f32.{}.{} {{{}}}, %l3, %l4, {}, 1, 1, 0, 0;\n",
      a / 16, b / 16, 2 * std::ranges::count(d, 'f'), type, type, d, accumulates);
}

const std::string narrow = "%f0, %f1, %f2, %f3", up = "%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8, %f9, %f10, %f11",
                  down = "%f11, %f10, %f9, %f8, %f7, %f6, %f5, %f4, %f3, %f2, %f1, %f0",
                  mixed = "%f2, %f0, %f3, %f1, %f7, %f5, %f4, %f6, %f8, %f9, %f11, %f10";

std::string trap_of(const std::string& rest) {
  return message_of([&] { words_of(word_kernel(text_of("0x3c003c00", rest), "sm_90a", variables), {1}, {128}); });
}

/// Asks for products, so that each is performed by itself. Says what the first accumulator of warp 0 has before each of them.
struct Looks : machine::Observer {
  explicit Looks(std::vector<std::uint32_t>& before_each) : Observer(machine::EventKinds::products), before(before_each) {}
  void product_completes(const machine::ProductEvent& event) override {
    const auto& d = pending_of(event.product).d;
    for (std::size_t i = 1; i < d.size(); ++i) evenly_spaced = evenly_spaced && d[i] - d[i - 1] == d[1] - d[0];
    if (event.event.warp() == 0) before.push_back(*d[0]);
    ++products;
  }
  std::vector<std::uint32_t>& before;
  bool evenly_spaced = true;
  int products = 0;
};

/// The accumulators of 128 threads.
std::vector<std::uint32_t> results(const std::string& bits, const std::string& rest, const LaunchOptions& options) {
  std::string text = R"(
    .reg .b32 %r<20>; .reg .b64 %l<20>; .reg .pred %p<20>; .reg .f32 %f<12>;
)" + text_of(bits, rest) +
                     "ld.param.u64 %l1, [out];\nmad.wide.u32 %l1, %r2, 48, %l1;\n";
  for (int i = 0; i < 12; ++i) text += fmt::format("st.global.f32 [%l1+{}], %f{};\n", 4 * i, i);
  const Kernel kernel(module_of(".param .u64 out", text + "ret;\n", "sm_90a", variables), "k");
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(std::uint64_t{4 * 12 * 128}, "out");
  launch(kernel, {{1}, {128}}, memory, {out}, options);
  return memory.read<std::uint32_t>(out, 12 * 128);
}

/// The operand of which the message says that it has changed before the wait; else the message.
std::string changed_in(const std::string& message) {
  std::smatch found;
  const std::regex change(
      R"(shared memory that operand ([ab]) of a product reads has changed since that statement: it may be read until here)");
  return std::regex_search(message, found, change) ? found[1].str() : message;
}

TEST_CASE("planted: an operand that is overwritten before the wait, by whatever writes it", "[machine][wgmma][planted]") {
  const std::string issued = product(narrow) + "wgmma.commit_group.sync.aligned;\nbar.sync 0;\n";
  // Warp 0 reads rows 0 to 15 of A, each warp all of B, which begins 4096 bytes on.
  CHECK(changed_in(trap_of(issued + "@!%p1 st.shared.b8 [%r1+1], 0;\n" + wait)) == "a");
  CHECK(changed_in(trap_of(issued + "@!%p1 st.shared.b8 [%r1+4097], 0;\n" + wait)) == "b");
  // By a warp of another warpgroup, here the last one to store.
  CHECK(changed_in(message_of([&] {
          const std::string begin = text_of("0x3c003c00", "");
          const std::size_t fence = begin.find("    wgmma.fence");
          words_of(word_kernel(begin.substr(0, fence) + "setp.ge.u32 %p2, %r2, 128;\n@%p2 bra OTHER;\n" + begin.substr(fence) +
                                   product(narrow) + "wgmma.commit_group.sync.aligned;\nbar.sync 1, 256;\nbar.sync 2, 256;\n" + wait +
                                   "bra LAST;\nOTHER:\nbar.sync 1, 256;\nst.shared.b8 [tile+4097], 0;\nbar.sync 2, 256;\nLAST:\n",
                               "sm_90a", ".shared .align 1024 .b8 tile[16384];\n.shared .align 8 .b64 bar;\n"),
                   {1}, {256});
        })) == "b");
  // By a bulk copy that has arrived, and by one that has not.
  const std::string copy =
      "sub.s64 %out, %out, %offset;\n@!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 64;\n"
      "@!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%out], 64, [%r9];\n";
  const std::string arrives = "LOOP:\nmbarrier.try_wait.parity.shared.b64 %p3, [%r9], 0;\n@!%p3 bra LOOP;\n";
  CHECK(changed_in(trap_of(issued + copy + arrives + wait + "add.s64 %out, %out, %offset;\n")) == "a");
  CHECK_THAT(trap_of(issued + copy + wait + arrives + "add.s64 %out, %out, %offset;\n"),
             ContainsSubstring("overwrites what a product may read until here"));
  // Of several products that are performed as one, here by the second one's operands.
  const std::string two = product(up) + product(up, 1024, 1024) + "wgmma.commit_group.sync.aligned;\nbar.sync 0;\n";
  CHECK(changed_in(trap_of(two + "@!%p1 st.shared.b8 [%r1+2049], 0;\n" + wait)) == "a");
  CHECK(changed_in(trap_of(two + "@!%p1 st.shared.b8 [%r1+5887], 0;\n" + wait)) == "b");
  // The same value changes nothing, and so does what no product reads.
  CHECK(trap_of(issued + "@!%p1 st.shared.v4.b32 [%r3], {%r4, %r5, %r6, %r7};\n" + wait) == "nothing");
  CHECK(trap_of(issued + "@!%p1 st.shared.b8 [%r1+4608], 0;\n" + wait) == "nothing");
}

TEST_CASE("products that follow each other on the same accumulators have the results of each by itself", "[machine][wgmma]") {
  for (const std::string& type : {std::string("f16"), std::string("bf16")})
    for (const std::string& d : {up, down, mixed})
      for (const std::string& bits :
           {std::string("0x3c003c00"), std::string("0x3f803f80"), std::string("0x7b007b00"), std::string("special")}) {
        std::string chain;
        for (int i = 0; i < 6; ++i) chain += product(d, i % 2 * 1024, 512 * i, i == 0 ? "0" : "1", type);
        chain += "wgmma.commit_group.sync.aligned;\n" + product(d, 0, 256, "1", type) + "wgmma.commit_group.sync.aligned;\n" + wait;
        CAPTURE(type, d, bits);
        std::vector<std::uint32_t> before;
        Looks looks(before);
        const std::vector<std::uint32_t> expected = results(bits, chain, {.observers = {&looks}});
        CHECK(looks.products == 4 * 7);
        CHECK(looks.evenly_spaced == (d != mixed));  // as a chain's accumulators are: multiply_chain
        CHECK(results(bits, chain, {}) == expected);
        LaunchOptions reference;
        reference.execution.path = Path::reference;
        CHECK(results(bits, chain, reference) == expected);
      }
}

TEST_CASE("each observer that asks for products sees the accumulators before each of them", "[machine][wgmma][observer]") {
  std::string chain;
  for (int i = 0; i < 4; ++i) chain += product(up, 0, 512 * i);
  chain += "wgmma.commit_group.sync.aligned;\n" + wait;
  std::vector<std::uint32_t> of_launch, of_cluster;
  Looks looks(of_launch);
  results("0x3c003c00", chain, {.observers = {&looks}});
  LaunchOptions options;
  options.observers_of_clusters = {[&](std::uint64_t) { return std::make_unique<Looks>(of_cluster); }};
  results("0x3c003c00", chain, options);
  CHECK(of_cluster == of_launch);
  CHECK(std::set(of_launch.begin(), of_launch.end()).size() == 4);
}

/// The first wgmma.mma_async of a kernel.
const code::WarpgroupProduct& product_of(const Kernel& kernel) {
  const auto is_product = [](const code::Payload& payload) { return std::holds_alternative<code::WarpgroupProduct>(payload); };
  return std::get<code::WarpgroupProduct>(*std::ranges::find_if(program_of(kernel).payloads, is_product));
}

TEST_CASE("the chunks of products stay known while others are looked up", "[machine][wgmma]") {
  const Kernel kernel(word_kernel(text_of("0x3c003c00", product(up)), "sm_90a", variables), "k");
  const code::WarpgroupProduct& product = product_of(kernel);
  machine::ChunkLists lists;
  const auto find = [&](std::uint64_t start) {
    return lists.find(product, MatrixDescriptor({.start = static_cast<std::uint32_t>(16 * start), .leading = 128, .stride = 256}).encode(),
                      0);
  };
  const machine::ProductChunkList first = find(0);
  for (std::uint64_t i = 1; i < 1024; ++i) find(i);  // as many as there may be
  CHECK(find(0) == first);
  CHECK(first.use_count() == 0);  // no thread waits to count its owners
  CHECK(first->a[1].addresses == product.instruction.a_chunks(MatrixDescriptor({.leading = 128, .stride = 256}).encode(), 1));
  const machine::ProductChunkList other = find(1024);
  CHECK(other->a[0].first == 16 * 1024);
  CHECK(other.use_count() == 1);
  CHECK(find(1024) != other);
  CHECK(find(1023) == find(1023));
}

TEST_CASE("threads find the same chunks of a product", "[machine][wgmma]") {
  const Kernel kernel(word_kernel(text_of("0x3c003c00", product(up)), "sm_90a", variables), "k");
  const code::WarpgroupProduct& product = product_of(kernel);
  constexpr std::size_t threads = 4, descriptors = 1000;
  machine::ChunkLists lists;
  std::vector<std::vector<machine::ProductChunkList>> found(threads);
  std::vector<std::thread> all;
  for (auto& own : found)
    all.emplace_back([&lists, &product, &own] {
      for (std::uint64_t i = 0; i < descriptors; ++i) own.push_back(lists.find(product, i, 0));
    });
  for (std::thread& thread : all) thread.join();
  for (const auto& own : found) CHECK(own == found.front());
  for (std::uint64_t i = 0; i < descriptors; i += 100) CHECK(found.front()[i]->a[2].addresses == product.instruction.a_chunks(i, 2));
}

}  // namespace
}  // namespace warpmat::wgmma_operands_test
