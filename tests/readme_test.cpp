
#include "test.h"

namespace warpmat::readme_test {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(source_path(path.string()));
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("documents show the examples that the tests compile") {
  CHECK(read("docs/use/unit_test.md").find(read("tests/readme_example.cpp")) != std::string::npos);
  CHECK(read("docs/use/unit_test.md").find(read("tests/readme_launch_example.cpp")) != std::string::npos);
}

// Every document can be found from docs/README.md. That links lead somewhere, tools/links checks.
TEST_CASE("docs/README.md links every page of docs") {
  const std::string index = read("docs/README.md");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_path("docs"))) {
    if (entry.path().extension() != ".md") continue;
    const std::string name = std::filesystem::relative(entry.path(), source_path("docs")).string();
    if (name == "README.md" || name.starts_with("adr/")) continue;
    CAPTURE(name);
    CHECK(index.find("](" + name + ")") != std::string::npos);
  }
}

// Each line that the worked change adds is in the file that it names.
TEST_CASE("the worked change of docs/inside/contributing.md is in the sources") {
  const std::string page = read("docs/inside/contributing.md");
  std::istringstream diff(page.substr(page.find("```diff\n"), page.find("```\n", page.find("```diff\n") + 1) - page.find("```diff\n")));
  std::string file;
  std::size_t lines = 0;
  for (std::string line; std::getline(diff, line);) {
    if (line.starts_with("+++ b/")) {
      file = read(line.substr(6));
    } else if (line.starts_with("+")) {
      CAPTURE(line);
      CHECK(file.find(line.substr(1) + "\n") != std::string::npos);
      ++lines;
    }
  }
  CHECK(lines == 8);
}

}  // namespace
}  // namespace warpmat::readme_test
