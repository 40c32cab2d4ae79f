#include "tools/report/nvcc.h"

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <warpmat/files/toolkit_program.h>
#include "tools/report/input_file.h"
#include "tools/report/shell_word.h"
#include "tools/report/supervision.h"

namespace warpmat {

namespace fs = std::filesystem;

std::optional<fs::path> find_nvcc() {
  const char* const chosen = std::getenv("CUDACXX");
  if (chosen == nullptr || *chosen == '\0') return find_toolkit_program("nvcc");
  return is_program(chosen) ? std::optional<fs::path>(chosen) : std::nullopt;
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
  if (const int status = run_supervised(arguments, {ProcessOutput::Kind::to_error}); status != 0)
    throw std::runtime_error(fmt::format("{}: nvcc ended with status {}, its messages are above", source.string(), status));
  return read_file(ptx);
}

}  // namespace warpmat
