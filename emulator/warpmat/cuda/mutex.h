#pragma once

#include <atomic>
#include <mutex>

namespace warpmat::cuda {

/// A mutex that a thread may take several times, and give back for a while as often as it has taken it.
class RecursiveMutex {
 public:
  void lock() {
    mutex_.lock();
    ++depth_;
  }
  bool try_lock() {
    const bool locked = mutex_.try_lock();
    if (locked) ++depth_;
    return locked;
  }
  void unlock() {
    --depth_;
    mutex_.unlock();
  }
  /// How often this thread, which has the mutex, has taken it.
  unsigned depth() const { return depth_; }

 private:
  std::recursive_mutex mutex_;
  unsigned depth_ = 0;  // of the thread that has it
};

/// The lock of all that the process has of CUDA. fork() waits for it, so that a child process gets nothing half done.
RecursiveMutex& mutex();

/// As long as it lives, other threads may take mutex(), which this one has.
class Unlocked {
 public:
  Unlocked() : depth_(mutex().depth()) {
    for (unsigned i = 0; i < depth_; ++i) mutex().unlock();
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked() {
    for (unsigned i = 0; i < depth_; ++i) mutex().lock();
  }

 private:
  unsigned depth_;
};

/// The one T of the process. The first call makes it, under the lock: a function-local static that another thread makes during fork() would
/// never be finished in the child. Never destroyed: programs call the runtime until the end of their destructors.
template <typename T>
T& lasting() {
  static constinit std::atomic<T*> made{nullptr};
  if (T* const one = made.load(std::memory_order_acquire)) return *one;
  const std::lock_guard lock(mutex());
  if (made.load(std::memory_order_relaxed) == nullptr) made.store(new T, std::memory_order_release);
  return *made.load(std::memory_order_relaxed);
}

}  // namespace warpmat::cuda
