#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "catch.h"
#include "paths.h"

namespace warpmat::readme_test {

namespace {

std::string read_path(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string read(const std::string& name) {
  return read_path(source_path(name));
}

/// "#how-far-to-trust-a-bit" and so on: the anchors that a page's headings have where it is shown.
std::set<std::string> headings(const std::string& page) {
  std::set<std::string> all;
  std::istringstream in(page);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("#")) continue;
    std::string anchor = "#";
    for (const char c : line.substr(std::min(line.find(' ') + 1, line.size()))) {
      if (c == ' ') anchor += '-';
      if (c == '-' || c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0)
        anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    all.insert(anchor);
  }
  return all;
}

}  // namespace

TEST_CASE("documents show the examples that the tests compile") {
  CHECK(read("README.md").find(read("tests/readme_example.cpp")) != std::string::npos);
  CHECK(read("docs/use/unit_test.md").find(read("tests/readme_launch_example.cpp")) != std::string::npos);
}

TEST_CASE("the README has at most 120 lines") {
  const std::string text = read("README.md");
  CHECK(std::count(text.begin(), text.end(), '\n') <= 120);
}

// Every document can be found: docs/README.md links each page, and every relative link of a document leads to a file.
TEST_CASE("docs/README.md links every page of docs") {
  const std::filesystem::path docs = source_path("docs");
  const std::string index = read("docs/README.md");
  for (const auto& entry : std::filesystem::directory_iterator(docs)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".md" || name == "README.md") continue;
    CAPTURE(name);
    CHECK(index.find("](" + name + ")") != std::string::npos);
  }
  const std::string guide = read("docs/use/README.md");
  for (const auto& entry : std::filesystem::directory_iterator(docs / "guide")) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".md" || name == "README.md") continue;
    CAPTURE(name);
    CHECK(guide.find("](" + name + ")") != std::string::npos);
  }
}

TEST_CASE("links between documents lead to files and headings") {
  std::vector<std::filesystem::path> pages{source_path("README.md"), source_path("CONTRIBUTING.md")};
  for (const char* const folder : {"docs", "examples"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source_path(folder)))
      if (entry.path().extension() == ".md") pages.push_back(entry.path());
  const std::regex link(R"(\]\(([^)#\s]*)(#[^)\s]*)?\))");
  std::size_t links = 0;
  for (const std::filesystem::path& page : pages) {
    const std::string text = read_path(page);
    for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it) {
      const std::string file = (*it)[1], heading = (*it)[2];
      if (file.starts_with("http")) continue;
      CAPTURE(page.string(), file, heading);
      const std::filesystem::path to = file.empty() ? page : page.parent_path() / file;
      CHECK(std::filesystem::exists(to));
      if (!heading.empty() && to.extension() == ".md" && std::filesystem::exists(to)) CHECK(headings(read_path(to)).count(heading) == 1);
      ++links;
    }
  }
  CHECK(links > 100);
}

}  // namespace warpmat::readme_test
