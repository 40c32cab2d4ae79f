#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "catch.h"
#include "paths.h"
#include "structure/source_files.h"

namespace warpmat::api_table_test {

// docs/reference/api.md, C++ and C side by side: what it names is in the headers.

namespace {

struct Words {
  std::set<std::string> cpp, c;
};

/// All words of the public headers.
Words header_words() {
  static const std::regex word(R"re(\w+)re");
  const std::string folder = "emulator/warpmat/";
  Words words;
  for (const SourceFile& file : public_headers()) {
    const std::string name = file.path.substr(folder.size());
    std::set<std::string>& of = name == "c.h" || name.starts_with("c_") ? words.c : words.cpp;
    for (std::sregex_iterator match(file.text.begin(), file.text.end(), word), end; match != end; ++match) of.insert(match->str());
  }
  return words;
}

/// What stands in backquotes in a cell, but commands.
std::vector<std::string> quoted(const std::string& cell) {
  static const std::regex quote(R"re(`([^` ]+)`)re");
  std::vector<std::string> all;
  for (std::sregex_iterator match(cell.begin(), cell.end(), quote), end; match != end; ++match) all.push_back((*match)[1]);
  return all;
}

/// Whether C has `name`: a name behind `warpmat_`, a member, or "_decode", which takes the place of the end of the name before.
bool in_c(const std::string& name, const std::string& before, const Words& words) {
  if (!name.starts_with('_')) return words.c.contains("warpmat_" + name) || words.c.contains(name);
  for (std::size_t end = before.size(); end != std::string::npos && end != 0; end = before.rfind('_', end - 1))
    if (words.c.contains("warpmat_" + before.substr(0, end) + name)) return true;
  return false;
}

/// What is wrong in a row of the table.
std::vector<std::string> wrong_in(const std::string& cpp, const std::string& c, const Words& words) {
  std::vector<std::string> wrong;
  for (const std::string& name : quoted(cpp)) {
    const std::size_t scope = name.rfind("::");
    if (name != "dot.h" && !words.cpp.contains(scope == std::string::npos ? name : name.substr(scope + 2))) wrong.push_back(name);
  }
  if (c.starts_with(" none") && !c.starts_with(" none, because ")) wrong.push_back(c);
  std::string before;
  for (const std::string& name : quoted(c)) {
    if (!in_c(name, before, words)) wrong.push_back(name);
    if (!name.starts_with('_')) before = name;
  }
  return wrong;
}

}  // namespace

TEST_CASE("what the table of C++ and C names is in the headers", "[structure]") {
  const Words words = header_words();
  std::ifstream file(source_path("docs/reference/api.md"));
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  static const std::regex row(R"re(\|([^|]+)\|([^|]+)\|)re");
  std::istringstream in(page.substr(page.find("| C++ | C |")));
  std::size_t rows = 0;
  std::vector<std::string> wrong;
  for (std::string line; std::getline(in, line);)
    if (std::smatch match; std::regex_match(line, match, row)) {
      ++rows;
      std::ranges::copy(wrong_in(match[1], match[2], words), std::back_inserter(wrong));
    }
  CHECK(rows > 50);
  CHECK(fmt::format("{}", fmt::join(wrong, "\n")) == "");
}

TEST_CASE("a name that no header has is found in a row", "[structure]") {
  const Words words{{"First", "second"}, {"warpmat_first", "warpmat_first_third", "member"}};
  CHECK(wrong_in(" `First`, `First::second` ", " `first`, `_third`, `first`'s `member` ", words).empty());
  CHECK(wrong_in(" `First::third` ", " `_third`, `second` ", words) == std::vector<std::string>{"First::third", "_third", "second"});
  CHECK(wrong_in(" `second` ", " none: it is not there ", words).size() == 1);
  CHECK(wrong_in(" `second` ", " none, because `warpmat cuda` has it ", words).empty());
}

}  // namespace warpmat::api_table_test
