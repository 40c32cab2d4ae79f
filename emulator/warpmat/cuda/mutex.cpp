#include <warpmat/cuda/mutex.h>

#include <pthread.h>

#include <new>

namespace warpmat::cuda {
namespace {

/// Never destroyed: programs call the runtime until the end of their destructors.
union Lasting {
  Lasting() : mutex() {}
  Lasting(const Lasting&) = delete;
  ~Lasting() {}  // NOLINT: leaves the mutex
  std::recursive_mutex mutex;
};

Lasting lasting;

void lock() {
  lasting.mutex.lock();
}

void unlock() {
  lasting.mutex.unlock();
}

/// A child's thread has another number than the one of the parent that locked.
void make_anew() {
  ::new (&lasting.mutex) std::recursive_mutex;
}

}  // namespace

std::recursive_mutex& mutex() {
  static const int watched = pthread_atfork(lock, unlock, make_anew);
  static_cast<void>(watched);
  return lasting.mutex;
}

}  // namespace warpmat::cuda
