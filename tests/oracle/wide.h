// An exact number of the form integer * 2^exponent, for the test oracle.
//
// The integer has as many 32-bit limbs as it needs, so that nothing is ever rounded, lost or out of range. Slow and plain on purpose:
// powers of two are multiplied and divided one whole limb at a time, the rest through a schoolbook product or quotient.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace oracle {

class Dyadic {
 public:
  // Zero.
  Dyadic() = default;

  // integer * 2^exponent.
  explicit Dyadic(std::int64_t integer, int exponent = 0) : negative_(integer < 0), exponent_(exponent) {
    const auto bits = static_cast<std::uint64_t>(integer);
    const std::uint64_t absolute = negative_ ? 0 - bits : bits;
    limbs_ = {static_cast<std::uint32_t>(absolute), static_cast<std::uint32_t>(absolute / limb_base)};
    normalize();
  }

  bool is_zero() const { return limbs_.empty(); }
  bool is_negative() const { return negative_; }

  Dyadic operator-() const {
    Dyadic result = *this;
    result.negative_ = !negative_ && !is_zero();
    return result;
  }

  Dyadic absolute() const { return negative_ ? -*this : *this; }

  friend Dyadic operator+(const Dyadic& x, const Dyadic& y) {
    const int exponent = std::min(x.exponent_, y.exponent_);
    const Limbs a = x.multiple_of_power(exponent);
    const Limbs b = y.multiple_of_power(exponent);
    if (x.negative_ == y.negative_) return Dyadic(x.negative_, add(a, b), exponent);
    if (compare(a, b) >= 0) return Dyadic(x.negative_, subtract(a, b), exponent);
    return Dyadic(y.negative_, subtract(b, a), exponent);
  }

  friend Dyadic operator-(const Dyadic& x, const Dyadic& y) { return x + -y; }

  friend Dyadic operator*(const Dyadic& x, const Dyadic& y) {
    return Dyadic(x.negative_ != y.negative_, multiply(x.limbs_, y.limbs_), x.exponent_ + y.exponent_);
  }

  friend std::strong_ordering operator<=>(const Dyadic& x, const Dyadic& y) {
    const Dyadic difference = x - y;
    if (difference.is_zero()) return std::strong_ordering::equal;
    return difference.negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
  }

  friend bool operator==(const Dyadic& x, const Dyadic& y) { return (x <=> y) == std::strong_ordering::equal; }

  // The multiple of 2^power next to this number on the side of zero, or the number itself.
  Dyadic truncated(int power) const {
    if (exponent_ >= power) return *this;
    return Dyadic(negative_, divide_by_power(limbs_, power - exponent_), power);
  }

  // The largest multiple of 2^power that is not above this number.
  Dyadic floor(int power) const {
    const Dyadic whole = truncated(power);
    return negative_ && whole != *this ? whole - Dyadic(1, power) : whole;
  }

  // The number itself, which must be an integer from 0 to 2^32 - 1.
  std::uint32_t as_uint32() const {
    const Limbs integer = truncated(0).multiple_of_power(0);
    return integer.empty() ? 0 : integer.front();
  }

 private:
  using Limbs = std::vector<std::uint32_t>;  // the least significant first, none of them for zero
  static constexpr std::uint64_t limb_base = 0x1'0000'0000;
  static constexpr int limb_bits = 32;

  Dyadic(bool negative, Limbs limbs, int exponent) : negative_(negative), exponent_(exponent), limbs_(std::move(limbs)) { normalize(); }

  void normalize() {
    drop_leading_zeros(limbs_);
    if (!limbs_.empty()) return;
    negative_ = false;
    exponent_ = 0;
  }

  static void drop_leading_zeros(Limbs& limbs) {
    while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
  }

  // |this| / 2^power; power may not exceed the exponent of a number that is not zero.
  Limbs multiple_of_power(int power) const { return is_zero() ? Limbs() : multiply_by_power(limbs_, exponent_ - power); }

  static Limbs multiply_by_power(const Limbs& limbs, int power) {
    Limbs result(static_cast<std::size_t>(power / limb_bits), 0);
    result.insert(result.end(), limbs.begin(), limbs.end());
    return multiply(result, {std::uint32_t{1} << (power % limb_bits)});
  }

  // The quotient without its remainder.
  static Limbs divide_by_power(const Limbs& limbs, int power) {
    const auto whole = static_cast<std::size_t>(power / limb_bits);
    if (whole >= limbs.size()) return {};
    Limbs result(limbs.begin() + static_cast<std::ptrdiff_t>(whole), limbs.end());
    const std::uint64_t divisor = std::uint64_t{1} << (power % limb_bits);
    std::uint64_t remainder = 0;
    for (std::size_t i = result.size(); i-- > 0;) {
      const std::uint64_t dividend = remainder * limb_base + result[i];
      result[i] = static_cast<std::uint32_t>(dividend / divisor);
      remainder = dividend % divisor;
    }
    return result;
  }

  static Limbs multiply(const Limbs& a, const Limbs& b) {
    Limbs result(a.size() + b.size(), 0);
    for (std::size_t i = 0; i < a.size(); ++i) {
      std::uint64_t carry = 0;
      for (std::size_t j = 0; j < b.size(); ++j) {
        const std::uint64_t sum = std::uint64_t{a[i]} * b[j] + result[i + j] + carry;
        result[i + j] = static_cast<std::uint32_t>(sum % limb_base);
        carry = sum / limb_base;
      }
      result[i + b.size()] = static_cast<std::uint32_t>(carry);
    }
    drop_leading_zeros(result);
    return result;
  }

  static Limbs add(const Limbs& a, const Limbs& b) {
    Limbs result(std::max(a.size(), b.size()) + 1, 0);
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
      const std::uint64_t sum = carry + limb(a, i) + limb(b, i);
      result[i] = static_cast<std::uint32_t>(sum % limb_base);
      carry = sum / limb_base;
    }
    return result;
  }

  // a - b, where a is not below b.
  static Limbs subtract(const Limbs& a, const Limbs& b) {
    Limbs result(a.size(), 0);
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
      const std::uint64_t difference = limb_base + limb(a, i) - limb(b, i) - borrow;
      result[i] = static_cast<std::uint32_t>(difference % limb_base);
      borrow = difference < limb_base ? 1 : 0;
    }
    return result;
  }

  // Below, at or above zero as a is below, at or above b; neither may have leading zero limbs.
  static int compare(const Limbs& a, const Limbs& b) {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    for (std::size_t i = a.size(); i-- > 0;) {
      if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    }
    return 0;
  }

  static std::uint64_t limb(const Limbs& limbs, std::size_t i) { return i < limbs.size() ? limbs[i] : 0; }

  bool negative_ = false;
  int exponent_ = 0;
  Limbs limbs_;
};

}  // namespace oracle
