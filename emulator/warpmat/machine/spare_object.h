#pragma once

#include <atomic>
#include <cstddef>
#include <new>

namespace warpmat::machine {

/// A base of final classes of which each launch makes one. The memory of one that has ended is kept for the next: to ask malloc() for
/// pieces of this size takes a part of a small launch that can be measured.
template <typename Object>
class SpareObject {
 public:
  static void* operator new(std::size_t bytes) {
    static_assert(alignof(Object) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    void* const kept = spare.exchange(nullptr, std::memory_order_acq_rel);
    return kept != nullptr ? kept : ::operator new(bytes);
  }
  static void operator delete(void* object) { ::operator delete(spare.exchange(object, std::memory_order_acq_rel)); }

 private:
  static inline constinit std::atomic<void*> spare{nullptr};
};

}  // namespace warpmat::machine
