#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace warpmat {

/// A file in memory, for what reads or writes a file by its name.
class MemoryFile {
 public:
  MemoryFile() : file_(memfd_create("input", MFD_CLOEXEC)) {
    if (file_ < 0) std::abort();
  }
  MemoryFile(const std::uint8_t* data, std::size_t size) : MemoryFile() {
    for (std::size_t at = 0; at < size;) {
      const ssize_t written = write(file_, data + at, size - at);
      if (written <= 0) std::abort();
      at += static_cast<std::size_t>(written);
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(file_); }

  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

}  // namespace warpmat
