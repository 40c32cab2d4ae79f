#pragma once

#include <atomic>
#include <mutex>

namespace warpmat::cuda {

/// The lock of all that the process has of CUDA. fork() waits for it, so that a child process gets nothing half done.
std::recursive_mutex& mutex();

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
