#include <warpmat/files/process.h>

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <system_error>

extern char** environ;  // NOLINT: POSIX

namespace warpmat {

namespace fs = std::filesystem;

namespace {

struct Folders {
  std::mutex mutex;
  std::set<fs::path> paths;
};

Folders& folders() {
  static Folders all;
  return all;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "warpmat_XXXXXX").string();
  const std::lock_guard lock(folders().mutex);
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error(fmt::format("cannot make {}: {}", name, std::strerror(errno)));
  path_ = name;
  folders().paths.insert(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  const std::lock_guard lock(folders().mutex);
  fs::remove_all(path_, ignored);
  folders().paths.erase(path_);
}

void TemporaryFolder::remove_all() {
  std::error_code ignored;
  const std::lock_guard lock(folders().mutex);
  for (const fs::path& path : folders().paths) fs::remove_all(path, ignored);
}

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

std::optional<fs::path> find_in_path(std::string_view name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty() && is_program(fs::path(folder) / name)) return fs::path(folder) / name;
  return std::nullopt;
}

fs::path find_program(const std::string& program) {
  const bool is_path = program.find('/') != std::string::npos;
  if (!is_path)
    if (const auto found = find_in_path(program)) return *found;
  if (fs::is_directory(program)) throw std::runtime_error(fmt::format("{} is a directory, no program", program));
  if (is_path) {
    if (!fs::exists(program)) throw std::runtime_error(fmt::format("there is no program {}", program));
    if (!is_program(program)) throw std::runtime_error(fmt::format("{} is no program that can be executed", program));
    return program;
  }
  const std::string here = is_program(program)   ? "; for the one here write ./" + program
                           : fs::exists(program) ? "; the file here is none that can be executed"
                                                 : "";
  throw std::runtime_error(fmt::format("there is no program '{}' in PATH{}", program, here));
}

fs::path command_folder() {
  std::error_code unknown;
  return fs::read_symlink("/proc/self/exe", unknown).parent_path();
}

std::optional<fs::path> library_folder(std::initializer_list<const char*> places, const std::string& file) {
  for (const char* const place : places) {
    const fs::path folder = (command_folder() / place).lexically_normal();
    if (fs::exists(folder / file)) return folder;
  }
  return std::nullopt;
}

std::string list_with(const char* variable, const std::string& first) {
  const char* const before = std::getenv(variable);
  return before == nullptr || *before == '\0' ? first : first + ":" + before;
}

std::vector<std::string> environment_with(const Variables& variables) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name = std::string_view(*entry).substr(0, std::string_view(*entry).find('='));
    if (std::ranges::find(variables, name, &Variables::value_type::first) == variables.end()) all.emplace_back(*entry);
  }
  for (const auto& variable : variables) all.push_back(variable.first + "=" + variable.second);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

void fail_to_run(const std::string& program, int error) {
  if (error == ENOEXEC)
    throw std::runtime_error(
        fmt::format("cannot run {}: it is neither an executable file of this kind of machine nor a script that begins with #!", program));
  throw std::runtime_error(fmt::format("cannot run {}: {}", program, std::strerror(error)));
}

int run_program(const std::vector<std::string>& words, const ProcessOutput& output, const Variables& variables) {
  std::vector<std::string> arguments = words, environment = environment_with(variables);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output.kind == ProcessOutput::Kind::to_error) posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  if (output.kind == ProcessOutput::Kind::to_file) {
    constexpr int written = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.file.c_str(), written, 0600);
    if (output.error_file.empty())
      posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    else
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, output.error_file.c_str(), written, 0600);
  }
  pid_t process = 0;
  const int error = posix_spawn(&process, words[0].c_str(), &actions, nullptr, pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail_to_run(words[0], error);
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR) throw std::runtime_error(fmt::format("cannot wait for {}: {}", words[0], std::strerror(errno)));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace warpmat
