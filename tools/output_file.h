#pragma once

#include <filesystem>
#include <initializer_list>
#include <string_view>

namespace warpmat {

/// Throws std::runtime_error unless `path` is a place for a file: its directory exists, and what may stand there is a regular file.
/// Called before long work, so that a mistyped path costs nothing.
void check_output_place(const std::filesystem::path& path);

/// Writes `parts`, one after another, as the file `path`. The file appears whole or not at all: it is written beside its place and renamed.
/// Throws std::runtime_error.
void write_file(const std::filesystem::path& path, std::initializer_list<std::string_view> parts);

}  // namespace warpmat
