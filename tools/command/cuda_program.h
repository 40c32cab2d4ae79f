#pragma once

#include <filesystem>
#include <string>

namespace warpmat {

/// The folder of libcudart.so.13: beside this command in a build folder, else where the installation has it. Throws std::runtime_error.
std::filesystem::path cuda_libraries();

/// Its libraries as LD_PRELOAD takes them: with them in a process, a program that looks for CUDA's elsewhere gets these. Of cuBLAS and the
/// like those that the program asks the loader for.
std::string preloaded_cuda_libraries(const std::filesystem::path& program);

/// NVIDIA's libraries that the program asks the loader for and that warpmat does not have: "libcufft.so.12 (cuFFT), ..."; empty: none.
/// Without `all_kinds` those alone that launch kernels.
std::string missing_cuda_libraries(const std::filesystem::path& program, bool all_kinds);

/// Throws std::runtime_error with the flag to build with, if `program` has CUDA's runtime in it instead of calling the shared library.
void refuse_static_runtime(const std::filesystem::path& program);

}  // namespace warpmat
