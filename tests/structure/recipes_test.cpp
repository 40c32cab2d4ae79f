#include <regex>

#include <warpmat/version.h>

#include "test.h"
#include "tools/command.h"

// What other package managers are told of the project, against what its CMake files say.

namespace warpmat::recipes_test {
namespace {

namespace fs = std::filesystem;

/// A library that CMake looks for, and its name in each list; "" where the list is of the libraries alone, which do not need it.
struct Dependency {
  const char *cmake, *debian, *conda, *conan, *vcpkg;
};
constexpr Dependency dependencies[] = {
    {"fmt", "libfmt-dev", "fmt", "fmt", "fmt"},
    {"hwy", "libhwy-dev", "libhwy", "highway", "highway"},
    {"Eigen3", "libeigen3-dev", "eigen", "eigen", "eigen3"},
    {"TBB", "libtbb-dev", "tbb-devel", "", ""},
    {"CLI11", "libcli11-dev", "cli11", "", ""},
    {"nlohmann_json", "nlohmann-json3-dev", "nlohmann_json", "", ""},
    {"ZLIB", "zlib1g-dev", "zlib", "", ""},
    {"zstd", "libzstd-dev", "zstd", "", ""},
    {"lz4", "liblz4-dev", "lz4-c", "", ""},
    {"pybind11", "pybind11-dev", "pybind11", "", ""},
    {"asmjit", "libasmjit-dev", "", "", ""},  // without it kernels are interpreted
};

/// Of the system or the compiler, or looked for where it makes a test or a page more.
const std::set<std::string> of_the_system = {"Threads", "Python", "Python3"};

std::vector<std::string> matches(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> all;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) all.push_back((*match)[1]);
  return all;
}

/// The CMake files of what is installed.
std::string cmake_files() {
  std::string text;
  for (const char* file : {"CMakeLists.txt", "emulator/CMakeLists.txt", "emulator/warpmat/cuda/CMakeLists.txt", "gpu/CMakeLists.txt",
                           "tools/CMakeLists.txt", "python/CMakeLists.txt"})
    text += read_text(source_path(file));
  return text;
}

bool has_word(const std::string& text, const std::string& word) {
  return word.empty() || std::regex_search(text, std::regex("(^|[\\s\"(])" + word + "($|[\\s\"/)])"));
}

TEST_CASE("CITATION.cff and vcpkg.json name the version that version.h has", "[structure]") {
  CHECK_THAT(read_text(source_path("CITATION.cff")), ContainsSubstring(fmt::format("\nversion: {}\n", warpmat::version())));
  CHECK_THAT(read_text(source_path("packages/vcpkg/vcpkg.json")),
             ContainsSubstring(fmt::format("\"version\": \"{}\"", warpmat::version())));
}

TEST_CASE("lists of dependencies have every library that CMake looks for", "[structure]") {
  std::set<std::string> known = of_the_system;
  for (const Dependency& dependency : dependencies) {
    known.insert(dependency.cmake);
    CAPTURE(dependency.cmake);
    CHECK(has_word(read_text(source_path("tools/install-packages")), dependency.debian));
    CHECK(has_word(read_text(source_path("packages/conda/meta.yaml")), dependency.conda));
    CHECK(has_word(read_text(source_path("packages/conan/conanfile.py")), dependency.conan));
    CHECK(has_word(read_text(source_path("packages/vcpkg/vcpkg.json")), dependency.vcpkg));
  }
  const std::vector<std::string> found = matches(cmake_files(), std::regex(R"(find_(?:package\(|library\(\w+ )(\w+))"));
  CHECK(found.size() > std::size(dependencies));
  for (const std::string& package : found) CHECK((known.contains(package) ? "" : package) == "");
}

TEST_CASE("options that recipes and workflows set are options of CMake", "[structure]") {
  const std::string cmake =
      cmake_files() + read_text(source_path("tools/command_line/shell_files.cmake")) + read_text(source_path("tests/CMakeLists.txt"));
  std::vector<fs::path> files = {source_path("setup.py"), source_path("packages/vcpkg/portfile.cmake"),
                                 source_path("packages/conda/meta.yaml"), source_path("CMakePresets.json")};
  for (const fs::directory_entry& entry : fs::directory_iterator(source_path(".github/workflows"))) files.push_back(entry.path());
  std::size_t options = 0;
  for (const fs::path& file : files)
    for (const std::string& option : matches(read_text(file), std::regex(R"((?:-D|")(WARPMAT_[A-Z_]+)[=":])"))) {
      CAPTURE(file, option);
      CHECK(std::regex_search(cmake, std::regex(R"((option|set)\()" + option + "\\b")));
      ++options;
    }
  CHECK(options > 20);
}

TEST_CASE("scripts and presets that workflows name exist", "[structure]") {
  std::vector<fs::path> files = {source_path(".devcontainer/devcontainer.json"), source_path("Dockerfile"), source_path(".ci/run")};
  for (const fs::directory_entry& entry : fs::directory_iterator(source_path(".github/workflows"))) files.push_back(entry.path());
  const std::string presets = read_text(source_path("CMakePresets.json"));
  std::size_t scripts = 0;
  for (const fs::path& file : files) {
    CAPTURE(file);
    const std::string text = read_text(file);
    for (const std::string& script : matches(text, std::regex(R"((?:^|[ "/])((?:tools|tests|python)/[\w/.-]+))"))) {
      CAPTURE(script);
      CHECK(fs::exists(source_path(script)));
      ++scripts;
    }
    for (const std::string& preset : matches(text, std::regex(R"((?:--preset |preset: )(\w+))")))
      CHECK_THAT(presets, ContainsSubstring(fmt::format("\"name\": \"{}\"", preset)));
  }
  CHECK(scripts > 20);
}

}  // namespace
}  // namespace warpmat::recipes_test
