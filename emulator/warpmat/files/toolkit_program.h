#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace warpmat {

/// The program `name` of the CUDA Toolkit, such as nvcc or ptxas: in PATH, else in $CUDA_HOME/bin, $CUDA_PATH/bin or /usr/local/cuda/bin.
std::optional<std::filesystem::path> find_toolkit_program(std::string_view name);

}  // namespace warpmat
