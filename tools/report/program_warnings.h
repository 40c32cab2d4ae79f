#pragma once

#include <string>
#include <vector>

#include <warpmat/program.h>

namespace warpmat {

/// Registers that were filled before a run, by the first word of each in the register file, and the user's name for them.
struct FilledPlace {
  std::string text;
  std::vector<int> slots;
};

/// Statements of `program` that are legal but probably mistakes: "line 3: warning: ...". `filled` lists the places filled before the run.
/// If it is nullptr (not known), only certain mistakes are reported.
std::vector<std::string> program_warnings(const Program& program, const std::vector<FilledPlace>* filled);

}  // namespace warpmat
