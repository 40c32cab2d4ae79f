// Loads, stores and atomics of scope .cta: they order the warps of a block, and nothing among blocks.

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::block_scope_test {
namespace {

constexpr std::uint64_t enough_operations = 1'000'000;

/// What a block of two warps with all checks on ends with, in an order of its warps. %r10 and %l10 have the shared and generic address of
/// `word`, which is 0; `data` lies beside it. Warp 1 executes `sends`, warp 0 `receives`.
std::string end_of(const std::string& sends, const std::string& receives, std::uint64_t schedule) {
  const Module module = word_kernel(
      ".shared .align 4 .b32 word; .shared .align 4 .b32 data; mov.u32 %r10, word; cvt.u64.u32 %l10, %r10; "
      "cvta.shared.u64 %l10, %l10; setp.eq.u32 %p0, %i, 0; @%p0 st.shared.u32 [word], 0; bar.sync 0; "
      "setp.lt.u32 %p0, %i, 32; @%p0 bra RECEIVES; setp.eq.u32 %p1, %i, 32; " +
      sends + " bra END; RECEIVES: " + receives + " END:");
  return message_of([&] {
    words_of(
        module, {1}, {64},
        {.schedule = schedule, .most_operations = enough_operations, .checks = {.uninitialised = true, .copies = true, .races = true}});
  });
}

std::string wait_with(const std::string& load) {
  return fmt::format("LOOP: {} setp.ne.u32 %p2, %r0, 1; @%p2 bra LOOP; ", load);
}

const std::string store_data = "@%p1 st.shared.u32 [data], 17; ", load_data = "ld.shared.u32 %d, [data]; ";

TEST_CASE("A release of scope .cta orders the accesses before it for the warp that acquires", "[machine][checks][races]") {
  for (const std::string release :
       {"@%p1 st.release.cta.shared.u32 [word], 1; ", "@%p1 st.release.cta.u32 [%l10], 1; ",
        "@%p1 st.release.cta.shared::cta.u32 [word], 1; ", "fence.acq_rel.cta; @%p1 st.relaxed.cta.shared.u32 [word], 1; ",
        "@%p1 atom.or.acq_rel.cta.b32 %r1, [%l10], 1; ", "@%p1 red.release.cta.shared.add.u32 [word], 1; "})
    for (const std::string acquire :
         {"ld.acquire.cta.shared.u32 %r0, [word];", "ld.acquire.cta.u32 %r0, [%l10];", "ld.acquire.cta.shared::cta.u32 %r0, [word];",
          "ld.relaxed.cta.shared.u32 %r0, [word]; fence.acq_rel.cta;", "atom.or.acq_rel.cta.b32 %r0, [%l10], 0;"})
      for (const std::uint64_t schedule : {0u, 1u, 2u}) {
        INFO(release << acquire << " schedule " << schedule);
        CHECK(end_of(store_data + release, wait_with(acquire) + load_data, schedule) == "nothing");
        CHECK_THAT(end_of(release + store_data, wait_with(acquire) + load_data, schedule),
                   ContainsSubstring("bytes into 'data'") && ContainsSubstring("nothing orders this"));
      }
}

TEST_CASE("A plain access races with accesses of scope .cta to its word", "[machine][checks][races]") {
  struct Case {
    std::string sends, receives;
  };
  for (const Case& c : {Case{"@%p1 st.release.cta.shared.u32 [word], 1;", "ld.shared.u32 %d, [word];"},
                        Case{"@%p1 st.shared.u32 [word], 1;", "ld.acquire.cta.shared.u32 %d, [word];"},
                        Case{"@%p1 st.shared.u32 [word], 1;", "ld.relaxed.cta.u32 %d, [%l10];"},
                        Case{"@%p1 atom.or.acq_rel.cta.b32 %r1, [%l10], 1;", "ld.shared.u32 %d, [word];"},
                        Case{"@%p1 st.release.cta.u32 [%l10], 1;", "setp.eq.u32 %p1, %i, 0; @%p1 st.shared.u32 [word], 2;"}})
    for (const std::uint64_t schedule : {0u, 1u, 2u}) {
      INFO(c.sends << c.receives << " schedule " << schedule);
      CHECK_THAT(end_of(c.sends, c.receives, schedule), ContainsSubstring("is 0 bytes into 'word'"));
    }
}

TEST_CASE("A loop of loads of scope .cta that no store ends is a deadlock in shared memory", "[machine][deadlock]") {
  for (const std::string load : {"ld.acquire.cta.shared.u32 %r0, [word];", "ld.relaxed.cta.u32 %r0, [%l10];"})
    CHECK_THAT(end_of("", wait_with(load), 0), ContainsSubstring("deadlock: no warp of the block can continue"));
}

/// The memory model orders nothing here. A block sees what blocks before it have stored, and is not said to wait for itself where another
/// block may still store.
TEST_CASE("Blocks have no order by accesses of scope .cta to global memory", "[machine][grid]") {
  const auto end = [](const std::string& stores) {
    const Module module =
        word_kernel(fmt::format("setp.{}.u32 %p0, %c, 0; @%p0 bra STORES; LOOP: ld.acquire.cta.global.u32 %d, [flag]; "
                                "setp.ne.u32 %p2, %d, 3; @%p2 bra LOOP; bra END; STORES: st.release.cta.global.u32 [flag], 3; END:",
                                stores),
                    "sm_90", ".global .align 4 .u32 flag = 0;");
    return message_of([&] { words_of(module, {2}, {32}, {.most_operations = enough_operations, .checks = {.races = true}}); });
  };
  CHECK(end("eq") == "nothing");
  CHECK_THAT(end("ne"), ContainsSubstring("1000000"));
}

}  // namespace
}  // namespace warpmat::block_scope_test
