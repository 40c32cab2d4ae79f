#include <warpmat/files/output_file.h>

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <warpmat/files/standard_stream.h>

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

}  // namespace

void check_output_place(const fs::path& path) {
  if (path == standard_stream) return;
  std::error_code ignored;
  if (!path.has_filename()) fail(path, "the path must name a file");
  if (!fs::is_directory(directory_of(path), ignored)) fail(path, fmt::format("there is no directory {}", directory_of(path).string()));
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) fail(path, "something that is not a regular file has this name");
}

void make_output_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  const auto refuse = [&](const std::string& reason) {
    throw std::runtime_error(fmt::format("cannot write into the folder {}: {}", folder.string(), reason));
  };
  if (error) refuse(error.message());
  if (access(folder.c_str(), W_OK | X_OK) != 0) refuse(last_error());
}

OutputFile::OutputFile(const fs::path& path) : path_(path) {
  check_output_place(path);
  if (path == standard_stream) {
    file_ = std::tmpfile();
    if (file_ == nullptr) fail(path, last_error());
    return;
  }
  place_ = fs::exists(path) ? fs::canonical(path) : path;
  temporary_ = place_;
  temporary_ += fmt::format(".{:08x}.tmp", std::random_device{}());
  file_ = std::fopen(temporary_.c_str(), "wbx");
  if (file_ == nullptr) fail(path, last_error());
}

OutputFile::~OutputFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  if (path_ == standard_stream) return;
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

void OutputFile::write(std::uint64_t offset, std::string_view bytes) {
  if (bytes.empty()) return;
  const bool written =
      std::fseek(file_, static_cast<long>(offset), SEEK_SET) == 0 && std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size();
  if (!written) fail(path_, last_error());
}

void OutputFile::finish() {
  if (path_ == standard_stream) {
    std::rewind(file_);
    std::array<char, 1 << 16> piece;
    for (std::size_t size; (size = std::fread(piece.data(), 1, piece.size(), file_)) != 0;)
      if (std::fwrite(piece.data(), 1, size, stdout) != size) fail("standard output", last_error());
    std::fclose(std::exchange(file_, nullptr));
    return;
  }
  const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
  if (closed && std::rename(temporary_.c_str(), place_.c_str()) == 0) return;
  const std::string reason = last_error();
  std::error_code ignored;
  fs::remove(temporary_, ignored);
  fail(path_, reason);
}

void write_file(const fs::path& path, std::initializer_list<std::string_view> parts) {
  OutputFile file(path);
  std::uint64_t offset = 0;
  for (const std::string_view part : parts) {
    file.write(offset, part);
    offset += part.size();
  }
  file.finish();
}

}  // namespace warpmat
