#pragma once

#include <cstdint>

// The operands of the questions that ask.cu puts to a card, and the digest of its answers. ask.cu holds a copy of this file, which is why
// it includes nothing of warpmat.

namespace warpmat::ask {

constexpr unsigned lanes = 32, warps = 8;
constexpr unsigned classes = 5;  // exponents near each other; spread; small ones; any bits; a C that is larger than the products

/// How an operand's elements lie in its registers, and what they are.
struct Elements {
  char role;               ///< 'a', 'b', 'c', 'e' (metadata, whose codes are `codes`), 's' (scale factors), 'd' (the result)
  int register_bits;       ///< 32 or 64
  int bits;                ///< of an element's container
  int payload, shift;      ///< the element's own bits in it, and their lowest
  int exponent, fraction;  ///< exponent 0: any bits, of integers
  bool is_signed;
  std::uint32_t codes;  ///< metadata: a bit for each valid code of 4 bits
};

/// The output function of splitmix64.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

constexpr std::uint64_t limited(std::int64_t value, std::int64_t largest) {
  return std::uint64_t(value < 0 ? 0 : value > largest ? largest : value);
}

/// The exponent field of an element: near 1 for most classes, the lowest for A's small numbers, far above for large C.
constexpr std::uint64_t exponent_field(const Elements& e, unsigned of_class, std::uint64_t random) {
  const std::int64_t bias = (std::int64_t(1) << (e.exponent - 1)) - 1, finite = 2 * bias - (e.exponent < 5 && e.exponent > 1 ? 1 : 0);
  if (e.role == 's') return limited(bias - 2 + std::int64_t(random % 5), finite);
  if (of_class == 1) return limited(bias - 12 + std::int64_t(random % 25), finite);
  if (of_class == 2 && e.role != 'b') return e.role == 'c' ? limited(std::int64_t(random % (bias > 60 ? 20 : 4)), finite) : random % 3;
  if (of_class == 4 && e.role == 'c') return limited(bias + 4 + std::int64_t(random % 24), finite);
  return limited(bias - 2 + std::int64_t(random % 4), finite);
}

/// The bits of one element.
constexpr std::uint64_t element(const Elements& e, unsigned of_class, std::uint64_t random) {
  const std::uint64_t all = e.payload == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << e.payload) - 1;
  if (e.role == 'e') {
    std::uint64_t code = random % 16;
    while ((e.codes >> code & 1) == 0) code = (code + 1) % 16;
    return code;
  }
  if (e.exponent == 0 || (of_class == 3 && e.role != 's')) return random & all;
  const std::uint64_t sign = e.is_signed ? random >> 63 : 0, fraction = random & ((std::uint64_t(1) << e.fraction) - 1);
  return sign << (e.exponent + e.fraction) | exponent_field(e, of_class, mix(random)) << e.fraction | fraction;
}

/// A register of one lane. `question` and `number` are those of the question and of the register in it.
constexpr std::uint64_t register_bits(const Elements& e, std::uint64_t question, unsigned of_class, unsigned warp, unsigned number,
                                      unsigned lane) {
  const std::uint64_t place = ((((question * classes + of_class) * warps + warp) * 64 + number) * lanes + lane) * 32;
  std::uint64_t bits = 0;
  for (int at = 0; at < e.register_bits; at += e.bits)
    bits |= element(e, of_class, mix((place + std::uint64_t(at / e.bits)) * 0x9e3779b97f4a7c15)) << (at + e.shift);
  return bits;
}

/// The digest of answers: add() their words, of the first warp first, by register and lane.
class Digest {
 public:
  constexpr void add(std::uint64_t word) { state_ = mix((state_ ^ word) * 0x9e3779b97f4a7c15 + 1); }
  constexpr std::uint32_t value() const { return std::uint32_t(state_ >> 32); }

 private:
  std::uint64_t state_ = 1;
};

}  // namespace warpmat::ask
