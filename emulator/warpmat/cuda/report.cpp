#include <warpmat/cuda/report.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <warpmat/assembler/decisions_file.h>
#include <warpmat/cuda/call_site.h>
#include <warpmat/cuda/file_limit.h>
#include <warpmat/ptx/text/readable_name.h>
#include <warpmat/report/report_json.h>
#include <warpmat/warp/trap_kind.h>

namespace warpmat::cuda {
namespace {

/// The statements are rows of numbers: the statement's number, and StatementProfile's in their order.
nlohmann::ordered_json profile_json(const Profile& profile) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const StatementProfile& each : profile.statements)
    rows.push_back({each.statement, each.executed, each.lanes, each.seconds, each.check_seconds});
  return {{"statements", std::move(rows)}, {"other_seconds", profile.other_seconds}, {"other_check_seconds", profile.other_check_seconds}};
}

/// The verdict on a program is in the record: without it the program would end as if nothing had failed.
[[noreturn]] void end_without_record(const std::string& path, const char* reason) {
  say(fmt::format("cannot write the record of the launches, {}: {}; the program ends here", path, reason));
  std::_Exit(1);
}

/// The record. It stays open between lines, as opening it takes longer than an empty launch.
class Lines {
 public:
  /// The line is written by one call, so that lines of several processes do not mix.
  void append(const std::string& record, const std::string& line) {
    const FileLimit limit;
    if (!is_open()) open(record);
    const ssize_t written = ::write(file_, line.data(), line.size());
    if (written == static_cast<ssize_t>(line.size())) return;
    const char* const reason = written < 0 ? std::strerror(errno) : "no space is left";
    if (written > 0) take_back(written);
    end_without_record(path_, reason);
  }

 private:
  /// False also where the program has closed this number, which may then be another file's.
  bool is_open() const {
    struct stat now;
    return file_ >= 0 && ::fstat(file_, &now) == 0 && now.st_dev == opened_.st_dev && now.st_ino == opened_.st_ino;
  }

  void open(const std::string& record) {
    struct stat kind;
    const bool folder = ::stat(record.c_str(), &kind) == 0 && S_ISDIR(kind.st_mode);
    path_ = folder ? record + "/launches.jsonl" : record;
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file_ < 0) end_without_record(path_, std::strerror(errno));
    ::fstat(file_, &opened_);
  }

  /// Removes the beginning of a line from the record's end, unless another process has written behind it.
  void take_back(ssize_t written) const {
    struct stat now;
    const off_t end = ::lseek(file_, 0, SEEK_CUR);
    if (::fstat(file_, &now) == 0 && now.st_size == end) static_cast<void>(!::ftruncate(file_, end - written));
  }

  int file_ = -1;
  std::string path_;
  struct stat opened_ {};
};

void append_line(const std::string& report, const nlohmann::ordered_json& json) {
  if (report.empty()) return;
  static Lines lines;
  lines.append(report, json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

/// What the record has of calls: the functions of libraries; those that failed, with their places.
struct RecordedCalls {
  std::set<std::string> names;
  static void leave(Context&, Owner) {}
};

void append_line(const Context& context, const nlohmann::ordered_json& json) {
  append_line(context.settings.report, json);
}

}  // namespace

void record_module(const Context& context, const std::string& name, const std::string& ptx) {
  append_line(context, {{"module", name}, {"ptx", ptx}});
}

void record_decisions(const Context& context, const std::string& name, const AssemblerDecisions& decisions) {
  append_line(context, {{"decisions", name}, {"text", decisions_text(decisions)}});
}

void record_refusal(const Context& context, const Function& function, const std::string& reason) {
  append_line(context, {{"kernel", readable_name(function.name)}, {"refused", reason}});
}

void record_library(Context& context, const std::string& call, const std::string& label, const std::string& source) {
  if (context.part<RecordedCalls>().names.insert(call + ' ' + label).second)
    append_line(context, {{"library", call}, {"label", label}, {"source", source}});
}

bool record_failed_call(Context& context, const std::string& call, Error code, const std::string& why) {
  if (!context.settings.failed_calls || context.settings.report.empty() || code == cudaErrorNotReady) return false;
  const CallSite site = call_site();
  nlohmann::ordered_json frames = nlohmann::ordered_json::array();
  for (const ProgramFrame& frame : site.frames) frames.push_back({frame.file, frame.address});
  Report report{.level = Report::Level::warning, .rule = "call"};
  report.text = fmt::format("{} returned {}{}{}", in_driver() ? site.function : call, error_name(code), why.empty() ? "" : ": ", why);
  const bool is_new = context.part<RecordedCalls>().names.insert(frames.empty() ? report.text : frames[0].dump() + error_name(code)).second;
  if (is_new && !context.suppressions.suppresses(report)) append_line(context, {{"failed_call", report_json(report)}, {"frames", frames}});
  return true;
}

void record_unsaved(const Context& context, const std::string& reason) {
  append_line(context, {{"unsaved", reason}});
}

void record_other_driver(const std::string& report, const std::string& path) {
  append_line(report, {{"other_driver", path}});
}

bool record_begin(Context& context, const Function& function) {
  if (context.settings.report.empty() || (!context.settings.every_launch && function.module->is_recorded(function.name))) return false;
  append_line(context, {{"begins", readable_name(function.name)}});
  return true;
}

namespace {

nlohmann::ordered_json reports_json(const std::vector<Trap>& warnings) {
  nlohmann::ordered_json reports = nlohmann::ordered_json::array();
  for (const Trap& warning : warnings) reports.push_back(report_json(report_of(warning, Report::Level::warning)));
  return reports;
}

nlohmann::ordered_json error_json(const LaunchRecord& record) {
  nlohmann::ordered_json json{{"name", error_name(record.fault)}, {"text", record.trap}};
  if (!record.error) return json;
  json["report"] = report_json(report_of(*record.error));
  const Trap::Site& site = record.error->site;
  json["kind"] = name(record.error->kind);
  json["reason"] = record.error->reason;
  json["block"] = sizes(site.block);
  json["warp"] = site.warp;
  if (site.lane >= 0) json["lane"] = site.lane;
  json["line"] = site.line;
  json["statement"] = site.statement;
  json["source"] = site.source;
  if (record.error->address) json["address"] = *record.error->address;
  return json;
}

}  // namespace

void record_launch(Context& context, const Function& function, const LaunchRecord& record) {
  if (context.settings.report.empty() || !tells(record)) return;
  function.module->set_recorded(function.name);
  nlohmann::ordered_json json = {{"kernel", readable_name(function.name)},
                                 {"entry", function.name},
                                 {"module", function.module->recorded_name(context)},
                                 {"target", context.settings.target->name},
                                 {"assembler_options", function.module->assembler_options()},
                                 {"decisions", function.module->recorded_decisions(context, function.name)},
                                 {"grid", sizes(record.config->grid)},
                                 {"block", sizes(record.config->block)},
                                 {"cluster", sizes(record.config->cluster)},
                                 {"shared_bytes", record.config->shared_bytes},
                                 {"operations", record.result.operations},
                                 {"warnings", record.result.warnings},
                                 {"reports", reports_json(record.result.warned)},
                                 {"absent_lanes", record.result.absent_lanes}};
  if (record.fault != cudaSuccess) json["error"] = error_json(record);
  if (record.profile) json["profile"] = profile_json(*record.profile);
  json["seconds"] = record.seconds;  // last: up to it lines of equal launches are equal
  append_line(context, json);
}

}  // namespace warpmat::cuda
