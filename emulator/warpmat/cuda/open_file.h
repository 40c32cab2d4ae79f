#pragma once

#include <unistd.h>

#include <utility>

namespace warpmat::cuda {

/// A file descriptor that is closed with it; below 0 none.
class OpenFile {
 public:
  explicit OpenFile(int number) : number_(number) {}
  OpenFile(OpenFile&& other) noexcept : number_(other.release()) {}
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile() {
    if (number_ >= 0) ::close(number_);
  }

  int number() const { return number_; }
  /// Leaves the descriptor to the caller.
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

}  // namespace warpmat::cuda
