#pragma once

#include <filesystem>
#include <string>

namespace warpmat {

/// The text of a PTX file. Throws std::runtime_error naming the file.
std::string read_ptx(const std::filesystem::path& path);

}  // namespace warpmat
