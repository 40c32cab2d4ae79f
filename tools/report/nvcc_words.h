#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpmat {

/// nvcc's arguments, and what of them differs from those that were given, a text each: "-cudart shared".
struct NvccWords {
  std::vector<std::string> words, changes;
};

/// nvcc's arguments changed so that `warpmat cuda` runs the program and its reports have lines: the shared runtime, line information, and
/// PTX next to the machine code; for `target`, "sm_90a", where the arguments name no architecture. Where nvcc is asked for its version or
/// help, they stay as they are.
NvccWords words_for_warpmat(const std::vector<std::string>& words, std::string_view target);

}  // namespace warpmat
