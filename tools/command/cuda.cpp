#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>
#include <warpmat/files/output_file.h>
#include <warpmat/forms.h>
#include <warpmat/launch.h>
#include <warpmat/launch/check_list.h>
#include <warpmat/machine/internals.h>
#include <warpmat/provenance/meetings.h>
#include <warpmat/report/report_json.h>
#include <warpmat/report/suppressions.h>
#include <warpmat/version.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <warpmat/assembler/decisions_file.h>

#include "commands.h"
#include "cuda_program.h"
#include "examine.h"
#include "finding_flags.h"
#include "launch_flags.h"
#include "profile_flag.h"
#include "tools/command_line/execution_flags.h"
#include "tools/command_line/label_flags.h"
#include "tools/command_line/limit_flags.h"
#include "tools/report/evidence_line.h"
#include "tools/report/host_lines.h"
#include "tools/report/limits.h"
#include "tools/report/supervision.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

struct CudaOptions {
  std::string target = "sm_90a", checks = usual_program_checks, report, save;
  int jobs = 0, processors = 0, gpus = 1;
  std::uint64_t schedule = 0;
  Timing timing = Timing::latest;
  bool leaks = false;
  Undefined undefined = Undefined::trap;
  std::string assembler = "code";
  LabelOptions labels;
  std::vector<std::string> profile;
  Limits limits;
  Examination examination;
  FindingFiles found;
  std::uint64_t expected_launches = 0;
};

/// What the runtime recorded of a program's launches.
struct Record {
  std::vector<Json> launches;
  std::vector<Labelled> labels;        ///< of all that ran, each instruction once
  std::string fault;                   ///< the report of the first kernel that failed; empty if none did
  std::string refusal;                 ///< why the first kernel was refused; empty if none was
  std::string unsaved;                 ///< why the first launch of --save that lacks was not written; empty if none lacks
  std::string other_driver;            ///< the file of a driver that is not warpmat's, which the program loaded; empty if there is none
  std::map<std::string, int> unended;  ///< launches by kernel that began, less those that ended
  std::uint64_t damaged = 0;           ///< lines that are none of the runtime
  bool shares_memory = false;          ///< a kernel has shared memory
  bool multiplies = false;             ///< a kernel has matrix instructions
  std::vector<ProfiledKernel> profiled;
  std::vector<Report> reports;       ///< of all launches, which the program has printed
  std::vector<Report> failed_calls;  ///< of --check memcheck

  std::optional<std::string> unended_kernel() const {
    const auto found = std::ranges::find_if(unended, [](const auto& each) { return each.second > 0; });
    return found == unended.end() ? std::nullopt : std::optional(found->first);
  }
};

/// What the launches' kernels are: the instructions, and the profiles. Each kernel is resolved once.
class Kernels {
 public:
  explicit Kernels(Record& record) : record_(record) {}

  void add_module(const Json& json) { texts_.emplace(json.at("module").get<std::string>(), json.at("ptx").get<std::string>()); }

  void add_decisions(const Json& json) { decisions_.emplace(json.at("decisions").get<std::string>(), json.at("text").get<std::string>()); }

  void add(const Json& launch) {
    const Kernel& kernel = find(launch);
    LaunchResult result;
    result.absent_lanes = launch.at("absent_lanes").get<std::vector<std::string>>();
    const code::Program& program = program_of(kernel);
    record_.shares_memory |= !program.shared_variables.empty();
    record_.multiplies |= provenance::multiplies(program);
    const bool is_new = labelled_.insert(&program).second;
    if (is_new || !result.absent_lanes.empty())  // all that may have other labels than its kernel's last launch
      for (Labelled& each : labelled(kernel, result)) add_label(std::move(each));
    if (launch.contains("profile")) add_profile(kernel, launch.at("profile"));
  }

  /// Of what several kernels have, the weakest label counts: one kernel's sums may be known, another's not.
  void add_label(Labelled label) {
    const auto [place, is_new] = places_.try_emplace(label.what, record_.labels.size());
    if (is_new)
      record_.labels.push_back(std::move(label));
    else if (label.label < record_.labels[place->second].label)
      record_.labels[place->second] = std::move(label);
  }

