#include <fstream>
#include <iterator>
#include <string>

#include "catch.h"
#include "paths.h"

namespace {

std::string read(const std::string& name) {
  std::ifstream file(source_path(name));
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("the README shows the example that the tests compile") {
  CHECK(read("README.md").find(read("tests/readme_example.cpp")) != std::string::npos);
}
