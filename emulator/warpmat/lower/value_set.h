#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <warpmat/lower/draft.h>

namespace warpmat::code {

/// A set of a function's registers, a bit for each: what dataflow over blocks joins by words of 64.
class ValueSet {
 public:
  /// An empty set of the registers 0 to `count` - 1.
  explicit ValueSet(std::size_t count = 0) : words_((count + 63) / 64) {}

  bool contains(Value value) const { return (words_[word(value)] & bit(value)) != 0; }
  void insert(Value value) { words_[word(value)] |= bit(value); }
  void erase(Value value) { words_[word(value)] &= ~bit(value); }
  /// Adds the registers of `other`, a set of the same function.
  void insert(const ValueSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  /// Adds the registers of `other` that are not in `without`. Returns whether one is new.
  bool insert_without(const ValueSet& other, const ValueSet& without) {
    std::uint64_t added = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::uint64_t wanted = other.words_[i] & ~without.words_[i];
      added |= wanted & ~words_[i];
      words_[i] |= wanted;
    }
    return added != 0;
  }
  bool operator==(const ValueSet&) const = default;

 private:
  static std::size_t word(Value value) { return static_cast<std::size_t>(value) / 64; }
  static std::uint64_t bit(Value value) { return std::uint64_t{1} << static_cast<unsigned>(value) % 64; }

  std::vector<std::uint64_t> words_;
};

}  // namespace warpmat::code
