#pragma once

#include <string_view>

namespace warpmat {

/// The path that stands for standard input, or standard output, where arrays are read and written (npy.h, output_file.h). Both are kept as
/// a whole: input before it is read, output until it is finished.
inline constexpr std::string_view standard_stream = "-";

}  // namespace warpmat
