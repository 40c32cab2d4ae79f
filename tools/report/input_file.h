#pragma once

#include <filesystem>
#include <string>

namespace warpmat {

/// The bytes of a file. Throws std::runtime_error: "cannot read FILE: there is no such file".
std::string read_file(const std::filesystem::path& path);

/// Why `path` cannot be read, as operating systems say it; empty where it can.
std::string unreadable(const std::filesystem::path& path);

}  // namespace warpmat
