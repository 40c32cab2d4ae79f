#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace warpmat {

/// The most that is read of a pipe, or unpacked: what may have no end needs a limit.
inline constexpr std::size_t most_streamed_bytes = 1'000'000'000;

/// The bytes of a file, or of a pipe. Throws std::runtime_error: "cannot read FILE: there is no such file".
std::string read_file(const std::filesystem::path& path);

/// Why `path` cannot be read, as operating systems say it; empty where it can.
std::string unreadable(const std::filesystem::path& path);

}  // namespace warpmat