 private:
  void add_profile(const Kernel& kernel, const Json& json) {
    auto& all = record_.profiled;
    auto found = std::ranges::find(all, &program_of(kernel), [](const ProfiledKernel& each) { return &program_of(each.kernel); });
    if (found == all.end()) found = all.insert(all.end(), {kernel});
    ++found->launches;
    Profile profile;
    for (const Json& row : json.at("statements"))
      profile.statements.push_back({.statement = row[0], .executed = row[1], .lanes = row[2], .seconds = row[3], .check_seconds = row[4]});
    profile.other_seconds = json.at("other_seconds");
    profile.other_check_seconds = json.at("other_check_seconds");
    warpmat::add(found->profile, profile);
  }

  const Kernel& find(const Json& launch) {
    const std::string name = launch.at("module"), entry = launch.at("entry"), target = launch.at("target");
    if (const auto found = kernels_.find({name, entry}); found != kernels_.end()) return found->second;
    auto module = modules_.find(name);
    if (module == modules_.end()) module = modules_.emplace(name, Module(texts_.at(name))).first;
    const std::string options = launch.at("assembler_options"), decided = launch.at("decisions");
    const auto decisions = decided.empty() ? std::nullopt : read_decisions_text(decisions_.at(decided));
    const Kernel kernel(module->second, entry,
                        {.target = target, .assembler_options = options, .decisions = decisions ? &*decisions : nullptr});
    return kernels_.emplace(std::pair(name, entry), kernel).first->second;
  }

  Record& record_;
  std::map<std::string, std::string> texts_;      ///< PTX, by the module's name in the record
  std::map<std::string, std::string> decisions_;  ///< what decided about kernels, by its name there
  std::map<std::string, std::size_t> places_;     ///< in the record's labels, by what is labelled
  std::set<const code::Program*> labelled_;       ///< of kernels whose labels are in the record
  std::map<std::string, Module> modules_;
  std::map<std::pair<std::string, std::string>, Kernel> kernels_;
};

/// The record in memory, to which the program's processes append. They reach it by this process's descriptor, whichever they have closed.
class RecordFile {
 public:
  RecordFile() : file_(memfd_create("warpmat launches", MFD_CLOEXEC)) {
    if (!std::ofstream(path(), std::ios::app)) fail();
  }
  ~RecordFile() { close(file_); }
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  std::string path() const { return fmt::format("/proc/{}/fd/{}", getpid(), file_); }

 private:
  [[noreturn]] static void fail() {
    throw std::runtime_error(fmt::format("cannot keep a record of the launches in memory: {}", std::strerror(errno)));
  }

  int file_;
};

/// Reads the lines of a record.
class RecordReader {
 public:
  /// `all`: also launches that are like others but for their time.
  explicit RecordReader(bool all) : all_(all), kernels_(record_) {}

  Record read(const std::string& path) {
    std::ifstream lines(path);
    for (std::string line; std::getline(lines, line);) add(line);
    return std::move(record_);
  }

 private:
  void add(const std::string& line) try {
    const std::string_view without_time = std::string_view(line).substr(0, line.rfind("\"seconds\":"));
    if (const auto found = seen_.find(without_time); found != seen_.end()) {
      --record_.unended[found->second];
      return;
    }
    const Json json = Json::parse(line);
    if (json.contains("ptx")) return kernels_.add_module(json);
    if (json.contains("text")) return kernels_.add_decisions(json);
    if (json.contains("begins")) return static_cast<void>(++record_.unended[json.at("begins").get<std::string>()]);
    if (json.contains("library")) return kernels_.add_label(label_of_library(json));
    if (json.contains("failed_call")) return add_failed_call(json);
    if (json.contains("unsaved")) return keep_first(record_.unsaved, json.at("unsaved").get<std::string>());
    if (json.contains("other_driver")) return keep_first(record_.other_driver, json.at("other_driver").get<std::string>());
    const std::string kernel = json.at("kernel").get<std::string>();
    if (json.contains("refused")) return add_refusal(fmt::format("'{}': {}", kernel, json.at("refused").get<std::string>()));
    kernels_.add(json);
    if (json.contains("error")) add_error(json.at("error"));
    for (const Json& warning : json.at("reports")) record_.reports.push_back(report_of_json(warning));
    record_.launches.push_back(json);
    --record_.unended[kernel];
    if (!all_) seen_.emplace(without_time, kernel);
  } catch (const std::exception&) {  // a line that a killed process left, or that the program wrote
    ++record_.damaged;
  }

