#include <warpmat/files/toolkit_program.h>

#include <cstdlib>

#include <warpmat/files/process.h>

namespace warpmat {

namespace fs = std::filesystem;

std::optional<fs::path> find_toolkit_program(std::string_view name) {
  if (const auto found = find_in_path(name)) return found;
  for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* const home = std::getenv(variable); home != nullptr && *home != '\0' && is_program(fs::path(home) / "bin" / name))
      return fs::path(home) / "bin" / name;
  const fs::path usual = fs::path("/usr/local/cuda/bin") / name;
  return is_program(usual) ? std::optional(usual) : std::nullopt;
}

}  // namespace warpmat
