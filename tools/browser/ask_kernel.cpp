// Launches of kernels: what is in their buffers, what is reported, and where an element comes from.

#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <warpmat/formats.h>
#include <warpmat/launch.h>
#include <warpmat/launch/check_list.h>
#include <warpmat/words/words.h>

#include "tools/browser/questions.h"
#include "tools/command/launch_flags.h"
#include "tools/command/why.h"
#include "tools/report/bank_report.h"
#include "tools/report/element_array.h"
#include "tools/report/evidence_line.h"
#include "tools/report/launch_description.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_shown = 16'384;  // elements of a buffer that the page gets
constexpr double most_seconds = 10;

ReadyLaunch ready(const Json& question, const Target& target) {
  const std::string text = question.value("launch", "");
  LaunchDescription description = parse_launch("launch.json", text.empty() ? "{}" : text);
  const Module module(question.at("text").get<std::string>());
  const std::string entry = entry_name(module, description.kernel, "the text");
  ReadyLaunch ready = ready_launch(Kernel(module, entry, {.target = target.name}), std::move(description));
  ready.asked.products = ready.description.products;
  return ready;
}

LaunchOptions usual_options() {
  LaunchOptions options{.most_seconds = most_seconds, .checks = parse_checks(usual_checks)};
  options.checks.races = true;
  return options;
}

/// That of "random:f16:4096:1"; else words.
ElementType type_of_source(const std::string& source) {
  const std::vector<std::string_view> parts = split(source, ':');
  const FormatRow* const format = parts.size() > 1 ? find_format(parts[1]) : nullptr;
  return format == nullptr ? ElementType{} : ElementType::of(format->format);
}

Json buffer_json(const ReadyLaunch& ready, const LaunchBuffer& buffer) {
  const std::uint64_t size = ready.prepared.sizes.at(buffer.name);
  const auto bytes = ready.prepared.memory.bytes(ready.prepared.addresses.at(buffer.name), size);
  const ElementType type = buffer.type.value_or(type_of_source(buffer.source));
  const auto width = static_cast<std::size_t>(type.bits), count = static_cast<std::size_t>(size) * 8 / width;
  Json elements = Json::array(), codes = Json::array();
  for (std::size_t i = 0; i < std::min(count, most_shown); ++i) {
    std::uint64_t bits = 0;
    for (std::size_t bit = 0; bit < width; ++bit) bits |= std::uint64_t{bytes[(i * width + bit) / 8] >> (i * width + bit) % 8 & 1u} << bit;
    codes.push_back(fmt::format("{:#x}", bits));
    elements.push_back(element_text(type, bits));
  }
  const std::vector<std::size_t> shape = buffer.shape.empty() ? std::vector{count} : buffer.shape;
  return {{"name", buffer.name}, {"type", name(type)}, {"shape", shape}, {"elements", std::move(elements)}, {"bits", std::move(codes)}};
}

Json buffers_json(const ReadyLaunch& ready) {
  Json all = Json::array();
  for (const LaunchBuffer& buffer : ready.description.buffers) all.push_back(buffer_json(ready, buffer));
  return all;
}

/// The products of `why` and the elements that met in each.
Json way_json(const Why& why) {
  Json steps = Json::array();
  for (const Why::Step& step : why.steps) {
    Json sources = Json::array();
    for (const Why::Source& source : step.sources)
      sources.push_back({{"matrix", source.matrix}, {"first", source.first}, {"last", source.last}, {"way", source.way}});
    steps.push_back({{"where", step.where}, {"row", step.row}, {"column", step.column}, {"sources", std::move(sources)}});
  }
  return {{"text", why.text}, {"steps", std::move(steps)}};
}

}  // namespace

Json run_kernel(const Json& question) {
  ReadyLaunch launched = ready(question, asked_target(question, "target"));
  BankReport banks;
  LaunchOptions options = usual_options();
  options.observers.push_back(&banks);
  Json answer{{"evidence", ""}, {"warnings", Json::array()}};
  try {
    const LaunchResult result = launch(launched, options);
    answer["evidence"] = evidence_line(launched.kernel.target(), labelled(launched.kernel, result));
    answer["printed"] = result.printed;
    Json found = Json::array();
    for (const Trap& warning : result.warned)
      found.push_back(finding_json(report_of(launched, warning, Report::Level::warning), ptx_of(launched)));
    answer["findings"] = std::move(found);
  } catch (const Trap& trap) {
    answer["trap"] = finding_json(report_of(launched, trap), ptx_of(launched));
  }
  answer["places"] = buffers_json(launched);
  answer["banks"] = bank_json(banks.lines());
  if (question.value("against", "").empty() || answer.contains("trap")) return answer;
  try {
    ReadyLaunch other = ready(question, asked_target(question, "against"));
    launch(other, usual_options());
    mark_differences(answer["places"], buffers_json(other));
  } catch (const std::exception& refused) {
    answer["refused"] = fmt::format("{}: {}", question.at("against").get<std::string>(), refused.what());
  }
  return answer;
}

Json explain_kernel(const Json& question) {
  ReadyLaunch launched = ready(question, asked_target(question, "target"));
  launched.asked.element = parse_element(question.at("why").get<std::string>());
  const std::string against = question.value("against", "");
  Json ways = Json::array();
  for (const Why& why : launch(launched, usual_options()).ways) {
    Json way = way_json(why);
    if (!against.empty()) way["parting"] = parting_of(why, launched.kernel.target(), against);
    ways.push_back(std::move(way));
  }
  return {{"ways", std::move(ways)}};
}

}  // namespace warpmat
