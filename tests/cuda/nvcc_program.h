#pragma once

#include "test.h"
#include "tools/command.h"

namespace warpmat {

/// Whether nvcc is in PATH. Where it is not, the test says that it is skipped.
inline bool has_nvcc() {
  if (run_program("sh", {"-c", "command -v nvcc"}).status == 0) return true;
  WARN("skipped: no nvcc in PATH");
  return false;
}

/// Compiles tests/cuda/programs/NAME.cu of each name into the program `built`, with the shared runtime and PTX for sm_90.
inline void compile_program(const std::string& built, const std::vector<std::string>& names, const std::vector<std::string>& options = {},
                            const std::string& architecture = "-arch=sm_90") {
  std::vector<std::string> command{architecture, "-cudart", "shared", "-o", built};
  for (const std::string& name : names) command.push_back(source_path("tests/cuda/programs/" + name + ".cu"));
  command.insert(command.end(), options.begin(), options.end());
  REQUIRE(run_program("nvcc", command).status == 0);
}

}  // namespace warpmat
