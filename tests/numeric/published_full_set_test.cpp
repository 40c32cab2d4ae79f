// The full set of the published results that tests/vectors/published has a sample of: an extra, built where WARPMAT_TEST_INPUTS has it. The
// sample is what the labels rest on.

#include "compressed_table.h"
#include "numeric/published.h"
#include "test.h"

namespace warpmat::published_full_set_test {
namespace {

using enum Format;

constexpr std::size_t full_lines = 2500;

/// A line of the full set: f32 bit patterns, "-" for a result that there is not.
std::vector<std::uint64_t> codes(Format format, const std::string& list) {
  std::vector<std::uint64_t> all;
  std::istringstream words(list);
  for (std::string word; words >> word;) all.push_back(from_double(format, to_double(f32, std::stoull(word, nullptr, 16))));
  return all;
}

/// The full set's products of one GPU; the sample has some of them.
std::vector<PublishedProducts::Product> full_set(const std::string& file, Format format, Format result) {
  std::vector<PublishedProducts::Product> products;
  for (const auto& fields : read_table(file))
    products.push_back({codes(format, fields.at(0)), codes(format, fields.at(1)), codes(result, fields.at(2)).front(),
                        codes(result, fields.at(result == f32 ? 3 : 4)).front()});
  return products;
}

TEST_CASE("the full set of published outputs agrees too, and has the sample in it", "[vectors]") {
  std::vector<PublishedProducts> all = read_published(source_path("tests/vectors/published"));
  for (PublishedProducts& published : all) {
    const Format format = published.form->format(OperandName::a), result = published.form->format(OperandName::d);
    CAPTURE(published.gpu, row(format).name, row(result).name);
    auto products =
        full_set(fmt::format("{}/vectors/published/{}_{}.tsv.gz", test_inputs_path(), published.gpu, row(format).name), format, result);
    CHECK(products.size() == full_lines);
    CHECK(std::equal(published.products.begin(), published.products.end(), products.begin()));
    published.products = std::move(products);
    Tally tally;
    compare(published, Path::fast, tally);
    CHECK(tally.failures() == "");
    CHECK(tally.comparisons() == full_lines);
  }
}

}  // namespace
}  // namespace warpmat::published_full_set_test
