#pragma once

#include "tools/command_line/handed_commands.h"

namespace warpmat {

/// Replaces this process by `program` with the arguments after argv[0]. The program is looked for beside this executable, then in PATH.
/// Returns never. Throws std::runtime_error, which says where to get it.
[[noreturn]] void hand_over(const HandingProgram& program, char** argv);

}  // namespace warpmat
