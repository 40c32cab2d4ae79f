#include <algorithm>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "catch.h"
#include "structure/source_files.h"

namespace warpmat::public_types_test {

// What a public header declares for its users names types that they can have: those that a public header defines. A type that is declared
// alone, because a private member has it, and all that lies in a namespace of the library's inside is no part of a signature.

namespace {

/// The names of types that `pattern` finds in the headers.
std::set<std::string> names_in(const std::vector<SourceFile>& headers, const std::regex& pattern) {
  std::set<std::string> names;
  for (const SourceFile& header : headers)
    for (std::sregex_iterator match(header.text.begin(), header.text.end(), pattern), end; match != end; ++match) names.insert((*match)[1]);
  return names;
}

/// Types that are declared and not defined: users cannot have them.
std::set<std::string> types_without_definition(const std::vector<SourceFile>& headers) {
  static const std::regex declared(R"re(\n *(?:class|struct) (\w+);)re"),
      defined(R"re(\n *(?:typedef )?(?:class|struct) (?:WARPMAT_API )?(\w+)[^;{(]*\{)re");
  std::set<std::string> names = names_in(headers, declared);
  for (const std::string& name : names_in(headers, defined)) names.erase(name);
  return names;
}

/// The lines of a header that its users may use: without comments, private members, friends and declarations of types.
std::vector<std::string> public_lines(const std::string& text) {
  static const std::regex access(R"re(( *) (private|public|protected):)re"), declaration(R"re( *(class|struct) \w+; *)re");
  std::vector<std::string> lines;
  std::string hidden_until;  // the line that ends the class whose private members follow
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    line.resize(std::min(line.size(), line.find("//")));
    if (std::smatch match; std::regex_match(line, match, access)) {
      const std::string end_of_class = match[1].str() + "};";
      if (hidden_until.empty() || hidden_until == end_of_class) hidden_until = match[2] == "private" ? end_of_class : "";
    } else if (line == hidden_until && !hidden_until.empty()) {
      hidden_until.clear();
    } else if (hidden_until.empty() && !std::regex_match(line, declaration) && line.find("friend ") == std::string::npos) {
      lines.push_back(line);
    }
  }
  return lines;
}

/// The lines of a header that name what its users cannot have.
std::vector<std::string> wrong_lines(const SourceFile& header, const std::set<std::string>& without_definition) {
  const std::regex inside(fmt::format(R"re(\b((code|syntax|catalogue|cuda|Internals)::\w|({})\b))re", fmt::join(without_definition, "|")));
  std::vector<std::string> wrong;
  for (const std::string& line : public_lines(header.text))
    if (line.find("namespace ") == std::string::npos && std::regex_search(line, inside)) wrong.push_back(header.path + ": " + line);
  return wrong;
}

}  // namespace

TEST_CASE("public headers have no internal type in what users see", "[structure]") {
  const std::vector<SourceFile> headers = public_headers();
  const std::set<std::string> without_definition = types_without_definition(headers);
  CHECK(without_definition.contains("Texture"));  // of a private member
  CHECK_FALSE(without_definition.contains("DeviceMemory"));
  std::vector<std::string> wrong;
  for (const SourceFile& header : headers) std::ranges::copy(wrong_lines(header, without_definition), std::back_inserter(wrong));
  CHECK(fmt::format("{}", fmt::join(wrong, "\n")) == "");
}

/// The lines of a header whose comments name a file in a folder of the library, or of the tools, which users do not have.
std::vector<std::string> lines_with_internal_files(const SourceFile& header) {
  static const std::regex file(R"re((^|[^\w/<.])[a-z_]\w*/[\w/-]*\w(\.(h|cpp|inc|py)\b|/[ ,;.)]))re");
  std::vector<std::string> wrong;
  std::istringstream in(header.text);
  for (std::string line; std::getline(in, line);)
    if (!line.starts_with("#include") && std::regex_search(line, file)) wrong.push_back(header.path + ": " + line);
  return wrong;
}

TEST_CASE("public headers name no internal file", "[structure]") {
  std::vector<std::string> wrong;
  for (const SourceFile& header : public_headers()) std::ranges::copy(lines_with_internal_files(header), std::back_inserter(wrong));
  CHECK(fmt::format("{}", fmt::join(wrong, "\n")) == "");
}

TEST_CASE("an internal file in a public header is found", "[structure]") {
  const SourceFile header{"x.h",
                          "#include <warpmat/layout.h>\n"
                          "// numeric/matrix_unit.h has a function for each line.\n"
                          "// ticks (machine/ticks.h); see execute/fast/float_dot-inl.h\n"
                          "int fast;  ///< a row of tables/lowering.cpp\n"
                          "// docs/reference/numerics.md, observer.h, and 1/x.\n"};
  CHECK(lines_with_internal_files(header).size() == 3);
}

TEST_CASE("an internal type in what users see is found", "[structure]") {
  const SourceFile header{"x.h",
                          "\nclass Inside;\n"
                          "class WARPMAT_API Shown {\n public:\n"
                          "  Inside& first();\n"
                          "  const code::Program& second() const;  // Inside\n"
                          "  class Nested {\n    Inside* third();\n\n   private:\n    Inside* kept_;\n  };\n"
                          "  Inside fourth;\n"
                          " private:\n  friend struct Inside;\n  Inside* kept_;\n};\n"
                          "void take(const Inside& fifth);\n"};
  CHECK(types_without_definition({header}) == std::set<std::string>{"Inside"});
  const std::vector<std::string> wrong = wrong_lines(header, types_without_definition({header}));
  CHECK(wrong.size() == 5);
}

}  // namespace warpmat::public_types_test
