#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace warpmat {

/// The CUDA compiler: $CUDACXX alone where that is set, else nvcc in PATH, $CUDA_HOME/bin, $CUDA_PATH/bin or /usr/local/cuda/bin.
std::optional<std::filesystem::path> find_nvcc();

/// The PTX that `nvcc` makes of a source for `target` ("sm_90a"), with line information. Says the command on standard error, where nvcc's
/// own messages go too. nvcc's variable NVCC_APPEND_FLAGS adds options. Throws std::runtime_error where it fails.
std::string compile_cuda(const std::filesystem::path& nvcc, const std::filesystem::path& source, std::string_view target);

}  // namespace warpmat
