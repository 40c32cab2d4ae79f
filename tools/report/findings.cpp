#include "tools/report/findings.h"

#include <fmt/core.h>
#include <warpmat/version.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "tools/report/markup.h"

namespace warpmat {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string_view level_name(Report::Level level) {
  return level == Report::Level::error ? "error" : "warning";
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

/// A reference as RFC 3986 has it: of what lies elsewhere than below `root`, with a scheme.
std::string uri_of(const fs::path& root, const std::string& file) {
  const std::string name = name_from(root, file);
  std::string uri = fs::path(name).is_absolute() ? "file://" : "";
  for (const char c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("/._-~").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return uri;
}

Json location_json(const Trap::SourceLine& place, const fs::path& root) {
  Json region{{"startLine", std::max(place.line, 1)}};
  if (place.column > 0) region["startColumn"] = place.column;
  return {{"physicalLocation", {{"artifactLocation", {{"uri", uri_of(root, place.file)}}}, {"region", std::move(region)}}}};
}

/// The headline with all that has no place of its own.
std::string sentences(const Report& report) {
  std::string text = report.text + about(report, false);
  for (const Trap::Note& note : report.notes)
    if (file_place(report, note.at).file.empty()) text += "; " + note.text;
  return report.help.empty() ? text : text + "; " + report.help;
}

Json related_json(const Report& report, const fs::path& root) {
  Json related = Json::array();
  for (const Trap::Note& note : report.notes) {
    const Trap::SourceLine place = file_place(report, note.at);
    if (place.file.empty()) continue;
    Json location = location_json(place, root);
    location["message"] = {{"text", note.text}};
    related.push_back(std::move(location));
  }
  return related;
}

Json result_json(const Report& report, const fs::path& root) {
  Json result{{"ruleId", report.rule}, {"level", level_name(report.level)}, {"message", {{"text", sentences(report)}}}};
  if (const Trap::SourceLine place = file_place(report, report.at); !place.file.empty())
    result["locations"] = Json::array({location_json(place, root)});
  if (Json related = related_json(report, root); !related.empty()) result["relatedLocations"] = std::move(related);
  if (report.more != 0) result["occurrenceCount"] = report.more + 1;
  return result;
}

}  // namespace

std::string github_command(const Report& report, const fs::path& root) {
  const Trap::SourceLine at = file_place(report, report.at);
  std::string place;
  if (!at.file.empty()) place = fmt::format("file={},line={},", workflow_value(name_from(root, at.file), true), at.line);
  if (at.column > 0) place += fmt::format("col={},", at.column);
  return fmt::format("::{} {}title={}::{}", level_name(report.level), place, workflow_value("warpmat: " + report.rule, true),
                     workflow_value(sentences(report), false));
}

std::string sarif_text(const std::vector<Report>& reports, const fs::path& root) {
  std::set<std::string> rules;
  Json results = Json::array(), rule_list = Json::array();
  for (const Report& report : reports) {
    rules.insert(report.rule);
    results.push_back(result_json(report, root));
  }
  for (const std::string& rule : rules) rule_list.push_back({{"id", rule}});
  const Json driver{{"name", "warpmat"}, {"version", version()}, {"rules", std::move(rule_list)}};
  const Json run{{"tool", {{"driver", driver}}}, {"results", std::move(results)}};
  const Json sarif{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", Json::array({run})}};
  return sarif.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string junit_text(std::string_view name, double seconds, const std::vector<Report>& reports, const ReportStyle& style) {
  const auto is_error = [](const Report& report) { return report.level == Report::Level::error; };
  const auto errors = std::ranges::count_if(reports, is_error);
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"warpmat\" tests=\"1\" failures=\"{}\" time=\"{:.3f}\">\n"
      "  <testcase classname=\"warpmat\" name=\"{}\" time=\"{:.3f}\">\n",
      errors == 0 ? 0 : 1, seconds, escaped(name), seconds);
  // One failure, which is all that readers of this format expect of a test.
  std::string failed, told;
  for (const Report& report : reports) (is_error(report) ? failed : told) += report_text(report, style);
  const auto first = std::ranges::find_if(reports, is_error);
  if (first != reports.end())
    text +=
        fmt::format("    <failure type=\"{}\" message=\"{}\">{}</failure>\n", escaped(first->rule), escaped(first->text), escaped(failed));
  if (!told.empty()) text += fmt::format("    <system-err>{}</system-err>\n", escaped(told));
  return text + "  </testcase>\n</testsuite>\n";
}

}  // namespace warpmat
