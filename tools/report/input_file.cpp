#include "tools/report/input_file.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace warpmat {

std::string unreadable(const std::filesystem::path& path) {
  std::error_code error;
  if (path.empty()) return "its name is empty";
  if (!std::filesystem::exists(path, error) && !error) return "there is no such file";
  if (std::filesystem::is_directory(path, error)) return "it is a directory";
  errno = 0;
  const std::ifstream file(path, std::ios::binary);
  if (file) return {};
  return errno != 0 ? std::strerror(errno) : "it cannot be opened";
}

std::string read_file(const std::filesystem::path& path) {
  const std::string reason = unreadable(path);
  std::ifstream file(path, std::ios::binary);
  if (!reason.empty() || !file) throw std::runtime_error(fmt::format("cannot read {}: {}", path.string(), reason));
  std::string bytes;
  constexpr std::size_t piece = 1 << 16;  // a pipe has no size
  for (std::size_t count = piece; count == piece;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + piece);
    file.read(bytes.data() + before, piece);
    count = static_cast<std::size_t>(file.gcount());
    bytes.resize(before + count);
  }
  return bytes;
}

}  // namespace warpmat
