#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include <warpmat/numeric/kernels_target.h>

namespace warpmat::inline v0_1::scalar {

/// One value of static storage per instruction set of kernels_target(), made on first use and never destroyed. Making it takes no lock,
/// because a fork could leave a lock held in the child forever. If several threads make one at once, the first to finish supplies the
/// value.
template <typename T>
class ByInstructionSet {
 public:
  constexpr ByInstructionSet() = default;

  template <typename Make>
  const T& get(Make make) {
    const std::size_t set = kernels_target().GetIndex();
    const Node* first = first_.load(std::memory_order_acquire);
    if (const Node* found = find(first, nullptr, set)) return found->value;
    auto fresh = std::make_unique<Node>(Node{set, make(), first});
    while (!first_.compare_exchange_weak(first, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire)) {
      if (const Node* found = find(first, fresh->next, set)) return found->value;
      fresh->next = first;
    }
    return fresh.release()->value;
  }

 private:
  struct Node {
    std::size_t set;
    T value;
    const Node* next;
  };

  static const Node* find(const Node* from, const Node* to, std::size_t set) {
    for (; from != to; from = from->next)
      if (from->set == set) return from;
    return nullptr;
  }

  std::atomic<const Node*> first_{nullptr};
};

}  // namespace warpmat::inline v0_1::scalar
