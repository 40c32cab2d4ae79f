#include <fstream>
#include <iterator>
#include <string>

#include <fmt/core.h>

#include <warpmat/version.h>

#include "catch.h"
#include "paths.h"

namespace warpmat::version_test {

TEST_CASE("CITATION.cff names the version that version.h has", "[structure]") {
  std::ifstream in(source_path("CITATION.cff"));
  const std::string text(std::istreambuf_iterator<char>(in), {});
  CHECK(text.find(fmt::format("\nversion: {}\n", warpmat::version())) != std::string::npos);
}

}  // namespace warpmat::version_test
