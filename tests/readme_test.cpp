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

TEST_CASE("the README shows the examples that the tests compile") {
  for (const char* const example : {"tests/readme_example.cpp", "tests/readme_launch_example.cpp"})
    CHECK(read("README.md").find(read(example)) != std::string::npos);
}
