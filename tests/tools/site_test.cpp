// The page of `warpmat site` as files. How it looks and answers in a browser: site_in_browser.py.

#include <warpmat/forms.h>
#include <warpmat/wgmma.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "test.h"

namespace warpmat::site_test {
namespace {

using Json = nlohmann::json;

/// The value that tables.js gives to `tables`.
Json tables_of(const std::string& script) {
  const std::string start = "const tables = ";
  const std::size_t from = script.find(start), to = script.rfind(";\n");
  REQUIRE((from != std::string::npos && to != std::string::npos));
  return Json::parse(script.substr(from + start.size(), to - from - start.size()));
}

TEST_CASE("site writes a page of less than 2 MB that needs nothing else", "[site][tools]") {
  TemporaryDirectory directory;
  const std::string page = directory.path("page");
  const Outcome outcome = run_command({"site", "--out", page});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  std::set<std::string> files;
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(page)) {
    files.insert(entry.path().filename().string());
    bytes += entry.file_size();
    const std::string text = read_text(entry.path());
    CHECK(text.find("http:") == std::string::npos);
    CHECK(text.find("https:") == std::string::npos);
  }
  CHECK(bytes < 2'000'000);
  const std::string index = read_text(page + "/index.html");
  for (const std::string& file : files)
    if (file != "index.html") CHECK(index.find("\"" + file + "\"") != std::string::npos);
  CHECK(run_command({"site", "--out", page}).status == 0);  // writes it anew
}

TEST_CASE("the tables of the page have every form, and no number leads beyond them", "[site][tools]") {
  TemporaryDirectory directory;
  REQUIRE(run_command({"site", "--out", directory.path("page")}).status == 0);
  const Json tables = tables_of(read_text(directory.path("page/tables.js")));
  CHECK(tables.at("forms").size() == forms().size() + wgmma_forms().size());
  for (const Json& form : tables.at("forms")) {
    const Json& need = tables.at("needs").at(form.at(1).get<std::size_t>());
    if (need.at("targets").empty()) FAIL_CHECK(form.at(0) << " has no target");
    for (const Json& number : form.at(2)) {
      const Json& layout = tables.at("layouts").at(tables.at("operands").at(number.get<std::size_t>()).at("layout").get<std::size_t>());
      if (layout.at("rows").get<int>() * layout.at("columns").get<int>() < 1) FAIL_CHECK(form.at(0) << ": an empty operand");
    }
    for (const Json& lowering : tables.at("lowerings").at(form.at(3).get<std::size_t>()))
      if (tables.at("knowledge").at(lowering.at(1).get<std::size_t>()).at("source").get<std::string>().empty())
        FAIL_CHECK(form.at(0) << ": no source");
  }
}

}  // namespace
}  // namespace warpmat::site_test
