#include <warpmat/files/output_file.h>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
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

/// What a chain of symbolic links names, which need not be there.
fs::path behind_links(fs::path path) {
  constexpr int most = 40;  // as Linux has it
  std::error_code none;
  for (int links = 0; links < most; ++links) {
    const fs::path target = fs::read_symlink(path, none);
    if (none) return path;
    path = directory_of(path) / target;
  }
  fail(path, "there are too many symbolic links");
}

}  // namespace

void check_output_place(const fs::path& path) {
  if (path == standard_stream) return;
  std::error_code ignored;
  if (!path.has_filename()) fail(path, "the path must name a file");
  const fs::path directory = directory_of(behind_links(path));
  if (!fs::is_directory(directory, ignored)) fail(path, fmt::format("there is no directory {}", directory.string()));
  if (access(directory.c_str(), W_OK | X_OK) != 0) fail(path, fmt::format("the directory {}: {}", directory.string(), last_error()));
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
  } else {
    place_ = behind_links(path);
    file_ = open_nameless();
    if (file_ == nullptr) file_ = std::fopen(name_temporary().c_str(), "wbx");
  }
  if (file_ == nullptr) fail(path, last_error());
}

OutputFile::~OutputFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  remove_temporary();
}

/// A file without a name, of which nothing stays where this process is killed; null where the file system has none.
std::FILE* OutputFile::open_nameless() const {
  constexpr mode_t everyone = 0666;  // less the umask, as fopen() has it
  const int file = open(directory_of(place_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, everyone);
  return file < 0 ? nullptr : fdopen(file, "wb");
}

const fs::path& OutputFile::name_temporary() {
  temporary_ = place_;
  return temporary_ += fmt::format(".{:08x}.tmp", std::random_device{}());
}

void OutputFile::remove_temporary() const {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove(temporary_, ignored);
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
  const bool placed = std::fflush(file_) == 0 && keep_mode() && give_name();
  const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
  if (placed && closed && std::rename(temporary_.c_str(), place_.c_str()) == 0) return;
  const std::string reason = last_error();
  remove_temporary();
  fail(path_, reason);
}

/// A file that is replaced keeps its mode.
bool OutputFile::keep_mode() const {
  struct stat old {};
  return stat(place_.c_str(), &old) != 0 || fchmod(fileno(file_), old.st_mode & 07777U) == 0;
}

/// Names a file that has none, beside its place.
bool OutputFile::give_name() {
  if (!temporary_.empty()) return true;
  const std::string nameless = fmt::format("/proc/self/fd/{}", fileno(file_));
  return linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, name_temporary().c_str(), AT_SYMLINK_FOLLOW) == 0;
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
