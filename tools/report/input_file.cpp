#include "tools/report/input_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "tools/report/limits.h"

namespace warpmat {

namespace {

/// Devices, but for terminals and /dev/null.
bool is_endless(const std::filesystem::path& path) {
  std::error_code unknown;
  if (std::filesystem::is_block_file(path, unknown)) return true;
  if (!std::filesystem::is_character_file(path, unknown) || std::filesystem::equivalent(path, "/dev/null", unknown)) return false;
  const int file = open(path.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  const bool terminal = file >= 0 && isatty(file) == 1;
  if (file >= 0) close(file);
  return !terminal;
}

}  // namespace

std::string unreadable(const std::filesystem::path& path) {
  std::error_code error;
  if (path.empty()) return "its name is empty";
  if (!std::filesystem::exists(path, error) && !error) return "there is no such file";
  if (std::filesystem::is_directory(path, error)) return "it is a directory";
  if (is_endless(path)) return "it is a device";
  errno = 0;
  const std::ifstream file(path, std::ios::binary);
  if (file) return {};
  return errno != 0 ? std::strerror(errno) : "it cannot be opened";
}

std::string read_file(const std::filesystem::path& path) {
  const std::string reason = unreadable(path);
  std::ifstream file(path, std::ios::binary);
  if (!reason.empty() || !file) throw std::runtime_error(fmt::format("cannot read {}: {}", path.string(), reason));
  const bool regular = std::filesystem::is_regular_file(path);
  std::string bytes;
  constexpr std::size_t piece = 1 << 16;  // a pipe has no size
  for (std::size_t count = piece; count == piece;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + piece);
    file.read(bytes.data() + before, piece);
    count = static_cast<std::size_t>(file.gcount());
    bytes.resize(before + count);
    if (!regular && bytes.size() > most_streamed_bytes)
      throw std::runtime_error(
          fmt::format("cannot read {}: it has more than {} and no size", path.string(), bytes_text(most_streamed_bytes)));
  }
  return bytes;
}

}  // namespace warpmat
