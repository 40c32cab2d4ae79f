#include <warpmat/cuda/mutex.h>

#include <pthread.h>

#include <new>

namespace warpmat::cuda {
namespace {

/// Never destroyed: programs call the runtime until the end of their destructors.
union Lasting {
  constexpr Lasting() : mutex() {}
  Lasting(const Lasting&) = delete;
  ~Lasting() {}  // NOLINT: leaves the mutex
  RecursiveMutex mutex;
};

constinit Lasting the;

void lock() {
  the.mutex.lock();
}

void unlock() {
  the.mutex.unlock();
}

/// A child's thread has another number than the one of the parent that locked.
void make_anew() {
  ::new (&the.mutex) RecursiveMutex;
}

[[maybe_unused]] const int watched = pthread_atfork(lock, unlock, make_anew);

}  // namespace

RecursiveMutex& mutex() {
  return the.mutex;
}

}  // namespace warpmat::cuda
