#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpmat {

/// A new directory, removed with all that is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string path(const std::string& file) const { return (path_ / file).string(); }

  /// The names of what is in it, sorted.
  std::vector<std::string> files() const;

 private:
  std::filesystem::path path_;
};

/// What a run of the command left behind.
struct Outcome {
  int status = 0;
  std::string out, err;
};

/// Runs the command warpmat with `arguments`, and with variables of the environment, "NAME=value", and waits for it.
Outcome run_command(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {});

/// Runs another program so.
Outcome run_program(const std::string& program, const std::vector<std::string>& arguments,
                    const std::vector<std::string>& environment = {});

/// warpmat-gpu with an emulator in place of the GPU (pretend_gpu.cpp), and with variables of the environment: "NAME=value".
Outcome run_pretending(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {});

inline constexpr auto no_faults = "WARPMAT_PRETEND_FAULTS=none";  ///< for run_pretending: the GPU is as the emulator

std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, const std::string& text);

}  // namespace warpmat
