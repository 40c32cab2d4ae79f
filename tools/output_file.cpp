#include "output_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>

namespace warpmat {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& reason) {
  throw std::runtime_error(fmt::format("cannot write {}: {}", path.string(), reason));
}

std::string last_error() {
  return std::generic_category().message(errno);
}

fs::path directory_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// A new file beside `path`, removed unless it is renamed to its place.
class Temporary {
 public:
  explicit Temporary(const fs::path& path) : path_(path) {
    path_ += fmt::format(".{:08x}.tmp", std::random_device{}());
    file_ = std::fopen(path_.c_str(), "wbx");
    if (file_ == nullptr) fail(path, last_error());
  }

  ~Temporary() {
    if (file_ != nullptr) std::fclose(file_);
    std::error_code ignored;
    if (!renamed_) fs::remove(path_, ignored);
  }

  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  bool write(std::string_view bytes) { return bytes.empty() || std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size(); }

  bool rename_to(const fs::path& path) {
    const bool closed = std::fclose(file_) == 0;
    file_ = nullptr;
    renamed_ = closed && std::rename(path_.c_str(), path.c_str()) == 0;
    return renamed_;
  }

 private:
  fs::path path_;
  std::FILE* file_ = nullptr;
  bool renamed_ = false;
};

}  // namespace

void check_output_place(const fs::path& path) {
  std::error_code ignored;
  if (!path.has_filename()) fail(path, "the path must name a file");
  if (!fs::is_directory(directory_of(path), ignored)) fail(path, fmt::format("there is no directory {}", directory_of(path).string()));
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) fail(path, "something that is not a regular file has this name");
}

void write_file(const fs::path& path, std::initializer_list<std::string_view> parts) {
  check_output_place(path);
  const fs::path place = fs::exists(path) ? fs::canonical(path) : path;  // a link stays, the file that it names is replaced
  Temporary file(place);
  for (const std::string_view part : parts)
    if (!file.write(part)) fail(path, last_error());
  if (!file.rename_to(place)) fail(path, last_error());
}

}  // namespace warpmat
