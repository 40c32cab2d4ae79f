#include "wide.h"

#include <utility>

// Not in the header: the tests' own optimization is a debugger's, and the linker takes an inline function from any file.

namespace oracle {
namespace {

constexpr std::uint64_t limb_base = 0x1'0000'0000;
constexpr int limb_bits = 32;

std::uint64_t limb(const Limbs& limbs, std::size_t i) {
  return i < limbs.size() ? limbs[i] : 0;
}

Limbs multiply(const Limbs& a, const Limbs& b) {
  Limbs result(a.size() + b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::uint64_t sum = std::uint64_t{a[i]} * b[j] + result[i + j] + carry;
      result[i + j] = static_cast<std::uint32_t>(sum % limb_base);
      carry = sum / limb_base;
    }
    result[i + b.size()] = static_cast<std::uint32_t>(carry);
  }
  result.drop_leading_zeros();
  return result;
}

Limbs multiply_by_power(const Limbs& limbs, int power) {
  const auto whole = static_cast<std::size_t>(power / limb_bits);
  Limbs shifted(whole + limbs.size()), rest(1);
  for (std::size_t i = 0; i < limbs.size(); ++i) shifted[whole + i] = limbs[i];
  rest[0] = std::uint32_t{1} << (power % limb_bits);
  return multiply(shifted, rest);
}

// The quotient without its remainder.
Limbs divide_by_power(const Limbs& limbs, int power) {
  const auto whole = static_cast<std::size_t>(power / limb_bits);
  if (whole >= limbs.size()) return {};
  Limbs result(limbs.size() - whole);
  const std::uint64_t divisor = std::uint64_t{1} << (power % limb_bits);
  std::uint64_t remainder = 0;
  for (std::size_t i = result.size(); i-- > 0;) {
    const std::uint64_t dividend = remainder * limb_base + limbs[whole + i];
    result[i] = static_cast<std::uint32_t>(dividend / divisor);
    remainder = dividend % divisor;
  }
  return result;
}

Limbs add(const Limbs& a, const Limbs& b) {
  Limbs result(std::max(a.size(), b.size()) + 1);
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::uint64_t sum = carry + limb(a, i) + limb(b, i);
    result[i] = static_cast<std::uint32_t>(sum % limb_base);
    carry = sum / limb_base;
  }
  return result;
}

// a - b, where a is not below b.
Limbs subtract(const Limbs& a, const Limbs& b) {
  Limbs result(a.size());
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::uint64_t difference = limb_base + limb(a, i) - limb(b, i) - borrow;
    result[i] = static_cast<std::uint32_t>(difference % limb_base);
    borrow = difference < limb_base ? 1 : 0;
  }
  return result;
}

// Below, at or above zero as a is below, at or above b; neither may have leading zero limbs.
int compare(const Limbs& a, const Limbs& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (std::size_t i = a.size(); i-- > 0;) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

}  // namespace

Dyadic::Dyadic(std::int64_t integer, int exponent) : negative_(integer < 0), exponent_(exponent), limbs_(2) {
  const auto bits = static_cast<std::uint64_t>(integer);
  const std::uint64_t absolute = negative_ ? 0 - bits : bits;
  limbs_[0] = static_cast<std::uint32_t>(absolute);
  limbs_[1] = static_cast<std::uint32_t>(absolute / limb_base);
  normalize();
}

Dyadic::Dyadic(bool negative, Limbs limbs, int exponent) : negative_(negative), exponent_(exponent), limbs_(std::move(limbs)) {
  normalize();
}

void Dyadic::normalize() {
  limbs_.drop_leading_zeros();
  if (!limbs_.empty()) return;
  negative_ = false;
  exponent_ = 0;
}

Limbs Dyadic::multiple_of_power(int power) const {
  return is_zero() ? Limbs() : multiply_by_power(limbs_, exponent_ - power);
}

Dyadic Dyadic::operator-() const {
  Dyadic result = *this;
  result.negative_ = !negative_ && !is_zero();
  return result;
}

Dyadic operator+(const Dyadic& x, const Dyadic& y) {
  const int exponent = std::min(x.exponent_, y.exponent_);
  const Limbs a = x.multiple_of_power(exponent);
  const Limbs b = y.multiple_of_power(exponent);
  if (x.negative_ == y.negative_) return Dyadic(x.negative_, add(a, b), exponent);
  if (compare(a, b) >= 0) return Dyadic(x.negative_, subtract(a, b), exponent);
  return Dyadic(y.negative_, subtract(b, a), exponent);
}

Dyadic operator*(const Dyadic& x, const Dyadic& y) {
  return Dyadic(x.negative_ != y.negative_, multiply(x.limbs_, y.limbs_), x.exponent_ + y.exponent_);
}

std::strong_ordering operator<=>(const Dyadic& x, const Dyadic& y) {
  const Dyadic difference = x - y;
  if (difference.is_zero()) return std::strong_ordering::equal;
  return difference.negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
}

Dyadic Dyadic::truncated(int power) const {
  if (exponent_ >= power) return *this;
  return Dyadic(negative_, divide_by_power(limbs_, power - exponent_), power);
}

Dyadic Dyadic::floor(int power) const {
  const Dyadic whole = truncated(power);
  return negative_ && whole != *this ? whole - Dyadic(1, power) : whole;
}

std::uint32_t Dyadic::as_uint32() const {
  const Limbs integer = truncated(0).multiple_of_power(0);
  return integer.empty() ? 0 : integer[0];
}

}  // namespace oracle
