#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpmat {

// Programs as processes, without a shell.

/// A folder of its own in the system's place for temporary files, removed with what it holds. Throws std::runtime_error.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  /// Removes all that there are, before a process ends at once.
  static void remove_all();

 private:
  std::filesystem::path path_;
};

/// Whether `path` is a file that may be executed.
bool is_program(const std::filesystem::path& path);

/// The program `name` in PATH.
std::optional<std::filesystem::path> find_in_path(std::string_view name);

/// The file of `program`, which PATH may name. Throws std::runtime_error.
std::filesystem::path find_program(const std::string& program);

/// The folder of this command's file.
std::filesystem::path command_folder();

/// Of `places`, which are relative to this command's folder, the first folder that has `file`.
std::optional<std::filesystem::path> library_folder(std::initializer_list<const char*> places, const std::string& file);

/// LD_LIBRARY_PATH of this process with `folder` in front.
std::string library_path_with(const std::filesystem::path& folder);

/// Variables of an environment: name and value.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// Where the standard output of a program goes.
struct ProcessOutput {
  enum class Kind { inherited, to_error, to_file };  ///< to_file: the program's standard input is empty
  Kind kind = Kind::inherited;
  std::filesystem::path file{};        ///< of to_file
  std::filesystem::path error_file{};  ///< of to_file, for standard error; empty: `file` has that, too
};

/// A signal asked this process to end, and what it ran has ended.
class Interrupted : public std::runtime_error {
 public:
  Interrupted(int signal_, const std::string& what) : std::runtime_error(what), signal(signal_) {}

  int exit_status() const { return 128 + signal; }  ///< 130 or 143, as shells have it

  int signal;
};

/// Runs `words`, the first of which is the program's file, with `variables` added to the environment, and waits. Returns its exit status,
/// or 128 and the signal's number where one ended it. SIGINT, SIGTERM, SIGHUP and SIGQUIT reach the program, which also ends with this
/// process. Throws Interrupted behind such a signal, and std::runtime_error where the program cannot start.
int run_program(const std::vector<std::string>& words, const ProcessOutput& output, const Variables& variables = {});

/// What a program may use, its children included; 0: no limit.
struct ProcessLimits {
  double seconds = 0;
  std::uint64_t memory = 0;  ///< bytes of memory that are in use at once
};

/// How a supervised program ended.
struct ProcessEnd {
  enum class Limit { none, seconds, memory };
  int status = 0;             ///< as run_program() returns it
  int ended_by = 0;           ///< the signal that ended the program; 0: none
  int asked = 0;              ///< the last signal that asked this process to end, and was passed on; 0: none
  Limit limit = Limit::none;  ///< of ProcessLimits, the one that ended it
  int left_running = 0;       ///< children that the program left, which were ended
};

/// The same as run_program(), with all processes that the program begins: signals reach them, and none of them is left. After SIGTERM or
/// SIGHUP, and at the limit of time, they have a few seconds. Throws std::runtime_error where the program cannot start.
ProcessEnd supervise(const std::vector<std::string>& words, const ProcessOutput& output, const Variables& variables,
                     const ProcessLimits& limits = {});

}  // namespace warpmat
