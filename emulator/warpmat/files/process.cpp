#include <warpmat/files/process.h>

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <stdexcept>
#include <system_error>

#include "tools/report/split.h"

namespace warpmat {

namespace fs = std::filesystem;

namespace {

struct Folders {
  std::mutex mutex;
  std::set<fs::path> paths;
};

Folders& folders() {
  static Folders all;
  return all;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "warpmat_XXXXXX").string();
  const std::lock_guard lock(folders().mutex);
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error(fmt::format("cannot make {}: {}", name, std::strerror(errno)));
  path_ = name;
  folders().paths.insert(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  const std::lock_guard lock(folders().mutex);
  fs::remove_all(path_, ignored);
  folders().paths.erase(path_);
}

void TemporaryFolder::remove_all() {
  std::error_code ignored;
  const std::lock_guard lock(folders().mutex);
  for (const fs::path& path : folders().paths) fs::remove_all(path, ignored);
}

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

std::optional<fs::path> find_in_path(std::string_view name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty() && is_program(fs::path(folder) / name)) return fs::path(folder) / name;
  return std::nullopt;
}

fs::path find_program(const std::string& program) {
  const bool is_path = program.find('/') != std::string::npos;
  if (!is_path)
    if (const auto found = find_in_path(program)) return *found;
  if (fs::is_directory(program)) throw std::runtime_error(fmt::format("{} is a directory, no program", program));
  if (is_path) {
    if (!fs::exists(program)) throw std::runtime_error(fmt::format("there is no program {}", program));
    if (!is_program(program)) throw std::runtime_error(fmt::format("{} is no program that can be executed", program));
    return program;
  }
  throw std::runtime_error(
      fmt::format("there is no program '{}' in PATH{}", program, is_program(program) ? "; for the one here write ./" + program : ""));
}

fs::path command_folder() {
  std::error_code unknown;
  return fs::read_symlink("/proc/self/exe", unknown).parent_path();
}

std::optional<fs::path> library_folder(std::initializer_list<const char*> places, const std::string& file) {
  for (const char* const place : places) {
    const fs::path folder = (command_folder() / place).lexically_normal();
    if (fs::exists(folder / file)) return folder;
  }
  return std::nullopt;
}

std::string library_path_with(const fs::path& folder) {
  const char* const before = std::getenv("LD_LIBRARY_PATH");
  return before == nullptr || *before == '\0' ? folder.string() : folder.string() + ":" + before;
}

}  // namespace warpmat
