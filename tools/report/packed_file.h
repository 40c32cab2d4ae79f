#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace warpmat {

/// The bytes of `path`.gz, uncompressed, where there is no file `path` but that one beside its place; else nothing. So the PTX of examples
/// is kept small, and a file that a compiler wrote is taken before it. Throws std::runtime_error if the packed file is damaged.
std::optional<std::string> packed_contents(const std::filesystem::path& path);

}  // namespace warpmat
