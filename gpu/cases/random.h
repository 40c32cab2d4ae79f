#pragma once

#include <cstdint>
#include <string_view>

namespace warpmat {

// Random numbers that depend only on a key: not on a machine, a thread count, or earlier draws. All use splitmix64 (Steele, Lea, Flood
// 2014), so another program can generate the same operands; tests/vectors/README.md describes that.

/// The output function of splitmix64: a bijection in which every input bit affects all output bits.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

inline constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15;

/// The key of part `value` of the thing that `key` identifies.
constexpr std::uint64_t combine(std::uint64_t key, std::uint64_t value) {
  return mix(key + golden_gamma * (2 * value + 1));
}

/// FNV-1a: the key of a name.
constexpr std::uint64_t hash_name(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// The stream of splitmix64 that begins at `key`.
class Random {
 public:
  explicit constexpr Random(std::uint64_t key) : state_(key) {}

  constexpr std::uint64_t next() { return mix(state_ += golden_gamma); }

  /// A number from 0 to `end` - 1, for `end` from 1 to 2^32.
  constexpr std::uint64_t below(std::uint64_t end) { return (next() >> 32) * end >> 32; }

  /// A number from `first` to `last`, both included.
  constexpr int between(int first, int last) { return first + static_cast<int>(below(static_cast<std::uint64_t>(last - first + 1))); }

  constexpr bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace warpmat
