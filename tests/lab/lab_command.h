#pragma once

#include <string>
#include <vector>

#include "paths.h"
#include "tools/command.h"

namespace warpmat {

/// Runs warpmat-lab with an emulator in place of the GPU, as run_pretending() runs warpmat-gpu.
inline Outcome run_lab_pretending(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {}) {
  return run_program(pretend_path() + "_lab", arguments, environment);  // the targets' names, in one folder
}

}  // namespace warpmat
