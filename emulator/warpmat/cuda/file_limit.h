#pragma once

#include <csignal>
#include <ctime>

namespace warpmat::cuda {

/// While it lives, what this thread writes beyond RLIMIT_FSIZE fails with EFBIG, as a full disk does. The signal SIGXFSZ, which would end
/// the program, is held back and taken, unless the program itself has one waiting.
class FileLimit {
 public:
  FileLimit() {
    sigset_t waiting;
    ::sigemptyset(&signal_);
    ::sigaddset(&signal_, SIGXFSZ);
    ::sigpending(&waiting);
    takes_ = ::sigismember(&waiting, SIGXFSZ) == 0;
    ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  ~FileLimit() {
    constexpr timespec at_once{};
    if (takes_) ::sigtimedwait(&signal_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t signal_, before_;
  bool takes_;
};

}  // namespace warpmat::cuda
