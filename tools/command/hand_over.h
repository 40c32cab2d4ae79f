#pragma once

namespace warpmat {

/// Replaces this process by warpmat-lab with the arguments after argv[0]. It is looked for beside this executable, then in PATH. Returns
/// only by an exception, whose message says how to get it.
[[noreturn]] void hand_over_to_lab(char** argv);

}  // namespace warpmat
