#include <warpmat/cuda/report.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <warpmat/ptx/text/readable_name.h>

namespace warpmat::cuda {
namespace {

/// The statements are rows of numbers: the statement's number, and StatementProfile's in their order.
nlohmann::ordered_json profile_json(const Profile& profile) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const StatementProfile& each : profile.statements)
    rows.push_back({each.statement, each.executed, each.lanes, each.seconds, each.check_seconds});
  return {{"statements", std::move(rows)}, {"other_seconds", profile.other_seconds}, {"other_check_seconds", profile.other_check_seconds}};
}

/// A file to which lines are appended. It stays open between them, as opening it takes longer than an empty launch.
class Lines {
 public:
  /// The line is written by one call, so that lines of several processes do not mix.
  void append(const std::string& path, const std::string& line) {
    if (!is_open()) open(path);
    if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) say_once("cannot write " + path);
  }

 private:
  /// False also where the program has closed this number, which may then be another file's.
  bool is_open() const {
    struct stat now;
    return file_ >= 0 && ::fstat(file_, &now) == 0 && now.st_dev == opened_.st_dev && now.st_ino == opened_.st_ino;
  }

  void open(const std::string& path) {
    file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file_ >= 0) ::fstat(file_, &opened_);
  }

  int file_ = -1;
  struct stat opened_ {};
};

void append_line(const Context& context, const nlohmann::ordered_json& json) {
  static Lines lines;
  lines.append(context.settings.report + "/launches.jsonl",
               json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace

void record_refusal(Context& context, const Function& function, const std::string& reason) {
  if (!context.settings.report.empty()) append_line(context, {{"kernel", readable_name(function.name)}, {"refused", reason}});
}

void record_launch(Context& context, const Function& function, const LaunchRecord& record) {
  if (context.settings.report.empty()) return;
  const bool tells_nothing =
      record.fault == cudaSuccess && record.result.absent_lanes.empty() && record.result.warnings.empty() && !record.profile;
  if (!context.settings.every_launch && tells_nothing && function.module->is_recorded(function.name)) return;
  function.module->set_recorded(function.name);
  nlohmann::ordered_json json = {{"kernel", readable_name(function.name)},
                                 {"entry", function.name},
                                 {"module", function.module->file(context)},
                                 {"target", context.settings.target->name},
                                 {"assembler_options", function.module->assembler_options()},
                                 {"decisions", function.module->decisions_file(context, function.name)},
                                 {"grid", sizes(record.config->grid)},
                                 {"block", sizes(record.config->block)},
                                 {"cluster", sizes(record.config->cluster)},
                                 {"shared_bytes", record.config->shared_bytes},
                                 {"operations", record.result.operations},
                                 {"warnings", record.result.warnings},
                                 {"absent_lanes", record.result.absent_lanes}};
  if (record.fault != cudaSuccess) json["error"] = {{"name", error_name(record.fault)}, {"text", record.trap}};
  if (record.profile) json["profile"] = profile_json(*record.profile);
  json["seconds"] = record.seconds;  // last: up to it lines of equal launches are equal
  append_line(context, json);
}

}  // namespace warpmat::cuda
