#pragma once

#include <atomic>
#include <memory>

namespace warpmat {

/// A value of static storage that the first call makes and that lasts until the process ends.
///
/// It may be used before main, in destructors at exit, and by threads that still run then: it needs no dynamic initialisation and is never
/// destroyed. Making it takes no lock, because a fork could leave a lock held in the child forever. If several threads make it at once, the
/// first to finish supplies the value; the other values are deleted. If `make` throws, the next call makes the value.
template <typename T>
class Persistent {
 public:
  constexpr Persistent() = default;

  template <typename Make>
  const T& get(Make make) {
    if (const T* made = value_.load(std::memory_order_acquire)) [[likely]]
      return *made;
    return make_now(make);
  }

 private:
  /// A function of its own, so that get() has nothing to save.
  template <typename Make>
  [[gnu::cold, gnu::noinline]] const T& make_now(Make& make) {
    auto fresh = std::make_unique<const T>(make());
    const T* first = nullptr;
    if (value_.compare_exchange_strong(first, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire)) return *fresh.release();
    return *first;
  }

  std::atomic<const T*> value_{nullptr};
};

/// One such value for each of few keys: a list that only grows, at its head.
template <typename Key, typename T>
class PersistentMap {
 public:
  constexpr PersistentMap() = default;

  template <typename Make>
  const T& get(const Key& key, Make make) {
    const Node* first = first_.load(std::memory_order_acquire);
    if (const Node* found = find(first, nullptr, key)) return found->value;
    auto fresh = std::make_unique<Node>(Node{key, make(), first});
    while (!first_.compare_exchange_weak(first, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire)) {
      if (const Node* found = find(first, fresh->next, key)) return found->value;
      fresh->next = first;
    }
    return fresh.release()->value;
  }

 private:
  struct Node {
    Key key;
    T value;
    const Node* next;
  };

  static const Node* find(const Node* from, const Node* to, const Key& key) {
    for (; from != to; from = from->next)
      if (from->key == key) return from;
    return nullptr;
  }

  std::atomic<const Node*> first_{nullptr};
};

}  // namespace warpmat