  static Labelled label_of_library(const Json& json) {
    Labelled label;
    label.what = json.at("library").get<std::string>();
    label.label = find_label(json.at("label").get<std::string>()).value();
    label.source = json.at("source").get<std::string>();
    return label;
  }

  void add_failed_call(const Json& json) {
    Report report = report_of_json(json.at("failed_call"));
    const Trap::SourceLine line = host_line(json.at("frames").get<HostFrames>());
    if (line.line != 0) {
      report.at.source_lines = {line};
    } else {
      report.notes.push_back({line.function.empty() ? "the program's symbols do not say where" : "called in " + line.function});
      report.help = "compile the program's host code with -g, and its line is known";
    }
    record_.failed_calls.push_back(std::move(report));
  }

  void add_refusal(const std::string& why) {
    keep_first(record_.refusal, why);
    record_.reports.push_back({.rule = "refused", .text = why});
  }

  void add_error(const Json& error) {
    const Report report =
        error.contains("report") ? report_of_json(error.at("report")) : Report{.rule = error.at("name"), .text = error.at("text")};
    keep_first(record_.fault, report.text + about(report, false));
    record_.reports.push_back(report);
  }

  static void keep_first(std::string& text, const std::string& other) {
    if (text.empty()) text = other;
  }

  bool all_;
  Record record_;
  Kernels kernels_;
  std::map<std::string, std::string, std::less<>> seen_;  ///< lines without their time, and their kernels
};

