#include "tools/lab/report/published_page.h"

#include "test.h"

namespace warpmat::published_page_test {
namespace {

const PublishedProducts& products(const std::vector<PublishedProducts>& all, const std::string& gpu, const std::string& opcode) {
  const auto found = std::ranges::find_if(all, [&](const PublishedProducts& p) { return p.gpu == gpu && p.form->opcode == opcode; });
  REQUIRE(found != all.end());
  return *found;
}

TEST_CASE("published products refute a wrong number of fraction bits, and cannot see a floor or a NaN's rule", "[tools]") {
  const std::vector<PublishedProducts> all = read_published(source_path("tests/vectors/published"));
  const PublishedVerdict verdict = verdict_on(products(all, "A100", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"));
  const auto has = [](const std::vector<std::string>& changes, const std::string& change) {
    return std::ranges::find(changes, change) != changes.end();
  };
  for (const char* change : {"fraction_bits+1", "fraction_bits-1", "result_nearest", "cut_nearest"}) {
    CAPTURE(change);
    CHECK(has(verdict.refuted, change));
  }
  for (const char* change : {"nan_payload_kept", "infinity_times_zero_ignored", "opposite_infinities_positive"}) {
    CAPTURE(change);
    CHECK(has(verdict.not_refuted, change));
  }
}

}  // namespace
}  // namespace warpmat::published_page_test
