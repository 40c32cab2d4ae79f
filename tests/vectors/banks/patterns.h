// Address patterns of a warp in shared memory, for the measurement of bank conflicts (measure.cu) and the test that holds the rule against
// it. Nothing but the C++ standard library, and a generator of its own, so that both sides draw the same.
#pragma once

#include <array>
#include <cstdint>

namespace bank_patterns {

constexpr int lanes = 32;
constexpr std::uint32_t memory_bytes = 16384;
constexpr int random_patterns = 1000, structured_patterns = 100, patterns = random_patterns + structured_patterns;

using Addresses = std::array<std::uint32_t, lanes>;

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {  // splitmix64
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(next() % limit); }

 private:
  std::uint64_t state_;
};

/// Five kinds: anywhere; from a pool of few places; a stride with bits exchanged; within few rows of banks; each group of eight lanes a
/// contiguous range in its own order.
inline Addresses random_addresses(std::uint32_t bytes, int number) {
  Random random(static_cast<std::uint64_t>(number) * 1000003 + bytes);
  const std::uint32_t places = memory_bytes / bytes;
  Addresses out{};
  const int kind = number % 5;
  const std::uint32_t pool = 1 + random.below(16), stride = 1 + random.below(64), mask = random.below(32), shift = random.below(4),
                      window = bytes * (1 + random.below(64));
  std::array<std::uint32_t, 16> chosen{};
  for (std::uint32_t& place : chosen) place = random.below(places);
  std::array<std::uint32_t, 4> bases{}, orders{};
  for (std::uint32_t& base : bases) base = random.below(random.below(2) == 0 ? 64 : places);
  for (std::uint32_t& order : orders) order = random.below(8);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const std::uint32_t group = lane / 8;
    const std::uint32_t place = kind == 0   ? random.below(places)
                                : kind == 1 ? chosen[random.below(pool)]
                                : kind == 2 ? (lane ^ ((lane >> shift) & mask)) * stride
                                : kind == 3 ? random.below(window / bytes)
                                            : bases[group] + ((lane % 8) ^ orders[group]);
    out[lane] = place % places * bytes;
  }
  return out;
}

/// Strides of 0 to 33 elements; groups of lanes that share an element; groups of lanes that are moved by some elements against each other;
/// swizzles of 128-byte rows.
inline Addresses structured_addresses(std::uint32_t bytes, int number) {
  const std::uint32_t places = memory_bytes / bytes, n = static_cast<std::uint32_t>(number);
  Addresses out{};
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    std::uint32_t at = 0;
    if (n < 34)
      at = lane * n * bytes;
    else if (n < 39)
      at = (lane >> (n - 33)) * bytes;  // pairs, fours, eights, halves, all
    else if (n < 44)
      at = lane % (1u << (n - 39)) * bytes;  // repeats of 1, 2, 4, 8, 16
    else if (n < 60)
      at = (lane % 16 + lane / 16 * (n - 44 + 16)) * bytes;  // halves apart
    else if (n < 76)
      at = (lane % 8 + lane / 8 * (n - 60)) * bytes;  // quarters apart
    else if (n < 84)
      at = lane * 128 + (lane % 8 ^ (n - 76)) * 16;  // a column of swizzled rows of 128 bytes
    else if (n < 92)
      at = lane * (128 + 4 * (n - 84));  // padded rows
    else
      at = (lane % 4 * 8 + lane / 4) * bytes + lane % 2 * (n - 92) * 128;
    out[lane] = at / bytes % places * bytes;
  }
  return out;
}

/// Pattern `number`, random ones first: addresses that are multiples of `bytes`.
inline Addresses addresses(std::uint32_t bytes, int number) {
  return number < random_patterns ? random_addresses(bytes, number) : structured_addresses(bytes, number - random_patterns);
}

}  // namespace bank_patterns
