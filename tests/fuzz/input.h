#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace warpmat {

/// The bytes of an input, read from the first to the last as numbers. Behind their end all numbers are 0.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : left_(data, size) {}

  bool ended() const { return left_.empty(); }

  template <typename T>
  T take() {
    T value{};
    take(&value, sizeof value);
    return value;
  }
  void take(void* to, std::size_t bytes) {
    const std::size_t count = std::min(bytes, left_.size());
    if (count != 0) std::memcpy(to, left_.data(), count);
    left_ = left_.subspan(count);
  }
  bool yes() { return take<std::uint8_t>() % 2 != 0; }
  /// A number from 0 on that is less than `limit`, at most 256.
  std::size_t below(std::size_t limit) { return take<std::uint8_t>() % limit; }

  /// A size, offset or pitch: mostly a small one, else one at which arithmetic of 32 or 64 bits ends.
  std::uint64_t size() {
    constexpr std::uint64_t small = 160, ends[] = {0, 1ull << 31, 1ull << 32, 1ull << 40, 1ull << 62, 1ull << 63};
    const std::uint64_t first = take<std::uint8_t>();
    if (first < small) return first;
    const auto second = static_cast<std::uint64_t>(take<std::uint8_t>());
    if (first < 240) return 16 * second;
    return ends[first % std::size(ends)] + second - 128;
  }

 private:
  std::span<const std::uint8_t> left_;
};

}  // namespace warpmat
