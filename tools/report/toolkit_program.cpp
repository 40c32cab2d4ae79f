#include "tools/report/toolkit_program.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "tools/report/split.h"

extern char** environ;  // NOLINT: POSIX

namespace warpmat {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "warpmat_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error(fmt::format("cannot make {}: {}", name, std::strerror(errno)));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

std::optional<fs::path> find_toolkit_program(std::string_view name) {
  const auto variable = [](const char* of) -> std::string {
    const char* const value = std::getenv(of);
    return value == nullptr ? "" : value;
  };
  std::vector<fs::path> folders;
  for (const std::string& folder : split(variable("PATH"), ':'))
    if (!folder.empty()) folders.emplace_back(folder);
  for (const char* const of : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string home = variable(of); !home.empty()) folders.push_back(fs::path(home) / "bin");
  folders.emplace_back("/usr/local/cuda/bin");
  for (const fs::path& folder : folders)
    if (is_program(folder / name)) return folder / name;
  return std::nullopt;
}

int run_program(const std::vector<std::string>& words, const fs::path& output) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output.empty()) {
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  }
  pid_t process = 0;
  const int error = posix_spawn(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error(fmt::format("cannot run {}: {}", words[0], std::strerror(error)));
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR) throw std::runtime_error(fmt::format("cannot wait for {}: {}", words[0], std::strerror(errno)));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace warpmat
