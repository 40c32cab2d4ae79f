#pragma once

#include <string>
#include <vector>

#include "tools/command_line/handed_commands.h"

namespace warpmat {

/// Replaces this process by `program` with the arguments after argv[0]. The program is looked for beside this executable, then in PATH.
/// Returns never. Throws std::runtime_error, which says where to get it.
[[noreturn]] void hand_over(const HandingProgram& program, char** argv);

/// Becomes `python3 -m warpmat` with these words, by the first Python that has the module: that of PATH, or the distribution's. A module
/// beside this program, in its build folder or its archive, is found. Throws std::runtime_error where no Python has it.
[[noreturn]] void hand_over_to_python(const std::vector<std::string>& words);

}  // namespace warpmat