/// "SIGTERM"
std::string signal_name(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

/// Who ended the program; empty where it ended by itself.
std::string ended_by(const CudaOptions& options, const ProcessEnd& end) {
  if (end.limit == ProcessEnd::Limit::seconds) return fmt::format("took longer than {:g} s (--seconds)", options.limits.seconds);
  if (end.limit == ProcessEnd::Limit::memory)
    return fmt::format("needed more than {} of memory (--memory)", bytes_text(options.limits.memory));
  return end.ended_by == 0 ? "" : "was ended by " + signal_name(end.ended_by);
}

void write_report(const CudaOptions& options, const std::string& program, const ProcessEnd& end, const Record& record) {
  if (options.report.empty()) return;
  Json launches = Json::array();
  for (Json launch : record.launches) {
    launch.erase("module");  // names in the record
    launch.erase("decisions");
    launch.erase("profile");
    launches.push_back(std::move(launch));
  }
  Json json{{"warpmat", version()},
            {"command", "cuda"},
            {"program", program},
            {"target", options.target},
            {"status", end.status},
            {"driver", record.other_driver.empty() ? "warpmat" : record.other_driver},
            {"evidence", record.labels.empty() ? "" : evidence_line(options.target, record.labels)},
            {"launches", std::move(launches)}};
  if (const std::string reason = ended_by(options, end); !reason.empty()) json["ended"] = reason;
  if (const auto kernel = record.unended_kernel()) json["within"] = *kernel;
  write_file(options.report, {json.dump(1, ' ', false, Json::error_handler_t::replace), "\n"});
}

/// Whether the command tells something of each launch, and not of what ran alone.
bool tells_launches(const CudaOptions& options) {
  return !options.report.empty() || !options.profile.empty() || options.expected_launches > 1;
}

Variables variables_of(const CudaOptions& options, const std::filesystem::path& program, const std::string& record,
                       const std::filesystem::path& save) {
  const std::string stand_ins = (cuda_libraries() / "bin").string();
  return {{"LD_LIBRARY_PATH", list_with("LD_LIBRARY_PATH", cuda_libraries().string())},
          {"LD_PRELOAD", list_with("LD_PRELOAD", preloaded_cuda_libraries(program))},
          {"PATH", list_with("PATH", stand_ins)},
          {"TRITON_LIBCUDA_PATH", cuda_libraries().string()},
          {"TRITON_PTXAS_PATH", stand_ins + "/ptxas"},
          {"TRITON_PTXAS_BLACKWELL_PATH", stand_ins + "/ptxas"},
          {"ASAN_OPTIONS", list_with("ASAN_OPTIONS", "verify_asan_link_order=0")},  // libraries of LD_PRELOAD come before it
          {"WARPMAT_CUDA_TARGET", options.target},
          {"WARPMAT_CUDA_JOBS", std::to_string(options.jobs)},
          {"WARPMAT_CUDA_SCHEDULE", std::to_string(options.schedule)},
          {"WARPMAT_CUDA_TIMING", options.timing == Timing::card ? "card" : "latest"},
          {"WARPMAT_CUDA_SUPPRESSIONS",
           options.found.suppressions.empty() ? "" : std::filesystem::absolute(options.found.suppressions).string()},
          {"WARPMAT_CUDA_PRINT_SUPPRESSIONS", options.found.print_suppressions ? "1" : "0"},
          {"WARPMAT_CUDA_CHECK", without_banks(options.checks)},
          {"WARPMAT_CUDA_UNDEFINED", options.undefined == Undefined::hardware ? "hardware" : "trap"},
          {"WARPMAT_CUDA_ASSEMBLER", options.assembler},
          {"WARPMAT_CUDA_SMS", std::to_string(options.processors)},
          {"WARPMAT_CUDA_GPUS", std::to_string(options.gpus)},
          {"WARPMAT_CUDA_LEAKS", options.leaks ? "1" : "0"},
          {"WARPMAT_CUDA_REPORT", record},
          {"WARPMAT_CUDA_FULL_NAMES", options.found.full_names ? "1" : "0"},
          {"WARPMAT_CUDA_EVERY_LAUNCH", tells_launches(options) ? "1" : "0"},
          {"WARPMAT_CUDA_SAVE", save.empty() ? "" : std::filesystem::absolute(save).string()},
          {"WARPMAT_CUDA_PROFILE", options.profile.empty() ? "0" : "1"}};
}

/// What of the launches the program's status does not tell, a sentence each.
std::vector<std::string> kept_quiet(const Record& record) {
  std::vector<std::string> all;
  if (!record.refusal.empty())
    all.push_back("a kernel was not executed, and the program went on and ended with status 0: " + record.refusal);
  if (!record.fault.empty()) all.push_back("a kernel failed, and the program went on and ended with status 0: " + record.fault);
  if (const auto kernel = record.unended_kernel())
    all.push_back(fmt::format("kernel '{}' had not ended when the program ended with status 0", *kernel));
  return all;
}

/// What is wrong whatever the program's status says.
std::vector<std::string> problems_of(const CudaOptions& options, const std::string& program, const ProcessEnd& end, const Record& record) {
  std::vector<std::string> all;
  if (const std::string reason = ended_by(options, end); !reason.empty()) {
    const std::string launches = tells_launches(options) ? fmt::format("; {} launches had ended", record.launches.size()) : "";
    const auto kernel = record.unended_kernel();
    all.push_back(fmt::format("{} {}{}{}", program, reason, launches, kernel ? fmt::format("; '{}' had not ended", *kernel) : ""));
  }
  if (record.damaged != 0) all.push_back(fmt::format("{} lines of the record of the launches are damaged", record.damaged));
  if (!record.other_driver.empty())
    all.push_back(fmt::format("{} loaded the driver {}, whose kernels run on a GPU and not here", program, record.other_driver));
  if (!record.unsaved.empty()) all.push_back("--save lacks launches: " + record.unsaved);
  if (!options.labels.require.empty() && record.labels.empty())
    all.push_back(fmt::format("--require {}: no kernel was executed", options.labels.require));
  if (record.launches.size() < options.expected_launches)
    all.push_back(fmt::format("--expect-launches {}: the program launched {} kernels", options.expected_launches, record.launches.size()));
  return all;
}

/// The exit status: the program's, where that tells what went wrong.
int status_of(const ProcessEnd& end) {
  if (end.limit != ProcessEnd::Limit::none) return 1;
  const bool must_end = end.asked != 0 && end.asked != SIGINT;  // a program may go on after SIGINT, as Python's prompt does
  return end.status == 0 && must_end ? 128 + end.asked : end.status;
}

/// Whether the program says itself that something is wrong: its results, for instance.
bool errs(const ProcessEnd& end) {
  return end.status > 0 && end.asked == 0 && end.limit == ProcessEnd::Limit::none;
}

/// What the command line does not ask for yet, and what it would look for.
struct Step {
  const char *option, *what;
};
std::vector<Step> steps_left(const CudaOptions& options, const Record& record) {
  std::vector<Step> steps;
  const Examination& asked = options.examination;
  const bool knows_product = asked.guess || !asked.gemm.empty();
  if (!record.launches.empty() && !knows_product)
    steps.push_back({"--guess", "what the kernels compute, and the first element that does not belong there"});
  if (!has_check(options.checks, "all")) steps.push_back({"--check all", "races, calls that fail, and other kinds of faults"});
  if (!record.launches.empty() && asked.gemm.empty() && knows_product)
    steps.push_back({"--gemm 'ptr2=ptr0*ptr1^T:128x192x256'", "elements of another product than the one that you mean"});
  if (!record.launches.empty() && asked.expected.empty() && knows_product)
    steps.push_back({"--expect '2=C.npy:f32:128x192'", "elements with other values than those of a file"});
  return steps;
}

/// Where to look next when a program says itself that its results are wrong; empty where a fault is told, or what was `examined`.
std::string next_step(const CudaOptions& options, const ProcessEnd& end, const Record& record, bool examined) {
  if (examined || !errs(end) || !record.fault.empty() || !record.refusal.empty()) return "";
  const std::vector<Step> steps = steps_left(options, record);
  if (steps.empty()) return "";
  std::string text = fmt::format("no kernel {}, and the program ended with an error of its own. Next:",
                                 record.launches.empty() ? "was launched" : "failed");
  for (const auto& [option, what] : steps) text += fmt::format("\n  {}: looks for {}", option, what);
  return text;
}

/// Of a program without a fault: the kinds of faults that its kernels may have and that nobody looked for.
std::string not_looked_for(const CudaOptions& options, const ProcessEnd& end, const Record& record) {
  if (status_of(end) != 0 || !record.fault.empty() || !record.refusal.empty()) return "";
  std::vector<std::string> left;
  if (record.shares_memory && !parse_checks(without_banks(options.checks)).races) left.emplace_back("races (--check all)");
  if (record.multiplies && !options.examination.asks()) left.emplace_back("wrong products (--guess)");
  return left.empty() ? "" : fmt::format("not looked for: {}", fmt::join(left, ", "));
}

/// Writes what was found for other programs. Returns the exit status, which is `status` unless that fails.
int told(const CudaOptions& options, const std::string& program, const Record& record, std::vector<Report> found, int status) {
  found.insert(found.begin(), record.reports.begin(), record.reports.end());
  found.insert(found.end(), record.failed_calls.begin(), record.failed_calls.end());
  const bool has_error = std::ranges::find(found, Report::Level::error, &Report::level) != found.end();
  if (status != 0 && !has_error) found.push_back({.rule = "program", .text = fmt::format("{} ended with status {}", program, status)});
  double seconds = 0;
  for (const Json& launch : record.launches) seconds += launch.at("seconds").get<double>();
  try {
    tell_findings(options.found, program, seconds, found);
  } catch (const std::runtime_error& error) {
    fmt::print(stderr, "warpmat: error: {}\n", error.what());
    return status == 0 ? 1 : status;
  }
  return status;
}

/// Says how the bits are known, and what the program kept to itself. Returns the exit status.
int conclude(const CudaOptions& options, const std::string& program, const ProcessEnd& end, const Record& record,
             const std::filesystem::path& saved) {
  std::vector<std::string> problems = problems_of(options, program, end, record);
  std::vector<Report> found;
  const auto attempt = [&](auto work) {
    try {
      work();
    } catch (const std::runtime_error& error) {
      problems.emplace_back(error.what());
    }
  };
  attempt([&] { write_report(options, program, end, record); });
  attempt([&] { require_labels(options.labels, options.target, record.labels); });
  Examination examination = options.examination;
  examination.errs = errs(end);
  examination.reported = record.reports;
  if (examination.asks() && !record.launches.empty()) attempt([&] { found = examine(examination, options.found, options.limits, saved); });
  const bool examined = !found.empty();
  print_reports(options.found, record.failed_calls, {});
  for (const std::string& problem : problems) {
    found.push_back({.rule = "program", .text = problem});
    print_reports(options.found, {found.back()}, {});
  }
  const std::vector<std::string> quiet = end.status == 0 ? kept_quiet(record) : std::vector<std::string>{};
  for (const std::string& each : quiet) fmt::print(stderr, "warpmat: error: {}\n", each);
  if (end.left_running != 0) fmt::print(stderr, "warpmat: {} left {} processes, which were ended\n", program, end.left_running);
  if (!record.labels.empty()) {
    if (!record.launches.empty()) report_profile(options.profile, "cuda", record.profiled);
    if (const std::string left = not_looked_for(options, end, record); !left.empty() && !options.labels.quiet)
      fmt::print(stderr, "warpmat: {}\n", left);
    print_evidence(options.labels, options.target, record.labels);
  } else if (record.refusal.empty() && record.unsaved.empty() && record.damaged == 0 && !record.unended_kernel()) {
    fmt::print(stderr, "warpmat: {} launched no kernel\n", program);
  }
  if (const std::string next = next_step(options, end, record, examined); !next.empty() && !options.labels.quiet)
    fmt::print(stderr, "warpmat: {}\n", next);
  int status = status_of(end);
  if (status == 0 && !(found.empty() && quiet.empty())) status = 1;
  return told(options, program, record, std::move(found), status);
}

/// The folder of --save, which is this run's alone.
class SaveFolder {
 public:
  explicit SaveFolder(const std::filesystem::path& folder) {
    if (folder.empty()) return;
    make_output_folder(folder);
    file_ = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file_ >= 0 && flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      throw std::runtime_error(fmt::format("--save {}: another run saves its launches there", folder.string()));
    if (!std::filesystem::is_empty(folder))
      throw std::runtime_error(fmt::format("--save {}: the folder is not empty; launches of two runs do not mix", folder.string()));
  }
  ~SaveFolder() {
    if (file_ >= 0) close(file_);
  }
  SaveFolder(const SaveFolder&) = delete;
  SaveFolder& operator=(const SaveFolder&) = delete;

 private:
  int file_ = -1;
};

/// Throws where `file` is what programs are made of, and says what to do with it.
void refuse_other_kinds(const std::filesystem::path& file) {
  const std::string name = file.string(), stem = file.stem().string();
  char first[4]{};
  std::ifstream(file, std::ios::binary).read(first, sizeof first);
  if (std::string_view(first, sizeof first) ==
      "\x7f"
      "ELF")
    return;  // whatever its name
  if (file.extension() == ".cu")
    throw std::runtime_error(
        fmt::format("{0} is source code: compile it with 'warpmat nvcc -o {1} {0}', then run 'warpmat cuda ./{1}'", name, stem));
  if (file.extension() == ".ptx")
    throw std::runtime_error(fmt::format("{0} has kernels, and no main(): 'warpmat launch {0}' runs one", name));
}

void run_cuda(const CudaOptions& options, std::vector<std::string> words) {
  if (words.empty()) require_option("PROGRAM");
  if (words.front().starts_with('-')) refuse_option(words.front(), "cuda has no such option");
  static_cast<void>(target(options.target));
  static_cast<void>(parse_checks(without_banks(options.checks)));
  check_examination(options.examination);
  if (!options.report.empty()) check_output_place(options.report);
  check_finding_files(options.found);
  if (!options.found.suppressions.empty()) static_cast<void>(read_suppressions(options.found.suppressions));
  check_profile_flag(options.profile);
  refuse_other_kinds(words.front());
  refuse_separate_file(options.profile, words.front());
  const std::filesystem::path program = find_program(words.front());
  refuse_static_runtime(program);
  const std::optional<TemporaryFolder> examined =
      options.save.empty() && options.examination.asks() ? std::optional<TemporaryFolder>(std::in_place) : std::nullopt;
  const std::filesystem::path saved = examined ? examined->path() : std::filesystem::path(options.save);
  const SaveFolder save(saved);
  const RecordFile file;
  const std::string name = words.front();
  words.front() = program.string();
  const ProcessEnd end =
      supervise(words, {}, variables_of(options, program, file.path(), saved), {options.limits.seconds, options.limits.memory});
  const Record record = RecordReader(tells_launches(options)).read(file.path());
  if (const std::string missing = missing_cuda_libraries(program, end.status != 0); !missing.empty())
    fmt::print(stderr, "warpmat: {} needs libraries that are not among warpmat's{}: {}\n", name,
               end.status != 0 ? "" : ", so their results may be wrong", missing);
  if (const int status = conclude(options, name, end, record, saved); status != 0) exit_with(status);
}

}  // namespace

