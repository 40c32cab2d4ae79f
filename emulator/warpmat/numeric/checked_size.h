#pragma once

// Sizes, pitches, strides and offsets that a stranger's input gives: sums and products of them wrap nowhere.

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

namespace warpmat {

/// A number of bytes or elements from 0 to 2^64 - 1, or too large: a sum or product of one that is too large is too large itself, unless a
/// factor is 0. A negative number is too large.
class CheckedSize {
 public:
  template <std::integral Integer>
  constexpr CheckedSize(Integer value)  // implicit: `CheckedSize(rows) * pitch + width`
      : value_(static_cast<std::uint64_t>(value)), known_(std::in_range<std::uint64_t>(value)) {}

  constexpr std::optional<std::uint64_t> value() const { return known_ ? std::optional(value_) : std::nullopt; }

  /// Whether it is known and not greater than `most`.
  constexpr bool fits(std::uint64_t most) const { return known_ && value_ <= most; }

  /// The next multiple of `alignment`, which is not 0.
  constexpr CheckedSize rounded_up(std::uint64_t alignment) const {
    const std::uint64_t over = value_ % alignment;
    return over == 0 ? *this : *this + (alignment - over);
  }

  friend constexpr CheckedSize operator+(CheckedSize a, CheckedSize b) {
    CheckedSize sum = 0;
    const bool wraps = __builtin_add_overflow(a.value_, b.value_, &sum.value_);
    sum.known_ = a.known_ && b.known_ && !wraps;
    return sum;
  }

  friend constexpr CheckedSize operator*(CheckedSize a, CheckedSize b) {
    if (a.fits(0) || b.fits(0)) return 0;
    CheckedSize product = 0;
    const bool wraps = __builtin_mul_overflow(a.value_, b.value_, &product.value_);
    product.known_ = a.known_ && b.known_ && !wraps;
    return product;
  }

 private:
  std::uint64_t value_;
  bool known_;
};

}  // namespace warpmat
