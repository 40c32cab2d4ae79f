#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

namespace warpmat {

/// What a command may use; 0: no limit.
struct Limits {
  double seconds = 3600;     ///< so that a job of a CI ends before its own limit, which is six hours on GitHub
  std::uint64_t memory = 0;  ///< bytes
};

/// Three quarters of the memory that this process may have: of the machine, or of the container.
std::uint64_t usual_memory_limit();

/// "4.0 GB": of messages.
std::string bytes_text(std::uint64_t bytes);

/// Keeps the limits of a command that works in this process, as long as this object lives. Beyond the limit of memory an allocation throws
/// std::bad_alloc. Beyond the limit of time stop() becomes true; where nothing ends by that, the process does, with a sentence and
/// status 1.
class LimitedWork {
 public:
  explicit LimitedWork(const Limits& limits);
  LimitedWork(const LimitedWork&) = delete;
  LimitedWork& operator=(const LimitedWork&) = delete;
  ~LimitedWork();

  /// For LaunchOptions::stop.
  const std::atomic<bool>* stop();
  /// Whether the time is over.
  bool is_over() const { return stop_; }
  /// "it took longer than 3 s (--seconds)"
  std::string sentence() const;

 private:
  void wait();

  Limits limits_;
  std::uint64_t memory_before_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::atomic<bool> watched_{false}, stop_{false};
  std::thread thread_;
};

/// Calls work(limited), a LimitedWork. Where the time was over, an exception says that first. Threads that find no memory throw
/// std::bad_alloc.
template <typename Work>
void within_limits(const Limits& limits, Work work) {
  LimitedWork limited(limits);
  try {
    work(limited);
  } catch (const std::system_error& e) {
    if (e.code() == std::errc::resource_unavailable_try_again) throw std::bad_alloc();
    throw;
  } catch (const std::exception& e) {
    if (!limited.is_over()) throw;
    throw std::runtime_error(limited.sentence() + ": " + e.what());
  }
}

/// What to say of the error: that a limit was reached, where one is kept, and what needs so much, where a MemoryLimit says it.
std::string out_of_memory(const std::bad_alloc& error);

}  // namespace warpmat
