#pragma once

#include <warpmat/ir/code.h>

#include <filesystem>
#include <string>

namespace warpmat {

/// A launch.json for an entry: its parameters with their types, a buffer for each address, the block that it is compiled for. Sizes and
/// numbers are to be filled in. `ptx` is the kernel's file and `kernel` its name, as the description names it.
std::string launch_skeleton(const std::filesystem::path& ptx, const std::string& kernel, const code::Program& program);

}  // namespace warpmat
