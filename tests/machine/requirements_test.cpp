// Statements that the machine executes itself, by the targets that ptxas 13.0 takes them for.

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::requirements_test {
namespace {

/// What is wrong with `statement` on `target`, or "nothing".
std::string refusal(const std::string& statement, std::string_view target) {
  return message_of([&] { words_of(word_kernel("mov.f32 %f1, 0f00000000; " + statement, target), {1}, {32}); });
}

TEST_CASE("redux of f32 exists on the family of sm_100, of integers from sm_80 on", "[machine]") {
  for (const char* target : {"sm_100a", "sm_100f", "sm_103a"}) CHECK(refusal("redux.sync.min.f32 %f0, %f1, -1;", target) == "nothing");
  for (const char* target : {"sm_90a", "sm_100", "sm_110a", "sm_120a"})
    CHECK(refusal("redux.sync.min.f32 %f0, %f1, -1;", target).find("redux.sync.min.f32 needs sm_100a") != std::string::npos);
  CHECK(refusal("redux.sync.add.u32 %r0, %r1, -1;", "sm_80") == "nothing");
  CHECK(refusal("redux.sync.add.u32 %r0, %r1, -1;", "sm_75").find("needs sm_80") != std::string::npos);
}

TEST_CASE("fences of proxies are taken where they exist", "[machine]") {
  for (const char* fence :
       {"fence.mbarrier_init.release.cluster;", "fence.proxy.async;", "fence.proxy.async.shared::cta;",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;", "fence.proxy.tensormap::generic.release.gpu;"}) {
    INFO(fence);
    CHECK(refusal(fence, "sm_90") == "nothing");
    CHECK(refusal(fence, "sm_80").find("needs sm_90") != std::string::npos);
  }
  CHECK(refusal("fence.proxy.alias;", "sm_75") == "nothing");
}

}  // namespace
}  // namespace warpmat::requirements_test
