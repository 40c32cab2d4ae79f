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
