// Clusters without a warp that can continue: each ends with a report, whether its blocks poll or wait.

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::cluster_deadlock_test {
namespace {

constexpr const char* meet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ";
constexpr const char* wait = "LOOP: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0; @!%p2 bra LOOP; ";

/// What a launch of two blocks of two warps, each with an mbarrier for one arrival, ends with: `first` and `second` are what they do.
std::string end_of(const std::string& first, const std::string& second) {
  const Module module = word_kernel(std::string(".shared .b64 full; mov.u32 %r1, full; mov.u32 %r9, %tid.x; setp.eq.u32 %p1, %r9, 0; ") +
                                    "@%p1 mbarrier.init.shared.b64 [%r1], 1; " + meet +
                                    "mov.u32 %r2, %cluster_ctarank; xor.b32 %r3, %r2, 1; "
                                    "mapa.shared::cluster.u32 %r3, %r1, %r3; setp.eq.u32 %p3, %r2, 1; @%p3 bra SECOND; " +
                                    first + " bra END; SECOND: " + second + " END:");
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4 * 128, "out");
  return message_of(
      [&] { launch(Kernel(module, "k"), {.grid = {2}, .block = {64}, .cluster = {2}}, memory, {out}, {.most_operations = 10'000'000}); });
}

TEST_CASE("A block waits at its mbarrier for another block that never arrives", "[machine][cluster][deadlock]") {
  const std::string wanted =
      "mbarrier 'full' at 0x400: its phase of parity 0 misses 1 of 1 arrivals; no phase has ended, and nothing has come since";
  for (const std::string other : {"exit;", meet, "bar.sync 1, 128;"}) {
    INFO(other);
    for (const auto& message : {end_of(wait, other), end_of(other, wait)}) {
      CHECK_THAT(message, ContainsSubstring("deadlock: no warp of the cluster can continue"));
      CHECK_THAT(message, ContainsSubstring(wanted));
    }
  }
}

TEST_CASE("One warp of a block waits at an mbarrier, the other one at a barrier or not at all", "[machine][cluster][deadlock]") {
  const std::string one = "setp.lt.u32 %p4, %r9, 32; @%p4 bra AWAY; " + std::string(wait);
  for (const std::string rest : {"AWAY: bar.sync 0;", "bar.sync 0; AWAY: exit;", "AWAY: exit;"}) {
    INFO(rest);
    CHECK_THAT(end_of(one + rest, "exit;"), ContainsSubstring("deadlock: no warp of the cluster can continue"));
  }
}

TEST_CASE("Blocks that wait for each other's arrival are a deadlock, with an arrival they are none", "[machine][cluster][deadlock]") {
  CHECK_THAT(end_of(wait, wait), ContainsSubstring("deadlock: no warp of the cluster can continue"));
  const std::string arrive = "@%p1 mbarrier.arrive.shared::cluster.b64 _, [%r3]; ";
  CHECK(end_of(arrive + wait + meet, arrive + "LOOP2: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0; @!%p2 bra LOOP2; " + meet) ==
        "nothing");
}

TEST_CASE("A loop that counts its tests is no deadlock before it ends", "[machine][deadlock]") {
  const auto found = words_of(word_kernel(".shared .b64 full; mov.u32 %r1, full; setp.eq.u32 %p1, %i, 0; "
                                          "@%p1 mbarrier.init.shared.b64 [%r1], 64; bar.sync 0; "
                                          "LOOP: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0; add.u32 %d, %d, 1; "
                                          "setp.lt.and.u32 %p3, %d, 5000, !%p2; @%p3 bra LOOP;"),
                              {1}, {32});
  CHECK(found == std::vector<std::uint32_t>(32, 5000));
}

}  // namespace
}  // namespace warpmat::cluster_deadlock_test
