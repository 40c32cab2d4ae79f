#include "test.h"

#include <warpmat/warpmat.h>

#include "programs/published_examples.h"

namespace warpmat::programs_test {

TEST_CASE("the programs compute what is published") {
  std::size_t compared = 0;
  for (const Example& example : run_published_examples(source_path("tests/programs")))
    for (const Comparison& comparison : example.comparisons) {
      INFO(example.title << ": " << comparison.what);
      CHECK(comparison.difference == "");
      ++compared;
    }
  CHECK(compared == 17);
}

}  // namespace warpmat::programs_test
