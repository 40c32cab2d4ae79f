#include "tools/browser/ask.h"

#include <exception>
#include <stdexcept>

#include <warpmat/diagnostic.h>
#include <warpmat/version.h>

#include "tools/browser/questions.h"
#include "tools/report/layout_grid.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

Json targets_json() {
  Json all = Json::array();
  for (const Target& target : targets()) all.push_back({{"name", target.name}, {"cards", card_names(target.hardware)}});
  Json colours = Json::array();
  for (int lane = 0; lane < warp_size; ++lane) colours.push_back(grid_colour(lane));
  return {{"version", WARPMAT_VERSION}, {"targets", std::move(all)}, {"colours", std::move(colours)}};
}

Json errors_json(const SyntaxError& error) {
  Json errors = Json::array();
  for (const Diagnostic& one : error.errors)
    errors.push_back({{"line", one.location.line}, {"column", one.location.column}, {"message", one.message}});
  return {{"errors", std::move(errors)}};
}

Json answer(const Json& question) {
  const std::string what = question.at("do").get<std::string>();
  const bool whole_kernel = question.value("kind", "list") == "kernel";
  if (what == "targets") return targets_json();
  if (what == "run") return whole_kernel ? run_kernel(question) : run_list(question);
  if (what == "explain") return whole_kernel ? explain_kernel(question) : explain_list(question);
  throw std::runtime_error("there is no such question: " + what);
}

}  // namespace

nlohmann::ordered_json finding_json(const Report& report, std::string_view ptx) {
  Json json = report_json(report);
  json["text"] = report_text(report, {.ptx = ptx});
  return json;
}

void mark_differences(Json& places, const Json& other) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    Json differs = Json::array();
    for (std::size_t j = 0; j < places[i]["bits"].size(); ++j)
      if (places[i]["bits"][j] != other[i]["bits"][j]) differs.push_back(j);
    places[i]["differs"] = std::move(differs);
    places[i]["other"] = other[i]["elements"];
  }
}

const Target& asked_target(const Json& question, const char* key) {
  return target(question.at(key).get<std::string>());
}

std::string ask(const std::string& question) try {
  return answer(Json::parse(question)).dump(-1, ' ', false, Json::error_handler_t::replace);
} catch (const SyntaxError& error) {
  return errors_json(error).dump(-1, ' ', false, Json::error_handler_t::replace);
} catch (const std::exception& error) {
  return Json{{"error", error.what()}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace warpmat
