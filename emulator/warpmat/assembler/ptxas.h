#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace warpmat {

// The CUDA Toolkit's assembler as a process of its own: started only where a caller asks for its decisions (assembler.h).

/// The file ptxas of PATH, else of CUDA_HOME, CUDA_PATH or /usr/local/cuda.
std::optional<std::filesystem::path> find_ptxas();

/// "ptxas 13.0.88", as it says of itself. Throws std::runtime_error.
std::string version_of(const std::filesystem::path& ptxas);

/// The object file that ptxas makes of `entry` of `text` for `target`, of all entries where it is empty, with line information.
/// `options` are more words of its command line. Throws std::runtime_error with the first line that it complains in.
std::string assemble(const std::filesystem::path& ptxas, std::string_view text, std::string_view target, std::string_view entry = {},
                     std::string_view options = {});

/// Why ask_ptxas() and find_ptxas() give nothing.
inline constexpr std::string_view no_ptxas = "no ptxas in PATH, CUDA_HOME, CUDA_PATH or /usr/local/cuda";

}  // namespace warpmat
