
#include "gpu/recordings/published.h"
#include "numeric/published.h"
#include "test.h"

namespace warpmat::published_test {
namespace {

using enum Format;

/// What others published: results of one GPU with multiplicands of some formats, in f32 and f16. The figures are those of the source, typed
/// here.
struct Gpu {
  std::string_view name, target;
  std::vector<Format> formats;
  std::vector<Format> fp8_results = {};  ///< f16 has results in f32 and f16, bf16 and tf32 in f32
};

const Gpu gpus[] = {{"V100", "sm_70", {f16}},
                    {"A100", "sm_80", {f16, bf16, tf32}},
                    {"A2", "sm_86", {f16, bf16, tf32}},
                    {"Ada", "sm_89", {f16, bf16, tf32, e4m3, e5m2}, {f32, f16}},
                    {"L40S", "sm_89", {f16, bf16, tf32, e4m3, e5m2}, {f32}},
                    {"H100", "sm_90", {f16, bf16, tf32, e4m3, e5m2}, {f16}},
                    {"H200", "sm_90", {f16, bf16, tf32, e4m3, e5m2}, {f16}},
                    {"B200", "sm_100", {f16, bf16, tf32, e4m3, e5m2}, {f32, f16}}};

std::vector<Format> results(const Gpu& gpu, Format format) {
  if (row(format).bits == 8) return gpu.fp8_results;
  return format == f16 ? std::vector{f32, f16} : std::vector{f32};
}

const PublishedProducts* find(const std::vector<PublishedProducts>& all, const Gpu& gpu, Format format, Format result) {
  const auto found = std::ranges::find_if(all, [&](const PublishedProducts& p) {
    return p.gpu == gpu.name && p.form->format(OperandName::a) == format && p.form->format(OperandName::d) == result;
  });
  return found == all.end() ? nullptr : &*found;
}

constexpr std::size_t sample_lines = 1000;
constexpr std::size_t kinds = 44;  ///< GPU, multiplicands and result

TEST_CASE("mma returns what published outputs of real GPUs say, bit for bit, by both paths", "[vectors]") {
  const std::vector<PublishedProducts> all = read_published(source_path("tests/vectors/published"));
  CHECK(all.size() == kinds);
  std::size_t compared = 0;
  for (const Gpu& gpu : gpus)
    for (const Format format : gpu.formats)
      for (const Format result : results(gpu, format)) {
        const PublishedProducts* published = find(all, gpu, format, result);
        CAPTURE(gpu.name, row(format).name, row(result).name);
        REQUIRE(published != nullptr);
        CHECK(published->target == &target(gpu.target));
        CHECK(find_lowering(*published->form, published->target->hardware)->evidence >= Evidence::replayed);
        Tally tally;
        for (const Path path : {Path::fast, Path::reference}) compare(*published, path, tally);
        CHECK(tally.failures() == "");
        CHECK(tally.comparisons() == 2 * sample_lines);
        compared += tally.comparisons();
      }
  CHECK(compared == 2 * kinds * sample_lines);
}

TEST_CASE("mma returns what others printed of RTX cards, bit for bit, by both paths", "[vectors]") {
  std::size_t products = 0;
  for (const PublishedProducts& published : read_published(source_path("tests/vectors/printed"))) {
    CAPTURE(published.gpu, published.form->opcode);
    CHECK(find_lowering(*published.form, published.target->hardware)->evidence >= Evidence::replayed);
    Tally tally;
    for (const Path path : {Path::fast, Path::reference}) compare(published, path, tally);
    CHECK(tally.failures() == "");
    products += published.products.size();
  }
  CHECK(products == 93);
}

}  // namespace
}  // namespace warpmat::published_test
