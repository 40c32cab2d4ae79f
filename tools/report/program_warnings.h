#pragma once

#include <string>
#include <vector>

#include <warpmat/ptx/program.h>

namespace warpmat {

/// Registers that were filled before a run, by the first word of each in the register file, and what the user called them.
struct FilledPlace {
  std::string text;
  std::vector<int> slots;
};

/// What is no error in `program`, and yet hardly meant: "line 3: warning: ...". `filled` is what was filled before the run; nullptr where
/// that is not known, and then only what is wrong in any case is told.
std::vector<std::string> program_warnings(const Program& program, const std::vector<FilledPlace>* filled);

}  // namespace warpmat
