#include "tools/report/nvcc.h"

#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "tools/report/input_file.h"
#include "tools/report/shell_word.h"
#include "tools/report/split.h"
#include "tools/report/temporary_folder.h"

extern char** environ;

namespace warpmat {
namespace {

namespace fs = std::filesystem;

bool executable(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

/// Runs a program without a shell, its output to standard error, and returns its exit status; 128 and the signal's number where one ended
/// it.
int run(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error(fmt::format("cannot run {}: {}", arguments[0], std::strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::runtime_error(fmt::format("cannot wait for {}: {}", arguments[0], std::strerror(errno)));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::optional<fs::path> find_nvcc() {
  const auto variable = [](const char* name) -> std::string {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (const std::string chosen = variable("CUDACXX"); !chosen.empty())
    return executable(chosen) ? std::optional<fs::path>(chosen) : std::nullopt;
  std::vector<fs::path> folders;
  for (const std::string& folder : split(variable("PATH"), ':'))
    if (!folder.empty()) folders.emplace_back(folder);
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string home = variable(name); !home.empty()) folders.push_back(fs::path(home) / "bin");
  folders.emplace_back("/usr/local/cuda/bin");
  for (const fs::path& folder : folders)
    if (executable(folder / "nvcc")) return folder / "nvcc";
  return std::nullopt;
}

std::string compile_cuda(const fs::path& nvcc, const fs::path& source, std::string_view target) {
  const TemporaryFolder folder;
  const fs::path ptx = folder / "kernel.ptx";
  const std::string file = source.string().starts_with('-') ? "./" + source.string() : source.string();
  std::vector<std::string> arguments{nvcc.string(), "-ptx", "-lineinfo", fmt::format("-arch={}", target), "-o", ptx.string(), file};
  // nvcc takes headers and C++ files for host code unless it is told.
  if (source.extension() != ".cu") arguments.insert(arguments.end() - 1, {"-x", "cu"});
  std::string line;
  for (const std::string& argument : arguments) line += ' ' + shell_word(argument);
  fmt::print(stderr, "warpmat:{}\n", line);
  std::fflush(stderr);
  if (const int status = run(arguments); status != 0)
    throw std::runtime_error(fmt::format("{}: nvcc ended with status {}, its messages are above", source.string(), status));
  return read_file(ptx);
}

}  // namespace warpmat
