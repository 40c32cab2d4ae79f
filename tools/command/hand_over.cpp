#include "hand_over.h"

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

#include <warpmat/files/process.h>

namespace warpmat {
namespace {

/// Puts the folder of a module beside this command, in its build folder or its archive, before those of PYTHONPATH.
void find_module_beside() {
  if (const auto folder = library_folder({"python/package", "../lib/python3/dist-packages"}, "warpmat/__init__.py"))
    setenv("PYTHONPATH", list_with("PYTHONPATH", folder->string()).c_str(), 1);
}

bool has_module(const std::string& python) {
  constexpr const char* question =
      "import sys, importlib.util as u; sys.exit(u.find_spec('numpy') is None or u.find_spec('warpmat._core') is None)";
  return run_program({python, "-c", question}, {ProcessOutput::Kind::to_file, "/dev/null"}) == 0;
}

}  // namespace

void hand_over_to_python(const std::vector<std::string>& words) {
  find_module_beside();
  const std::filesystem::path of_distribution = "/usr/bin/python3";
  for (const std::filesystem::path& python : {find_in_path("python3").value_or(of_distribution), of_distribution}) {
    if (!is_program(python) || !has_module(python.string())) continue;
    std::vector<std::string> all{python.string(), "-m", "warpmat"};
    all.insert(all.end(), words.begin(), words.end());
    execv(all[0].c_str(), pointers(all).data());
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
