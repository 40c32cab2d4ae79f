#pragma once

#include <unistd.h>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace warpmat {

/// Captures standard output during its lifetime: the driver prints there.
class CapturedOutput {
 public:
  CapturedOutput() : file_(std::tmpfile()) {
    if (file_ == nullptr) throw std::runtime_error("no temporary file for what the kernel prints");
    std::fflush(stdout);
    saved_ = dup(STDOUT_FILENO);
    dup2(fileno(file_), STDOUT_FILENO);
  }
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;
  ~CapturedOutput() {
    restore();
    std::fclose(file_);
  }

  std::string text() {
    restore();
    std::string text;
    std::rewind(file_);
    std::array<char, 4096> part{};
    while (const std::size_t count = std::fread(part.data(), 1, part.size(), file_)) text.append(part.data(), count);
    return text;
  }

 private:
  void restore() {
    if (saved_ < 0) return;
    std::fflush(stdout);
    dup2(saved_, STDOUT_FILENO);
    close(saved_);
    saved_ = -1;
  }

  std::FILE* file_;
  int saved_ = -1;
};

}  // namespace warpmat