void add_cuda(Command app) {
  const auto options = std::make_shared<CudaOptions>();
  const Command command = app.add_subcommand("cuda", "Run a CUDA program without a GPU");
  command.prefix_command("PROGRAM [ARGUMENTS]");
  command.add_option("--target", options->target, "The GPU to be, for example sm_80").capture_default_str();
  command.add_option("--jobs", options->jobs, "Threads of each launch; 0: one for each core, the default. The result does not depend on it")
      .range(0, 1024);
  add_schedule_flag(command, options->schedule);
  add_timing_flag(command, options->timing);
  command
      .add_option("--check", options->checks,
                  all_check_names() +
                      ", separated by commas; or all, or none. And banks: bank conflicts by line, to standard error. With uses instead of "
                      "uninitialised, storing an uninitialised value in "
                      "global memory is a warning")
      .capture_default_str();
  add_undefined_flag(command, options->undefined);
  command
      .add_option("--assembler", options->assembler,
                  "Who decides about the bits that PTX leaves open (docs/reference/assembler.md): code: the machine code in the program; "
                  "ptxas: the "
                  "CUDA Toolkit's assembler; rule: warpmat's rule")
      .one_of({"code", "ptxas", "rule"})
      .capture_default_str();
  command.add_option("--sms", options->processors, "Streaming multiprocessors that the program is told of; 0: as many as the GPU has")
      .range(0, 1024);
  command.add_option("--gpus", options->gpus, "How many of the GPU the program has, 1 to 16, in one address space")
      .range(1, 16)
      .capture_default_str();
  command.add_flag("--leaks", options->leaks, "List what the program has not freed");
  command.add_option("--report", options->report, "Write each launch as JSON: kernel, grid, operations, time, warnings")
      .type_name("FILE.json");
  command.add_option("--save", options->save, "Write each launch with its buffers as DIR/N/launch.json, which 'warpmat launch' takes")
      .type_name("DIR");
  command.add_option("--gemm", options->examination.gemm,
                     "2=0*1^T:128x192x256: what the kernels compute; the first wrong product of each launch is reported with its lines. "
                     "Numbers are the kernel's pointer parameters, from 0, which reports call ptr0; their names and buffers' do, too. The "
                     "rest is as of 'launch'");
  command
      .add_option(
          "--expect", options->examination.expected,
          "2=C.npy:f32:128x192:2ulp: compare a buffer after the last launch, or the last of --kernels, as 'launch' does; a difference is a "
          "failure; may be repeated")
      .allow_extra_args(false);
  command.add_flag("--guess", options->examination.guess,
                   "Find out which product the kernels compute, and report what does not belong to it: --gemm without telling it. Of "
                   "kernels without matrix instructions: elements that depend on others than their neighbours");
  command.add_option("--why", options->examination.why, "2[5,3]: where this element of the product of --gemm or --guess comes from");
  command.add_option("--against", options->examination.against, "With --why: another GPU, and the first product at which its bits part")
      .type_name("TARGET");
  command
      .add_option("--kernels", options->examination.kernels,
                  "The kernels that --guess, --gemm, --expect and --check banks look at, by a part of their C++ name")
      .type_name("REGEX");
  command
      .add_option("--expect-launches", options->expected_launches,
                  "A program that launches fewer kernels is a failure: of a test that tests nothing")
      .range(0, 1'000'000'000)
      .type_name("N");
  add_finding_flags(command, options->found);
  add_profile_flag(command, options->profile);
  add_limit_flags(command, options->limits);
  add_label_flags(command, options->labels);
  command.footer(
      "The program is one that nvcc compiled with -cudart shared: in the environment, NVCC_APPEND_FLAGS=\"-cudart shared\"; in CMake,\n"
      "CMAKE_CUDA_RUNTIME_LIBRARY=Shared. Its kernels run from their PTX. The exit status is the program's, or 1 where a kernel failed,\n"
      "or was not executed, and the program ended with 0; or where a limit ended it. Signals reach the program and its children, none of "
      "which is\n"
      "left. docs/use/programs.md lists the supported functions.\n"
      "\n"
      "Examples:\n"
      "  warpmat nvcc -o saxpy saxpy.cu\n"
      "  warpmat cuda ./saxpy 1000\n"
      "  warpmat cuda --profile --profile=saxpy.json ./saxpy 1000\n"
      "  warpmat cuda --target sm_80 --check all --report launches.json ./saxpy 1000\n"
      "  warpmat cuda --guess ./gemm\n"
      "  warpmat cuda --gemm '2=0*1^T:128x192x256' --kernels hgemm ./gemm\n"
      "  warpmat cuda --expect '2=C.npy:f32:128x192:2ulp' --kernels hgemm ./gemm\n"
      "  warpmat cuda --seconds 600 --memory 4GB ./saxpy 1000");
  command.callback([options, command] {
    options->examination.banks = counts_banks(options->checks);
    run_cuda(*options, command.remaining());
  });
}

}  // namespace warpmat
