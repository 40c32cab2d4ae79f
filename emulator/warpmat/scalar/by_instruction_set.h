#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <hwy/targets.h>

namespace warpmat::scalar {

/// A value for each set of vector instructions that somebody has chosen, made when it is first asked for; none is ever destroyed. For
/// variables of static storage. Making one takes no lock, which a fork could leave locked in the child for ever: of several threads that
/// make one at once, the first to finish gives the value.
template <typename T>
class ByInstructionSet {
 public:
  constexpr ByInstructionSet() = default;

  template <typename Make>
  const T& get(Make make) {
    const std::int64_t targets = hwy::SupportedTargets();
    const Node* first = first_.load(std::memory_order_acquire);
    if (const Node* found = find(first, nullptr, targets)) return found->value;
    auto fresh = std::make_unique<Node>(Node{targets, make(), first});
    while (!first_.compare_exchange_weak(first, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire)) {
      if (const Node* found = find(first, fresh->next, targets)) return found->value;
      fresh->next = first;
    }
    return fresh.release()->value;
  }

 private:
  struct Node {
    std::int64_t targets;
    T value;
    const Node* next;
  };

  static const Node* find(const Node* from, const Node* to, std::int64_t targets) {
    for (; from != to; from = from->next)
      if (from->targets == targets) return from;
    return nullptr;
  }

  std::atomic<const Node*> first_{nullptr};
};

}  // namespace warpmat::scalar
