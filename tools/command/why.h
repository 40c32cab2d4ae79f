#pragma once

#include <warpmat/machine/launch.h>

#include <string>
#include <string_view>

namespace warpmat {

/// Prints the way of an element (LaunchOptions::why) to standard output. With `files` it writes the operands of its products by mma to
/// FILES.a.npy, FILES.b.npy and FILES.c.npy, and prints the commands that explain each product for `target`.
void print_why(const Why& why, const std::string& files, std::string_view target);

}  // namespace warpmat
