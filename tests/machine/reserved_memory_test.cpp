// The system's shared memory, %reserved_smem_offset_0 and others: cooperative groups keep the barriers of tiles of several warps there.

#include <warpmat/launch.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::reserved_memory_test {
namespace {

std::vector<std::uint32_t> run(const std::string& body, const std::string& target, std::uint32_t threads, std::uint32_t dynamic_bytes = 0) {
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4 * threads, "out");
  launch(Kernel(Module(word_kernel_text(body, target)), "k"), {.block = {threads}, .shared_bytes = dynamic_bytes}, memory, {out});
  return memory.read<std::uint32_t>(out, threads);
}

TEST_CASE("Warps meet at a word of the system's shared memory, beside the kernel's own", "[machine][shared]") {
  const std::string target = GENERATE("sm_80", "sm_90", "sm_120");
  // Each warp clears its bit, as the word is not initialised, and then sets it. The variable's 64 words keep what the lanes store.
  const std::vector<std::uint32_t> words = run(R"(
    .shared .align 4 .b32 own[64];
    mov.u32 %r0, %reserved_smem_offset_1;
    mov.u32 %r1, own; shl.b32 %r2, %i, 2; add.u32 %r1, %r1, %r2;
    st.shared.u32 [%r1], %i;
    shr.u32 %r3, %i, 5; mov.u32 %r4, 1; shl.b32 %r4, %r4, %r3; not.b32 %r5, %r4;
    and.b32 %r6, %i, 31; setp.eq.u32 %p0, %r6, 0;
    @%p0 red.and.release.cta.shared.b32 [%r0], %r5;
    bar.sync 0;
    @%p0 red.or.release.cta.shared.b32 [%r0], %r4;
    bar.sync 0;
    ld.acquire.cta.shared.u32 %r7, [%r0];
    ld.shared.u32 %r8, [%r1];
    mad.lo.u32 %d, %r7, 1000, %r8;
)",
                                               target, 64);
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(words[i] == 3000 + i);
}

TEST_CASE("The system's shared memory lies where a GPU has it and belongs to no size of the kernel's", "[machine][shared]") {
  const auto read = [](const std::string& value) {
    return run(".shared .align 4 .b32 own[5]; mov.u32 %r0, own; st.shared.u32 [%r0], 1; mov.u32 %r1, %reserved_smem_offset_end;" + value,
               "sm_90", 1, 12)[0];
  };
  CHECK(read("mov.u32 %d, own;") == 1024);  // as on an H100 and an H200
  CHECK(read("mov.u32 %d, %reserved_smem_offset_begin;") == 0);
  CHECK(read("mov.u32 %d, %reserved_smem_offset_end;") == 0x120);  // an H200, with and without a cluster
  CHECK(read("mov.u32 %d, %reserved_smem_offset_cap;") == 1024);
  CHECK(read("mov.u32 %d, %total_smem_size;") == 32);
  CHECK(read("mov.u32 %d, %aggr_smem_size;") == 1024 + 32);
  CHECK(read("mov.u32 %d, %dynamic_smem_size;") == 12);
}

TEST_CASE("A kernel that does not ask for the system's shared memory cannot reach it", "[machine][shared]") {
  CHECK_THROWS_WITH(run("mov.u32 %r0, 0; ld.shared.u32 %d, [%r0];", "sm_90", 1), ContainsSubstring("outside of shared memory"));
  CHECK_THROWS_WITH(run("mov.u32 %r0, %reserved_smem_offset_cap; ld.shared.u32 %d, [%r0];", "sm_90", 1),
                    ContainsSubstring("outside of shared memory"));
}

TEST_CASE("Reports name the system's shared memory", "[machine][shared]") {
  CHECK_THROWS_WITH(run(R"(
    .shared .align 4 .b32 own[4];
    mov.u32 %r1, own; st.shared.u32 [%r1], %i;
    mov.u32 %r0, %reserved_smem_offset_1;
    cp.async.ca.shared.global [%r0], [%out], 4;
    ld.shared.u32 %d, [%r0];
)",
                        "sm_90", 1),
                    ContainsSubstring(" bytes into the system's shared memory") && !ContainsSubstring("shared memory has"));
}

}  // namespace
}  // namespace warpmat::reserved_memory_test
