#include "hand_over.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>

namespace warpmat {
namespace {

/// Puts the folders of a module beside this program before those of PYTHONPATH: its build folder's, and its archive's.
void find_module_beside() {
  namespace fs = std::filesystem;
  std::error_code unknown;
  const fs::path here = fs::read_symlink("/proc/self/exe", unknown).parent_path();
  std::string folders;
  for (const char* place : {"python/package", "../lib/python3/dist-packages"})
    if (!unknown && fs::exists(here / place / "warpmat", unknown)) folders += (here / place).string() + ":";
  const char* const before = std::getenv("PYTHONPATH");
  if (!folders.empty()) setenv("PYTHONPATH", (folders + (before != nullptr ? before : "")).c_str(), 1);
}

bool has_module(const char* python) {
  constexpr const char* question =
      "import sys, importlib.util as u; sys.exit(u.find_spec('numpy') is None or u.find_spec('warpmat._core') is None)";
  const char* const words[] = {python, "-c", question, nullptr};
  pid_t child{};
  int status = 0;
  return posix_spawnp(&child, python, nullptr, nullptr, const_cast<char**>(words), environ) == 0 && waitpid(child, &status, 0) == child &&
         WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

void hand_over_to_python(const std::vector<std::string>& words) {
  find_module_beside();
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    if (!has_module(python)) continue;
    std::vector<const char*> all{python, "-m", "warpmat"};
    for (const std::string& word : words) all.push_back(word.c_str());
    all.push_back(nullptr);
    execvp(python, const_cast<char**>(all.data()));
  }
  throw std::runtime_error(
      fmt::format("'warpmat {}' is in the Python module warpmat, which no python3 here has; install the package python3-warpmat, or in the "
                  "source tree: "
                  "tools/build",
                  words.front()));
}

void hand_over(const HandingProgram& program, char** argv) {
  namespace fs = std::filesystem;
  std::string name = program.name;
  argv[0] = name.data();
  std::error_code unknown;
  const fs::path self = fs::read_symlink("/proc/self/exe", unknown);
  const fs::path beside = self.parent_path() / name;
  if (!unknown && access(beside.c_str(), X_OK) == 0) execv(beside.c_str(), argv);
  execvp(name.c_str(), argv);
  const int reason = errno;
  if (reason != ENOENT) throw std::runtime_error(fmt::format("cannot start {}: {}", name, std::generic_category().message(reason)));
  throw std::runtime_error(fmt::format("'warpmat {}' is a subcommand of {}, which is neither beside {} nor in PATH; {}", argv[1], name,
                                       unknown ? "this command" : self.string(), program.where));
}

}  // namespace warpmat
