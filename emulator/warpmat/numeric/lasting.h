#pragma once

#include <atomic>
#include <memory>

namespace warpmat {

/// A value that the first call makes and that lasts until the process ends: for variables of static storage.
///
/// It may be used before main, in destructors at exit, and by threads that still run then: it needs no dynamic initialization, and nothing
/// destroys it. Making it takes no lock, which a fork could leave locked in the child for ever: of several threads that make one at once,
/// the first to finish gives the value, and those of the others are thrown away. What `make` throws leaves it unmade.
template <typename T>
class Lasting {
 public:
  constexpr Lasting() = default;

  template <typename Make>
  const T& get(Make make) {
    if (const T* made = value_.load(std::memory_order_acquire)) return *made;
    auto fresh = std::make_unique<const T>(make());
    const T* first = nullptr;
    if (value_.compare_exchange_strong(first, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire)) return *fresh.release();
    return *first;
  }

 private:
  std::atomic<const T*> value_{nullptr};
};

}  // namespace warpmat
