#include <fmt/core.h>
#include <warpmat/files/output_file.h>
#include <warpmat/forms.h>
#include <warpmat/launch.h>
#include <warpmat/launch/check_list.h>
#include <warpmat/machine/internals.h>
#include <warpmat/version.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <warpmat/assembler/decisions_file.h>
#include <warpmat/files/process.h>

#include "commands.h"
#include "cuda_program.h"
#include "profile_flag.h"
#include "tools/command_line/execution_flags.h"
#include "tools/command_line/label_flags.h"
#include "tools/report/evidence_line.h"
#include "tools/report/input_file.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

struct CudaOptions {
  std::string target = "sm_90a", checks = usual_program_checks, report, save;
  int jobs = 0, processors = 0;
  std::uint64_t schedule = 0;
  bool leaks = false;
  Undefined undefined = Undefined::trap;
  std::string assembler = "code";
  LabelOptions labels;
  std::vector<std::string> profile;
};

/// What the runtime recorded of a program's launches.
struct Record {
  std::vector<Json> launches;
  std::vector<Labelled> labels;  ///< of all that ran, each instruction once
  std::string fault;             ///< the report of the first kernel that failed; empty if none did
  std::string refusal;           ///< why the first kernel was refused; empty if none was
  std::vector<ProfiledKernel> profiled;
};

/// What the launches' kernels are: the instructions, and the profiles. Each kernel is resolved once.
class Kernels {
 public:
  Kernels(const std::filesystem::path& folder, Record& record) : folder_(folder), record_(record) {}

  void add(const Json& launch) {
    const Kernel& kernel = find(launch);
    LaunchResult result;
    result.absent_lanes = launch.at("absent_lanes").get<std::vector<std::string>>();
    const bool is_new = labelled_.insert(&program_of(kernel)).second;
    if (is_new || !result.absent_lanes.empty())  // all that may have other labels than its kernel's last launch
      for (Labelled& each : labelled(kernel, result))
        if (seen_.insert(each.what).second) record_.labels.push_back(std::move(each));
    if (launch.contains("profile")) add_profile(kernel, launch.at("profile"));
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
    const std::string file = launch.at("module"), entry = launch.at("entry"), target = launch.at("target");
    if (const auto found = kernels_.find({file, entry}); found != kernels_.end()) return found->second;
    auto module = modules_.find(file);
    if (module == modules_.end()) module = modules_.emplace(file, Module(read_file(folder_ / file))).first;
    const std::string options = launch.at("assembler_options"), decided = launch.at("decisions");
    const auto decisions = decided.empty() ? std::nullopt : read_decisions(folder_ / decided);
    const Kernel kernel(module->second, entry,
                        {.target = target, .assembler_options = options, .decisions = decisions ? &*decisions : nullptr});
    return kernels_.emplace(std::pair(file, entry), kernel).first->second;
  }

  std::filesystem::path folder_;
  Record& record_;
  std::set<std::string> seen_;
  std::set<const code::Program*> labelled_;  ///< of kernels whose labels are in the record
  std::map<std::string, Module> modules_;
  std::map<std::pair<std::string, std::string>, Kernel> kernels_;
};

/// `all`: also launches that are like others but for their time.
Record read_record(const std::filesystem::path& folder, bool all) {
  Record record;
  Kernels kernels(folder, record);
  std::ifstream lines(folder / "launches.jsonl");
  std::set<std::string, std::less<>> seen;
  for (std::string line; std::getline(lines, line);) {
    const std::string_view without_time = std::string_view(line).substr(0, line.rfind("\"seconds\":"));
    if (!all && seen.contains(without_time)) continue;
    if (!all) seen.emplace(without_time);
    Json read = Json::parse(line);
    if (read.contains("refused")) {
      if (record.refusal.empty())
        record.refusal = fmt::format("'{}': {}", read.at("kernel").get<std::string>(), read.at("refused").get<std::string>());
      continue;
    }
    const Json& launch = record.launches.emplace_back(std::move(read));
    kernels.add(launch);
    if (record.fault.empty() && launch.contains("error")) record.fault = launch.at("error").at("text");
  }
  return record;
}

void write_report(const CudaOptions& options, const std::string& program, int status, const Record& record) {
  if (options.report.empty()) return;
  Json launches = Json::array();
  for (Json launch : record.launches) {
    launch.erase("module");  // files that are gone
    launch.erase("decisions");
    launch.erase("profile");
    launches.push_back(std::move(launch));
  }
  const Json json{{"warpmat", version()},
                  {"command", "cuda"},
                  {"program", program},
                  {"target", options.target},
                  {"status", status},
                  {"evidence", record.labels.empty() ? "" : evidence_line(options.target, record.labels)},
                  {"launches", std::move(launches)}};
  write_file(options.report, {json.dump(1), "\n"});
}

/// Whether the command tells something of each launch, and not of what ran alone.
bool tells_launches(const CudaOptions& options) {
  return !options.report.empty() || !options.profile.empty();
}

