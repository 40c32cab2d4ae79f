#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include <warpmat/report/report.h>

namespace warpmat {

// Reports as JSON: in the record of a program's launches, and in what `warpmat cuda --report` writes.

inline nlohmann::ordered_json place_json(const Trap::Place& place) {
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const Trap::SourceLine& line : place.source_lines)
    lines.push_back({{"file", line.file}, {"line", line.line}, {"column", line.column}, {"function", line.function}});
  return {{"ptx_line", place.line}, {"statement", place.statement}, {"source", std::move(lines)}};
}

inline Trap::Place place_of_json(const nlohmann::ordered_json& json) {
  Trap::Place place{.line = json.at("ptx_line"), .statement = json.at("statement")};
  for (const auto& line : json.at("source"))
    place.source_lines.push_back({line.at("file"), line.at("line"), line.at("column"), line.at("function")});
  return place;
}

inline nlohmann::ordered_json report_json(const Report& report) {
  nlohmann::ordered_json notes = nlohmann::ordered_json::array();
  for (const Trap::Note& note : report.notes) notes.push_back({{"text", note.text}, {"place", place_json(note.at)}});
  return {{"level", report.level == Report::Level::error ? "error" : "warning"},
          {"kind", report.rule},
          {"headline", report.text},
          {"kernel", report.kernel},
          {"who", report.who},
          {"place", place_json(report.at)},
          {"notes", std::move(notes)},
          {"help", report.help}};
}

/// Throws nlohmann::json::exception where it is none.
inline Report report_of_json(const nlohmann::ordered_json& json) {
  Report report{.level = json.at("level") == "error" ? Report::Level::error : Report::Level::warning,
                .rule = json.at("kind"),
                .text = json.at("headline"),
                .kernel = json.at("kernel"),
                .who = json.at("who"),
                .at = place_of_json(json.at("place")),
                .help = json.at("help")};
  for (const auto& note : json.at("notes")) report.notes.push_back({note.at("text"), place_of_json(note.at("place"))});
  return report;
}

}  // namespace warpmat
