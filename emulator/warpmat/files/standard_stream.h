#pragma once

#include <string_view>

namespace warpmat {

/// The path for standard input or standard output of arrays (npy_file.h, output_file.h). Both are buffered completely: input before it is
/// read, output until it is finished.
inline constexpr std::string_view standard_stream = "-";

}  // namespace warpmat
