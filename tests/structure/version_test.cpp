#include <fstream>
#include <iterator>
#include <string>

#include <fmt/core.h>

#include <warpmat/version.h>

#include "catch.h"
#include "paths.h"

namespace warpmat::version_test {

TEST_CASE("CITATION.cff and vcpkg.json name the version that version.h has", "[structure]") {
  const auto read = [](const char* file) {
    std::ifstream in(source_path(file));
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  CHECK(read("CITATION.cff").find(fmt::format("\nversion: {}\n", warpmat::version())) != std::string::npos);
  CHECK(read("packages/vcpkg/vcpkg.json").find(fmt::format("\"version\": \"{}\"", warpmat::version())) != std::string::npos);
}

}  // namespace warpmat::version_test
