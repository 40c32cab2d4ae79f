#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace warpmat {

/// The folder of libcudart.so.13: beside this command in a build folder, else where the installation has it. Throws std::runtime_error.
std::filesystem::path cuda_libraries();

/// The file of `program`, which PATH may name. Throws std::runtime_error.
std::filesystem::path find_program(const std::string& program);

/// Throws std::runtime_error with the flag to build with, if `program` has CUDA's runtime in it instead of calling the shared library.
void refuse_static_runtime(const std::filesystem::path& program);

/// Runs `program` with these variables added to the environment, and waits. Returns its exit status, or 128 and the number of the signal
/// that ended it. Throws std::runtime_error.
int run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                const std::vector<std::pair<std::string, std::string>>& variables);

}  // namespace warpmat
