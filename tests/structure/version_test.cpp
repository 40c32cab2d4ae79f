#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <typeinfo>

#include <fmt/core.h>

#include <warpmat/version.h>
#include <warpmat/warp.h>

#include "catch.h"
#include "paths.h"
#include "structure/source_files.h"

namespace warpmat::version_test {

TEST_CASE("CITATION.cff names the version that version.h has", "[structure]") {
  std::ifstream in(source_path("CITATION.cff"));
  const std::string text(std::istreambuf_iterator<char>(in), {});
  CHECK(text.find(fmt::format("\nversion: {}\n", warpmat::version())) != std::string::npos);
}

TEST_CASE("the inline namespace has the version of the binary interface", "[structure]") {
  const std::string space = fmt::format("v{}_{}", WARPMAT_VERSION_MAJOR, WARPMAT_VERSION_MINOR);
  static const std::regex named(R"(namespace warpmat::inline (\w+))"), unnamed(R"(\nnamespace warpmat(::(?!inline )\w+)* \{)");
  std::size_t found = 0;
  for (const auto& [path, text] : source_files({"emulator", "gpu", "tools", "python", "bench"}, {".h", ".cpp"})) {
    INFO(path);
    for (std::sregex_iterator match(text.begin(), text.end(), named), end; match != end; ++match, ++found) CHECK((*match)[1] == space);
    CHECK_FALSE((path.find("/device/") == std::string::npos && std::regex_search(text, unnamed)));
  }
  CHECK(found > 1000);
}

TEST_CASE("the exported names have the version of the binary interface", "[structure]") {
  std::ifstream in(source_path("emulator/exports.map.in"));
  const std::string text(std::istreambuf_iterator<char>(in), {});
  CHECK(text.find(fmt::format("warpmat::v{}_{}::*", WARPMAT_VERSION_MAJOR, WARPMAT_VERSION_MINOR)) != std::string::npos);
}

TEST_CASE("linked names have the version of the binary interface", "[structure]") {
  const std::string mangled = typeid(Trap).name();  // "N7warpmat4v0_14TrapE"
  CHECK(mangled.find(fmt::format("v{}_{}", WARPMAT_VERSION_MAJOR, WARPMAT_VERSION_MINOR)) != std::string::npos);
}

}  // namespace warpmat::version_test
