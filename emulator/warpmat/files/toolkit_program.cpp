#include <warpmat/files/toolkit_program.h>

#include <cstdlib>
#include <sstream>
#include <string>

#include <warpmat/files/process.h>

namespace warpmat {

namespace fs = std::filesystem;

namespace {

/// The program in PATH that is not warpmat's stand-in for it, whose folder `warpmat cuda` puts there.
std::optional<fs::path> find_original(std::string_view name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty() && !folder.ends_with("warpmat/cuda/bin") && is_program(fs::path(folder) / name)) return fs::path(folder) / name;
  return std::nullopt;
}

}  // namespace

std::optional<fs::path> find_toolkit_program(std::string_view name) {
  if (const auto found = find_original(name)) return found;
  for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* const home = std::getenv(variable); home != nullptr && *home != '\0' && is_program(fs::path(home) / "bin" / name))
      return fs::path(home) / "bin" / name;
  const fs::path usual = fs::path("/usr/local/cuda/bin") / name;
  return is_program(usual) ? std::optional(usual) : std::nullopt;
}

}  // namespace warpmat