Variables variables_of(const CudaOptions& options, const std::filesystem::path& record) {
  return {{"LD_LIBRARY_PATH", library_path_with(cuda_libraries())},
          {"WARPMAT_CUDA_TARGET", options.target},
          {"WARPMAT_CUDA_JOBS", std::to_string(options.jobs)},
          {"WARPMAT_CUDA_SCHEDULE", std::to_string(options.schedule)},
          {"WARPMAT_CUDA_CHECK", options.checks},
          {"WARPMAT_CUDA_UNDEFINED", options.undefined == Undefined::hardware ? "hardware" : "trap"},
          {"WARPMAT_CUDA_ASSEMBLER", options.assembler},
          {"WARPMAT_CUDA_SMS", std::to_string(options.processors)},
          {"WARPMAT_CUDA_LEAKS", options.leaks ? "1" : "0"},
          {"WARPMAT_CUDA_REPORT", record.string()},
          {"WARPMAT_CUDA_EVERY_LAUNCH", tells_launches(options) ? "1" : "0"},
          {"WARPMAT_CUDA_SAVE", options.save.empty() ? "" : std::filesystem::absolute(options.save).string()},
          {"WARPMAT_CUDA_PROFILE", options.profile.empty() ? "0" : "1"}};
}

/// Says how the bits are known, and what the program kept to itself. Returns the exit status.
int conclude(const CudaOptions& options, const std::string& program, int status, const Record& record) {
  if (!record.refusal.empty() && status == 0) {
    fmt::print(stderr, "warpmat: error: a kernel was not executed, and the program went on and ended with status 0: {}\n", record.refusal);
    status = 1;
  }
  if (record.launches.empty()) {
    fmt::print(stderr, "warpmat: {} launched no kernel\n", program);
    return status;
  }
  if (!record.fault.empty() && status == 0) {
    fmt::print(stderr, "warpmat: error: a kernel failed, and the program went on and ended with status 0: {}\n", record.fault);
    status = 1;
  }
  require_labels(options.labels, options.target, record.labels);
  report_profile(options.profile, "cuda", record.profiled);
  print_evidence(options.labels, options.target, record.labels);
  return status;
}

/// Throws where `file` is what programs are made of, and says what to do with it.
void refuse_other_kinds(const std::filesystem::path& file) {
  const std::string name = file.string(), stem = file.stem().string();
  if (file.extension() == ".cu")
    throw std::runtime_error(fmt::format(
        "{0} is source code: compile it with 'nvcc -arch=sm_90 -cudart shared -lineinfo -o {1} {0}', then run 'warpmat cuda ./{1}'", name,
        stem));
  if (file.extension() == ".ptx")
    throw std::runtime_error(fmt::format("{0} has kernels, and no main(): 'warpmat launch {0}' runs one", name));
}

void run_cuda(const CudaOptions& options, std::vector<std::string> words) {
  if (words.empty()) require_option("PROGRAM");
  if (words.front().starts_with('-')) refuse_option(words.front(), "cuda has no such option");
  static_cast<void>(target(options.target));
  static_cast<void>(parse_checks(options.checks));
  if (!options.report.empty()) check_output_place(options.report);
  check_profile_flag(options.profile);
  refuse_other_kinds(words.front());
  refuse_separate_file(options.profile, words.front());
  const std::filesystem::path program = find_program(words.front());
  refuse_static_runtime(program);
  if (!options.save.empty()) make_output_folder(options.save);
  const TemporaryFolder folder;
  const std::string name = words.front();
  words.front() = program.string();
  const int status = run_program(words, {}, variables_of(options, folder.path()));
  const Record record = read_record(folder.path(), tells_launches(options));
  write_report(options, name, status, record);
  if (const int all = conclude(options, name, status, record); all != 0) exit_with(all);
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
  command
      .add_option("--check", options->checks,
                  all_check_names() +
                      ", separated by commas; or all, or none. With uses instead of uninitialised, storing an uninitialised value in "
                      "global memory is a warning")
      .capture_default_str();
  add_undefined_flag(command, options->undefined);
  command
      .add_option("--assembler", options->assembler,
                  "Who decides about the bits that PTX leaves open (docs/assembler.md): code: the machine code in the program; ptxas: the "
                  "CUDA Toolkit's assembler; rule: warpmat's rule")
      .one_of({"code", "ptxas", "rule"})
      .capture_default_str();
  command.add_option("--sms", options->processors, "Streaming multiprocessors that the program is told of; 0: as many as the GPU has")
      .range(0, 1024);
  command.add_flag("--leaks", options->leaks, "List what the program has not freed");
  command.add_option("--report", options->report, "Write each launch as JSON: kernel, grid, operations, time, warnings")
      .type_name("FILE.json");
  command.add_option("--save", options->save, "Write each launch with its buffers as DIR/N/launch.json, which 'warpmat launch' takes")
      .type_name("DIR");
  add_profile_flag(command, options->profile);
  add_label_flags(command, options->labels);
  command.footer(
      "The program is one that nvcc compiled with -cudart shared: in the environment, NVCC_APPEND_FLAGS=\"-cudart shared\"; in CMake,\n"
      "CMAKE_CUDA_RUNTIME_LIBRARY=Shared. Its kernels run from their PTX. The exit status is the program's, or 1 where a kernel failed,\n"
      "or was not executed, and the program ended with 0. docs/programs.md lists the supported functions.\n"
      "\n"
      "Examples:\n"
      "  nvcc -arch=sm_90 -cudart shared -lineinfo -o saxpy saxpy.cu\n"
      "  warpmat cuda ./saxpy 1000\n"
      "  warpmat cuda --profile --profile=saxpy.json ./saxpy 1000\n"
      "  warpmat cuda --target sm_80 --check all --report launches.json ./saxpy 1000");
  command.callback([options, command] { run_cuda(*options, command.remaining()); });
}

}  // namespace warpmat
