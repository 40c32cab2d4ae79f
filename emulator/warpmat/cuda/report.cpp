#include <warpmat/cuda/report.h>

#include <cstdio>

#include <nlohmann/json.hpp>

#include <warpmat/ptx/readable_name.h>

namespace warpmat::cuda {
namespace {

nlohmann::ordered_json sizes(const Dim3& size) {
  return {size.x, size.y, size.z};
}

/// The statements are rows of numbers: the statement's number, and StatementProfile's in their order.
nlohmann::ordered_json profile_json(const Profile& profile) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const StatementProfile& each : profile.statements)
    rows.push_back({each.statement, each.executed, each.lanes, each.seconds, each.check_seconds});
  return {{"statements", std::move(rows)}, {"other_seconds", profile.other_seconds}, {"other_check_seconds", profile.other_check_seconds}};
}

/// The line is written by one call, so that lines of several processes do not mix.
void append(const std::string& path, const std::string& line) {
  std::FILE* const out = std::fopen(path.c_str(), "a");
  if (out == nullptr) return say_once("cannot write " + path);
  std::setvbuf(out, nullptr, _IOFBF, line.size() + 1);
  std::fwrite(line.data(), 1, line.size(), out);
  std::fclose(out);
}

}  // namespace

void record_launch(Context& context, const Function& function, const LaunchRecord& record) {
  if (context.settings.report.empty()) return;
  nlohmann::ordered_json json = {{"kernel", readable_name(function.name)},   {"entry", function.name},
                                 {"module", function.module->file(context)}, {"target", context.settings.target->name},
                                 {"grid", sizes(record.config->grid)},       {"block", sizes(record.config->block)},
                                 {"cluster", sizes(record.config->cluster)}, {"shared_bytes", record.config->shared_bytes},
                                 {"operations", record.result.operations},   {"seconds", record.seconds},
                                 {"warnings", record.result.warnings},       {"absent_lanes", record.result.absent_lanes}};
  if (record.fault != cudaSuccess) json["error"] = {{"name", error_name(record.fault)}, {"text", record.trap}};
  if (record.profile) json["profile"] = profile_json(*record.profile);
  append(context.settings.report + "/launches.jsonl", json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace warpmat::cuda
