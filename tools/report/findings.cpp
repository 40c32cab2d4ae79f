#include "tools/report/findings.h"

#include <fmt/core.h>
#include <warpmat/version.h>
#include <warpmat/warp/trap_kind.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "tools/report/markup.h"

namespace warpmat {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string_view level_name(Finding::Level level) {
  return level == Finding::Level::error ? "error" : "warning";
}

/// "file.cu" and 12 of "file.cu:12 in f(), inlined at ...".
std::pair<std::string, int> place_of(std::string_view source) {
  for (std::size_t colon = source.find(':'); colon != std::string_view::npos; colon = source.find(':', colon + 1)) {
    const char* const digits = source.data() + colon + 1;
    const char* const all = source.data() + source.size();
    int line = 0;
    const auto [end, error] = std::from_chars(digits, all, line);
    if (error == std::errc() && line > 0 && (end == all || *end == ' ' || *end == ',')) return {std::string(source.substr(0, colon)), line};
  }
  return {"", 0};
}

/// The file as it is named from `root`, where it lies below that.
std::string name_from(const fs::path& root, const std::string& file) {
  const fs::path from = fs::path(file).lexically_relative(root);
  return from.empty() || *from.begin() == ".." ? file : from.string();
}

/// A value of a workflow command. `property`: in front of the colons, where commas and colons have a meaning, too.
std::string workflow_value(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    out += special ? fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c))) : std::string(1, c);
  }
  return out;
}

Json location_json(const Finding& finding, const fs::path& root) {
  return {{"physicalLocation",
           {{"artifactLocation", {{"uri", name_from(root, finding.file)}}}, {"region", {{"startLine", std::max(finding.line, 1)}}}}}};
}

Json result_json(const Finding& finding, const fs::path& root) {
  Json result{{"ruleId", finding.rule}, {"level", level_name(finding.level)}, {"message", {{"text", finding.text}}}};
  if (!finding.file.empty()) result["locations"] = Json::array({location_json(finding, root)});
  return result;
}

}  // namespace

Finding finding_of(std::string_view kind, std::string_view source, std::string text) {
  auto [file, line] = place_of(source);
  return {.rule = std::string(kind), .file = std::move(file), .line = line, .text = std::move(text)};
}

Finding finding_of(const Trap& trap) {
  return finding_of(name(trap.kind), trap.site.source, trap.what());
}

std::string github_command(const Finding& finding, const fs::path& root) {
  std::string place;
  if (!finding.file.empty()) place = fmt::format("file={},line={},", workflow_value(name_from(root, finding.file), true), finding.line);
  return fmt::format("::{} {}title={}::{}", level_name(finding.level), place, workflow_value("warpmat: " + finding.rule, true),
                     workflow_value(finding.text, false));
}

std::string sarif_text(const std::vector<Finding>& findings, const fs::path& root) {
  std::set<std::string> rules;
  Json results = Json::array(), rule_list = Json::array();
  for (const Finding& finding : findings) {
    rules.insert(finding.rule);
    results.push_back(result_json(finding, root));
  }
  for (const std::string& rule : rules) rule_list.push_back({{"id", rule}});
  const Json driver{{"name", "warpmat"}, {"version", version()}, {"rules", std::move(rule_list)}};
  const Json run{{"tool", {{"driver", driver}}}, {"results", std::move(results)}};
  const Json sarif{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", Json::array({run})}};
  return sarif.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string junit_text(std::string_view name, double seconds, const std::vector<Finding>& findings) {
  const auto is_error = [](const Finding& finding) { return finding.level == Finding::Level::error; };
  const auto errors = std::ranges::count_if(findings, is_error);
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"warpmat\" tests=\"1\" failures=\"{}\" time=\"{:.3f}\">\n"
      "  <testcase classname=\"warpmat\" name=\"{}\" time=\"{:.3f}\">\n",
      errors == 0 ? 0 : 1, seconds, escaped(name), seconds);
  // One failure, which is all that readers of this format expect of a test.
  std::string failed, told;
  for (const Finding& finding : findings) (is_error(finding) ? failed : told) += finding.text + '\n';
  const auto first = std::ranges::find_if(findings, is_error);
  if (first != findings.end())
    text +=
        fmt::format("    <failure type=\"{}\" message=\"{}\">{}</failure>\n", escaped(first->rule), escaped(first->text), escaped(failed));
  if (!told.empty()) text += fmt::format("    <system-err>{}</system-err>\n", escaped(told));
  return text + "  </testcase>\n</testsuite>\n";
}

}  // namespace warpmat
