#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpmat {

// Programs of the CUDA Toolkit, nvcc and ptxas, as processes without a shell.

/// A folder of its own in the system's place for temporary files, removed with what it holds. Throws std::runtime_error.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Whether `path` is a file that may be executed.
bool is_program(const std::filesystem::path& path);

/// The program `name` in PATH, else in $CUDA_HOME/bin, $CUDA_PATH/bin or /usr/local/cuda/bin.
std::optional<std::filesystem::path> find_toolkit_program(std::string_view name);

/// Runs `words`, the first of which is the program's file. What it prints goes to the file `output`, or to standard error where that is
/// empty. Returns its exit status, or 128 and the signal's number where one ended it. Throws std::runtime_error where it cannot start.
int run_program(const std::vector<std::string>& words, const std::filesystem::path& output = {});

}  // namespace warpmat
