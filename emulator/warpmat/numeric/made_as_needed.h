#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace warpmat {

/// At most `most` objects, made one by one: each call has a table of them and needs few, so that clearing all would take longer than
/// filling those.
template <class T, std::size_t most>
class MadeAsNeeded {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  MadeAsNeeded() {}  // not = default, which clears bytes_ if the object is value-initialised
  MadeAsNeeded(const MadeAsNeeded&) = delete;
  MadeAsNeeded& operator=(const MadeAsNeeded&) = delete;

  /// Makes object `index`, which replaces one made before.
  template <typename... Values>
  T& make(std::size_t index, Values&&... values) {
    return *std::construct_at(data() + index, std::forward<Values>(values)...);
  }
  T* data() { return reinterpret_cast<T*>(bytes_); }
  const T* data() const { return reinterpret_cast<const T*>(bytes_); }
  T& operator[](std::size_t index) { return data()[index]; }
  const T& operator[](std::size_t index) const { return data()[index]; }
  std::span<T> first(std::size_t count) { return {data(), count}; }

 private:
  alignas(T) std::byte bytes_[most * sizeof(T)];
};

}  // namespace warpmat
