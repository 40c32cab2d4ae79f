// An exact number of the form integer * 2^exponent, for the test oracle.
//
// The integer has as many 32-bit limbs as it needs, so that nothing is ever rounded, lost or out of range. Slow and plain on purpose:
// powers of two are multiplied and divided one whole limb at a time, the rest through a schoolbook product or quotient.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace oracle {

// The limbs of a number, the least significant first. Few of them lie in the object: most numbers of the tests need no allocation.
class Limbs {
 public:
  Limbs() = default;
  // All of them zero.
  explicit Limbs(std::size_t size) : size_(size) {
    if (size > few_.size()) many_.resize(size);
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::uint32_t operator[](std::size_t i) const { return size_ > few_.size() ? many_[i] : few_[i]; }
  std::uint32_t& operator[](std::size_t i) { return size_ > few_.size() ? many_[i] : few_[i]; }

  void drop_leading_zeros() {
    std::size_t size = size_;
    while (size > 0 && (*this)[size - 1] == 0) --size;
    if (size_ > few_.size() && size <= few_.size()) {
      std::copy_n(many_.begin(), size, few_.begin());
      many_.clear();
    }
    size_ = size;
  }

 private:
  std::size_t size_ = 0;
  std::array<std::uint32_t, 10> few_{};  // where there are no more
  std::vector<std::uint32_t> many_;
};

class Dyadic {
 public:
  // Zero.
  Dyadic() = default;

  // integer * 2^exponent.
  explicit Dyadic(std::int64_t integer, int exponent = 0);

  bool is_zero() const { return limbs_.empty(); }
  bool is_negative() const { return negative_; }

  Dyadic operator-() const;
  Dyadic absolute() const { return negative_ ? -*this : *this; }

  friend Dyadic operator+(const Dyadic& x, const Dyadic& y);
  friend Dyadic operator-(const Dyadic& x, const Dyadic& y) { return x + -y; }
  friend Dyadic operator*(const Dyadic& x, const Dyadic& y);
  friend std::strong_ordering operator<=>(const Dyadic& x, const Dyadic& y);
  friend bool operator==(const Dyadic& x, const Dyadic& y) { return (x <=> y) == std::strong_ordering::equal; }

  // The multiple of 2^power next to this number on the side of zero, or the number itself.
  Dyadic truncated(int power) const;

  // The largest multiple of 2^power that is not above this number.
  Dyadic floor(int power) const;

  // The number itself, which must be an integer from 0 to 2^32 - 1.
  std::uint32_t as_uint32() const;

 private:
  Dyadic(bool negative, Limbs limbs, int exponent);

  void normalize();

  // |this| / 2^power; power may not exceed the exponent of a number that is not zero.
  Limbs multiple_of_power(int power) const;

  bool negative_ = false;
  int exponent_ = 0;
  Limbs limbs_;  // none for zero
};

}  // namespace oracle
