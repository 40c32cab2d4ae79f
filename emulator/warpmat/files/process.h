#pragma once

#include <filesystem>
#include <initializer_list>
#include <optional>
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

/// A list of the environment that colons separate, such as LD_LIBRARY_PATH, with `first` in front.
std::string list_with(const char* variable, const std::string& first);

/// Variables of an environment: name and value.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// Where the standard output of a program goes.
struct ProcessOutput {
  enum class Kind { inherited, to_error, to_file };  ///< to_file: the program's standard input is empty
  Kind kind = Kind::inherited;
  std::filesystem::path file{};        ///< of to_file
  std::filesystem::path error_file{};  ///< of to_file, for standard error; empty: `file` has that, too
};

/// Runs `words`, the first of which is the program's file, with `variables` added to the environment, and waits. Returns its exit status,
/// or 128 and the signal's number where one ended it. Throws std::runtime_error where it cannot start. For tools that end soon: signals
/// of this process do not reach it (tools/report/supervision.h).
int run_program(const std::vector<std::string>& words, const ProcessOutput& output, const Variables& variables = {});

/// What posix_spawn() and execve() say of a program that cannot start. Throws std::runtime_error.
[[noreturn]] void fail_to_run(const std::string& program, int error);

/// The environment of this process with `variables` in it, each entry NAME=VALUE.
std::vector<std::string> environment_with(const Variables& variables);

/// The words and a null pointer, as posix_spawn() and execve() take them. They point into `words`.
std::vector<char*> pointers(std::vector<std::string>& words);

}  // namespace warpmat
