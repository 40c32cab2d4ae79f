#include "hand_over.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fmt/core.h>

namespace warpmat {

void hand_over_to_lab(char** argv) {
  namespace fs = std::filesystem;
  std::string name = "warpmat-lab";
  argv[0] = name.data();
  std::error_code unknown;
  const fs::path self = fs::read_symlink("/proc/self/exe", unknown);
  const fs::path beside = self.parent_path() / name;
  if (!unknown && access(beside.c_str(), X_OK) == 0) execv(beside.c_str(), argv);
  execvp(name.c_str(), argv);
  const int reason = errno;
  if (reason != ENOENT) throw std::runtime_error(fmt::format("cannot start warpmat-lab: {}", std::generic_category().message(reason)));
  throw std::runtime_error(fmt::format(
      "'warpmat {}' is a subcommand of warpmat-lab, which is neither beside {} nor in PATH; install the package warpmat-lab, or in the "
      "source tree: tools/build release warpmat_lab",
      argv[1], unknown ? "this command" : self.string()));
}

}  // namespace warpmat
